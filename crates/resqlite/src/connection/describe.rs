//! Describes a statement without running it.

use super::{engine_connection::EngineConnection, prepared::Prepared};
use crate::{
    core::error::Result,
    requests::{
        description::Description,
        request::{Outcome, ReplyGuard},
    },
    rows::Columns,
};

impl EngineConnection {
    /// Replies with a description of a statement.
    pub(crate) fn describe(&mut self, sql: &str, reply: ReplyGuard) {
        match self.description(sql) {
            Ok(description) => reply.finish(Ok(Outcome::Described(&description))),
            Err(error) => reply.fail(error),
        }
    }

    fn description(&self, sql: &str) -> Result<Description> {
        let prepare = || Prepared::new(&self.sqlite, &self.guard, sql);
        let (prepared, is_write) = self.guard.authorizer.describing(prepare);
        let prepared = prepared?;
        let statement = &prepared.statement;
        let parameters = 1..=statement.parameter_count();
        Ok(Description {
            read_only: !is_write && prepared.only_reads(),
            columns: Columns::of(statement).to_vec(),
            parameters: parameters.map(|index| statement.parameter_name(index)).collect(),
        })
    }
}
