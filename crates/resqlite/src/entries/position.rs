//! Where a database is in a log of entries.

use super::entry::{Entry, Hash};

/// Up to where a database has taken in a log of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// The position of the last entry; 0 before the first.
    pub position: u64,
    /// The hash of the last entry; before the first, the [base](EntryBase).
    pub hash: Hash,
}

/// What the first entry of a database follows, in place of the hash of an entry before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryBase {
    /// All zero: the database began empty.
    Empty,
    /// 32 random bytes: the database began with content that no other has, unless it is a copy of this one.
    Own,
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
