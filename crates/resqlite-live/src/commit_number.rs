//! The number of a commit.

use std::fmt;

/// The number of a commit. The commits of an engine are numbered in order, without gaps: 1, 2, 3, … Zero is the state before the
/// first commit.
///
/// ```
/// use resqlite_live::CommitNumber;
/// assert_eq!(CommitNumber::default().next(), CommitNumber(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitNumber(pub u64);

impl CommitNumber {
    /// Returns the number of the commit before this commit, or zero for zero.
    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Returns the number of the commit after this commit.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for CommitNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
