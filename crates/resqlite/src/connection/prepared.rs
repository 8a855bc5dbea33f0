//! A prepared statement and what is known about it.

use std::sync::Arc;

use resqlite_sqlite::{Connection, Statement};

use super::{halfway, versions::Versions};
use crate::{
    core::{
        error::{Error, Result},
        limits,
    },
    guard::{Guard, effects::Effects},
    maintain::StatementDependencies,
    requests::request::Query,
    rows::{ColumnLayout, Columns, Kind},
};

/// A cached statement and what is known about it.
pub(crate) struct Prepared {
    pub(crate) statement: Statement,
    /// The effects of executing the statement, besides reading.
    pub(crate) effects: Effects,
    pub(super) layout: Arc<ColumnLayout>,
    /// The columns with their origins, if somebody has asked for them.
    columns: Option<Arc<Columns>>,
    /// The kinds of the columns when they were packed last, so that a column of only NULLs keeps its kind.
    pub(super) kinds: Vec<Kind>,
    /// The result of `may_fail_halfway`, and SQLite's count of re-preparations when this result was
    /// found.
    halfway: Option<(bool, u32)>,
    /// The dependencies of the statement, if it is the query of a live query.
    pub(super) dependencies: Option<KnownDependencies>,
    /// SQLite's count of re-preparations at which `layout` was found.
    reprepared: u32,
}

/// The dependencies of a statement, with the re-preparation count and the schema versions under which they were found.
pub(super) struct KnownDependencies {
    pub(super) dependencies: Arc<StatementDependencies>,
    pub(super) reprepared: u32,
    pub(super) schemas: Versions,
}

impl Prepared {
    /// # Errors
    /// SQLite's, and [`Error::Statement`] if the text is not exactly one statement.
    pub(super) fn new(connection: &Connection, guard: &Guard, sql: &str) -> Result<Self> {
        no_nul(sql)?;
        guard.authorizer.forget_effects();
        let prepared = connection
            .prepare(sql, true)
            .map_err(|error| guard.explain(error.into()))?;
        let Some(statement) = prepared.statement else {
            return Err(Error::Statement("the SQL text holds no statement".into()));
        };
        only_statement(connection, prepared.tail)?;
        let layout = ColumnLayout::of(&statement);
        let reprepared = statement.reprepared();
        Ok(Self {
            halfway: None,
            effects: guard.authorizer.effects_of(&statement),
            statement,
            layout,
            columns: None,
            kinds: Vec::new(),
            dependencies: None,
            reprepared,
        })
    }

    /// Returns whether the statement may fail and leave behind the changes that it had made by
    /// then.
    pub(super) fn may_fail_halfway(&mut self, connection: &Connection, sql: &str) -> bool {
        let reprepared = self.statement.reprepared();
        if let Some((known, at)) = self.halfway
            && at == reprepared
        {
            return known;
        }
        let found = !self.statement.is_read_only() && halfway::may_fail_halfway(connection, sql);
        self.halfway = Some((found, reprepared));
        found
    }

    /// Returns whether the statement only reads. SQLite also counts a statement that rolls back to a savepoint as one that only reads.
    pub(crate) fn only_reads(&self) -> bool {
        let is_read = self.statement.is_read_only() && self.effects.unreported.is_none();
        is_read || self.statement.is_explain() || self.effects.only_reports
    }

    /// Returns the columns of the statement. They are certain after the first step of a run.
    pub(crate) fn columns(&mut self) -> Arc<Columns> {
        let columns = self.columns.get_or_insert_with(|| Columns::of(&self.statement));
        Arc::clone(columns)
    }

    /// Binds the parameters of a query that may only read.
    pub(crate) fn bind_query(&mut self, query: &Query) -> Result<()> {
        if !self.only_reads() {
            let message = "a query only reads; use execute for a statement that writes";
            return Err(Error::ReadOnly(message.into()));
        }
        query.params.reader().bind_next(&mut self.statement)
    }

    /// Takes the first step of a run. Only then are the columns certain, as SQLite may have re-prepared the statement.
    pub(super) fn first_step(&mut self) -> Result<bool> {
        let row = self.statement.step()?;
        let reprepared = self.statement.reprepared();
        if reprepared != self.reprepared {
            self.reprepared = reprepared;
            self.layout = ColumnLayout::of(&self.statement);
            self.columns = None;
            self.kinds.clear();
        }
        Ok(row)
    }

    /// Ends a run. Large parameters are not kept until the next run, nor is a buffer that contains them.
    pub(crate) fn end_run(&mut self, bound_bytes: usize) {
        self.statement.reset();
        if bound_bytes > limits::BOUND_BYTES_KEPT {
            self.statement.clear_bindings();
        } else {
            self.statement.release();
        }
    }
}

/// Refuses a NUL character, which SQLite would take for the end of the text.
pub(crate) fn no_nul(sql: &str) -> Result<()> {
    if sql.contains('\0') {
        return Err(Error::Statement("the SQL text contains a NUL character".into()));
    }
    Ok(())
}

/// Refuses SQL text after the first statement; white space and comments are allowed.
fn only_statement(connection: &Connection, mut tail: &str) -> Result<()> {
    let more =
        || Error::Statement("the SQL text holds more than one statement; use exec for a script".into());
    while !tail
        .trim_matches([' ', '\t', '\n', '\r', '\u{c}', ';'])
        .is_empty()
    {
        match connection.prepare(tail, false) {
            Ok(prepared) if prepared.statement.is_none() && prepared.tail.len() < tail.len() => {
                tail = prepared.tail
            }
            Ok(prepared) if prepared.statement.is_none() => break,
            _ => return Err(more()),
        }
    }
    Ok(())
}
