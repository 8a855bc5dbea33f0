//! Live queries as observers of commits.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use super::{
    coordinator::LiveCoordinator,
    dispatch::RunsOn,
    jobs::{cannot_run_here, run_here},
};
use crate::{
    commits::observer::{CommitFollower, CommitObserver},
    connection::engine_connection::EngineConnection,
    core::error::Result,
    reader::Reader,
};

impl CommitObserver for LiveCoordinator {
    fn follow_writer(
        self: Arc<Self>,
        connection: &mut EngineConnection,
        replaces: bool,
    ) -> Result<Box<dyn CommitFollower>> {
        self.external.follow_writer(connection, replaces)?;
        Ok(Box::new(Follower {
            coordinator: self,
            reader: None,
            runs_on: RunsOn::LiveThreads,
        }))
    }

    fn writer_lost(self: Arc<Self>) {
        self.catch_up();
    }
}

/// Re-runs quick live queries on the writer's thread while no write is queued.
struct Follower {
    coordinator: Arc<LiveCoordinator>,
    /// Opened when it is first needed.
    reader: Option<Reader>,
    /// Where the re-runs for the last commits are made.
    runs_on: RunsOn,
}

impl CommitFollower for Follower {
    fn committed(&mut self, spare: &dyn Fn() -> Duration) {
        self.runs_on = self.coordinator.catch_up_if_open(spare);
    }

    fn settled(&mut self) {
        if std::mem::replace(&mut self.runs_on, RunsOn::LiveThreads) == RunsOn::ThisThread {
            self.run();
        }
    }
}

impl Follower {
    fn run(&mut self) {
        let coordinator = &self.coordinator;
        let reader = match self.reader.take() {
            Some(reader) => Ok(reader),
            None => coordinator.reruns.open_reader(),
        };
        let Ok(mut reader) = reader else {
            return cannot_run_here(coordinator);
        };
        // A panic is reported to the listener of the query. Only this reader is replaced, not the writer.
        let run = catch_unwind(AssertUnwindSafe(|| run_here(coordinator, &mut reader)));
        self.reader = run.is_ok().then_some(reader);
    }
}
