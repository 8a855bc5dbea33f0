//! Live queries as observers of commits.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use super::{
    coordinator::LiveCoordinator,
    dispatch::{CalledBy, RunsOn},
    jobs::RerunsHere,
};
use crate::{
    commits::observer::{CommitFollower, CommitObserver},
    connection::{engine_connection::EngineConnection, own_statements::OwnStatements},
    core::error::Result,
    reader::{Reader, Reads},
};

impl CommitObserver for LiveCoordinator {
    fn follow_writer(
        self: Arc<Self>,
        connection: &mut EngineConnection,
        replaces: bool,
    ) -> Result<Box<dyn CommitFollower>> {
        self.external.follow_writer(connection, replaces)?;
        Ok(Box::new(Follower {
            reads: self.reruns.reads_on_writer(),
            statements: OwnStatements::new(connection),
            coordinator: self,
            reader: None,
            lacks_reader: false,
            runs_on: RunsOn::Others,
        }))
    }

    fn writer_lost(self: Arc<Self>) {
        self.catch_up();
    }
}

/// Re-runs quick live queries on the writer's thread while no write is queued, a few at a time: see record 052.
///
/// On the writer's connection, where that gives the same result: the pages that a commit has changed are in its cache, while
/// any other connection must read them again. See record 051.
struct Follower {
    coordinator: Arc<LiveCoordinator>,
    /// Those on the writer's connection.
    reads: Reads,
    /// So that live queries do not push the statements of writes out of its cache.
    statements: OwnStatements,
    /// For what must not be read on the writer's connection. Opened when it is first needed.
    reader: Option<Reader>,
    /// It could not be opened: from now on live threads make all re-runs.
    lacks_reader: bool,
    /// Where the re-runs for the last commits are made.
    runs_on: RunsOn,
}

impl CommitFollower for Follower {
    fn committed(&mut self, spare: &dyn Fn() -> Duration) {
        let by = || CalledBy::Writer(self.spare(spare));
        self.runs_on = self.coordinator.catch_up_if_open(by);
    }

    fn settled(&mut self, writer: &mut EngineConnection, spare: &dyn Fn() -> Duration) {
        while std::mem::replace(&mut self.runs_on, RunsOn::Others) == RunsOn::ThisThread {
            self.run(writer, spare());
            // If something waits for the writer now, it goes on after that.
            self.runs_on = self.coordinator.goes_on(self.spare(spare));
        }
    }
}

impl Follower {
    fn spare(&self, spare: &dyn Fn() -> Duration) -> Duration {
        if self.lacks_reader {
            Duration::ZERO
        } else {
            spare()
        }
    }

    /// Makes re-runs that take no longer than `spare`, or one.
    fn run(&mut self, writer: &mut EngineConnection, spare: Duration) {
        let Self {
            coordinator,
            reads,
            statements,
            reader,
            ..
        } = self;
        let reruns = RerunsHere::take(coordinator, spare);
        if reruns.read_only_rows() && reads_like_others(writer) {
            // A panic is reported to the listener of the query, and then ends this writer.
            return statements.on(writer, |writer| reruns.run(&mut reads.on(writer)));
        }
        let own = match reader.take() {
            Some(own) => Ok(own),
            None => coordinator.reruns.open_reader(),
        };
        let Ok(mut own) = own else {
            self.lacks_reader = true;
            return;
        };
        // Here, only this reader is replaced.
        let run = catch_unwind(AssertUnwindSafe(|| reruns.run(&mut own.reading())));
        *reader = run.is_ok().then_some(own);
    }
}

/// Whether a query of rows gives the same result on the writer's connection as on any other. Only there are temporary tables,
/// which hide others of their name.
fn reads_like_others(writer: &EngineConnection) -> bool {
    writer.sqlite.is_autocommit() && !writer.guard.authorizer.has_made_temporary()
}
