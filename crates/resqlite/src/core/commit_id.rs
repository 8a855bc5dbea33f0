//! The name of a commit.

use super::position::Position;

/// The number by which callers know a commit: the engine's [own](resqlite_live::CommitNumber), or the position of the commit's entry where copies
/// of the database share a log ([`EntryGate::numbers_commits`](crate::log::EntryGate::numbers_commits)). A later commit never has a
/// smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitId(pub u64);

impl From<Position> for CommitId {
    /// Of the commit of this entry, where commits are numbered so.
    fn from(position: Position) -> Self {
        Self(position.0)
    }
}
