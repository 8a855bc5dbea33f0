//! Runs statements that read rows given to them: images of changed rows, and groups.

use std::sync::Arc;

use resqlite_live::{Image, ROWID, Value};
use resqlite_sqlite::{Rows, ValueRef};

use super::{
    engine_connection::{EngineConnection, get},
    prepared::Prepared,
    run::Run,
};
use crate::{
    core::{error::Result, live_value::borrowed},
    maintain::{OverImages, given_tables::GivenTable},
    requests::request::Query,
};

/// An image of a changed row.
pub(crate) struct GivenImage<'a> {
    pub(crate) image: &'a Image,
    /// The columns that the image has.
    pub(crate) columns: &'a [u16],
    /// States that the image shows the row after the change.
    pub(crate) is_new: bool,
}

/// Images, presented as the rows of the table of images.
pub(super) struct GivenImages<'a>(pub(super) &'a OverImages, pub(super) &'a [GivenImage<'a>]);

impl Rows for GivenImages<'_> {
    fn len(&self) -> usize {
        self.1.len()
    }

    fn rowid(&self, row: usize) -> Option<i64> {
        match self.1[row].value(ROWID)? {
            Value::Integer(rowid) => Some(*rowid),
            _ => None,
        }
    }

    fn value(&self, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let Self(over, images) = self;
        if column == over.width {
            return Some(ValueRef::Integer(if images[row].is_new { 1 } else { -1 }));
        }
        let column = u16::try_from(column).ok()?;
        Some(match images[row].value(column)? {
            // An integer in a REAL column is returned as the real number that it represents.
            Value::Integer(value) if over.real.contains(&column) => ValueRef::Real(*value as f64),
            value => borrowed(value),
        })
    }
}

impl GivenImage<'_> {
    fn value(&self, column: u16) -> Option<&Value> {
        let at = self.columns.binary_search(&column).ok()?;
        self.image.get(at)
    }
}

impl EngineConnection {
    /// Runs a statement in which the parameters of a query have numbers, while `table` has these `rows`.
    pub(super) fn run_given<R>(
        &mut self,
        query: &Query,
        table: &GivenTable,
        rows: &dyn Rows,
        sql: &Arc<str>,
        work: impl FnOnce(&mut Run<'_>) -> Result<R>,
    ) -> Result<R> {
        let given = self.given_tables.get(&self.sqlite, table)?;
        given.show(rows, || self.run_with(query, sql, work))
    }

    /// Runs a statement in which the parameters of a query have numbers.
    pub(super) fn run_with<R>(
        &mut self,
        query: &Query,
        sql: &Arc<str>,
        work: impl FnOnce(&mut Run<'_>) -> Result<R>,
    ) -> Result<R> {
        // Only the statement itself knows the names of its parameters.
        let named = get(&mut self.cache, &self.sqlite, &self.guard, &query.sql)?;
        let values = query.params.reader().values(&named.statement)?;
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, sql)?;
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let bound = bind(run.prepared, &values);
        let done = bound.and_then(|()| work(&mut run));
        run.prepared.end_run(query.params.byte_len());
        run.packer.recycle();
        done
    }
}

/// Binds parameters by their numbers. The last parameters need not occur in this statement.
fn bind(prepared: &mut Prepared, values: &[ValueRef<'_>]) -> Result<()> {
    let count = prepared.statement.parameter_count();
    for (parameter, value) in (1..=count).zip(values) {
        prepared.statement.bind(parameter, *value)?;
    }
    Ok(())
}
