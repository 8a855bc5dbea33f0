//! The name of a commit.

use std::fmt;

/// The number by which callers know a commit: the engine's [own](CommitNumber), or the position of the commit's entry where copies
/// of the database share a log ([`EntryGate::numbers_commits`](crate::EntryGate::numbers_commits)). A later commit never has a
/// smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitId(pub u64);

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
