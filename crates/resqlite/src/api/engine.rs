//! The engine of one open database file: its writer, readers and commit log. Shared by all handles that open the
//! file in the same mode: read-only handles share an engine of their own.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use resqlite_live::{ChangeSummary, Columns, Overflow, RowDetail, Scheduler, TableName};
use resqlite_sqlite::Parcel;

use crate::{
    api::diagnostics::Diagnostics,
    commits::log::Commits,
    connection::{
        inline::{GivenUp, InlineQuery, InlineRows},
        location::Location,
        open::check_file,
        schema_epoch::SchemaEpoch,
    },
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        limits,
        long_work::LongWork,
        options::{Durability, Settings},
        params::Params,
        profile::{self, Dispatcher},
        queue::{Queue, Refused},
        sync::{Condvar, Mutex, lock, wait},
        token::Token,
        workers::{Class, InUse, Workers},
    },
    events::{CommitEvents, CommitListener},
    live::{ExternalWatch, Listener, LiveCoordinator, LiveQueryRequest, Subscription},
    maintain::Explanation,
    reader::{Connections, Job, Lease, Leases, Pool, Readers, Shared},
    requests::{
        holders::Holder,
        request::{CursorQuery, Format, Query, Reply, ReplyGuard, TransactionOptions, Write},
        session::{Inbox, Session},
    },
    rows::Integers,
    writer::{self, Counters, HookSource, RestTimer, WriteJob, WriterContext, WriterTask},
};

/// The engine of one database file. Requests never wait here: they are queued and answered on engine threads.
///
/// [`Database`](crate::Database) is the comfortable way to use it; bindings to other languages use it directly.
pub struct Engine {
    id: u64,
    pub(super) parts: WriterContext,
    /// Copies and checkpoints that callers asked for.
    pub(super) long_work: Arc<LongWork>,
    live: Arc<LiveCoordinator>,
    events: Arc<CommitEvents>,
    writer: Option<Arc<WriterTask>>,
    _rest: Option<Arc<RestTimer>>,
    workers: Mutex<Option<InUse>>,
    sessions: Mutex<Sessions>,
    /// The number of handles that share this engine.
    handles: AtomicUsize,
    /// States that all work for the engine has ended; `closing` announces this.
    closed: Mutex<bool>,
    closing: Condvar,
}

/// Open transactions, snapshots and cursors.
#[derive(Default)]
struct Sessions {
    open: Vec<Weak<Inbox>>,
    /// The length at which the sessions that have ended are removed from `open`.
    crowded: usize,
    closed: bool,
}

/// When dropped, tells the threads that wait for the engine to close that it has closed, or has
/// failed to close.
struct Closed<'a>(&'a Engine);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        *lock(&self.0.closed) = true;
        self.0.closing.notify_all();
    }
}

/// Returns the hook that takes part in the transactions of each writer, if there is one.
fn hook() -> Option<Arc<dyn HookSource>> {
    #[cfg(feature = "log")]
    return Some(Arc::new(crate::log::LogSource::default()));
    #[cfg(not(feature = "log"))]
    None
}

static LAST_ID: AtomicU64 = AtomicU64::new(0);

impl Engine {
    pub(super) fn start(location: Location, settings: Settings) -> Result<Self> {
        if settings.untrusted {
            check_file(&location, &settings)?;
        }
        let epoch = Arc::<SchemaEpoch>::default();
        let commits = Arc::<Commits>::default();
        let workers = Workers::of_process();
        let workers_used = workers.enter();
        let shared = Shared::new(
            location.clone(),
            settings.clone(),
            Arc::clone(&epoch),
            Arc::clone(&commits),
        );
        let connections = Arc::new(Connections::new(Arc::new(shared), Arc::clone(&workers)));
        let queue = Queue::new(limits::QUEUED_WRITES_MAX).counted(profile::Depth::writer());
        let queue = Arc::new(queue);
        let external = ExternalWatch::new(
            settings.watch_external && location.identity().is_some(),
            Arc::clone(&location.rest),
            Arc::clone(&epoch),
            Arc::clone(&connections),
            (!settings.read_only).then(|| Arc::clone(&queue)),
        );
        let readers = |class, most, counted| {
            let pool = Pool::new(most, limits::QUEUED_READS_MAX).counted(counted);
            Arc::new(Readers::new(class, pool, Arc::clone(&connections)))
        };
        let selects = readers(Class::Calls, settings.readers, Dispatcher::readers());
        let reruns = readers(
            Class::Runs,
            Scheduler::slots_max(settings.readers),
            Dispatcher::reruns(),
        );
        let leases = Arc::new(Leases::new(Arc::clone(&connections)));
        let external = Arc::new(external);
        let live = Arc::new(LiveCoordinator::new(
            Arc::clone(&commits),
            Arc::clone(&selects),
            Arc::clone(&reruns),
            settings.readers,
            Arc::clone(&external),
        ));
        let events = Arc::new(CommitEvents::new(
            Arc::clone(&commits),
            Arc::clone(&reruns),
            Arc::clone(&external),
        ));
        let listener: Weak<LiveCoordinator> = Arc::downgrade(&live);
        external.listen(listener);
        let listener: Weak<CommitEvents> = Arc::downgrade(&events);
        external.listen(listener);
        let parts = WriterContext {
            queue,
            commits,
            observers: Arc::new([Arc::clone(&live) as _, Arc::clone(&events) as _]),
            readers: selects,
            background: reruns,
            counters: Arc::default(),
            holders: Arc::default(),
            lock_waits: Arc::default(),
            leases,
            connections,
            epoch,
            location,
            settings,
        };
        let writer = if parts.settings.read_only {
            // Without this, nobody would notice until the first read that the file is not a
            // database.
            let reader = parts.connections.open_reader()?;
            parts.connections.put(Parcel::new(reader));
            None
        } else {
            Some(WriterTask::open(parts.clone(), hook(), workers)?)
        };
        let rest = RestTimer::begin(&parts);
        Ok(Self {
            id: LAST_ID.fetch_add(1, Ordering::Relaxed) + 1,
            parts,
            long_work: Arc::default(),
            live,
            events,
            writer,
            _rest: rest,
            workers: Mutex::new(Some(workers_used)),
            sessions: Mutex::default(),
            handles: AtomicUsize::new(1),
            closed: Mutex::new(false),
            closing: Condvar::new(),
        })
    }

    /// Returns a number that no other engine of the process has or had.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Counts one more handle, and returns `true`. If the last handle has gone already, returns
    /// `false`.
    pub(super) fn enter(&self) -> bool {
        let one_more = |handles: usize| (handles > 0).then_some(handles + 1);
        self.handles
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more)
            .is_ok()
    }

    /// Returns whether the engine has handles.
    pub(super) fn is_in_use(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0
    }

    /// Counts one handle less. Returns `true` if it was the last.
    pub(super) fn leave(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(super) fn wait_until_closed(&self) {
        let mut closed = lock(&self.closed);
        while !*closed {
            closed = wait(&self.closing, closed);
        }
    }

    pub(super) fn shut_down(&self) {
        let _closed = Closed(self);
        let open = {
            let mut sessions = lock(&self.sessions);
            sessions.closed = true;
            std::mem::take(&mut sessions.open)
        };
        for session in open.iter().filter_map(Weak::upgrade) {
            session.interrupt(Error::Closed);
        }
        self.live.close();
        self.long_work.close();
        self.events.close();
        self.parts.readers.close();
        self.parts.background.close();
        self.parts.leases.close();
        self.parts.leases.join();
        // Readers may still hand statements over to the writer.
        self.parts.readers.join();
        let writer = self.writer.as_ref().map(|writer| writer.close());
        // Readers close first, so that the writer's connection closes last and leaves no write-ahead log behind.
        self.parts.readers.join();
        self.parts.background.join();
        self.parts.connections.inline().end();
        self.parts.connections.close_all();
        drop(writer);
        self.parts.location.health.log_is(None);
        drop(lock(&self.workers).take());
    }

    /// Reads on a worker.
    pub fn select(&self, query: Query, reply: Box<dyn Reply>) {
        self.parts
            .readers
            .submit(Job::Read(query, ReplyGuard::new(reply)));
    }

    /// Reads on this thread if that is possible without waiting. `take` gets the result, and may refuse it.
    ///
    /// # Errors
    /// The reason why the query was not run here. Nothing was done in that case, and
    /// [`select`](Self::select) can run the query.
    pub fn select_inline(
        &self,
        query: &InlineQuery<'_>,
        take: impl FnOnce(InlineRows<'_>) -> bool,
    ) -> std::result::Result<(), GivenUp> {
        self.parts.connections.inline().select(query, take)
    }

    /// Returns `false` if [`select_inline`](Self::select_inline) never runs a query of this engine.
    pub fn may_select_inline(&self) -> bool {
        self.parts.connections.inline().is_possible()
    }

    /// Writes on the writer, together with the writes that are already waiting.
    pub fn write(&self, write: Write, reply: Box<dyn Reply>) {
        self.push(WriteJob::Write(write, ReplyGuard::new(reply)));
    }

    /// Begins a transaction. `reply` is answered when the transaction holds the writer.
    pub fn begin(
        &self,
        options: impl Into<TransactionOptions>,
        durability: Durability,
        reply: Box<dyn Reply>,
    ) -> Session {
        let (session, opened) = (self.session(), ReplyGuard::new(reply));
        let inbox = Arc::clone(&session.inbox);
        self.push(WriteJob::Begin(writer::Begin {
            inbox,
            options: options.into(),
            durability,
            opened,
        }));
        session
    }

    /// Opens a snapshot: all its reads see one committed state.
    pub fn snapshot(&self, reply: Box<dyn Reply>) -> Session {
        self.lease(None, reply)
    }

    /// Opens a cursor and answers with its first batch of at most `batch_rows` rows.
    pub fn cursor(&self, query: Query, batch_rows: usize, reply: Box<dyn Reply>) -> Session {
        self.lease(Some(CursorQuery::new(query, batch_rows)), reply)
    }

    fn lease(&self, cursor: Option<CursorQuery>, reply: Box<dyn Reply>) -> Session {
        let (session, opened) = (self.session(), ReplyGuard::new(reply));
        let inbox = Arc::clone(&session.inbox);
        self.parts.leases.submit(Lease {
            inbox,
            cursor,
            opened,
        });
        session
    }

    fn session(&self) -> Session {
        let session = Session::new();
        let mut sessions = lock(&self.sessions);
        if sessions.closed {
            session.inbox.interrupt(Error::Closed);
        }
        if sessions.open.len() >= sessions.crowded {
            sessions.open.retain(|session| session.strong_count() > 0);
            sessions.crowded = 2 * sessions.open.len() + 64;
        }
        sessions.open.push(Arc::downgrade(&session.inbox));
        drop(sessions);
        session
    }

    pub(super) fn push(&self, job: WriteJob) {
        match self.refusal_of_writes() {
            Some(refusal) => job.fail(refusal),
            None => push(&self.parts.queue, job),
        }
    }

    /// Returns why nothing can be written, if the database is open for reading only.
    pub(super) fn refusal_of_writes(&self) -> Option<Error> {
        let path = self.parts.location.display_path();
        let refusal = || Error::ReadOnly(format!("\"{path}\" is open for reading only"));
        self.parts.settings.read_only.then(refusal)
    }

    /// Fails requests that were cancelled while they waited; they never run.
    pub fn drop_cancelled(&self) {
        self.parts.readers.drop_cancelled();
        self.parts.leases.drop_cancelled();
        while let Some(job) = self.parts.queue.remove(WriteJob::is_cancelled) {
            job.fail(match self.holder_of_writer() {
                Some(holder) => Error::AbortedBehind {
                    holder: holder.to_string(),
                },
                None => Error::Aborted,
            });
        }
    }

    fn holder_of_writer(&self) -> Option<Holder> {
        self.parts.holders.list().into_iter().next()
    }

    /// Listens to commits from now on. With a `detail`, the events list the changed rows of transactions that begin from now on. If
    /// nobody has asked for changes before, the event of a transaction that is open now lists no tables.
    pub fn listen_to_commits(&self, detail: Option<RowDetail>) -> CommitListener {
        CommitListener::begin(&self.events, detail)
    }

    /// Returns the number of the newest commit in the log, external commits included; 0 before the
    /// first commit.
    pub fn last_commit(&self) -> CommitId {
        self.parts.commits.last_id()
    }

    /// Returns the commits after `id`, with the changes of each. Changes are recorded once somebody has asked for them (a listener, a
    /// live query, [`watch`](Self::watch), a change feed, an entry gate). A commit that began before that says that everything changed.
    ///
    /// # Errors
    /// [`Overflow`], which counts commits as the engine does, if the log no longer reaches back to `id`.
    pub fn commits_since(&self, id: CommitId) -> Result<Vec<(CommitId, Arc<ChangeSummary>)>, Overflow> {
        self.parts.commits.since_id(id)
    }

    /// Asks for more detail about the changes of a table, from the next commit on and until [`unwatch`](Self::unwatch). The changes then
    /// say which of `columns` an UPDATE changed, and which values the columns `images` had before and have afterwards.
    pub fn watch(&self, table: &TableName, columns: &Columns, images: &[u16]) {
        let commits = &self.parts.commits;
        commits.want_changes();
        commits.change_interest(|interest| interest.add(table, columns, images));
    }

    /// Undoes one [`watch`](Self::watch) of the same table, columns and images.
    ///
    /// # Panics
    /// If there was no such `watch`.
    pub fn unwatch(&self, table: &TableName, columns: &Columns, images: &[u16]) {
        let commits = &self.parts.commits;
        commits.change_interest(|interest| interest.remove(table, columns, images));
    }

    /// Begins a live query: `listener` gets its result, and every new result that a commit causes, until the subscription is dropped.
    pub fn subscribe(&self, request: LiveQueryRequest, listener: Box<dyn Listener>) -> Subscription {
        Subscription::begin(&self.live, request, listener)
    }

    /// Explains what a live query of this statement would depend on.
    pub fn explain_stream(
        &self,
        sql: Arc<str>,
        params: Params,
        done: Box<dyn FnOnce(Result<Explanation>) + Send>,
    ) {
        let query = Query {
            sql,
            params,
            format: Format::Rows,
            integers: Integers::Auto,
            token: Token::default(),
            limits: None,
        };
        self.parts.readers.submit(Job::Explain(query, done));
    }

    /// Calls `done` as soon as no live query runs, is stale, or has an emission on its way.
    pub fn when_quiet(&self, done: Box<dyn FnOnce() + Send>) {
        self.live.when_quiet(done);
    }

    /// Returns numbers about what the engine is doing.
    pub fn diagnostics(&self) -> Diagnostics {
        let (counters, (file_bytes, wal_bytes)): (&Counters, _) =
            (&self.parts.counters, self.parts.location.sizes());
        let readers = self.parts.readers.status();
        let (leases, leases_queued) = self.parts.leases.counts();
        Diagnostics {
            path: self.parts.location.display_path().to_owned(),
            sqlite_version: resqlite_sqlite::version(),
            read_only: self.parts.settings.read_only,
            handles: self.handles.load(Ordering::Relaxed),
            file_bytes,
            wal_bytes,
            wal_pages: counters.wal_pages.load(Ordering::Relaxed),
            checkpoints: counters.checkpoints.load(Ordering::Relaxed),
            wal_reset_pauses: counters.wal_reset_pauses.load(Ordering::Relaxed),
            readers_max: self.parts.settings.readers,
            readers: self.parts.connections.readers_open(),
            readers_busy: readers.busy,
            inline: self.parts.connections.inline().counts(),
            reads_queued: readers.queued,
            reads_queued_peak: readers.queued_peak,
            leases,
            leases_queued,
            lease_holders: self.parts.leases.holders().list(),
            transaction: self.holder_of_writer(),
            waiting_for_lock: self.parts.lock_waits.current(),
            writes_queued: self.parts.queue.len(),
            last_commit: self.parts.commits.last_id(),
            groups: counters.groups.load(Ordering::Relaxed),
            largest_group: counters.largest_group.load(Ordering::Relaxed),
            groups_retried_singly: counters.groups_retried_singly.load(Ordering::Relaxed),
            streams: self.live.totals(),
        }
    }
}

/// Queues a job for the writer.
pub(super) fn push(queue: &Queue<WriteJob>, job: WriteJob) {
    match queue.push(job) {
        Ok(()) => {}
        Err(Refused::Full(job)) => job.fail(Error::QueueFull),
        Err(Refused::Closed(job)) => job.fail(Error::Closed),
    }
}
