//! Numbers about what an engine is doing, for people who operate it.

use crate::{
    core::commit_id::CommitId,
    live::LiveTotals,
    reader::InlineCounts,
    requests::holders::{Holder, LockWait},
};

/// The state of an engine at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The path as it was given to `open`.
    pub path: String,
    /// The version of SQLite.
    pub sqlite_version: String,
    /// The database was opened for reading only.
    pub read_only: bool,
    /// The number of `Database` objects of this process that share the engine.
    pub handles: usize,
    /// Size of the database file, in bytes; 0 in memory.
    pub file_bytes: u64,
    /// Size of the write-ahead log file, in bytes; 0 in memory.
    pub wal_bytes: u64,
    /// Pages in the write-ahead log after the last commit.
    pub wal_pages: u32,
    /// Checkpoints made so far.
    pub checkpoints: u64,
    /// Checkpoints for which reads were paused for a moment, so that the log could be reset.
    pub wal_reset_pauses: u64,
    /// The most calls that may read at the same time.
    pub readers_max: usize,
    /// Connections for reading that are open.
    pub readers: usize,
    /// Calls that read at this moment.
    pub readers_busy: usize,
    /// Queries that were tried on the threads of their callers.
    pub inline: InlineCounts,
    /// Reads that wait for a reader.
    pub reads_queued: usize,
    /// The most reads that ever waited at once.
    pub reads_queued_peak: usize,
    /// Snapshots and cursors open now.
    pub leases: usize,
    /// Snapshots and cursors that wait to be opened.
    pub leases_queued: usize,
    /// The holders of the open snapshots and cursors, the oldest first.
    pub lease_holders: Vec<Holder>,
    /// Writes and transactions that wait for the writer.
    pub writes_queued: usize,
    /// The holder of the writer, if there is one: a transaction, or a batch some of whose sets have not arrived yet.
    pub transaction: Option<Holder>,
    /// The writer's wait for a lock of another process, if it waits for one. Nothing is written until the writer has the lock.
    pub waiting_for_lock: Option<LockWait>,
    /// Number of the newest commit.
    pub last_commit: CommitId,
    /// SQLite transactions that held more than one write.
    pub groups: u64,
    /// The most writes in one of these groups.
    pub largest_group: u64,
    /// Groups that could not commit as a whole. Each of their writes then ran alone.
    pub groups_retried_singly: u64,
    /// Live queries.
    pub streams: LiveTotals,
}
