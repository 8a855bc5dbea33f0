//! Runs the statement of a cursor, batch by batch.

use super::{
    engine_connection::EngineConnection,
    prepared::Prepared,
    run::{Most, Run},
};
use crate::{requests::request::ReplyGuard, rows::Integers};

impl EngineConnection {
    /// Replies with at most `most` further rows of a cursor's statement. `fresh` states that the statement has not been stepped yet.
    /// Returns whether no rows are left.
    pub(super) fn fetch_batch(
        &mut self,
        prepared: &mut Prepared,
        most: usize,
        integers: Integers,
        fresh: bool,
        mut reply: ReplyGuard,
    ) -> bool {
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let done = if fresh {
            run.rows(integers, Most::Batch(most), &mut reply)
        } else {
            run.further_rows(integers, Most::Batch(most), &mut reply)
        };
        match done {
            Ok(end) => {
                let within = run.finish(end, reply);
                end || !within
            }
            Err(error) => {
                reply.fail(self.explain_error(error));
                true
            }
        }
    }
}
