//! Runs one statement of any kind, if it only reads, and replies with its rows and its columns.

use super::{
    engine_connection::EngineConnection,
    run::{Most, Run},
};
use crate::{
    core::{
        commit_id::CommitId,
        error::{Error, Result},
    },
    requests::{
        request::{Outcome, Query, ReplyGuard},
        statements::StatementResult,
    },
};

impl EngineConnection {
    /// Runs a statement in the open transaction, if there is one. `commit` is a commit that the read includes. `ends_read` states that
    /// the transaction was begun for this statement, and ends before the last reply.
    ///
    /// # Errors
    /// If the statement does more than read, no part of it has run. In that case this gives the reply back, with the reason.
    pub(crate) fn query(
        &mut self,
        query: &Query,
        commit: CommitId,
        mut reply: ReplyGuard,
        ends_read: bool,
    ) -> Result<(), (ReplyGuard, Error)> {
        self.guard.interrupt.start_query(query);
        let bound = self.bind(query);
        // Only a statement that has not begun to run can run elsewhere.
        let is_refused = matches!(bound, Err(Error::ReadOnly(_)));
        let done = bound.and_then(|()| self.run_bound(query, &mut reply));
        let done = done.map_err(|error| self.explain_error(error));
        self.guard.interrupt.stop();
        self.guard.interrupt.end_query();
        if ends_read {
            // If this fails, the transaction stays open, and the next begin reports it.
            drop(self.internal("COMMIT"));
        }
        match done {
            Ok(result) => reply.finish(Ok(Outcome::Results(&[result], commit))),
            Err(refusal) if is_refused => return Err((reply, refusal)),
            Err(error) => reply.fail(error),
        }
        Ok(())
    }

    fn bind(&mut self, query: &Query) -> Result<()> {
        if query.token.is_cancelled() {
            return Err(Error::Aborted);
        }
        let prepared = self.get(&query.sql)?;
        let bound = prepared.bind_query(query);
        if bound.is_err() {
            prepared.end_run(query.params.byte_len());
        }
        bound
    }

    fn run_bound(&mut self, query: &Query, reply: &mut ReplyGuard) -> Result<StatementResult> {
        let mut run = Run {
            prepared: self.cache.get_mut(&query.sql).expect("bound above"),
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let ran = run
            .rows(query.integers, Most::All, reply)
            .and_then(|_| run.hand_over_rest(reply));
        run.packer.recycle();
        run.prepared.end_run(query.params.byte_len());
        ran?;
        Ok(StatementResult {
            columns: run.prepared.columns(),
            rows: Vec::new(),
            changes: 0,
            last_insert_rowid: 0,
        })
    }
}
