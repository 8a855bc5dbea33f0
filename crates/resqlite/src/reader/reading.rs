//! A reader: its connection, and the read transactions on it.

use std::{sync::Arc, thread};

use resqlite_live::fault::planted;

use crate::{
    commits::log::Commits,
    connection::{
        engine_connection::EngineConnection,
        location::Location,
        open::open,
        schema_epoch::{SchemaEpoch, SeenEpoch},
        schemas,
    },
    core::{error::Result, limits, options::Settings},
    guard::authorizer::Role,
    requests::holders::Holders,
};

/// What the threads of a pool share.
pub(super) struct Shared {
    pub(super) name: &'static str,
    pub(super) location: Location,
    pub(super) settings: Settings,
    pub(super) epoch: Arc<SchemaEpoch>,
    pub(super) commits: Arc<Commits>,
    pub(super) holders: Arc<Holders>,
}

/// A read-only connection.
pub(crate) struct Reader {
    pub(super) connection: EngineConnection,
    pub(super) shared: Arc<Shared>,
    seen: SeenEpoch,
    /// The newest commit before the last read transaction began.
    since: u64,
}

impl Reader {
    pub(super) fn open(shared: &Arc<Shared>) -> Result<Self> {
        let location = &shared.location;
        let connection = open(location, &shared.settings, Role::Reader, |_| ())
            .map_err(|error| location.health.explain(error))?;
        Ok(Self {
            connection,
            shared: Arc::clone(shared),
            seen: SeenEpoch::default(),
            since: 0,
        })
    }

    pub(crate) fn connection(&mut self) -> &mut EngineConnection {
        &mut self.connection
    }

    /// Begins a read transaction. It takes its snapshot with the first read.
    pub(super) fn begin_read(&mut self) -> Result<()> {
        let begun = self.try_to_begin();
        if begun.is_err() {
            // A transaction that stayed open would show this state to every later job.
            self.end_read()?;
        }
        begun
    }

    fn try_to_begin(&mut self) -> Result<()> {
        let commits = Arc::clone(&self.shared.commits);
        let mut held_back = None;
        for attempt in 0..limits::SNAPSHOT_ATTEMPTS {
            if attempt >= limits::SNAPSHOT_ATTEMPTS_FREE && !planted("torn_snapshot") {
                held_back.get_or_insert_with(|| commits.hold_back());
                if !commits.wait_until_settled(self.shared.settings.busy_timeout) {
                    break;
                }
            }
            let settled = self.shared.commits.settled();
            // Loaded first: a reader that knows of a commit must know what names mean since then.
            self.since = self.shared.commits.last();
            self.follow_schemas()?;
            self.connection.internal("BEGIN")?;
            if self.shared.epoch.has_no_attachments() {
                return Ok(());
            }
            // SQLite takes the snapshot of each database with the first read from it. So this reads from all of them at
            // once, while no commit is under way. If a long script keeps committing, a transaction without this check
            // is used in the end.
            self.connection.as_internal(schemas::touch_all)?;
            if settled.is_some() && self.shared.commits.settled() == settled {
                return Ok(());
            }
            self.end_read()?;
            thread::yield_now();
        }
        self.since = self.shared.commits.last();
        self.follow_schemas()?;
        self.connection.internal("BEGIN").map(drop)
    }

    /// Runs `work` on one committed state, which holds all commits up to the number that `work` gets.
    pub(crate) fn in_read<T>(&mut self, work: impl FnOnce(&mut Self, u64) -> Result<T>) -> Result<T> {
        // Jobs that wait together share a read transaction, which may be open already.
        let begins = self.connection.sqlite.is_autocommit();
        if begins {
            self.begin_read()?;
        }
        let since = self.since;
        let done = work(self, since);
        if begins {
            self.end_read()?;
        }
        done
    }

    /// Ends the read transaction, if one is open.
    pub(crate) fn end_read(&mut self) -> Result<()> {
        if self.connection.sqlite.is_autocommit() {
            return Ok(());
        }
        self.connection.internal("COMMIT").map(drop)
    }

    /// Learns what names mean now. Call it outside of transactions.
    pub(super) fn follow_schemas(&mut self) -> Result<()> {
        self.shared.epoch.follow(&mut self.connection, &mut self.seen)
    }
}
