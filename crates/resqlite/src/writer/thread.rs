//! The writer thread: takes queued jobs, commits writes together, then calls the observers.

use std::{
    cell::{Cell, OnceCell},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    HookSource, Writer, WriterContext, classify, gathering::Gathering, job::WriteJob, writing::Writing,
};
use crate::{
    core::{
        error::{Error, Result},
        limits, profile,
        queue::Popped,
        threads::{JoinHandle, start_thread},
    },
    requests::{request::WriteOp, statements::Statements},
};

/// Starts the writer thread and waits until the database is open. `hook` takes part in its transactions.
///
/// # Errors
/// Why it cannot be opened.
pub(crate) fn start(context: WriterContext, hook: Option<Arc<dyn HookSource>>) -> Result<JoinHandle<()>> {
    let (opened, is_open) = std::sync::mpsc::channel();
    let path = context.location.display_path().to_owned();
    let body = move || match Writer::open(context.clone(), hook.as_deref(), false) {
        Ok(writer) => {
            let _ = opened.send(Ok(()));
            serve(writer, context, hook);
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
fn serve(writer: Writer, context: WriterContext, hook: Option<Arc<dyn HookSource>>) {
    let mut writer = Some(writer);
    let mut jobs = Vec::new();
    let mut gathering = Gathering::default();
    loop {
        let before_park = || {
            if let Some(writer) = &mut writer {
                writer.writing.connection.release_read();
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
        } else if let Some(bytes) = jobs[0].shared_bytes() {
            context
                .queue
                .drain_while(&mut jobs, limits::APPLIED_TOGETHER, shared_with(bytes));
        }
        if writer.is_none() {
            match Writer::open(context.clone(), hook.as_deref(), true) {
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
            if let Some(hook) = &hook {
                let _ = catch_unwind(AssertUnwindSafe(|| hook.writer_lost()));
            }
            context.commits.settle();
        }
    }
    if let Some(writer) = &mut writer {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            writer.hooked(|hook, writing| hook.before_close(writing))
        }));
        context.commits.settle();
    }
    // Readers close first, so that the writer's connection is the last and leaves no write-ahead log behind.
    context.readers.join();
    context.background.join();
    context.connections.close_all();
    drop(writer);
    context.location.health.forget_log();
}

/// When a group begins whose commit takes long.
fn begins_group(writer: &Option<Writer>, shares: bool) -> Option<Instant> {
    let hook = writer.as_ref().and_then(|writer| writer.hook.as_ref());
    (shares && hook.is_some_and(|hook| hook.is_slow())).then(Instant::now)
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
        | WriteOp::Query { sql, .. } => !classify::statement_runs_unwrapped(sql),
        WriteOp::Statements(Statements { texts, .. }) => {
            texts.len() <= SHARED_TEXTS && !texts.iter().any(|sql| classify::statement_runs_unwrapped(sql))
        }
        _ => false,
    }
}

/// Which jobs are done together with one of so many bytes: those of its kind, while they are not too large.
fn shared_with(bytes: usize) -> impl Fn(&WriteJob) -> bool {
    let bytes = Cell::new(bytes);
    move |job| {
        job.shared_bytes().is_some_and(|more| {
            bytes.set(bytes.get() + more);
            bytes.get() <= limits::APPLIED_BYTES
        })
    }
}

impl Writer {
    fn open(context: WriterContext, hook: Option<&dyn HookSource>, replaces: bool) -> Result<Self> {
        let mut writing = Writing::open(context)?;
        let observers = Arc::clone(&writing.context.observers);
        let followers = observers
            .iter()
            .map(|observer| Arc::clone(observer).follow_writer(&mut writing.connection, replaces))
            .collect::<Result<_>>()?;
        Ok(Self {
            followers,
            hook: hook.map(|source| source.follow(&mut writing)),
            writing,
        })
    }

    /// `shares`: the jobs are writes that may share a transaction.
    fn handle(&mut self, jobs: Vec<WriteJob>, shares: bool) {
        self.writing.connection.guard.interrupt.reset_busy_timer();
        let mut writes = Vec::with_capacity(jobs.len());
        let mut hook_jobs = Vec::new();
        for job in jobs {
            if !job.begins_a_write() {
                self.writing.connection.release_read();
            }
            if job.writes_as_callers_do() {
                self.hooked(|hook, writing| hook.before_callers(writing));
            }
            match job {
                job if job.is_cancelled() => job.fail(Error::Aborted),
                WriteJob::Begin(begin) => self.transaction(begin),
                WriteJob::Inspect(inspect) => inspect(&mut self.writing.connection),
                WriteJob::Checkpoint(job) => self.writing.checkpoint_for(job),
                WriteJob::Rekey(job) => self.writing.rekey(job),
                WriteJob::Hook(job) => hook_jobs.push(job),
                WriteJob::Write(write, mut reply) => {
                    reply.taken_up();
                    writes.push((write, reply));
                }
            }
        }
        if !hook_jobs.is_empty() {
            self.hooked(|hook, writing| hook.serve(writing, hook_jobs));
        }
        let began = Instant::now();
        let (timer, requests) = (profile::start(), writes.len());
        self.commit_waiting(writes, shares);
        profile::writer_requests(timer, requests);
        // After the replies, because callers do not wait for observers.
        let queue = &self.writing.context.queue;
        // Measured once: later it would include the re-runs.
        let took = OnceCell::new();
        let spare_time = &self.writing.context.settings.writer_spare;
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
        self.writing.commits.settle();
        // A re-run on this connection tells that it includes the last commit of the log, and a held read shows no commit but our
        // own last one. Only this thread adds to the log, so this stays true until the re-runs end.
        if self.writing.last_own_commit != self.writing.commits.last() {
            self.writing.connection.release_read();
        }
        for follower in &mut self.followers {
            follower.settled(&mut self.writing.connection, &spare);
        }
        self.writing.checkpoint_if_due();
    }
}
