//! Writing: one thread, one connection, one transaction at a time.
//!
//! ```text
//! thread      takes queued jobs; replaces the connection after a panic
//! gathering   how long a group waits for more writes
//! group       writes that share a transaction          unwrapped   SQL that manages transactions itself
//! transaction a transaction of a caller, step by step; foreign_keys: one without them
//! unit        one write inside an open transaction     script, statements  its kinds that have files of their own
//! commit      BEGIN, COMMIT, ROLLBACK, and what follows from each
//! checkpoint  checkpoints of the write-ahead log, after the replies; log_pauses: those for which new reads wait
//! entry       the entry of a transaction, and the gate before COMMIT
//! position    where the database is in the log of entries
//! apply       entries of another copy of the database
//! feeds       the log of entries that change feeds read; feed_state: what the writer knows of them
//! noticing    whether others have committed, beside a gate or feeds; external: what is known of them
//! rekey       a change of the key
//! ```

mod apply;
mod checkpoint;
mod classify;
mod commit;
mod entry;
mod external;
mod feed_state;
mod feeds;
mod files;
mod foreign_keys;
mod gathering;
mod group;
mod job;
mod log_pauses;
mod noticing;
mod position;
mod rekey;
mod reply;
mod script;
mod statements;
mod thread;
mod transaction;
mod unit;
mod unwrapped;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
};

use resqlite_live::CommitNumber;

use resqlite_sqlite::codes;

pub(crate) use self::{
    classify::{is_alone, script_runs_alone, statement_runs_alone},
    job::{ApplyJob, Begin, CheckpointJob, FeedJob, GateJob, PositionJob, RekeyJob, WriteJob},
    thread::start,
};
use self::{feed_state::Feeds, files::Files, log_pauses::LogPauses};
use crate::{
    commits::{
        log::Commits,
        observer::{CommitFollower, CommitObserver},
        recorder::Recorder,
    },
    connection::{
        engine_connection::EngineConnection, location::Location, schema_epoch::SchemaEpoch,
        versions::Versions,
    },
    core::{
        error::{Error, Result},
        options::{Durability, Settings},
        queue::Queue,
        sync::Mutex,
    },
    entries::{Carried, Entry, EntryGate},
    reader::Readers,
    requests::holders::{Holders, LockWaits},
};

/// What a writer works with, besides its own connection; shared with the rest of the engine.
#[derive(Clone)]
pub(crate) struct WriterContext {
    pub(crate) location: Location,
    pub(crate) settings: Settings,
    pub(crate) queue: Arc<Queue<WriteJob>>,
    pub(crate) commits: Arc<Commits>,
    pub(crate) epoch: Arc<SchemaEpoch>,
    pub(crate) readers: Arc<Readers>,
    /// The open transaction, or a batch whose sets are still to come.
    pub(crate) holders: Arc<Holders>,
    pub(crate) lock_waits: Arc<LockWaits>,
    /// Threads for snapshots and cursors: separate, because these may take long and must not delay a `select`.
    pub(crate) leases: Arc<Readers>,
    /// Threads for live re-runs, which no caller waits for.
    pub(crate) background: Arc<Readers>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) observers: Arc<[Arc<dyn CommitObserver>]>,
    /// The entry gate. Only the writer's thread uses it; it is here so that a replacement writer finds it.
    pub(crate) gate: Arc<Mutex<Option<Box<dyn EntryGate>>>>,
}

/// Numbers for diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// SQLite transactions that held more than one write.
    pub(crate) groups: AtomicU64,
    /// The most writes that one transaction held.
    pub(crate) largest_group: AtomicU64,
    /// Groups that could not commit as a whole, so that each write ran alone.
    pub(crate) groups_retried_singly: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    /// Checkpoints for which readers were held back.
    pub(crate) wal_reset_pauses: AtomicU64,
    pub(crate) wal_pages: AtomicU32,
    /// A sync has failed, and the logs have not been written again since. Here, so that a replacement writer knows.
    pub(crate) sync_failed: AtomicBool,
    /// Copies of the database that hold a snapshot; until they have ended, the writer makes no checkpoints.
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

/// The writer's connection and what is known about it.
pub(super) struct Writer {
    /// The observers' parts on this thread. Declared first, so that the writing connection is closed last.
    followers: Vec<Box<dyn CommitFollower>>,
    connection: EngineConnection,
    recorder: Recorder,
    commits: Arc<Commits>,
    context: WriterContext,
    /// Pages in the write-ahead log, as SQLite reported after the last commit.
    wal_pages: Rc<Cell<u32>>,
    /// Pages in the log at its last checkpoint.
    checkpointed: u32,
    log_pauses: LogPauses,
    /// What `PRAGMA synchronous` is set for.
    durability: Durability,
    /// SQLite's counts of schema changes, per database, when the last transaction began.
    schema_versions: Versions,
    /// Attached databases whose write-ahead logs have grown.
    attached_logs: Rc<RefCell<Vec<String>>>,
    /// SQLite has written to a log since `commit` last cleared this.
    wrote: Rc<Cell<bool>>,
    /// The commits of others before the last transaction beside an entry gate.
    external: Option<external::External>,
    /// The connection is set up to apply entries.
    applies: bool,
    /// The writes of the open transaction that have tags.
    carried: Vec<Carried>,
    /// What the gate has had applied before anything else.
    overtaken_by: Vec<Entry>,
    /// The number of the last commit of this connection, whose state a held read shows.
    last_own_commit: CommitNumber,
    /// SQLite's count of changed rows when the open transaction began.
    changes_before: i64,
    /// The open transaction has changed what names mean.
    schema_touched: bool,
    /// ANALYZE has run in the open transaction.
    statistics_touched: bool,
    files: Files,
    /// What is known of the change feeds, while there are any.
    feeds: Option<Feeds>,
    /// Another program has removed the position with the feeds, while this writer knew of them; it had logged this one last. Perhaps
    /// nothing in the database says so.
    feeds_taken_at: Option<u64>,
}
