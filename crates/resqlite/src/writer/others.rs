//! What SQLite tells of the commits of others, beside an entry gate.

/// The commits of others, as far as SQLite tells, in an open write transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Others {
    /// Its count of changes by others, which it moves on also after errors of its own.
    pub(super) data_version: Option<i64>,
    /// Commits in the write-ahead log that are not this engine's, from any start.
    pub(super) in_log: Option<u32>,
}

impl Others {
    pub(super) fn is_same(&self, before: &Self) -> bool {
        let is_same_in_log = self.in_log.is_some() && self.in_log == before.in_log;
        self.data_version == before.data_version || is_same_in_log
    }
}
