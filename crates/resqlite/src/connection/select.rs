//! Runs a query and replies with all its rows.

use super::{
    engine_connection::{EngineConnection, get},
    prepared::Prepared,
    run::{Most, Run},
};
use crate::{
    core::{
        error::{Error, Result},
        limits,
    },
    guard::Guard,
    requests::request::{Format, Outcome, Query, ReplyGuard},
    rows::JsonWriter,
};

enum Selected {
    /// Rows, the last of which are in the packer.
    Rows,
    Bytes(Vec<u8>),
}

impl EngineConnection {
    /// Runs a query in the open transaction, if there is one, and replies with all its rows.
    pub(crate) fn select(&mut self, query: &Query, reply: ReplyGuard) {
        self.select_then(query, reply, |_| ());
    }

    /// Does the same in a read transaction, which ends before the last reply. Whoever gets the last reply finds the database unlocked.
    pub(crate) fn select_and_end_read(&mut self, query: &Query, reply: ReplyGuard) {
        // If this fails, the transaction stays open, and the next begin reports it.
        self.select_then(query, reply, |connection| drop(connection.internal("COMMIT")));
    }

    fn select_then(&mut self, query: &Query, mut reply: ReplyGuard, before_reply: impl FnOnce(&mut Self)) {
        self.guard.interrupt.start_query(query);
        let done = self.run_select(query, &mut reply);
        self.guard.interrupt.stop();
        before_reply(self);
        match done {
            Ok(Selected::Bytes(bytes)) => reply.finish(Ok(Outcome::Bytes(bytes))),
            Ok(Selected::Rows) => {
                let run = Run {
                    prepared: self.cache.get_mut(&query.sql).expect("it has just run"),
                    packer: &mut self.packer,
                    guard: &self.guard,
                };
                run.finish(true, reply);
            }
            Err(error) => reply.fail(self.explain_error(error)),
        }
        self.guard.interrupt.end_query();
    }

    fn run_select(&mut self, query: &Query, reply: &mut ReplyGuard) -> Result<Selected> {
        if query.token.is_cancelled() {
            return Err(Error::Aborted);
        }
        let mut run = Run {
            prepared: get(&mut self.cache, &self.sqlite, &self.guard, &query.sql)?,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let result = run.prepared.bind_query(query).and_then(|()| match query.format {
            Format::Json => json(run.prepared, run.guard).map(Selected::Bytes),
            Format::Rows => run.rows(query.integers, Most::All, reply).map(|_| Selected::Rows),
            Format::FirstRow => run
                .rows(query.integers, Most::First, reply)
                .map(|_| Selected::Rows),
        });
        run.prepared.end_run(query.params.byte_len());
        result
    }
}

/// Writes all rows as JSON.
fn json(prepared: &mut Prepared, guard: &Guard) -> Result<Vec<u8>> {
    let mut row = prepared.first_step()?;
    let mut writer = JsonWriter::new();
    let mut counted = 0;
    while row {
        writer.push(&prepared.statement, &prepared.layout);
        if writer.len() - counted > limits::ROW_BATCH_HEAP_MAX {
            guard.interrupt.spend_bytes(writer.len() - counted)?;
            counted = writer.len();
        }
        row = prepared.statement.step()?;
    }
    guard.interrupt.spend_bytes(writer.len() - counted)?;
    Ok(writer.finish())
}
