//! A reader thread: one read-only connection, one job at a time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use super::{
    job::Job,
    pool::{Next, Pool},
    readers::Readers,
    reading::{Reader, Shared},
};
use crate::{
    core::{
        error::{Error, Result},
        profile,
        threads::start_thread,
    },
    maintain::Explanation,
    requests::request::Query,
};

impl Readers {
    pub(super) fn start_thread(&self) {
        let readers = self.clone();
        let started = start_thread(self.shared.name, move || readers.serve());
        if started.is_err() {
            self.pool
                .lost_thread()
                .into_iter()
                .for_each(|job| job.fail(Error::WorkerDied));
        }
    }

    /// Serves jobs until the pool says to quit. A connection that cannot be opened fails the job that needed it.
    /// After a panic, the connection is replaced.
    fn serve(&self) {
        // Declared first, so that it is dropped last, after the connection.
        let _leaving = Leaving(&self.pool);
        let mut reader: Option<Reader> = None;
        let (mut was_busy, mut snapshot) = (false, None);
        loop {
            let next = self.pool.next(was_busy, snapshot);
            match next {
                Next::Quit => break,
                Next::Job {
                    needs_thread: true, ..
                } => self.start_thread(),
                Next::Job { .. } | Next::EndSnapshot => {}
            }
            was_busy = true;
            let turn = catch_unwind(AssertUnwindSafe(|| {
                take_turn(next, snapshot, &mut reader, &self.shared)
            }));
            snapshot = turn.unwrap_or_else(|_| {
                reader = None;
                None
            });
        }
    }
}

/// Reports to the pool that a thread has ended, however it ends.
struct Leaving<'a>(&'a Pool<Job>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.left();
    }
}

/// Takes one turn. Returns the last ticket that the read transaction may serve, if one is open afterwards.
fn take_turn(
    next: Next<Job>,
    open: Option<u64>,
    reader: &mut Option<Reader>,
    shared: &Arc<Shared>,
) -> Option<u64> {
    let Next::Job {
        job,
        snapshot: wanted,
        ..
    } = next
    else {
        if reader
            .as_mut()
            .is_some_and(|reader| reader.reading().end_read().is_err())
        {
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
    // Queued reads share one read transaction: all of them were requested before it begins.
    let snapshot = match (open, wanted) {
        (None, Some(_)) if current.reading().begin_read().is_ok() => wanted,
        (None, _) => None,
        (open, _) => open,
    };
    run(current, job, snapshot.is_some());
    snapshot
}

/// The thread's connection, opened now if need be.
fn ready<'a>(reader: &'a mut Option<Reader>, shared: &Arc<Shared>) -> Result<&'a mut Reader> {
    shared.location.health.check()?;
    if reader.is_none() {
        *reader = Some(Reader::open(shared)?);
    }
    Ok(reader.as_mut().expect("opened above"))
}

fn run(reader: &mut Reader, job: Job, in_transaction: bool) {
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
            reader.connection.describe(&sql, reply);
        }
        Job::Lease(lease) => reader.lease(lease),
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
        Job::Other(job) => job.run(reader),
    }
}

fn explain(reader: &mut Reader, query: &Query) -> Result<Explanation> {
    reader.reading().in_read(false, |reading, _| {
        let connection = reading.connection();
        let explained = connection.explain(query);
        explained.map_err(|error| connection.explain_error(error))
    })
}
