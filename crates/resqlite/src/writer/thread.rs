//! The writer thread: takes queued jobs, commits writes together, then calls the observers.

use std::{
    cell::{Cell, OnceCell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use resqlite_live::CommitNumber;

use super::{
    Writer, WriterContext, classify,
    files::Files,
    gathering::Gathering,
    job::{ApplyJob, WriteJob},
    log_pauses::LogPauses,
};
use crate::{
    commits::{Uncarried, recorder::Recorder},
    connection::{open::open, schema_epoch::SeenEpoch, versions::Versions},
    core::{
        error::{Error, Result},
        limits,
        options::{Checkpoints, Durability},
        profile,
        queue::Popped,
        sync::lock,
        threads::start_thread,
    },
    guard::authorizer::Role,
    requests::{request::WriteOp, statements::Statements},
};

/// Starts the writer thread and waits until the database is open.
///
/// # Errors
/// Why it cannot be opened.
pub(crate) fn start(context: WriterContext) -> Result<JoinHandle<()>> {
    let (opened, is_open) = std::sync::mpsc::channel();
    let path = context.location.display_path().to_owned();
    let body = move || match Writer::open(context.clone(), false) {
        Ok(writer) => {
            let _ = opened.send(Ok(()));
            serve(writer, context);
        }
        Err(error) => {
            let _ = opened.send(Err(error));
        }
    };
    let failed = |reason: String| Error::Open {
        path: path.clone(),
        reason,
        source: None,
    };
    let handle = start_thread("resqlite-writer", body)
        .map_err(|error| failed(format!("no thread could be started: {error}")))?;
    match is_open.recv() {
        Ok(Ok(())) => Ok(handle),
        Ok(Err(error)) => {
            let _ = handle.join();
            Err(error)
        }
        Err(_) => Err(failed("the writer thread failed".into())),
    }
}

/// Serves until the queue is closed and empty. After a panic, the connection is replaced.
fn serve(writer: Writer, context: WriterContext) {
    let mut writer = Some(writer);
    let mut jobs = Vec::new();
    let mut gathering = Gathering::default();
    loop {
        let before_park = || {
            if let Some(writer) = &mut writer {
                writer.connection.release_read();
            }
        };
        match context.queue.pop_or_park(before_park) {
            Popped::Item(job) => jobs.push(job),
            _ => break,
        }
        let shares = shareable(&jobs[0]);
        if shares {
            let mut take = || {
                context
                    .queue
                    .drain_while(&mut jobs, limits::GROUP_UNITS_MAX, shareable);
                jobs.len()
            };
            gathering.wait(take(), take);
        } else if let WriteJob::Apply(first) = &jobs[0] {
            let fits = applied_behind(first.entry.as_bytes().len());
            context
                .queue
                .drain_while(&mut jobs, limits::APPLIED_TOGETHER, fits);
        }
        if writer.is_none() {
            match Writer::open(context.clone(), true) {
                Ok(opened) => writer = Some(opened),
                Err(error) => {
                    jobs.drain(..).for_each(|job| job.fail(error.clone()));
                    continue;
                }
            }
        }
        let taken = std::mem::take(&mut jobs);
        let (count, start) = (taken.len(), begins_group(&writer, shares));
        let run = catch_unwind(AssertUnwindSafe(|| {
            writer.as_mut().expect("opened above").handle(taken, shares)
        }));
        gathering = match start {
            Some(start) => gathering.after(count + context.queue.len(), start.elapsed()),
            None => Gathering::default(),
        };
        if run.is_err() {
            writer = None;
            context.commits.record_unknown();
            for observer in &*context.observers {
                Arc::clone(observer).writer_lost();
            }
            if let Some(gate) = &mut *lock(&context.gate) {
                gate.writer_lost();
            }
            context.commits.settle();
        }
    }
    if let Some(writer) = &mut writer {
        let _ = catch_unwind(AssertUnwindSafe(|| writer.log_last_gap()));
        context.commits.settle();
    }
    // Readers close first, so that the writer's connection is the last and leaves no write-ahead log behind.
    context.readers.join();
    context.background.join();
    drop(writer);
    context.location.health.forget_log();
}

/// When a group begins that has to pass a gate.
fn begins_group(writer: &Option<Writer>, shares: bool) -> Option<Instant> {
    let is_gated = |writer: &Writer| writer.recorder.uncarried() == Some(Uncarried::Refused);
    (shares && writer.as_ref().is_some_and(is_gated)).then(Instant::now)
}

/// The texts of a batch that are looked at to find out whether it may share a transaction.
const SHARED_TEXTS: usize = 32;

/// Whether a write may share a transaction with others. Judged under the queue's lock, so it must be quick: scripts,
/// batches of many texts, and those whose parameter sets are still arriving run alone.
fn shareable(job: &WriteJob) -> bool {
    let WriteJob::Write(write, _) = job else {
        return false;
    };
    match &write.op {
        WriteOp::Execute { sql, .. }
        | WriteOp::Batch { sql, more: None, .. }
        | WriteOp::Query { sql, .. } => !classify::statement_runs_alone(sql),
        WriteOp::Statements(Statements { texts, .. }) => {
            texts.len() <= SHARED_TEXTS && !texts.iter().any(|sql| classify::statement_runs_alone(sql))
        }
        _ => false,
    }
}

/// Which jobs are done in one commit with entries of so many bytes: those of further entries, while they are not too large.
fn applied_behind(bytes: usize) -> impl Fn(&WriteJob) -> bool {
    let bytes = Cell::new(bytes);
    move |job| {
        let WriteJob::Apply(ApplyJob { entry, .. }) = job else {
            return false;
        };
        bytes.set(bytes.get() + entry.as_bytes().len());
        bytes.get() <= limits::APPLIED_BYTES
    }
}

impl Writer {
    fn open(context: WriterContext, replaces: bool) -> Result<Self> {
        let recorder = Recorder::default();
        let wal_pages = Rc::new(Cell::new(0));
        let (pages, wrote) = (Rc::clone(&wal_pages), Rc::new(Cell::new(false)));
        let writes = Rc::clone(&wrote);
        let attached_logs = Rc::new(RefCell::new(Vec::new()));
        let logs = Rc::clone(&attached_logs);
        let commits = Arc::clone(&context.commits);
        let mut connection = open(&context.location, &context.settings, Role::Writer, |connection| {
            if commits.changes_are_wanted() {
                recorder.install(connection);
            }
            connection.set_wal_hook(move |schema, in_log| {
                writes.set(true);
                match schema {
                    "main" => {
                        pages.set(in_log);
                        commits.reached_main_log();
                    }
                    _ if in_log < limits::WAL_CHECKPOINT_PAGES => {}
                    _ => logs.borrow_mut().push(schema.to_owned()),
                }
            });
        })?;
        context.lock_waits.ends();
        connection.guard.interrupt.tell_waits(&context.lock_waits);
        let commits = Arc::clone(&context.commits);
        // A replacement attaches the databases that the readers have attached.
        context.epoch.follow(&mut connection, &mut SeenEpoch::default())?;
        let followers = context
            .observers
            .iter()
            .map(|observer| Arc::clone(observer).follow_writer(&mut connection, replaces))
            .collect::<Result<_>>()?;
        if context.settings.checkpoints == Checkpoints::Manual {
            connection.sqlite.keep_log();
        }
        let files = Files::of(context.location.identity());
        files
            .main_log()
            .into_iter()
            .for_each(|log| context.location.health.keep_log(log));
        let mut writer = Self {
            followers,
            connection,
            recorder,
            commits,
            context,
            wal_pages,
            checkpointed: 0,
            log_pauses: LogPauses::default(),
            durability: Durability::Normal,
            schema_versions: Versions::default(),
            attached_logs,
            wrote,
            external: None,
            applies: false,
            carried: Vec::new(),
            overtaken_by: Vec::new(),
            last_own_commit: CommitNumber::default(),
            changes_before: 0,
            schema_touched: false,
            statistics_touched: false,
            files,
            feeds: None,
            feeds_taken_at: None,
        };
        writer.update_export();
        Ok(writer)
    }

    /// `shares`: the jobs are writes that may share a transaction.
    fn handle(&mut self, jobs: Vec<WriteJob>, shares: bool) {
        self.connection.guard.interrupt.reset_busy_timer();
        let mut writes = Vec::with_capacity(jobs.len());
        let mut entries = Vec::new();
        for job in jobs {
            if !job.begins_a_write() {
                self.connection.release_read();
            }
            if job.writes_as_always() {
                self.end_apply();
            }
            match job {
                job if job.is_cancelled() => job.fail(Error::Aborted),
                WriteJob::Begin(begin) => self.transaction(begin),
                WriteJob::Inspect(inspect) => inspect(&mut self.connection),
                WriteJob::Checkpoint(job) => self.checkpoint_for(job),
                WriteJob::Rekey(job) => self.rekey(job),
                WriteJob::Gate(job) => self.set_gate(job),
                WriteJob::Position(job) => self.position(job),
                WriteJob::Apply(job) => entries.push(job),
                WriteJob::Feed(job) => self.feed(job),
                WriteJob::Write(write, mut reply) => {
                    reply.taken_up();
                    writes.push((write, reply));
                }
            }
        }
        self.apply(entries);
        let began = Instant::now();
        let (timer, requests) = (profile::start(), writes.len());
        self.commit_waiting(writes, shares);
        profile::writer_requests(timer, requests);
        // After the replies, because callers do not wait for observers.
        let queue = &self.context.queue;
        // Measured once: later it would include the re-runs.
        let took = OnceCell::new();
        let spare_time = &self.context.settings.writer_spare;
        let spare = || match queue.len() {
            0 => *took.get_or_init(|| {
                let took = began.elapsed();
                took.clamp(*spare_time.start(), *spare_time.end())
            }),
            _ => Duration::ZERO,
        };
        for follower in &mut self.followers {
            follower.committed(&spare);
        }
        self.commits.settle();
        // A re-run on this connection tells that it includes the last commit of the log, and a held read shows no commit but our
        // own last one. Only this thread adds to the log, so this stays true until the re-runs end.
        if self.last_own_commit != self.commits.last() {
            self.connection.release_read();
        }
        for follower in &mut self.followers {
            follower.settled(&mut self.connection, &spare);
        }
        self.checkpoint_if_due();
    }
}
