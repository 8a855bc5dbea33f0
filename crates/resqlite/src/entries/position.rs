//! Where a database is in a log of entries.

use super::entry::{Entry, Hash};

/// Up to where a database has taken in a log of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// The position of the last entry; 0 before the first.
    pub position: u64,
    /// The hash of the last entry; all zero before the first.
    pub hash: Hash,
}

impl Position {
    /// Where a database is when the entry is its last one.
    pub fn of(entry: &Entry) -> Self {
        Self {
            position: entry.position(),
            hash: entry.hash(),
        }
    }
}
