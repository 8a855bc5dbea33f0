//! The locks of systems without open file description locks: SQLite uses its own.

pub(crate) fn install() {}

/// Returns whether our locks survive another copy of SQLite in the process, so that it cannot delete the write-ahead
/// log. On Windows they do: locks belong to a handle.
pub fn locks_survive_other_copies() -> bool {
    cfg!(windows)
}
