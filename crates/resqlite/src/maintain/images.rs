//! Statements that read images of changed rows in place of a table.
//!
//! The images are shown to SQLite as a table with the types and collations that their own table declares, and with the sign of
//! each image. So the statement's own expressions are evaluated over rows as they are now, and as they were.

use std::sync::Arc;

use resqlite_live::{ROWID, TableName};

use super::{
    base::Base,
    given_tables::GivenTable,
    keyed::{Planner, refuse},
};
use crate::sql::{affinity::Affinity, plan::Stop};

/// A statement that reads the images of rows of a table, and not the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OverImages {
    pub(crate) sql: Arc<str>,
    pub(crate) table: TableName,
    /// The images, with the columns of the table and behind them the sign: 1 of a new image, -1 of an old one.
    pub(crate) given: GivenTable,
    /// The columns of which the images are needed, ascending.
    pub(crate) needed: Box<[u16]>,
    /// The columns that store REAL only.
    pub(crate) real: Box<[u16]>,
    /// The number of columns of the table.
    pub(crate) width: usize,
}

/// The column of the sign.
pub(super) const SIGN: &str = "\"#sign\"";

const UNASKED: &str = "its parts cannot be asked for";

/// The table that shows images of rows of another one.
pub(super) fn table_of(base: &Base<'_>) -> GivenTable {
    base.given([SIGN.to_owned()])
}

impl OverImages {
    /// Makes the plan from a statement that reads [`table_of`] the base and has `columns` columns.
    pub(super) fn new(
        planner: &Planner<'_>,
        base: &Base<'_>,
        sql: String,
        columns: usize,
    ) -> Result<Self, Stop> {
        let given = table_of(base);
        if planner.given.get(planner.connection, &given).is_err() {
            return refuse("with what is added for groups, its table has too many columns");
        }
        let (prepared, read) = planner
            .guard
            .authorizer
            .log(|| planner.connection.prepare(&sql, false));
        let prepared = prepared.ok().and_then(|prepared| prepared.statement);
        if prepared.is_none_or(|statement| statement.column_count() != columns) {
            return refuse(UNASKED);
        }
        let read = read.tables.into_iter();
        let read = read.filter(|(named, _)| *named.table == *given.name);
        Ok(Self {
            needed: needed(planner, base, read.flat_map(|(_, columns)| columns))?,
            sql: sql.into(),
            table: base.name.clone(),
            given,
            real: (0..)
                .zip(&base.columns)
                .filter(|(_, column)| column.affinity == Affinity::Real)
                .map(|(position, _)| position)
                .collect(),
            width: base.columns.len(),
        })
    }
}

/// The positions of the columns that a statement reads, as the authorizer names them.
fn needed(
    planner: &Planner<'_>,
    base: &Base<'_>,
    read: impl Iterator<Item = String>,
) -> Result<Box<[u16]>, Stop> {
    let mut needed = Vec::new();
    for name in read.filter(|name| !name.is_empty() && name != "#sign") {
        match base.own_position(&name) {
            Some(column) if base.columns[usize::from(column)].is_generated => {
                return refuse("it reads a column that is computed from others");
            }
            Some(column) => needed.push(column),
            None if name == "ROWID" => needed.push(ROWID),
            None => return refuse("it reads a column that is not known"),
        }
    }
    if needed.is_empty() {
        // Without any needed column, there would be no images.
        let key = planner.catalog.primary_key(base.name)?;
        needed.push(key.first().map_or(ROWID, |(column, _)| *column));
    }
    needed.sort_unstable();
    needed.dedup();
    Ok(needed.into())
}
