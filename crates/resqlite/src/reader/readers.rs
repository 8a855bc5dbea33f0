//! Workers that read: those that answer callers, and those that run live queries again. Each takes a connection, and serves
//! waiting jobs.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite_sqlite::Parcel;

use super::{
    connections::Connections,
    job::Job,
    pool::{Calls, Next, Pool, PoolStatus, Submitted},
    reading::{ReadState, Reader},
};
use crate::{
    core::{
        clock,
        error::{Error, Result},
        profile,
        workers::{Class, Task, Timed, Turn},
    },
    maintain::Explanation,
    requests::request::Query,
};

/// The jobs of one class, and what is needed to do them.
pub(crate) struct Readers {
    class: Class,
    pool: Pool<Job>,
    connections: Arc<Connections>,
}

impl Readers {
    pub(crate) fn new(class: Class, pool: Pool<Job>, connections: Arc<Connections>) -> Self {
        Self {
            class,
            pool,
            connections,
        }
    }

    /// Opens a connection for use in a turn of the writer.
    pub(crate) fn open_reader(&self) -> Result<Reader> {
        self.connections.open_reader()
    }

    /// Returns the state for reads on the writer's connection.
    pub(crate) fn reads_on_writer(&self) -> ReadState {
        ReadState::new(self.connections.shared())
    }

    /// Queues a job.
    pub(crate) fn submit(self: &Arc<Self>, job: Job) {
        match self.pool.submit(job) {
            Submitted::Queued(calls) => self.call(calls),
            Submitted::Full(job) => job.fail(Error::QueueFull),
            Submitted::Closed(job) => job.fail(Error::Closed),
        }
    }

    /// Queues a job for later.
    pub(crate) fn submit_after(self: &Arc<Self>, pause: Duration, job: Job) {
        let due = clock::now() + pause;
        match self.pool.submit_at(due, job) {
            Ok(()) => self.tell_at(due),
            Err(job) => job.fail(Error::Closed),
        }
    }

    fn tell_at(self: &Arc<Self>, time: Instant) {
        self.connections.workers().at(time, self);
    }

    fn call(self: &Arc<Self>, Calls(workers): Calls) {
        for _ in 0..workers {
            self.connections.workers().ready(Arc::clone(self) as _);
        }
    }

    /// Fails the queued jobs that were cancelled.
    pub(crate) fn drop_cancelled(&self) {
        while let Some(job) = self.pool.remove(Job::is_cancelled) {
            job.fail(Error::Aborted);
        }
    }

    /// See [`Pool::in_pause`].
    pub(crate) fn in_pause<R>(self: &Arc<Self>, time: Duration, action: impl FnOnce() -> R) -> Option<R> {
        let (result, calls) = self.pool.in_pause(time, action);
        self.call(calls);
        result
    }

    /// See [`Pool::hold`].
    pub(crate) fn hold(self: &Arc<Self>, until: Instant, quiet: impl FnOnce() + Send + 'static) -> bool {
        let is_quiet = self.pool.hold(until, quiet);
        self.tell_at(until);
        is_quiet
    }

    pub(crate) fn release(self: &Arc<Self>) {
        self.call(self.pool.release());
    }

    /// Takes no more jobs. Those that are queued are still done.
    pub(crate) fn close(self: &Arc<Self>) {
        self.call(self.pool.close());
    }

    /// Waits until no worker is left.
    pub(crate) fn join(&self) {
        self.pool.join();
    }

    pub(crate) fn status(&self) -> PoolStatus {
        self.pool.status()
    }
}

impl Timed for Readers {
    fn is_due(self: Arc<Self>) {
        self.call(self.pool.come_due());
    }
}

impl Task for Readers {
    fn class(&self) -> Class {
        self.class
    }

    /// Serves jobs as long as there are any, or until others have waited for long enough. A connection that cannot be opened fails
    /// the job that needed it. After a panic, the connection is replaced.
    fn turn(self: Arc<Self>, turn: &Turn<'_>) {
        self.call(self.pool.came());
        let mut reader: Option<Parcel<Reader>> = None;
        let (mut was_busy, mut snapshot) = (false, None);
        loop {
            if was_busy && snapshot.is_none() && turn.is_over() {
                self.pool.gives_way();
                break;
            }
            let next = self.pool.next(was_busy, snapshot);
            if matches!(next, Next::Leave) {
                break;
            }
            turn.goes_on();
            was_busy = true;
            let run = catch_unwind(AssertUnwindSafe(|| self.run(next, snapshot, &mut reader, turn)));
            snapshot = run.unwrap_or_else(|_| {
                reader = None;
                None
            });
        }
        self.put_back(reader);
        self.call(self.pool.left());
    }

    fn unserved(self: Arc<Self>) {
        let jobs = self.pool.unserved();
        jobs.into_iter().for_each(|job| job.fail(Error::WorkerDied));
    }
}

impl Readers {
    /// Runs a job, or ends the read transaction. Returns the last ticket that the read transaction may serve, if one is open
    /// afterwards.
    fn run(
        &self,
        next: Next<Job>,
        open: Option<u64>,
        reader: &mut Option<Parcel<Reader>>,
        turn: &Turn<'_>,
    ) -> Option<u64> {
        let Next::Job {
            job,
            snapshot: wanted,
        } = next
        else {
            reader.take_if(|reader| reader.reading().end_read().is_err());
            return None;
        };
        let current = match self.ready(reader) {
            Ok(current) => current,
            Err(error) => {
                job.fail(error);
                return None;
            }
        };
        // Queued reads share one read transaction: all of them were requested before it begins.
        let snapshot = match (open, wanted) {
            (None, Some(_)) if current.reading().begin_read().is_ok() => wanted,
            (None, _) => None,
            (open, _) => open,
        };
        run(current, job, snapshot.is_some(), turn);
        snapshot
    }

    /// Returns the worker's connection. Takes one first, if the worker has none.
    fn ready<'a>(&self, reader: &'a mut Option<Parcel<Reader>>) -> Result<&'a mut Reader> {
        self.connections.shared().location.health.check()?;
        if reader.is_none() {
            *reader = Some(self.connections.take()?);
        }
        Ok(reader.as_mut().expect("taken above"))
    }

    fn put_back(&self, reader: Option<Parcel<Reader>>) {
        reader.into_iter().for_each(|reader| self.connections.put(reader));
    }
}

fn run(reader: &mut Reader, job: Job, in_transaction: bool, turn: &Turn<'_>) {
    let begun = match &job {
        _ if in_transaction => Ok(false),
        Job::Read(..) => reader.reading().ready_for_select(),
        Job::Any(_) => reader.reading().ready_for_any(),
        _ => reader.reading().follow_schemas().map(|()| false),
    };
    let begun = match begun {
        Ok(begun) => begun,
        Err(error) => return job.fail(error),
    };
    match job {
        Job::Read(query, mut reply) => {
            let timer = profile::start();
            reply.taken_up();
            if begun {
                reader.connection.select_and_end_read(&query, reply);
            } else {
                reader.connection.select(&query, reply);
            }
            profile::reader_request(timer);
        }
        Job::Any(mut any) => {
            let timer = profile::start();
            any.reply.taken_up();
            any.run(reader, begun);
            profile::reader_request(timer);
        }
        Job::Describe(sql, mut reply) => {
            reply.taken_up();
            match reader.reading().read_schemas() {
                Ok(()) => reader.connection.describe(&sql, reply),
                Err(error) => reply.fail(error),
            }
        }
        Job::Explain(query, done) => {
            let explained = catch_unwind(AssertUnwindSafe(|| explain(reader, &query)));
            match explained {
                Ok(explained) => done(explained),
                Err(panic) => {
                    done(Err(Error::WorkerDied));
                    resume_unwind(panic);
                }
            }
        }
        Job::Other(job) => job.run(reader, turn),
    }
}

fn explain(reader: &mut Reader, query: &Query) -> Result<Explanation> {
    reader.reading().in_read(false, |reading, _| {
        reading.read_schemas()?;
        let connection = reading.connection();
        let explained = connection.explain(query);
        explained.map_err(|error| connection.explain_error(error))
    })
}
