//! The name of a commit.

use super::position::Position;

/// The number by which callers know a commit. It is the engine's [own](resqlite_live::CommitNumber) number; or, if copies of the database
/// share a log ([`EntryGate::numbers_commits`](crate::log::EntryGate::numbers_commits)), the position of the commit's entry. A later
/// commit never has a smaller number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitId(pub u64);

impl From<Position> for CommitId {
    /// Returns the id of the commit of this entry, if commits are numbered by position.
    fn from(position: Position) -> Self {
        Self(position.0)
    }
}
