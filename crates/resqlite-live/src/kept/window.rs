//! The rows of a result that LIMIT and OFFSET leave.

use std::ops::Range;

/// The rows of an ordered result that are shown.
///
/// ```
/// use resqlite_live::Window;
/// // LIMIT 10 OFFSET 5
/// let window = Window::new(10, 5);
/// assert_eq!(window.shown(100), 5..15);
/// assert_eq!(window.shown(7), 5..7);
/// // As in SQLite, a negative LIMIT is none.
/// assert_eq!(Window::new(-1, -1).shown(100), 0..100);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    offset: usize,
    pub(super) end: usize,
}

impl Window {
    /// Returns the window of these values of LIMIT and OFFSET.
    pub fn new(limit: i64, offset: i64) -> Self {
        let offset = offset.try_into().unwrap_or(0);
        let limit = limit.try_into().unwrap_or(usize::MAX);
        Self {
            offset,
            end: usize::saturating_add(offset, limit),
        }
    }

    /// Returns the positions that the window shows of a result with `rows` rows.
    pub fn shown(&self, rows: usize) -> Range<usize> {
        self.offset.min(rows)..self.end.min(rows)
    }
}
