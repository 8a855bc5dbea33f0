//! The tables in which the log keeps what it must know of a database.

use resqlite_sqlite::{Statement, ValueRef};

use super::client::Work;
use crate::core::error::Result;

impl Work<'_> {
    /// Runs a statement on tables of resqlite's own; returns the first `N` columns of its first row.
    pub(super) fn own<const N: usize>(
        &mut self,
        sql: &str,
        values: &[ValueRef<'_>],
    ) -> Result<Option<[Option<i64>; N]>> {
        self.own_row(sql, values, |row| {
            std::array::from_fn(|column| row.integer(column))
        })
    }

    /// Runs a statement on tables of resqlite's own; returns what `read` makes of its first row.
    pub(super) fn own_row<T>(
        &mut self,
        sql: &str,
        values: &[ValueRef<'_>],
        read: impl FnOnce(&Statement) -> T,
    ) -> Result<Option<T>> {
        let sql = sql.into();
        let guard = self.writing.connection.guard.clone();
        let mut prepared = guard.as_internal(|| self.writing.connection.take(&sql))?;
        let statement = &mut prepared.statement;
        let bound = bind_all(statement, values);
        self.log.making(|maker| maker.set_writes_own(true));
        let stepped = bound.and_then(|()| guard.as_internal(|| statement.step()));
        self.log.making(|maker| maker.set_writes_own(false));
        let row = stepped.map(|has_row| has_row.then(|| read(statement)));
        self.writing.connection.put(&sql, prepared);
        Ok(row?)
    }

    /// Makes or removes tables of resqlite's own in the open transaction.
    pub(super) fn make_own_tables(&mut self, script: &str) -> Result<()> {
        self.log.making(|maker| maker.set_writes_own(true));
        let made = self
            .writing
            .connection
            .as_internal(|connection| connection.execute_script(script));
        self.log.making(|maker| maker.set_writes_own(false));
        made?;
        self.writing.schema_changed();
        self.writing.connection.clear();
        Ok(())
    }
}

/// Binds the values to the parameters from the first one on.
pub(super) fn bind_all(statement: &mut Statement, values: &[ValueRef<'_>]) -> resqlite_sqlite::Result<()> {
    (1..)
        .zip(values)
        .try_for_each(|(at, value)| statement.bind(at, *value))
}
