//! The writer's turns: it takes queued jobs, commits writes together, then calls the observers.

use std::{
    cell::{Cell, OnceCell},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite_live::CommitNumber;
use resqlite_sqlite::{Connection, LogHeader, LogState, Parcel};

use super::{
    HookSource, Writer, WriterContext, classify,
    gathering::Gathering,
    job::WriteJob,
    resting,
    transaction::{Flow, Open},
    writing::Writing,
};
use crate::{
    connection::versions::Versions,
    core::{
        clock,
        error::{Error, Result},
        limits, profile,
        queue::Popped,
        sync::{Condvar, Mutex, lock, wait},
        workers::{Class, Task, Timed, Turn, Workers},
    },
    requests::{
        request::{Step, WriteOp},
        statements::Statements,
    },
};

/// The writer of a file, as a task that gets turns while there is something to do. Between two turns, the writer is kept here.
pub(crate) struct WriterTask {
    context: WriterContext,
    hook: Option<Arc<dyn HookSource>>,
    workers: Arc<Workers>,
    state: Mutex<State>,
    ended: Condvar,
}

enum State {
    /// The writer waits for a job, or for the next step of its transaction.
    Waits(Parcel<Serving>),
    /// A worker has the writer.
    Taken,
    /// The queue is closed and empty.
    Ended(Option<Parcel<Serving>>),
}

/// The state of the writer between two jobs. The order of the fields matters: statements end before their connection closes.
pub(super) struct Serving {
    transaction: Option<Open>,
    /// `None` after a panic and while the file rests, until the next job.
    writer: Option<Writer>,
    /// Set while the file rests, and before the first job of a file that was opened at rest.
    rests: Option<Versions>,
    gathering: Gathering,
}

/// Something to do.
enum Work {
    Job(WriteJob),
    Step(Popped<Step>),
    /// The queue is closed and empty.
    End,
}

impl WriterTask {
    /// Opens the database. `hook` takes part in the transactions.
    ///
    /// # Errors
    /// The reason why the database cannot be opened.
    pub(crate) fn open(
        context: WriterContext,
        hook: Option<Arc<dyn HookSource>>,
        workers: Arc<Workers>,
    ) -> Result<Arc<Self>> {
        let mut serving = Serving {
            transaction: None,
            writer: None,
            // As with any new writer, the first transaction finds out the versions of the schemas.
            rests: resting::begins_at_rest(&context)?.then(Versions::default),
            gathering: Gathering::default(),
        };
        if serving.rests.is_none() {
            serving.writer = Some(Writer::open(context.clone(), hook.as_deref(), false)?);
        }
        let task = Arc::new(Self {
            context,
            hook,
            workers,
            state: Mutex::new(State::Taken),
            ended: Condvar::new(),
        });
        let taken = task.wait_for_work(&mut Some(Parcel::new(serving)));
        debug_assert!(taken.is_none(), "nobody knows of the queue");
        Ok(task)
    }

    /// Refuses further jobs. Returns the connection when the waiting jobs are done.
    pub(crate) fn close(self: &Arc<Self>) -> Option<impl Send> {
        if self.context.queue.close_for_turn() {
            Turn::elsewhere(|turn| Arc::clone(self).turn(turn));
        }
        let mut state = lock(&self.state);
        loop {
            if let State::Ended(serving) = &mut *state {
                return serving.take();
            }
            state = wait(&self.ended, state);
        }
    }

    fn take(&self) -> Option<Parcel<Serving>> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Taken) {
            State::Waits(serving) => Some(serving),
            // Somebody else was quicker.
            other => {
                *state = other;
                None
            }
        }
    }

    fn put(&self, serving: &mut Option<Parcel<Serving>>) {
        *lock(&self.state) = State::Waits(serving.take().expect("nobody else has it"));
    }

    /// Returns the next thing to do, if there is one now or soon.
    fn work_soon(&self, serving: &mut Serving) -> Option<Work> {
        if let Some(open) = &serving.transaction {
            return open.inbox.steps.pop_soon(open.deadline).map(Work::Step);
        }
        let work = self.context.queue.pop_soon(None).map(Work::of_queue);
        if work.is_none()
            && let Some(writer) = &mut serving.writer
        {
            writer.writing.connection.release_read();
        }
        work
    }

    /// Returns the next thing to do. If there is nothing, the writer is put away.
    fn wait_for_work(self: &Arc<Self>, serving: &mut Option<Parcel<Serving>>) -> Option<Work> {
        let transaction = serving.as_ref().and_then(|serving| serving.transaction.as_ref());
        let inbox = transaction.map(|open| Arc::clone(&open.inbox));
        let leave = || {
            self.put(serving);
            Arc::clone(self) as _
        };
        match inbox {
            Some(inbox) => inbox.steps.pop_or_leave(&self.workers, leave).map(Work::Step),
            None => {
                let popped = self.context.queue.pop_or_leave(&self.workers, leave);
                popped.map(Work::of_queue)
            }
        }
    }

    /// Does `work`. Returns whether there may be more to do.
    fn work(self: &Arc<Self>, serving: &mut Serving, work: Work) -> bool {
        match work {
            Work::Job(job) => self.jobs(serving, job),
            Work::Step(popped) => self.guarded(serving, |serving| {
                let (Some(writer), Some(open)) = (&mut serving.writer, &mut serving.transaction) else {
                    return;
                };
                if let Flow::Ends(reason) = writer.step_of(open, popped) {
                    let began = clock::now();
                    let open = serving.transaction.take();
                    open.into_iter()
                        .for_each(|open| writer.end_transaction(open, reason.clone()));
                    writer.after_jobs(began);
                }
            }),
            Work::End => {
                self.guarded(serving, |serving| {
                    if let Some(writer) = &mut serving.writer {
                        writer.hooked(|hook, writing| hook.before_close(writing));
                    }
                });
                self.context.commits.settle();
                return false;
            }
        }
        true
    }

    /// Does a job, and the jobs that are done together with it.
    fn jobs(self: &Arc<Self>, serving: &mut Serving, first: WriteJob) {
        let queue = &self.context.queue;
        let mut jobs = vec![first];
        let shares = shareable(&jobs[0]);
        if shares {
            let mut take = || {
                queue.drain_while(&mut jobs, limits::GROUP_UNITS_MAX, shareable);
                jobs.len()
            };
            serving.gathering.wait(take(), take);
        } else if let Some(bytes) = jobs[0].shared_bytes() {
            queue.drain_while(&mut jobs, limits::APPLIED_TOGETHER, shared_with(bytes));
        }
        if let Err(error) = self.open_again(serving) {
            if let WriteJob::Rest(_) = jobs[0] {
                // Perhaps there are no file descriptors left. Closing the connections frees some.
                self.context.connections.close_all();
            }
            return jobs.into_iter().for_each(|job| job.fail(error.clone()));
        }
        if let WriteJob::Rest(last) = jobs[0] {
            return self.rest(serving, last);
        }
        let (count, start) = (jobs.len(), begins_group(&serving.writer, shares));
        self.guarded(serving, |serving| {
            let writer = serving.writer.as_mut().expect("opened above");
            serving.transaction = writer.handle(jobs, shares);
            let deadline = serving.transaction.as_ref().and_then(|open| open.deadline);
            self.wake_at(deadline);
        });
        let gathering = std::mem::take(&mut serving.gathering);
        serving.gathering = match start {
            Some(start) => gathering.after(count + queue.len(), clock::since(start)),
            None => Gathering::default(),
        };
    }

    /// Opens the connection, if there is none, because the previous writer was lost or the file rests.
    fn open_again(&self, serving: &mut Serving) -> Result<()> {
        if serving.writer.is_none() {
            let replaces = serving.rests.is_none();
            let mut writer = Writer::open(self.context.clone(), self.hook.as_deref(), replaces)?;
            if let Some(versions) = serving.rests.take() {
                writer.writing.schema_versions = versions;
            }
            serving.writer = Some(writer);
        }
        Ok(())
    }

    /// Closes the connections, if nothing was committed after `last` and nothing depends on them.
    fn rest(&self, serving: &mut Serving, last: CommitNumber) {
        let WriterContext {
            location, commits, ..
        } = &self.context;
        let is_unused = commits.last() == last && self.context.queue.len() == 0;
        self.guarded(serving, |serving| {
            let Some(writer) = serving.writer.as_mut() else {
                return;
            };
            if !is_unused || !writer.writing.copy_whole_log() || !location.rest.begin(writer.log()) {
                return;
            }
            // The check follows the beginning of the rest. It uses the file that the path means now.
            let are_there = writer.writing.files.are_all_there();
            if writer.writing.are_files_there(are_there).is_err() || !writer.may_rest() {
                return location.rest.cancel();
            }
            commits.states.forget();
            self.context.connections.close_all();
            serving.rests = serving.writer.take().map(Writer::close);
        });
        if serving.writer.is_some() {
            return;
        }
        location.health.log_is(None);
        if !location.rest.settles() {
            // If this fails, the next user of the file opens it.
            let _ = self.open_again(serving);
        }
    }

    /// Asks for a turn when the time of a transaction is over.
    fn wake_at(self: &Arc<Self>, deadline: Option<Instant>) {
        deadline.into_iter().for_each(|time| self.workers.at(time, self));
    }

    /// Runs `work` with the writer. After a panic, the writer is lost.
    fn guarded(&self, serving: &mut Serving, work: impl FnOnce(&mut Serving)) {
        if catch_unwind(AssertUnwindSafe(|| work(serving))).is_ok() {
            return;
        }
        if let Some(open) = serving.transaction.take() {
            open.inbox.end(Some(Error::WorkerDied));
        }
        serving.writer = None;
        self.context.commits.record_unknown();
        for observer in &*self.context.observers {
            Arc::clone(observer).writer_lost();
        }
        if let Some(hook) = &self.hook {
            let _ = catch_unwind(AssertUnwindSafe(|| hook.writer_lost()));
        }
        self.context.commits.settle();
    }
}

impl Work {
    fn of_queue(popped: Popped<WriteJob>) -> Self {
        match popped {
            Popped::Item(job) => Self::Job(job),
            Popped::Closed | Popped::TimedOut => Self::End,
        }
    }
}

impl Timed for WriterTask {
    fn is_due(self: Arc<Self>) {
        let workers = Arc::clone(&self.workers);
        workers.ready(self);
    }
}

impl Task for WriterTask {
    fn class(&self) -> Class {
        Class::Calls
    }

    /// Works as long as there is something to do, or until others have waited for long enough.
    fn turn(self: Arc<Self>, turn: &Turn<'_>) {
        let mut serving = self.take();
        while let Some(now) = &mut serving {
            let soon = self.work_soon(now);
            let work = soon.or_else(|| self.wait_for_work(&mut serving));
            let (Some(work), Some(now)) = (work, &mut serving) else {
                return;
            };
            turn.goes_on();
            if !self.work(now, work) {
                *lock(&self.state) = State::Ended(serving);
                return self.ended.notify_all();
            }
            if turn.is_over() {
                self.put(&mut serving);
                return Arc::clone(&self.workers).ready(self);
            }
        }
    }

    /// The caller's thread does the work: better late than never.
    fn unserved(self: Arc<Self>) {
        Turn::elsewhere(|turn| self.turn(turn));
    }
}

/// Returns the time at which a group begins, if its commit takes long.
fn begins_group(writer: &Option<Writer>, shares: bool) -> Option<Instant> {
    let hook = writer.as_ref().and_then(|writer| writer.hook.as_ref());
    (shares && hook.is_some_and(|hook| hook.is_slow())).then(clock::now)
}

/// The largest number of texts of a batch that are checked to find out whether it may share a transaction.
const SHARED_TEXTS: usize = 32;

/// Returns whether a job is a write that may share a transaction with others. This runs under the queue's lock, so it must be
/// quick: scripts, batches of many texts, and batches whose parameter sets are still arriving run alone.
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

/// Returns a test for jobs that are done together with a job of this number of bytes: jobs of its kind, while they are not too
/// large.
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

    /// Returns the state of the log.
    fn log(&self) -> Option<LogState> {
        let header = self.writing.connection.as_internal(Connection::log_header);
        header.as_ref().and_then(LogHeader::read)
    }

    /// Closes the connection. Returns what another connection cannot know.
    fn close(self) -> Versions {
        self.writing.schema_versions.clone()
    }

    /// Returns whether another connection can find out all that this writer's connection knows.
    fn may_rest(&mut self) -> bool {
        let Writing {
            connection, context, ..
        } = &mut self.writing;
        let has_temporary = connection.guard.authorizer.may_have_temporary();
        !has_temporary
            && context.epoch.has_no_attachments()
            && self.hook.as_ref().is_none_or(|hook| hook.may_rest())
            && self
                .followers
                .iter_mut()
                .all(|follower| follower.may_rest(connection))
    }

    /// Does the jobs. `shares`: they are writes that may share a transaction. Returns the transaction that a caller has begun, if
    /// one is open now.
    fn handle(&mut self, jobs: Vec<WriteJob>, shares: bool) -> Option<Open> {
        self.writing.connection.guard.interrupt.reset_busy_timer();
        let mut writes = Vec::with_capacity(jobs.len());
        let mut hook_jobs = Vec::new();
        let mut open = None;
        for job in jobs {
            if !job.begins_a_write() {
                self.writing.connection.release_read();
            }
            if job.writes_as_callers_do() {
                self.hooked(|hook, writing| hook.before_callers(writing));
            }
            match job {
                job if job.is_cancelled() => job.fail(Error::Aborted),
                WriteJob::Begin(begin) => open = self.begin_transaction(begin),
                WriteJob::Rest(_) => (),
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
        let began = clock::now();
        let (timer, requests) = (profile::start(), writes.len());
        self.commit_waiting(writes, shares);
        profile::writer_requests(timer, requests);
        if open.is_none() {
            self.after_jobs(began);
        }
        open
    }

    /// Does the work that follows the jobs, which began at `began`.
    fn after_jobs(&mut self, began: Instant) {
        // After the replies, because callers do not wait for observers.
        let queue = &self.writing.context.queue;
        // Measured once: a later measurement would include the re-runs.
        let took = OnceCell::new();
        let spare_time = &self.writing.context.settings.writer_spare;
        let spare = || match queue.len() {
            0 => *took.get_or_init(|| {
                let took = clock::since(began);
                took.clamp(*spare_time.start(), *spare_time.end())
            }),
            _ => Duration::ZERO,
        };
        for follower in &mut self.followers {
            follower.committed(&spare);
        }
        self.writing.commits.settle();
        // A re-run on this connection reports that it includes the last commit of the log. A held read shows only our own last
        // commit. Only the writer adds to the log, so this report stays true until the re-runs end.
        if self.writing.last_own_commit != self.writing.commits.last() {
            self.writing.connection.release_read();
        }
        for follower in &mut self.followers {
            follower.settled(&mut self.writing.connection, &spare);
        }
        self.writing.checkpoint_if_due();
    }
}
