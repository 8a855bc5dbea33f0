//! The codes of errors, for programs.

/// A majority of the log was not reached in time. The write has not happened.
pub(crate) const NO_QUORUM: &str = "RESQLITE_NO_QUORUM";
/// It is not known whether the write has happened.
pub(crate) const OUTCOME_UNKNOWN: &str = "RESQLITE_OUTCOME_UNKNOWN";
/// No entry can carry the write, or this node cannot take in an entry.
pub(crate) const NOT_CARRIED: &str = "RESQLITE_ENTRY_NOT_CARRIED";
/// The log and this node have different histories.
pub(crate) const LOG_DIVERGED: &str = "RESQLITE_LOG_DIVERGED";
/// The log has let go of entries that this node needs.
pub(crate) const FELL_BEHIND: &str = "RESQLITE_FELL_BEHIND";
/// A node that never writes was asked to write.
pub(crate) const NEVER_WRITES: &str = "RESQLITE_NEVER_WRITES";
