//! The place of an entry in a log of entries.

use std::{fmt, ops::Add};

/// The position of an entry in a log of entries: 1, 2, 3, … without gaps. Zero is the state before the first.
///
/// ```
/// use resqlite::log::Position;
///
/// assert_eq!(Position::default().next(), Position(1));
/// assert_eq!(Position(7).since(Position(4)), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(pub u64);

impl Position {
    /// Returns the position after this one.
    #[must_use]
    pub fn next(self) -> Self {
        self + 1
    }

    /// Returns the position before this one; zero for zero.
    #[must_use]
    pub fn before(self) -> Self {
        self.earlier(1)
    }

    /// Returns the position that is `entries` entries earlier; zero if there are fewer.
    #[must_use]
    pub fn earlier(self, entries: u64) -> Self {
        Self(self.0.saturating_sub(entries))
    }

    /// Returns the number of entries after the position `other`, up to this one; 0 if `other` is
    /// later.
    pub fn since(self, other: Self) -> u64 {
        self.0.saturating_sub(other.0)
    }
}

/// Adding a number gives the position that many entries later.
impl Add<u64> for Position {
    type Output = Self;

    fn add(self, entries: u64) -> Self {
        Self(self.0 + entries)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
