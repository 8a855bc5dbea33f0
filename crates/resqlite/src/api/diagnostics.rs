//! Numbers about what an engine is doing, for people who operate it.

use crate::{
    core::commit_id::CommitId,
    live::LiveTotals,
    reader::InlineCounts,
    requests::holders::{Holder, LockWait},
};

/// A moment in the life of an engine.
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
    /// Calls that read at the same time, at most.
    pub readers_max: usize,
    /// Connections for reading that are open.
    pub readers: usize,
    /// Calls that read now.
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
    /// The snapshots and cursors that are open, the oldest first.
    pub lease_holders: Vec<Holder>,
    /// Writes and transactions that wait for the writer.
    pub writes_queued: usize,
    /// The holder of the writer, if there is one: a transaction, or a batch whose sets are still to come.
    pub transaction: Option<Holder>,
    /// The wait of the writer for a lock of another process, if it waits for one. Until it has the lock, nothing is written.
    pub waiting_for_lock: Option<LockWait>,
    /// Number of the newest commit.
    pub last_commit: CommitId,
    /// SQLite transactions that held more than one write.
    pub groups: u64,
    /// The most writes that one of them held.
    pub largest_group: u64,
    /// Groups that could not commit as a whole, so that each write ran alone.
    pub groups_retried_singly: u64,
    /// Live queries.
    pub streams: LiveTotals,
}
