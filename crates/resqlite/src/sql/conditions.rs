//! The conditions that rows of each table must fulfil to matter to a statement.

use resqlite_sqlite::{Connection, Statement};

use super::{
    catalog::Catalog,
    expand::Expander,
    parse::{self, Query},
    plan::Stop,
    propagate::{self, Occurrence},
    syntax::Refused,
    tables::{Kind, Table},
    templates::{Dropped, Template},
};
use crate::core::error::Result;

/// The conditions for each table, in the order of `tables`, and for each place at which the table is read. If there are no
/// conditions at all, the reason.
pub(super) type Conditions = Result<Vec<Vec<PlaceConditions>>, Refused>;

/// The conditions that rows must fulfil to matter at one place.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PlaceConditions {
    pub(super) templates: Vec<Template>,
    pub(super) dropped: Vec<Dropped>,
}

/// Finds the conditions that rows of `tables` must fulfil to matter to a statement.
pub(super) fn find(
    connection: &Connection,
    catalog: &Catalog<'_>,
    sql: &str,
    statement: &Statement,
    tables: &[Table],
) -> Result<Conditions> {
    let query = match parse::parse(sql) {
        Ok(query) => query,
        Err(why) => return Ok(Err(why)),
    };
    if !is_numbered_alike(&query, statement) {
        return Ok(Err("its parameters are numbered in an unexpected way"));
    }
    let mut expander = Expander::new(connection, catalog, tables);
    let plan = match expander.statement(&query.select) {
        Ok(plan) => plan,
        Err(Stop::Refused(why)) => return Ok(Err(why)),
        Err(Stop::Error(error)) => return Err(error),
    };
    let occurrences = propagate::occurrences(catalog, &plan)?;
    let mut by_table: Vec<Vec<PlaceConditions>> = tables.iter().map(|_| Vec::new()).collect();
    for occurrence in occurrences {
        let table = occurrence.table;
        by_table[table].push(of_place(occurrence, tables, &expander.dropped));
    }
    // This is a table that the statement reads, although its text does not seem to name the table.
    let is_missed = |(table, places): (&Table, &Vec<PlaceConditions>)| {
        matches!(table.kind, Kind::Ordinary(_)) && places.is_empty()
    };
    if tables.iter().zip(&by_table).any(is_missed) {
        return Ok(Err("it reads a table that its text does not name"));
    }
    Ok(Ok(by_table))
}

fn of_place(occurrence: Occurrence, tables: &[Table], dropped: &[(usize, Dropped)]) -> PlaceConditions {
    let of_place = dropped.iter().filter(|(place, _)| *place == occurrence.place);
    let mut dropped: Vec<Dropped> = of_place.map(|(_, dropped)| dropped.clone()).collect();
    if let (Some(column), Kind::Ordinary(columns)) = (occurrence.open_key, &tables[occurrence.table].kind) {
        dropped.push(Dropped {
            column: columns[usize::from(column)].name.clone(),
            why: "it equals a column whose values are not known in advance",
        });
    }
    PlaceConditions {
        templates: occurrence.templates,
        dropped,
    }
}

/// Returns whether the parser numbered and counted the parameters in the same way as SQLite.
fn is_numbered_alike(query: &Query, statement: &Statement) -> bool {
    let (names, count) = &query.parameters;
    let is_alike = |(name, number): &(String, usize)| statement.parameter_index(name) == Some(*number);
    *count == statement.parameter_count() && names.iter().all(is_alike)
}
