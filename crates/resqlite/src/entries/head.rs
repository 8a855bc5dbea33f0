//! The last entry that a database has.

use super::entry::{Entry, Hash};
use crate::core::position::Position;

/// The position and the hash of the last entry that a database has taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The position of the last entry; 0 before the first entry.
    pub position: Position,
    /// The hash of the last entry; before the first entry, the [base](EntryBase).
    pub hash: Hash,
}

/// The hash that the first entry of a database follows, in place of the hash of an entry before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryBase {
    /// All zero: the database began empty.
    Empty,
    /// 32 random bytes: the database began with content that no other database has, unless it is a copy of this one.
    Own,
}

impl Head {
    /// Returns the head of a database whose last entry is this one.
    pub fn of(entry: &Entry) -> Self {
        Self {
            position: entry.position(),
            hash: entry.hash(),
        }
    }
}
