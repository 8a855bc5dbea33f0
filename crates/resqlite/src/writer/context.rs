//! The parts of an engine that its writer works with.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

use resqlite_sqlite::codes;

use super::job::WriteJob;
use crate::{
    commits::{log::Commits, observer::CommitObserver},
    connection::{location::Location, schema_epoch::SchemaEpoch},
    core::{
        error::{Error, Result},
        options::Settings,
        queue::Queue,
    },
    reader::{Connections, Leases, Readers},
    requests::holders::{Holders, LockWaits},
};

/// The parts of an engine that its writer works with, besides the connection.
#[derive(Clone)]
pub(crate) struct WriterContext {
    pub(crate) location: Location,
    pub(crate) settings: Settings,
    pub(crate) queue: Arc<Queue<WriteJob>>,
    pub(crate) commits: Arc<Commits>,
    pub(crate) epoch: Arc<SchemaEpoch>,
    pub(crate) readers: Arc<Readers>,
    /// The holder of the writer: the open transaction, or a batch whose sets have not all arrived.
    pub(crate) holders: Arc<Holders>,
    pub(crate) lock_waits: Arc<LockWaits>,
    /// The pool for snapshots and cursors. It is separate, because these may take long and must not delay a `select`.
    pub(crate) leases: Arc<Leases>,
    /// The pool for live re-runs, which no caller waits for.
    pub(crate) background: Arc<Readers>,
    /// The connections that read.
    pub(crate) connections: Arc<Connections>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) observers: Arc<[Arc<dyn CommitObserver>]>,
}

/// Numbers for diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// SQLite transactions that held more than one write.
    pub(crate) groups: AtomicU64,
    /// The largest number of writes that one transaction held.
    pub(crate) largest_group: AtomicU64,
    /// Groups that could not commit as a whole, so that each write ran alone.
    pub(crate) groups_retried_singly: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    /// Checkpoints for which readers were held back.
    pub(crate) wal_reset_pauses: AtomicU64,
    pub(crate) wal_pages: AtomicU32,
    /// A sync has failed, and the logs have not been written again since. The flag is kept here, so that a replacement writer
    /// knows.
    pub(crate) sync_failed: AtomicBool,
    /// The number of copies of the database that hold a snapshot. Until they have ended, the writer makes no checkpoints.
    pub(crate) copies: AtomicUsize,
}

impl Counters {
    /// Notes a failed sync: the system may have dropped what it could not write, even if the next sync succeeds.
    pub(crate) fn note_sync<T>(&self, done: &Result<T>) {
        let error = done.as_ref().err().and_then(Error::sqlite);
        let of_sync = |code| matches!(code, codes::IOERR_FSYNC | codes::IOERR_DIR_FSYNC);
        if error.is_some_and(|error| of_sync(error.code())) {
            self.sync_failed.store(true, Ordering::Relaxed);
        }
    }
}
