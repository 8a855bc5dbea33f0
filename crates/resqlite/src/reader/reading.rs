//! Read transactions: those of a reader on its own connection, and those between two writes on the writer's connection.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use resqlite_live::CommitNumber;
use resqlite_sqlite::LogPosition;

use crate::{
    commits::{log::Commits, states::Known},
    connection::{
        engine_connection::EngineConnection,
        location::Location,
        open::open,
        schema_epoch::{SchemaEpoch, SeenEpoch},
    },
    core::{
        clock, commit_id::CommitId, error::Result, limits, names::quoted, options::Settings,
        threads::yield_now,
    },
    guard::authorizer::Role,
};

/// The parts that all readers of a file share.
pub(crate) struct Shared {
    pub(super) location: Location,
    pub(super) settings: Settings,
    pub(super) epoch: Arc<SchemaEpoch>,
    pub(super) commits: Arc<Commits>,
    /// Readers that are open.
    open: AtomicUsize,
}

impl Shared {
    pub(crate) fn new(
        location: Location,
        settings: Settings,
        epoch: Arc<SchemaEpoch>,
        commits: Arc<Commits>,
    ) -> Self {
        Self {
            location,
            settings,
            epoch,
            commits,
            open: AtomicUsize::new(0),
        }
    }

    /// The number of readers that are open.
    pub(super) fn readers_open(&self) -> usize {
        self.open.load(Relaxed)
    }
}

/// A read-only connection.
pub(crate) struct Reader {
    pub(super) connection: EngineConnection,
    reads: ReadState,
}

/// The known state of the read transactions on a connection.
pub(crate) struct ReadState {
    shared: Arc<Shared>,
    seen: SeenEpoch,
    /// The newest commit before the last read began.
    since: CommitNumber,
    /// The exact state of the open read transaction, if the transaction was begun to know that state.
    exact: Option<ExactState>,
}

/// A connection, and what is known of its read transactions.
pub(crate) struct Reading<'r> {
    connection: &'r mut EngineConnection,
    reads: &'r mut ReadState,
}

/// The state that a read transaction shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExactState {
    /// It holds the commits up to this number, no later one of the engine, and perhaps external ones.
    pub(crate) number: CommitNumber,
    /// The number of commits that the main database's write-ahead log has had, with external ones; `None` if there is no log.
    log_commits: Option<u32>,
    /// The number of these commits that the engine has made.
    own_commits: u32,
}

impl ExactState {
    /// Returns whether only commits of the engine to the main database lie between this state and a later one.
    pub(crate) fn is_followed_by(&self, later: &Self) -> bool {
        let known = later.own_commits.wrapping_sub(self.own_commits);
        match (self.log_commits, later.log_commits) {
            (Some(before), Some(after)) => after.wrapping_sub(before) == known,
            // No other process opens a database without a log; and an empty log had no commit.
            (None, None) => true,
            _ => false,
        }
    }
}

impl Reader {
    pub(super) fn open(shared: &Arc<Shared>) -> Result<Self> {
        let location = &shared.location;
        let connection = open(location, &shared.settings, Role::Reader, |_| ())
            .map_err(|error| location.health.explain(error))?;
        shared.open.fetch_add(1, Relaxed);
        Ok(Self {
            connection,
            reads: ReadState::new(shared),
        })
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.reads.shared
    }

    /// Returns whether the reader knows what names mean now.
    pub(super) fn is_current(&self) -> bool {
        self.shared().epoch.is(&self.reads.seen)
    }

    pub(super) fn spans_databases(&self) -> bool {
        self.reads.spans_databases()
    }

    pub(crate) fn reading(&mut self) -> Reading<'_> {
        Reading {
            connection: &mut self.connection,
            reads: &mut self.reads,
        }
    }

    /// The newest commit that the last read is sure to include.
    pub(super) fn includes(&self) -> CommitId {
        self.shared().commits.id(self.reads.since)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared().open.fetch_sub(1, Relaxed);
    }
}

impl ReadState {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            seen: SeenEpoch::default(),
            since: CommitNumber::default(),
            exact: None,
        }
    }

    /// Takes over what names mean now on the writer's connection, which always knows that. Call it in a turn of the writer.
    pub(crate) fn follow_writer(&mut self) {
        self.seen = self.shared.epoch.now();
    }

    /// The value of [`SchemaEpoch::names`] when the last read began.
    pub(crate) fn names(&self) -> u64 {
        self.seen.names()
    }

    pub(crate) fn spans_databases(&self) -> bool {
        !self.seen.attachments().is_empty()
    }

    /// Reads on the writer's connection, between two transactions, after [`follow_writer`](Self::follow_writer).
    pub(crate) fn on<'r>(&'r mut self, writer: &'r mut EngineConnection) -> Reading<'r> {
        Reading {
            connection: writer,
            reads: self,
        }
    }
}

impl Reading<'_> {
    pub(crate) fn connection(&mut self) -> &mut EngineConnection {
        self.connection
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
        for _ in 0..limits::SNAPSHOT_ATTEMPTS_FREE {
            if self.begin_at_one_state()? {
                return Ok(());
            }
        }
        let commits = Arc::clone(&self.reads.shared.commits);
        let _held_back = commits.hold_back();
        for _ in limits::SNAPSHOT_ATTEMPTS_FREE..limits::SNAPSHOT_ATTEMPTS {
            if !commits.wait_until_settled(self.reads.shared.settings.busy_timeout) {
                break;
            }
            if self.begin_at_one_state()? {
                return Ok(());
            }
        }
        // A long script keeps committing. The databases may be shown at different commits of the script.
        self.begin()
    }

    /// Begins a read transaction whose snapshot, if it spans several databases, is of one state of them all. Otherwise
    /// returns `false`, and no transaction is open.
    fn begin_at_one_state(&mut self) -> Result<bool> {
        let settled = self.reads.shared.commits.settled();
        self.begin()?;
        if !self.spans_databases() {
            return Ok(true);
        }
        // SQLite takes the snapshot of each database with the first read from it. So this reads from all of them at
        // once, while no commit is under way.
        self.read_schemas()?;
        let is_one_state = settled.is_some() && self.reads.shared.commits.settled() == settled;
        if is_one_state {
            return Ok(true);
        }
        self.end_read()?;
        yield_now();
        Ok(false)
    }

    /// Reads from each database. After that, statements that are only prepared use the present schemas: SQLite checks for
    /// changed schemas when a statement runs, and not when one is prepared.
    pub(super) fn read_schemas(&mut self) -> Result<()> {
        self.connection.take_snapshot()?;
        for name in self.reads.seen.attachments() {
            let sql = format!("SELECT 1 FROM {}.sqlite_schema", quoted(name, '"'));
            self.connection.internal(&sql)?;
        }
        Ok(())
    }

    /// Begins a read transaction, and tries to know exactly which state it shows.
    fn begin_exact_read(&mut self) -> Result<()> {
        self.reads.shared.commits.states.want(true);
        for _ in 0..limits::SNAPSHOT_ATTEMPTS_FREE {
            let settled = self.reads.shared.commits.settled();
            self.begin_read()?;
            if let Err(error) = self.connection.take_snapshot() {
                self.end_read()?;
                return Err(error);
            }
            let log = self.connection.sqlite.log_position();
            let own_commits = self.reads.shared.commits.in_main_log();
            // If nothing was committed since before the read began, the number is that of the state.
            let is_exact = settled.is_some() && self.reads.shared.commits.settled() == settled;
            if is_exact {
                self.reads.exact = Some(ExactState {
                    number: self.reads.since,
                    log_commits: log.map(|log| log.commits),
                    own_commits,
                });
            } else {
                self.reads.exact = self.committed_state(log);
            }
            if self.reads.exact.is_some() {
                return Ok(());
            }
            self.end_read()?;
            yield_now();
        }
        self.begin_read()
    }

    /// Returns the state of a snapshot whose log ends at `log`, if a commit of the engine has made it. That may be the commit
    /// under way, whose number is known in a moment.
    fn committed_state(&self, log: Option<LogPosition>) -> Option<ExactState> {
        let log = log.filter(|_| !self.spans_databases())?;
        let (commits, end) = (&self.reads.shared.commits, clock::now() + limits::STATE_PATIENCE);
        loop {
            match commits.states.at(log) {
                Known::As(state) => {
                    return Some(ExactState {
                        number: state.number,
                        log_commits: Some(log.commits),
                        own_commits: state.own_commits,
                    });
                }
                Known::NotYet if commits.may_be_committing() && clock::now() < end => yield_now(),
                Known::NotYet | Known::Never => return None,
            }
        }
    }

    /// Returns exactly which state the open read transaction shows, if that is known.
    pub(crate) fn exact_state(&self) -> Option<ExactState> {
        self.reads.exact
    }

    fn begin(&mut self) -> Result<()> {
        // Loaded first: a reader that knows of a commit must know what names mean since then.
        self.reads.since = self.reads.shared.commits.last();
        self.follow_schemas()?;
        self.connection.internal("BEGIN").map(drop)
    }

    /// Gets ready for one select. Returns whether this began a read transaction. Even a single statement shows several
    /// databases at one state only in a transaction that does.
    pub(super) fn ready_for_select(&mut self) -> Result<bool> {
        self.follow_schemas()?;
        if self.spans_databases() {
            self.begin_read()?;
        }
        // Meanwhile the connection may have learnt that the databases were detached.
        Ok(!self.connection.sqlite.is_autocommit())
    }

    /// As [`ready_for_select`](Self::ready_for_select), for a statement whose reply says which commit it includes.
    pub(super) fn ready_for_any(&mut self) -> Result<bool> {
        // Loaded first, so that the statement reads at least this commit.
        self.reads.since = self.reads.shared.commits.last();
        self.ready_for_select()
    }

    /// See [`ReadState::names`].
    pub(crate) fn names(&self) -> u64 {
        self.reads.names()
    }

    fn spans_databases(&self) -> bool {
        self.reads.spans_databases()
    }

    /// Runs `work` on one committed state, which holds all commits up to the number that `work` gets. `exact`: tries to
    /// know exactly which state that is.
    pub(crate) fn in_read<T>(
        &mut self,
        exact: bool,
        work: impl FnOnce(&mut Self, CommitNumber) -> Result<T>,
    ) -> Result<T> {
        // Jobs that wait together share a read transaction, which may be open already.
        let begins = self.connection.sqlite.is_autocommit();
        match (begins, exact) {
            (false, _) => {}
            (true, true) => self.begin_exact_read()?,
            (true, false) => self.begin_read()?,
        }
        let since = self.reads.since;
        let done = work(self, since);
        if begins {
            self.end_read()?;
        }
        done
    }

    /// Ends the read transaction, if one is open.
    pub(crate) fn end_read(&mut self) -> Result<()> {
        self.reads.exact = None;
        if self.connection.sqlite.is_autocommit() {
            return Ok(());
        }
        self.connection.internal("COMMIT").map(drop)
    }

    /// Learns what names mean now. Call it outside of transactions.
    pub(crate) fn follow_schemas(&mut self) -> Result<()> {
        self.reads
            .shared
            .epoch
            .follow(self.connection, &mut self.reads.seen)
    }
}
