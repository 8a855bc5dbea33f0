//! From the conditions in a statement's text to conditions on columns of known tables.

use resqlite_live::{TableName, Value, fault::planted};
use resqlite_sqlite::{Connection, Statement};

use super::{
    affinity::Affinity,
    catalog::{Catalog, Column, Found},
    parse::{self, ColumnName, Condition, FromTable, Query, Source},
    tables::{Kind, Table},
    templates::{Dropped, Operand, Template},
    value::owned,
};
use crate::core::error::Result;

/// Conditions by table, in the order of `tables`, or why there are none at all.
pub(super) type Conditions = Result<Vec<TableConditions>, &'static str>;

/// The conditions of one table.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TableConditions {
    pub(super) templates: Vec<Template>,
    pub(super) dropped: Vec<Dropped>,
    /// It occurs more than once, so that a condition does not hold for all that is read of it.
    pub(super) is_repeated: bool,
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
    let Some(from) = resolve_from(catalog, &query.from, tables)? else {
        return Ok(Err("its FROM has more than plain tables"));
    };
    let mut found: Vec<TableConditions> = tables.iter().map(|_| TableConditions::default()).collect();
    for (position, found) in found.iter_mut().enumerate() {
        found.is_repeated = from.iter().filter(|place| place.position == position).count() != 1;
    }
    for condition in query.conditions {
        let Some((place, column)) = resolve_column(&from, &condition.column) else {
            continue;
        };
        let found = &mut found[place.position];
        if found.is_repeated && !planted("filter_of_one_alias") {
            continue;
        }
        match template(connection, place.name, column, condition)? {
            Ok(template) => found.templates.push(template),
            Err(dropped) => found.dropped.push(dropped),
        }
    }
    Ok(Ok(found))
}

/// Whether the parser counted parameters as SQLite did.
fn is_numbered_alike(query: &Query, statement: &Statement) -> bool {
    let (names, count) = &query.parameters;
    let is_alike = |(name, number): &(String, usize)| statement.parameter_index(name) == Some(*number);
    *count == statement.parameter_count() && names.iter().all(is_alike)
}

/// An ordinary table at its place in the FROM clause.
struct Place<'a> {
    /// Of the table among those that the statement reads.
    position: usize,
    name: &'a TableName,
    columns: &'a [Column],
    /// By what name columns are qualified with it.
    called: &'a str,
}

/// The tables of a FROM clause, if all of them are ordinary and they are exactly those that are read.
fn resolve_from<'a>(
    catalog: &Catalog<'_>,
    from: &'a [FromTable],
    tables: &'a [Table],
) -> Result<Option<Vec<Place<'a>>>> {
    let mut places = Vec::new();
    for item in from {
        let found = catalog.find(item.schema.as_deref(), &item.table)?;
        let Some(Found::Ordinary { name, .. }) = found else {
            return Ok(None);
        };
        let known = tables.iter().enumerate().find(|(_, table)| table.name == name);
        let Some((position, table)) = known else {
            return Ok(None);
        };
        let Kind::Ordinary(columns) = &table.kind else {
            return Ok(None);
        };
        places.push(Place {
            position,
            name: &table.name,
            columns,
            called: item.alias.as_deref().unwrap_or(table.name.table()),
        });
    }
    let is_there = |position| places.iter().any(|place| place.position == position);
    Ok((0..tables.len()).all(is_there).then_some(places))
}

/// The one column that a name means; `None` where it means none, or something else than a column.
fn resolve_column<'a, 'b>(
    from: &'a [Place<'b>],
    name: &ColumnName,
) -> Option<(&'a Place<'b>, (u16, &'b Column))> {
    let is = |text: &str, wanted: &Option<String>| {
        wanted
            .as_deref()
            .is_none_or(|wanted| text.eq_ignore_ascii_case(wanted))
    };
    let mut matches = from
        .iter()
        .filter(|place| is(place.called, &name.table) && is(place.name.schema(), &name.schema))
        .filter_map(|place| {
            let is_it = |column: &Column| column.name.eq_ignore_ascii_case(&name.column);
            let position = place.columns.iter().position(is_it)?;
            let column = &place.columns[position];
            Some((place, (u16::try_from(position).ok()?, column)))
        });
    let found = matches.next();
    found.filter(|_| matches.next().is_none())
}

/// The condition on a column, or why it cannot be used.
fn template(
    connection: &Connection,
    table: &TableName,
    column: (u16, &Column),
    condition: Condition,
) -> Result<Result<Template, Dropped>> {
    let (position, column) = column;
    let dropped = |why| {
        Ok(Err(Dropped {
            column: column.name.clone(),
            why,
        }))
    };
    if column.generated {
        return dropped("it is computed from other columns");
    }
    let metadata = connection.column_metadata(Some(table.schema()), table.table(), &column.name)?;
    if !metadata.collation.eq_ignore_ascii_case("BINARY") && !planted("collation_ignored") {
        return dropped("its collation is not BINARY");
    }
    let Some(operands) = operands(connection, condition.operands)? else {
        return dropped("it is compared with something that is no value");
    };
    Ok(Ok(Template {
        column: position,
        affinity: Affinity::of(&metadata.declared_type.unwrap_or_default()),
        comparison: condition.comparison,
        operands,
    }))
}

/// Asks SQLite itself for the values of literals.
fn operands(connection: &Connection, sources: Vec<Source>) -> Result<Option<Vec<Operand>>> {
    let literals: Vec<&str> = sources.iter().filter_map(Source::literal).collect();
    let mut values = literal_values(connection, &literals)?.into_iter();
    Ok(sources
        .iter()
        .map(|source| match source {
            Source::Parameter(number) => Some(Operand::Parameter(*number)),
            Source::Literal(_) => values.next().map(Operand::Value),
        })
        .collect())
}

fn literal_values(connection: &Connection, literals: &[&str]) -> Result<Vec<Value>> {
    let mut values = Vec::with_capacity(literals.len());
    if literals.is_empty() {
        return Ok(values);
    }
    let sql = format!("VALUES ({})", literals.join("), ("));
    let Some(mut rows) = connection.prepare(&sql, false)?.statement else {
        return Ok(values);
    };
    while rows.step()? {
        values.push(owned(rows.column(0)));
    }
    Ok(values)
}

impl Source {
    fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(sql) => Some(sql),
            Self::Parameter(_) => None,
        }
    }
}
