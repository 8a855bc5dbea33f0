//! A reader thread: one read-only connection, one job at a time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use resqlite_live::fault::planted;
use resqlite_sqlite::Connection;

use super::{
    Pool, PoolStatus,
    pool::{Next, Submitted},
    relief,
};
use crate::{
    commits::recorder::Commits,
    connection::{
        attachments::{Attachments, Seen},
        engine_connection::{Prepared, Statements},
        open::{self, Place},
        schemas,
    },
    core::{
        error::{Error, Result},
        limits,
        options::Settings,
        profile,
        queue::Popped,
        token::Token,
    },
    guard::Role,
    live::LiveJob,
    requests::{
        holders::Holders,
        request::{Outcome, Query, Replier, Step},
        session::{EndOnPanic, Inbox},
    },
};

/// What a reader thread can be asked.
pub(crate) enum Job {
    Read(Query, Replier),
    Lease(Lease),
    Live(LiveJob),
}

/// A reader for one caller, until the session ends.
pub(crate) struct Lease {
    pub(crate) inbox: Arc<Inbox>,
    /// A cursor; a snapshot has none.
    pub(crate) cursor: Option<Cursor>,
    pub(crate) opened: Replier,
    pub(crate) asked: Instant,
}

/// The query of a cursor.
pub(crate) struct Cursor {
    pub(crate) query: Query,
    pub(crate) batch_rows: usize,
}

/// A pool and what its threads need to open their connections.
#[derive(Clone)]
pub(crate) struct Readers {
    pub(super) pool: Arc<Pool<Job>>,
    shared: Arc<Shared>,
}

struct Shared {
    name: &'static str,
    place: Place,
    settings: Settings,
    attachments: Arc<Attachments>,
    commits: Arc<Commits>,
    holders: Arc<Holders>,
}

impl Readers {
    pub(crate) fn new(
        name: &'static str,
        pool: Pool<Job>,
        place: Place,
        settings: Settings,
        attachments: Arc<Attachments>,
        commits: Arc<Commits>,
    ) -> Self {
        Self {
            pool: Arc::new(pool),
            shared: Arc::new(Shared {
                name,
                place,
                settings,
                attachments,
                commits,
                holders: Arc::default(),
            }),
        }
    }

    /// Who holds a reader for himself.
    pub(crate) fn holders(&self) -> &Holders {
        &self.shared.holders
    }

    /// A reader like those of the threads, for a thread of another kind.
    pub(crate) fn open_reader(&self) -> Result<Reader> {
        Reader::open(&self.shared)
    }

    /// Queues a job; starts a thread where one is missing.
    pub(crate) fn submit(&self, job: Job) {
        self.settle(self.pool.submit(job));
    }

    /// Queues a job for later.
    pub(crate) fn submit_after(&self, pause: Duration, job: Job) {
        self.settle(self.pool.submit_after(pause, job));
    }

    fn settle(&self, submitted: Submitted<Job>) {
        match submitted {
            Submitted::Queued => {}
            Submitted::NeedsThread => self.start_thread(),
            Submitted::NeedsRelief => relief::start(self),
            Submitted::Full(job) => job.fail(Error::QueueFull),
            Submitted::Closed(job) => job.fail(Error::Closed),
        }
    }

    pub(super) fn start_thread(&self) {
        let (pool, shared) = (Arc::clone(&self.pool), Arc::clone(&self.shared));
        let started = thread::Builder::new()
            .name(shared.name.into())
            .spawn(move || serve(&pool, &shared));
        if started.is_err() {
            self.pool
                .lost_thread()
                .into_iter()
                .for_each(|job| job.fail(Error::WorkerDied));
        }
    }

    /// Fails a read that still waits, if its token was cancelled.
    pub(crate) fn drop_cancelled(&self) {
        while let Some(job) = self.pool.remove(Job::is_cancelled) {
            job.fail(Error::Aborted);
        }
    }

    pub(crate) fn in_gap<R>(&self, time: Duration, action: impl FnOnce() -> R) -> Option<R> {
        self.pool.in_gap(time, action)
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }

    pub(crate) fn join(&self) {
        self.pool.join();
    }

    pub(crate) fn status(&self) -> PoolStatus {
        self.pool.status()
    }
}

impl Job {
    pub(super) fn fail(self, error: Error) {
        match self {
            Self::Read(_, reply) => reply.fail(error),
            Self::Lease(lease) => lease.fail(error),
            Self::Live(job) => job.fail(error),
        }
    }

    /// How long a lease has waited; the others are not looked after.
    pub(super) fn waits_for(&self) -> Duration {
        match self {
            Self::Lease(lease) => lease.asked.elapsed(),
            Self::Read(..) | Self::Live(_) => Duration::ZERO,
        }
    }

    fn is_cancelled(&self) -> bool {
        match self {
            Self::Read(query, _) => query.token.is_cancelled(),
            Self::Lease(lease) => lease.inbox.scope.is_cancelled(),
            Self::Live(job) => job.is_cancelled(),
        }
    }
}

impl Lease {
    fn fail(self, error: Error) {
        self.inbox.end(Some(error.clone()));
        self.opened.fail(error);
    }
}

/// Serves jobs until the pool says to quit. A connection that cannot be opened fails the job that needed it; one in
/// whose use something panicked is replaced.
fn serve(pool: &Pool<Job>, shared: &Shared) {
    // Declared first, so that it goes last: the connection is closed by then.
    let _leaving = Leaving(pool);
    let mut reader: Option<Reader> = None;
    let (mut was_busy, mut snapshot) = (false, None);
    loop {
        let next = pool.next(was_busy, snapshot);
        if matches!(next, Next::Quit) {
            break;
        }
        was_busy = true;
        let turn = catch_unwind(AssertUnwindSafe(|| {
            take_turn(next, snapshot, &mut reader, shared)
        }));
        snapshot = turn.unwrap_or_else(|_| {
            reader = None;
            None
        });
    }
}

/// Tells the pool that a thread has ended, however it ends.
struct Leaving<'a>(&'a Pool<Job>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.left();
    }
}

/// Does what is next; gives the last ticket that the read transaction open afterwards may serve.
fn take_turn(
    next: Next<Job>,
    open: Option<u64>,
    reader: &mut Option<Reader>,
    shared: &Shared,
) -> Option<u64> {
    let Next::Job {
        job,
        snapshot: wanted,
    } = next
    else {
        if reader.as_mut().is_some_and(|reader| reader.end_read().is_err()) {
            *reader = None;
        }
        return None;
    };
    let current = match ready(reader, shared) {
        Ok(current) => current,
        Err(error) => {
            job.fail(error);
            return None;
        }
    };
    // Reads that wait already share one read transaction: each began to wait before it begins.
    let snapshot = match (open, wanted) {
        (None, Some(_)) if current.begin_read().is_ok() => wanted,
        (None, _) => None,
        (open, _) => open,
    };
    current.run(job, snapshot.is_some());
    snapshot
}

/// The thread's connection, opened now if need be.
fn ready<'a>(reader: &'a mut Option<Reader>, shared: &Shared) -> Result<&'a mut Reader> {
    shared.place.check()?;
    if reader.is_none() {
        *reader = Some(Reader::open(shared)?);
    }
    Ok(reader.as_mut().expect("opened above"))
}

/// A reader's connection.
pub(crate) struct Reader {
    statements: Statements,
    attached: Seen,
    attachments: Arc<Attachments>,
    commits: Arc<Commits>,
    holders: Arc<Holders>,
    /// The newest commit before the last read transaction began.
    since: u64,
}

impl Reader {
    fn open(shared: &Shared) -> Result<Self> {
        let statements = open::open(&shared.place, &shared.settings, Role::Reader, |_| ())
            .map_err(|error| shared.place.explain(error))?;
        Ok(Self {
            statements,
            attached: Seen::default(),
            attachments: Arc::clone(&shared.attachments),
            commits: Arc::clone(&shared.commits),
            holders: Arc::clone(&shared.holders),
            since: 0,
        })
    }

    fn connection(&self) -> &Connection {
        &self.statements.connection
    }

    /// Begins a read transaction. It takes its snapshot with the first read.
    fn begin_read(&mut self) -> Result<()> {
        let begun = self.try_to_begin();
        if begun.is_err() {
            // One that stayed open would show this state to everybody who comes later.
            self.end_read()?;
        }
        begun
    }

    fn try_to_begin(&mut self) -> Result<()> {
        for _ in 0..limits::SNAPSHOT_ATTEMPTS {
            let settled = self.commits.settled();
            // Read first: whoever knows of a commit must know what names mean since.
            self.since = self.commits.last();
            self.follow_attachments()?;
            self.control("BEGIN")?;
            if self.attachments.is_empty() {
                return Ok(());
            }
            // SQLite takes the snapshot of each database with the first read from it. So all are read from at once,
            // while the writer rests; if it never does, the last attempt counts.
            let guard = self.statements.guard.clone();
            guard.internally(|| schemas::touch_all(self.connection()))?;
            if settled.is_some() && self.commits.settled() == settled {
                return Ok(());
            }
            self.end_read()?;
            thread::yield_now();
        }
        self.since = self.commits.last();
        self.follow_attachments()?;
        self.control("BEGIN")
    }

    /// Runs `work` on one committed state, which holds all commits up to the number that `work` is told.
    pub(crate) fn in_read<T>(&mut self, work: impl FnOnce(&mut Self, u64) -> Result<T>) -> Result<T> {
        // Jobs that wait together share a read transaction, which may be open already.
        let begins = self.connection().is_autocommit();
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

    pub(crate) fn statements(&mut self) -> &mut Statements {
        &mut self.statements
    }

    fn follow_attachments(&mut self) -> Result<()> {
        self.attachments
            .bring_up_to_date(&mut self.statements, &mut self.attached)
    }

    /// Ends the read transaction, if one is open.
    pub(crate) fn end_read(&mut self) -> Result<()> {
        if self.connection().is_autocommit() {
            return Ok(());
        }
        self.control("COMMIT")
    }

    fn control(&mut self, sql: &str) -> Result<()> {
        let guard = self.statements.guard.clone();
        guard.internally(|| self.statements.control(sql)).map(drop)
    }

    fn run(&mut self, job: Job, in_transaction: bool) {
        if !in_transaction && let Err(error) = self.follow_attachments() {
            return job.fail(error);
        }
        match job {
            Job::Read(query, reply) => {
                let timer = profile::start();
                self.statements.select(&query, reply);
                profile::reader_request(timer);
            }
            Job::Lease(lease) => self.lease(lease),
            Job::Live(job) => job.run(self),
        }
    }

    /// Serves one caller alone, on one committed state.
    fn lease(&mut self, lease: Lease) {
        if let Some(reason) = lease.inbox.reason() {
            return lease.fail(reason);
        }
        // A job before this one may have left the shared read transaction open.
        let began = self.end_read().and_then(|()| self.begin_read());
        if let Err(error) = began {
            return lease.fail(error);
        }
        let (inbox, holders) = (Arc::clone(&lease.inbox), Arc::clone(&self.holders));
        let _held = holders.hold(&inbox, lease.cursor.as_ref().map(|cursor| &cursor.query.sql));
        let _ended = EndOnPanic(&inbox);
        self.statements.guard.set_session(Some(inbox.scope.clone()));
        match lease.cursor {
            None => self.snapshot(&inbox, lease.opened),
            Some(cursor) => self.cursor(&inbox, &cursor, lease.opened),
        }
        self.statements.guard.set_session(None);
        if !planted("keep_lease") {
            inbox.end(None);
        }
        // An error here leaves a transaction open, which the next begin reports.
        let _ = self.end_read();
    }

    fn snapshot(&mut self, inbox: &Inbox, opened: Replier) {
        // BEGIN takes no snapshot yet; the first read does.
        if let Err(error) = self.connection().query_text("SELECT 1 FROM sqlite_schema") {
            return opened.fail(error.into());
        }
        opened.finish(Ok(Outcome::Done));
        while let Popped::Item(step) = inbox.steps.pop(None) {
            match step {
                Step::Select(query, reply) => self.statements.select(&query, reply),
                Step::End(reply) => return reply.finish(Ok(Outcome::Done)),
                step => {
                    let operation = step.operation();
                    let message = format!("{operation} is not possible in a snapshot");
                    step.into_reply().fail(Error::transaction(operation, message));
                }
            }
        }
    }

    fn cursor(&mut self, inbox: &Inbox, cursor: &Cursor, opened: Replier) {
        self.statements.guard.start_query(&cursor.query);
        let prepared = self.statements.take(&cursor.query.sql).and_then(|mut prepared| {
            prepared.bind_query(&cursor.query)?;
            Ok(prepared)
        });
        match prepared {
            Err(error) => opened.fail(self.statements.guard.explain(error)),
            Ok(mut prepared) => {
                self.batches(inbox, cursor, &mut prepared, opened);
                self.statements.put(&cursor.query.sql, prepared);
            }
        }
        self.statements.guard.stop();
        self.statements.guard.end_query();
    }

    fn batches(&mut self, inbox: &Inbox, cursor: &Cursor, prepared: &mut Prepared, opened: Replier) {
        let (most, integers) = (cursor.batch_rows, cursor.query.integers);
        let mut end = self.statements.fetch(prepared, most, integers, true, opened);
        while !end && let Popped::Item(step) = self.next_step(inbox, &cursor.query.token) {
            match step {
                Step::Fetch(reply) => end = self.statements.fetch(prepared, most, integers, false, reply),
                Step::End(reply) => return reply.finish(Ok(Outcome::Done)),
                step => {
                    let operation = step.operation();
                    let message = format!("{operation} is not possible in a cursor");
                    step.into_reply().fail(Error::transaction(operation, message));
                }
            }
        }
    }

    /// Waits for the next step of a cursor, which is not at work meanwhile.
    fn next_step(&self, inbox: &Inbox, token: &Token) -> Popped<Step> {
        self.statements.guard.pause();
        let step = inbox.steps.pop(None);
        self.statements.guard.resume(token);
        step
    }
}
