//! Live queries as observers of commits.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use super::{coordinator::LiveCoordinator, dispatch::RunsOn, jobs::RerunsHere};
use crate::{
    commits::observer::{CommitFollower, CommitObserver},
    connection::{engine_connection::EngineConnection, own_statements::OwnStatements},
    core::error::Result,
    reader::{ReadState, Reader},
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

/// Re-runs quick live queries in a turn of the writer while no write waits, a few at a time: see record 052.
///
/// Uses the writer's connection where that gives the same result: the pages that a commit has changed are in its cache, while
/// any other connection must read them again. See record 051.
struct Follower {
    coordinator: Arc<LiveCoordinator>,
    /// For reads on the writer's connection.
    reads: ReadState,
    /// The statements of live queries, kept apart so that they do not push the statements of writes out of the connection's
    /// cache.
    statements: OwnStatements,
    /// The reader for what must not be read on the writer's connection. Opened when it is first needed.
    reader: Option<Reader>,
    /// The reader could not be opened: from now on workers make all re-runs.
    lacks_reader: bool,
    /// The threads that make the re-runs for the last commits.
    runs_on: RunsOn,
}

impl CommitFollower for Follower {
    fn committed(&mut self, spare: &dyn Fn() -> Duration) {
        self.runs_on = self.coordinator.catch_up_if_open(|| self.spare(spare));
    }

    fn may_rest(&mut self, writer: &mut EngineConnection) -> bool {
        self.coordinator.external.may_rest(writer)
    }

    fn settled(&mut self, writer: &mut EngineConnection, spare: &dyn Fn() -> Duration) {
        while let RunsOn::ThisThread(time) = std::mem::replace(&mut self.runs_on, RunsOn::Others) {
            self.run(writer, time);
            // If something waits for the writer now, the re-runs go on after that.
            self.runs_on = self.coordinator.plan_next(self.spare(spare));
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

    /// Makes re-runs that take no longer than `time`, or one.
    fn run(&mut self, writer: &mut EngineConnection, time: Duration) {
        let Self {
            coordinator,
            reads,
            statements,
            reader,
            ..
        } = self;
        let reruns = RerunsHere::take(coordinator, time);
        if reruns.are_none() {
            return;
        }
        reads.follow_writer();
        if reads_like_others(writer, reads) && reruns.read_only_rows(reads.names()) {
            // A panic is reported to the listener of the query, and then ends this writer.
            statements.on(writer, |writer| reruns.run(&mut reads.on(writer)));
            if !writer.sqlite.is_autocommit() {
                // The read could not be ended, so no write could begin.
                let _ = writer.internal("ROLLBACK");
            }
            return;
        }
        let own = match reader.take() {
            Some(own) => Ok(own),
            None => coordinator.reruns.open_reader(),
        };
        let Ok(mut own) = own else {
            self.lacks_reader = true;
            return;
        };
        // A panic here only replaces this reader.
        let run = catch_unwind(AssertUnwindSafe(|| reruns.run(&mut own.reading())));
        *reader = run.is_ok().then_some(own);
    }
}

impl Drop for Follower {
    /// If the writer is lost before it has made the re-runs that it took upon itself, other threads make them.
    fn drop(&mut self) {
        if matches!(self.runs_on, RunsOn::ThisThread(_)) {
            drop(RerunsHere::take(&self.coordinator, Duration::ZERO));
        }
    }
}

/// Returns whether a query of rows gives the same result on the writer's connection as on any other. Only the writer's
/// connection has temporary tables, which hide other tables of the same name. And if another process gives a table of one
/// database the name of a table of another database, the writer's statements do not notice before the next write.
fn reads_like_others(writer: &EngineConnection, reads: &ReadState) -> bool {
    let has_temporary = writer.guard.authorizer.may_have_temporary();
    !reads.spans_databases() && !has_temporary && writer.sqlite.is_autocommit()
}
