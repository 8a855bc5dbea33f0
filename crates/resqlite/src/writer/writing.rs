//! The writing connection, and the transaction on it.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
};

use resqlite_live::CommitNumber;

use super::{context::WriterContext, files::Files, log_pauses::LogPauses};
use crate::{
    commits::{log::Commits, recorder::Recorder},
    connection::{
        engine_connection::EngineConnection, open::open, schema_epoch::SeenEpoch, versions::Versions,
    },
    core::{
        error::Result,
        limits,
        options::{Checkpoints, Durability},
    },
    guard::authorizer::Role,
};

/// The writing connection, and what is known about the connection and the transaction on it.
pub(crate) struct Writing {
    pub(crate) connection: EngineConnection,
    pub(crate) recorder: Recorder,
    pub(crate) commits: Arc<Commits>,
    pub(crate) context: WriterContext,
    pub(super) wal: Rc<Wal>,
    pub(super) log_pauses: LogPauses,
    pub(super) files: Files,
    /// The durability for which `PRAGMA synchronous` is set.
    pub(super) durability: Durability,
    /// SQLite's count of schema changes for each database, when the last transaction began.
    pub(super) schema_versions: Versions,
    /// Somebody else has changed a schema, and no transaction has begun since.
    pub(super) names_changed: bool,
    pub(super) touched: Touched,
    /// The number of the last commit of this connection. A held read shows the state of this commit.
    pub(super) last_own_commit: CommitNumber,
}

/// The write-ahead logs, as SQLite reports them.
#[derive(Default)]
pub(super) struct Wal {
    /// Pages in the log of the main database, after the last commit.
    pub(super) pages: Cell<u32>,
    /// Pages in the log of the main database at its last checkpoint.
    pub(super) checkpointed: Cell<u32>,
    /// SQLite has written to a log since COMMIT last cleared this.
    pub(super) wrote: Cell<bool>,
    /// Attached databases whose logs have grown.
    pub(super) attached: RefCell<Vec<String>>,
}

/// Changes of the open transaction that no changed row shows.
#[derive(Default)]
pub(super) struct Touched {
    /// SQLite's count of changed rows when the transaction began.
    pub(super) changes_before: i64,
    /// The transaction has changed the meaning of names.
    pub(super) schema: bool,
    /// ANALYZE has run in the transaction.
    pub(super) statistics: bool,
}

impl Writing {
    /// Opens the connection.
    pub(super) fn open(context: WriterContext) -> Result<Self> {
        let recorder = Recorder::default();
        let wal = Rc::<Wal>::default();
        let (told, commits) = (Rc::clone(&wal), Arc::clone(&context.commits));
        let mut connection = open(&context.location, &context.settings, Role::Writer, |connection| {
            if commits.changes_are_wanted() {
                recorder.install(connection);
            }
            connection.set_wal_hook(move |schema, in_log| {
                told.wrote.set(true);
                match schema {
                    "main" => {
                        told.pages.set(in_log);
                        commits.reached_main_log();
                    }
                    _ if in_log < limits::WAL_CHECKPOINT_PAGES => {}
                    _ => told.attached.borrow_mut().push(schema.to_owned()),
                }
            });
        })?;
        context.lock_waits.ends();
        connection.guard.interrupt.tell_waits(&context.lock_waits);
        // A replacement attaches the databases that the readers have attached.
        context.epoch.follow(&mut connection, &mut SeenEpoch::default())?;
        if context.settings.checkpoints == Checkpoints::Manual {
            connection.sqlite.keep_log();
        }
        let files = Files::of(context.location.identity());
        context.location.health.log_is(files.main_log().cloned());
        Ok(Self {
            connection,
            recorder,
            commits: Arc::clone(&context.commits),
            context,
            wal,
            log_pauses: LogPauses::default(),
            files,
            durability: Durability::Normal,
            schema_versions: Versions::default(),
            names_changed: false,
            touched: Touched::default(),
            last_own_commit: CommitNumber::default(),
        })
    }
}
