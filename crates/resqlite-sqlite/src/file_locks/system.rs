//! Where there are no open file description locks, SQLite keeps the system's own.

pub(crate) fn install() {}

/// Whether another copy of SQLite in the process leaves our locks, and so the write-ahead log, alone. Those of Windows
/// belong to handles.
pub fn locks_survive_other_copies() -> bool {
    cfg!(windows)
}
