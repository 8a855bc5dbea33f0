//! A pool of reader threads, as the rest of the engine sees it.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use super::{
    job::Job,
    pool::{Pool, PoolStatus, Submitted},
    reading::{ReadState, Reader, Shared},
};
use crate::{
    commits::log::Commits,
    connection::{location::Location, schema_epoch::SchemaEpoch},
    core::{
        error::{Error, Result},
        options::Settings,
    },
    requests::holders::Holders,
};

/// A pool and what its threads need to open their connections.
#[derive(Clone)]
pub(crate) struct Readers {
    pub(super) pool: Arc<Pool<Job>>,
    pub(super) shared: Arc<Shared>,
}

impl Readers {
    pub(crate) fn new(
        name: &'static str,
        pool: Pool<Job>,
        location: Location,
        settings: Settings,
        epoch: Arc<SchemaEpoch>,
        commits: Arc<Commits>,
    ) -> Self {
        Self {
            pool: Arc::new(pool),
            shared: Arc::new(Shared {
                name,
                location,
                settings,
                epoch,
                commits,
                holders: Arc::default(),
                steps: AtomicU64::new(0),
            }),
        }
    }

    /// The sessions that hold a reader.
    pub(crate) fn holders(&self) -> &Holders {
        &self.shared.holders
    }

    /// Opens a reader for a thread outside of the pool.
    pub(crate) fn open_reader(&self) -> Result<Reader> {
        Reader::open(&self.shared)
    }

    /// For reads on the writer's connection.
    pub(crate) fn reads_on_writer(&self) -> ReadState {
        ReadState::new(&self.shared)
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
            Submitted::NeedsRelief => self.start_relief(),
            Submitted::Full(job) => job.fail(Error::QueueFull),
            Submitted::Closed(job) => job.fail(Error::Closed),
        }
    }

    /// Fails the queued jobs that were cancelled.
    pub(crate) fn drop_cancelled(&self) {
        while let Some(job) = self.pool.remove(Job::is_cancelled) {
            job.fail(Error::Aborted);
        }
    }

    pub(crate) fn in_pause<R>(&self, time: Duration, action: impl FnOnce() -> R) -> Option<R> {
        self.pool.in_pause(time, action)
    }

    /// See [`Pool::hold`].
    pub(crate) fn hold(&self, until: Instant, quiet: impl FnOnce() + Send + 'static) -> bool {
        self.pool.hold(until, quiet)
    }

    pub(crate) fn release(&self) {
        self.pool.release();
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
