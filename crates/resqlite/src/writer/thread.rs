//! The writer thread: takes what waits, commits it together, answers.

use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use resqlite_live::fault::planted;
use resqlite_sqlite::{codes, locks_survive_other_copies};

use super::{
    classify,
    files::Files,
    transaction::Begin,
    unit::{Company, Done},
};
use crate::{
    commits::recorder::{Commits, Recorder},
    connection::{
        attachments::{Attachments, Seen},
        engine_connection::Statements,
        open::{self, Place},
        schemas,
    },
    core::{
        error::{Error, Result},
        limits,
        options::Settings,
        pragmas::Asker,
        profile,
        queue::{Popped, Queue},
    },
    guard::Role,
    live::{self, ForeignLook, Hub, Versions, cannot_run_here, run_here},
    reader::{Reader, Readers},
    requests::{
        holders::Holders,
        request::{Outcome, Replier, Work, Write, Written},
    },
};

/// What the writer can be asked.
pub(crate) enum WriteJob {
    Write(Write, Replier),
    Begin(Begin),
    /// Whether somebody else has committed.
    Look(ForeignLook),
}

impl WriteJob {
    pub(crate) fn fail(self, error: Error) {
        match self {
            Self::Write(_, reply) => reply.fail(error),
            Self::Begin(begin) => {
                begin.inbox.end(Some(error.clone()));
                begin.opened.fail(error);
            }
            Self::Look(look) => drop(look),
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        match self {
            Self::Write(write, _) => write.token.is_cancelled(),
            Self::Begin(begin) => begin.inbox.scope.is_cancelled(),
            Self::Look(_) => false,
        }
    }
}

/// What the writer shares with the rest of the engine.
#[derive(Clone)]
pub(crate) struct WriterParts {
    pub(crate) place: Place,
    pub(crate) settings: Settings,
    pub(crate) queue: Arc<Queue<WriteJob>>,
    pub(crate) commits: Arc<Commits>,
    pub(crate) attachments: Arc<Attachments>,
    pub(crate) readers: Arc<Readers>,
    /// The open transaction.
    pub(crate) transaction: Arc<Holders>,
    /// Threads for snapshots and cursors, which may take long, so that they never hold up a `select`.
    pub(crate) leases: Arc<Readers>,
    /// Threads that run live queries again.
    pub(crate) reruns: Arc<Readers>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) hub: Arc<Hub>,
}

/// Numbers for diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// SQLite transactions that held more than one write.
    pub(crate) groups: AtomicU64,
    /// The most writes that one transaction held.
    pub(crate) largest_group: AtomicU64,
    /// Groups that could not commit as a whole, so that each write ran alone.
    pub(crate) split_groups: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    /// Checkpoints for which readers were held back.
    pub(crate) reader_gaps: AtomicU64,
    pub(crate) wal_pages: AtomicU32,
    /// A sync has failed, and the logs have not been written again since. Here, so that a writer that is replaced knows.
    pub(crate) sync_failed: AtomicBool,
}

type Waiting = (Write, Replier);

/// The writer's connection and what is known about it.
pub(super) struct Writer {
    /// For live queries that it runs itself. Stands first, so that the connection that writes is closed last.
    reader: Option<Reader>,
    pub(super) statements: Statements,
    pub(super) recorder: Recorder,
    pub(super) commits: Arc<Commits>,
    pub(super) parts: WriterParts,
    /// Pages in the write-ahead log, as SQLite told after the last commit.
    pub(super) wal_pages: Rc<Cell<u32>>,
    /// Pages that were in it when it was last checkpointed.
    pub(super) checkpointed: u32,
    /// Commits to let pass before readers are held back again.
    pub(super) restart_pause: u32,
    synchronous_full: bool,
    /// SQLite's counts of schema changes, per database, when the last transaction began.
    schema_versions: Vec<Option<i64>>,
    /// Attached databases whose write-ahead logs have grown.
    pub(super) attached_logs: Rc<RefCell<Vec<String>>>,
    /// What others had committed when that was last looked at.
    versions: Versions,
    /// SQLite has written to a log since this was last reset.
    wrote: Rc<Cell<bool>>,
    /// The open transaction has changed what names mean.
    pub(super) schema_touched: bool,
    /// ANALYZE has run in the open transaction.
    pub(super) statistics_touched: bool,
    files: Files,
}

/// Starts the writer thread and waits until the database is open.
///
/// # Errors
/// Why it cannot be opened.
pub(crate) fn start(parts: WriterParts) -> Result<JoinHandle<()>> {
    let (told, hear) = std::sync::mpsc::channel();
    let path = parts.place.given.clone();
    let body = move || match Writer::open(parts.clone()) {
        Ok(writer) => {
            let _ = told.send(Ok(()));
            serve(writer, parts);
        }
        Err(error) => {
            let _ = told.send(Err(error));
        }
    };
    let failed = |reason: String| Error::Open {
        path: path.clone(),
        reason,
        source: None,
    };
    let handle = thread::Builder::new()
        .name("resqlite-writer".into())
        .spawn(body)
        .map_err(|error| failed(format!("no thread could be started: {error}")))?;
    match hear.recv() {
        Ok(Ok(())) => Ok(handle),
        Ok(Err(error)) => {
            let _ = handle.join();
            Err(error)
        }
        Err(_) => Err(failed("the writer thread failed".into())),
    }
}

/// Serves until the queue is closed and empty. A connection in whose use something panicked is replaced.
fn serve(writer: Writer, parts: WriterParts) {
    let mut writer = Some(writer);
    let mut jobs = Vec::new();
    loop {
        match parts.queue.pop(None) {
            Popped::Item(job) => jobs.push(job),
            _ => break,
        }
        if shareable(&jobs[0]) {
            parts
                .queue
                .drain_while(&mut jobs, limits::GROUP_UNITS_MAX, shareable);
        }
        if writer.is_none() {
            match Writer::open(parts.clone()) {
                Ok(mut opened) => {
                    // What others have committed since the last look is not known.
                    opened.versions.clear();
                    writer = Some(opened);
                }
                Err(error) => {
                    jobs.drain(..).for_each(|job| job.fail(error.clone()));
                    continue;
                }
            }
        }
        let taken = std::mem::take(&mut jobs);
        let run = catch_unwind(AssertUnwindSafe(|| {
            writer.as_mut().expect("opened above").handle(taken)
        }));
        if run.is_err() {
            writer = None;
            parts.commits.record_unknown();
            parts.hub.catch_up();
            parts.commits.ended();
        }
    }
    // Readers close first, so that the writer's connection is the last and leaves no write-ahead log behind.
    parts.readers.join();
    parts.reruns.join();
    drop(writer);
    parts.place.forget_log();
}

/// Whether a write may share a transaction with others. Judged under the queue's lock, so it must be quick: scripts
/// and batches that are still on their way run by themselves.
fn shareable(job: &WriteJob) -> bool {
    let WriteJob::Write(write, _) = job else {
        return false;
    };
    match &write.work {
        Work::Execute { sql, .. } | Work::Batch { sql, more: None, .. } => {
            !classify::statement_runs_alone(sql)
        }
        _ => false,
    }
}

/// How an attempt to commit a group ended.
enum Attempt {
    Committed(Vec<Result<Done>>, u64),
    /// Nothing of the group is left; why, and whether the same would happen to each write alone.
    RolledBack {
        error: Error,
        for_all: bool,
    },
}

impl Writer {
    fn open(parts: WriterParts) -> Result<Self> {
        let recorder = Recorder::default();
        let wal_pages = Rc::new(Cell::new(0));
        let (pages, wrote) = (Rc::clone(&wal_pages), Rc::new(Cell::new(false)));
        let writes = Rc::clone(&wrote);
        let attached_logs = Rc::new(RefCell::new(Vec::new()));
        let logs = Rc::clone(&attached_logs);
        let statements = open::open(&parts.place, &parts.settings, Role::Writer, |connection| {
            recorder.install(connection);
            connection.set_wal_hook(move |schema, in_log| {
                writes.set(true);
                match schema {
                    "main" => pages.set(in_log),
                    _ if in_log < limits::WAL_CHECKPOINT_PAGES => {}
                    _ => logs.borrow_mut().push(schema.to_owned()),
                }
            });
        })?;
        let commits = Arc::clone(&parts.commits);
        let mut statements = statements;
        // One that is replaced has attached what the readers have.
        parts
            .attachments
            .bring_up_to_date(&mut statements, &mut Seen::default())?;
        let versions = live::versions(&mut statements, &parts.attachments)?;
        let files = Files::of(parts.place.identity());
        files
            .main_log()
            .into_iter()
            .for_each(|log| parts.place.keep_log(log));
        Ok(Self {
            reader: None,
            statements,
            recorder,
            commits,
            parts,
            wal_pages,
            checkpointed: 0,
            restart_pause: 0,
            synchronous_full: false,
            schema_versions: Vec::new(),
            attached_logs,
            versions,
            wrote,
            schema_touched: false,
            statistics_touched: false,
            files,
        })
    }

    fn handle(&mut self, jobs: Vec<WriteJob>) {
        self.statements.guard.wait_anew();
        let mut writes = Vec::with_capacity(jobs.len());
        for job in jobs {
            match job {
                job if job.is_cancelled() => job.fail(Error::Aborted),
                WriteJob::Begin(begin) => self.transaction(begin),
                WriteJob::Look(look) => self.look_for_foreign(look),
                WriteJob::Write(write, reply) => writes.push((write, reply)),
            }
        }
        let (timer, requests) = (profile::start(), writes.len());
        self.commit_waiting(writes);
        profile::writer_requests(timer, requests);
        // After the answers: nobody who writes waits for those who watch.
        let WriterParts { hub, queue, .. } = &self.parts;
        let runs_here = hub.catch_up_or_run_here(|| queue.len() == 0);
        self.commits.ended();
        if runs_here {
            self.run_live_queries();
        }
        self.checkpoint_if_due();
    }

    /// Runs what little a commit has made due.
    fn run_live_queries(&mut self) {
        let hub = &self.parts.hub;
        let reader = match self.reader.take() {
            Some(reader) => Ok(reader),
            None => self.parts.reruns.open_reader(),
        };
        let Ok(mut reader) = reader else {
            return cannot_run_here(hub);
        };
        // A panic is told to whom it concerns; it costs this reader, and not the writer.
        let run = catch_unwind(AssertUnwindSafe(|| run_here(hub, &mut reader)));
        self.reader = run.is_ok().then_some(reader);
    }

    /// Looks whether anybody but this connection has committed.
    fn look_for_foreign(&mut self, look: ForeignLook) {
        // If it cannot be found out, it may be so.
        let versions = live::versions(&mut self.statements, &self.parts.attachments).unwrap_or_default();
        let foreign = versions != self.versions || versions.is_empty();
        self.versions = versions;
        if foreign {
            self.parts.attachments.names_changed();
        }
        look.answer(foreign);
    }

    fn commit_waiting(&mut self, mut writes: Vec<Waiting>) {
        match writes.len() {
            0 => {}
            1 => self.single(writes.remove(0)),
            _ => self.group(writes),
        }
    }

    fn single(&mut self, (write, reply): Waiting) {
        let alone = match &write.work {
            Work::Execute { sql, .. } | Work::Batch { sql, .. } => classify::statement_runs_alone(sql),
            Work::Script(script) => classify::script_runs_alone(script),
        };
        if alone {
            let done = self.run_unwrapped(&write);
            return answer(reply, done);
        }
        match self.attempt(&[&write]) {
            Attempt::Committed(mut done, commit) => {
                answer(
                    reply,
                    done.pop()
                        .expect("one result per write")
                        .map(|done| (done, commit)),
                );
            }
            Attempt::RolledBack { error, .. } => tell(reply, Err(error)),
        }
    }

    /// Commits writes together. If they cannot be committed as a group, each runs alone.
    fn group(&mut self, waiting: Vec<Waiting>) {
        let writes: Vec<_> = waiting.iter().map(|(write, _)| write).collect();
        match self.attempt(&writes) {
            Attempt::Committed(done, commit) => {
                self.parts.counters.groups.fetch_add(1, Ordering::Relaxed);
                self.parts
                    .counters
                    .largest_group
                    .fetch_max(waiting.len() as u64, Ordering::Relaxed);
                for ((_, reply), done) in waiting.into_iter().zip(done) {
                    answer(reply, done.map(|done| (done, commit)));
                }
            }
            Attempt::RolledBack {
                error: Error::Aborted,
                for_all: true,
            } => {
                // Some gave up waiting for a foreign lock; the others go on waiting.
                let gave_up = |(write, _): &Waiting| write.token.is_cancelled();
                let (aborted, patient): (Vec<_>, Vec<_>) = waiting.into_iter().partition(gave_up);
                aborted
                    .into_iter()
                    .for_each(|(_, reply)| tell(reply, Err(Error::Aborted)));
                self.commit_waiting(patient);
            }
            Attempt::RolledBack { error, for_all: true } => {
                waiting
                    .into_iter()
                    .for_each(|(_, reply)| tell(reply, Err(error.clone())));
            }
            Attempt::RolledBack { .. } => {
                self.parts.counters.split_groups.fetch_add(1, Ordering::Relaxed);
                waiting.into_iter().for_each(|one| self.single(one));
            }
        }
    }

    /// Runs the writes in one transaction. A write that fails leaves nothing behind and the others go on.
    fn attempt(&mut self, writes: &[&Write]) -> Attempt {
        let guard = self.statements.guard.clone();
        guard.start_waiting(writes.iter().map(|write| write.token.clone()).collect());
        let begun = self.begin(writes.iter().any(|write| write.full));
        guard.stop_waiting();
        if let Err(error) = begun {
            return Attempt::RolledBack { error, for_all: true };
        }
        let company = if writes.len() == 1 {
            Company::Alone
        } else {
            Company::Others
        };
        let mut results = Vec::with_capacity(writes.len());
        for write in writes {
            self.statements.connection.set_last_insert_rowid(0);
            let done = self.run(write, company);
            match done {
                // `OR ROLLBACK`, a full disk and a damaged file undo the other writes, too.
                Err(error) if company == Company::Alone || self.statements.connection.is_autocommit() => {
                    self.roll_back();
                    return Attempt::RolledBack {
                        error,
                        for_all: false,
                    };
                }
                Ok(_)
                    if company == Company::Others && self.statements.connection.has_deferred_violations() =>
                {
                    // Another write of the group might make good what this one must not leave behind.
                    self.roll_back();
                    let error = Error::transaction("execute", "a deferred foreign key does not hold");
                    return Attempt::RolledBack {
                        error,
                        for_all: false,
                    };
                }
                done => results.push(done),
            }
        }
        match self.commit() {
            Ok(commit) => {
                if planted("neighbours_answer") {
                    results.rotate_left(1);
                }
                Attempt::Committed(results, commit)
            }
            Err(_) if planted("trust_commit") => Attempt::Committed(results, self.commits.last()),
            Err(error) => {
                self.roll_back();
                // What may be there already must not be run again, and lost files are lost for all.
                let for_all = matches!(error, Error::Transaction { .. } | Error::FilesLost { .. });
                Attempt::RolledBack { error, for_all }
            }
        }
    }

    /// Runs what manages transactions or the connection itself, as it is written.
    fn run_unwrapped(&mut self, write: &Write) -> Result<(Done, u64)> {
        self.parts.place.check()?;
        self.commits.begins();
        self.set_synchronous(write.full)?;
        self.recorder.begin(&self.commits);
        self.statements.connection.set_last_insert_rowid(0);
        let guard = self.statements.guard.clone();
        guard.start(&write.token);
        let done = match &write.work {
            Work::Script(script) => guard.unwrapped(Asker::Script, || self.script(script)),
            Work::Execute { sql, .. } | Work::Batch { sql, .. } => {
                guard.unwrapped(Asker::Statement, || self.run_uncached(sql, write))
            }
        };
        guard.stop();
        self.note_failed_sync(&done);
        let left_open = !self.statements.connection.is_autocommit();
        if left_open {
            self.roll_back();
        }
        let ended = self.end_script();
        self.settle_unwrapped()?;
        ended?;
        self.look_after_files(true)?;
        let done = done.map_err(|error| guard.explain(error))?;
        if left_open {
            let message = "the SQL left a transaction open, which was rolled back; use transaction()";
            return Err(Error::transaction("execute", message));
        }
        Ok((done, self.commits.last()))
    }

    /// Takes back what a script has set for itself.
    fn end_script(&self) -> Result<()> {
        let guard = &self.statements.guard;
        if guard.script_has_set() && !planted("script_settings_stay") {
            guard.internally(|| open::end_script(&self.statements.connection, &self.parts.settings))?;
        }
        Ok(())
    }

    fn run_uncached(&mut self, sql: &Arc<str>, write: &Write) -> Result<Done> {
        let done = self.run(write, Company::Alone);
        // Allowed here and nowhere else, so it must not be found in the cache.
        self.statements.forget(sql);
        done
    }

    /// What ran may have committed several times, reorganised the file or attached another: the log says the most,
    /// readers and caches are told.
    fn settle_unwrapped(&mut self) -> Result<()> {
        self.statements.clear();
        // Readers must know what names mean before they know of the commit.
        self.parts.attachments.names_changed();
        if std::mem::take(&mut self.statistics_touched) {
            self.parts.attachments.statistics_changed();
        }
        let (guard, connection) = (&self.statements.guard, &self.statements.connection);
        let published = guard.internally(|| self.parts.attachments.publish_if_changed(connection));
        self.recorder.everything_changed();
        self.recorder.commit(&self.commits, true);
        self.files.attach(&self.parts.attachments.files());
        published
    }

    /// Begins a transaction that holds the write lock.
    pub(super) fn begin(&mut self, full: bool) -> Result<()> {
        self.parts.place.check()?;
        self.set_synchronous(full)?;
        self.recorder.begin(&self.commits);
        self.schema_touched = false;
        self.statistics_touched = false;
        let timer = profile::start();
        let begun = self.take_write_lock();
        profile::writer_begin(timer);
        begun
    }

    pub(super) fn take_write_lock(&mut self) -> Result<()> {
        let end = Instant::now() + self.parts.settings.busy_timeout;
        loop {
            match self.uncounted("BEGIN IMMEDIATE") {
                // Another process committed in between: no lock to wait for, just a new start.
                Err(Error::Sqlite(error)) if error.code() == codes::BUSY_SNAPSHOT && Instant::now() < end => {
                }
                Err(Error::Sqlite(error)) if error.primary() == codes::BUSY => {
                    let gave_up = self.statements.guard.is_cancelled();
                    return Err(if gave_up { Error::Aborted } else { locked(&error) });
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    let noticed = self.notice_foreign_schema();
                    if noticed.is_err() {
                        self.roll_back();
                    }
                    return noticed;
                }
            }
        }
    }

    /// Another process may have changed a schema since the last transaction. While this one holds the write lock nobody
    /// can, so what is decoded now is decoded rightly, whyever SQLite prepares a statement anew.
    fn notice_foreign_schema(&mut self) -> Result<()> {
        let guard = self.statements.guard.clone();
        let mut versions = vec![guard.internally(|| self.statements.control("PRAGMA main.schema_version"))?];
        for schema in self.parts.attachments.names() {
            let sql = format!("PRAGMA {}.schema_version", schemas::quoted(&schema, '"'));
            versions.push(guard.internally(|| self.statements.control(&sql))?);
        }
        if versions != self.schema_versions {
            self.recorder.forget_tables();
            self.statements.clear();
            self.parts.attachments.names_changed();
            // Makes SQLite read the schema again: not every error in a statement makes it look whether it is the
            // schema that is old.
            guard.internally(|| schemas::touch_all(&self.statements.connection))?;
            self.schema_versions = versions;
        }
        Ok(())
    }

    /// Commits; gives the number of the commit.
    pub(super) fn commit(&mut self) -> Result<u64> {
        self.commits.begins();
        self.wrote.set(false);
        let timer = profile::start();
        let committed = self.uncounted("COMMIT");
        self.note_failed_sync(&committed);
        if let Err(error) = committed {
            let in_part = self.may_be_in_part(&error);
            return Err(if in_part {
                self.committed_in_part(&error)
            } else {
                error
            });
        }
        profile::writer_commit(timer);
        if std::mem::take(&mut self.schema_touched) {
            self.parts.attachments.names_changed();
        }
        if std::mem::take(&mut self.statistics_touched) {
            self.parts.attachments.statistics_changed();
        }
        let sequence = self.recorder.commit(&self.commits, self.wrote.get());
        if self.wrote.get() {
            self.look_after_files(self.synchronous_full || !locks_survive_other_copies())?;
        }
        Ok(sequence)
    }

    /// Before anything is acknowledged: whether others can find what was committed.
    fn look_after_files(&mut self, always: bool) -> Result<()> {
        if !self.files.are_there(always) && !planted("deleted_log") {
            self.parts.place.lose_files();
            // What stands in a log that was deleted must not overwrite what others have written since.
            self.statements.connection.keep_log();
        }
        self.parts.place.check()
    }

    /// Whether a COMMIT that failed with this error may have been made all the same in some of several files: SQLite
    /// commits to one after the other, and takes nothing back.
    fn may_be_in_part(&self, error: &Error) -> bool {
        let refused = error
            .sqlite()
            .is_none_or(|error| error.primary() == codes::CONSTRAINT);
        !refused && !self.parts.attachments.is_empty() && !planted("commit_again")
    }

    /// The log must claim what may be there. It is not known what, so nobody may try again.
    fn committed_in_part(&mut self, error: &Error) -> Error {
        // Readers must know what names mean before they know of the commit.
        self.parts.attachments.names_changed();
        self.recorder.everything_changed();
        self.recorder.commit(&self.commits, true);
        self.roll_back();
        let message = format!("{error}; COMMIT may have reached some of the attached files, and others not");
        Error::transaction("commit", message)
    }

    /// Ends whatever transaction is open, without a trace.
    pub(super) fn roll_back(&mut self) {
        self.recorder.discard();
        if !self.statements.connection.is_autocommit() {
            let done = self.control("ROLLBACK");
            // A connection that cannot be brought back to rest is replaced, as after any panic.
            assert!(
                self.statements.connection.is_autocommit(),
                "ROLLBACK failed: {done:?}"
            );
        }
    }

    /// Runs one of resqlite's own statements that manage transactions.
    pub(super) fn control(&mut self, sql: &str) -> Result<()> {
        let timer = profile::start();
        let done = self.uncounted(sql);
        profile::writer_control(timer);
        done
    }

    /// The same, where it is timed as something else.
    fn uncounted(&mut self, sql: &str) -> Result<()> {
        let guard = self.statements.guard.clone();
        guard.internally(|| self.statements.control(sql)).map(drop)
    }

    fn set_synchronous(&mut self, full: bool) -> Result<()> {
        if full {
            self.restore_doubtful_logs()?;
        }
        if full != self.synchronous_full && !planted("never_full") {
            let level = if full { "FULL" } else { "NORMAL" };
            self.control(&format!("PRAGMA synchronous = {level}"))?;
            self.synchronous_full = full;
        }
        Ok(())
    }
}

fn locked(error: &resqlite_sqlite::Error) -> Error {
    let message = "database is locked: another process held the write lock longer than busyTimeout";
    Error::Sqlite(resqlite_sqlite::Error::new(error.code(), message))
}

/// Answers a caller.
pub(super) fn tell(reply: Replier, outcome: Result<Outcome<'_>>) {
    let timer = profile::start();
    reply.finish(outcome);
    profile::writer_reply(timer);
}

fn answer(reply: Replier, done: Result<(Done, u64)>) {
    match done {
        Ok(((rows, written), commit)) => {
            tell(reply, Ok(Outcome::Written(&rows, Written { commit, ..written })));
        }
        Err(error) => tell(reply, Err(error)),
    }
}
