//! The rows of a result that LIMIT and OFFSET leave, and those that are kept for them.
//!
//! **The invariant.** All rows of the whole result that are not kept sort behind the last kept row, the border. So what
//! sorts behind it, before and after a change, does not matter. A row that sorts before it is kept, or changes.

use std::ops::Range;

use crate::{
    fault::planted,
    kept::{Clip, KeptRow, KeptRows, OutOfOrder, Plan, SourceKey},
};

/// Which rows of an ordered result are shown.
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
    end: usize,
}

impl Window {
    /// That of these values of LIMIT and OFFSET.
    pub fn new(limit: i64, offset: i64) -> Self {
        let offset = offset.try_into().unwrap_or(0);
        let limit = limit.try_into().unwrap_or(usize::MAX);
        Self {
            offset,
            end: usize::saturating_add(offset, limit),
        }
    }

    /// The positions that it shows of so many rows.
    pub fn shown(&self, rows: usize) -> Range<usize> {
        self.offset.min(rows)..self.end.min(rows)
    }
}

/// How much of a result is kept to show a window of it: rows to the end of the window, and some more, so that a few may
/// leave. They are in [`KeptRows`].
#[derive(Debug, Clone, Copy)]
pub struct KeptWindow {
    window: Window,
    /// How many rows are kept behind the window.
    slack: usize,
    /// The result has no more rows than those that are kept.
    is_complete: bool,
}

impl KeptWindow {
    /// Nothing is kept yet. `slack`: so many more rows are kept than the window needs.
    pub fn new(window: Window, slack: usize) -> Self {
        Self {
            window,
            slack,
            is_complete: false,
        }
    }

    /// How many rows a full run reads, at most.
    pub fn most(&self) -> usize {
        self.window.end.saturating_add(self.slack)
    }

    /// A full run has read these.
    pub fn filled(&mut self, rows: &KeptRows) {
        let is_short = rows.len() < self.most();
        self.is_complete = is_short || planted("window_border_is_end");
    }

    /// How many rows are shown.
    pub fn shown(&self, rows: &KeptRows) -> usize {
        self.window.shown(rows.len()).len()
    }

    /// The fingerprints of the rows that are shown.
    pub fn fingerprints(&self, rows: &KeptRows) -> Vec<u64> {
        let Range { start, end } = self.window.shown(rows.len());
        rows.fingerprints_at(start as u32..end as u32).collect()
    }

    /// What changes, as [`KeptRows::plan`] tells it of all kept rows, and what of it is shown. `None` if too few rows are
    /// left to know what the window shows.
    ///
    /// # Errors
    /// Those of [`KeptRows::plan`].
    pub fn plan(
        &self,
        rows: &KeptRows,
        changed: &[(usize, SourceKey)],
        mut now: Vec<KeptRow>,
    ) -> Result<Option<(Plan, Clip)>, OutOfOrder> {
        if !self.is_complete && !planted("window_takes_beyond_border") {
            now.retain(|row| !rows.ends_before(row));
        }
        let plan = rows.plan(changed, now)?;
        let left = plan.rows_after(rows.len()) + usize::from(planted("window_lacks_last"));
        // Without any row there is no border.
        if !self.is_complete && left < self.window.end.max(1) {
            return Ok(None);
        }
        let clip = rows.clip(&plan, self.window);
        Ok(Some((plan, clip)))
    }

    /// Makes the change.
    ///
    /// # Panics
    /// Those of [`KeptRows::apply`].
    pub fn apply(&mut self, rows: &mut KeptRows, plan: Plan) {
        rows.apply(plan);
        if rows.len() > self.most().saturating_add(self.slack) {
            rows.truncate(self.most());
            self.is_complete &= planted("window_stays_complete");
        }
    }
}
