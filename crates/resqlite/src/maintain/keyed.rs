//! The tables that a statement reads, and their keys.

use resqlite_live::{Collation, ROWID, TableName};
use resqlite_sqlite::Connection;

use super::given_tables::GivenTables;
use crate::{
    core::names::{quoted, rowid_name},
    guard::Guard,
    sql::{
        catalog::{Catalog, Found},
        plan::{ArmPlan, Place, Rows, Stop},
        shape::ColumnShape,
        syntax::{Join, Refused},
        tables::{Kind, Table},
    },
};

/// Finds out how a result is maintained.
pub(super) struct Planner<'a> {
    pub(super) connection: &'a Connection,
    pub(super) guard: &'a Guard,
    pub(super) given: &'a GivenTables,
    pub(super) catalog: &'a Catalog<'a>,
    /// The tables that the statement reads.
    pub(super) tables: &'a [Table],
}

/// A table that the statement reads, and its key.
pub(super) struct Keyed<'a> {
    /// The place in FROM of the table, or of the SELECT through which it is seen.
    pub(super) place: &'a Place,
    pub(super) table: &'a Table,
    /// The columns of its key: as images count them, and as the statement names them.
    pub(super) key: Vec<(u16, String)>,
}

pub(super) fn refuse<T>(why: Refused) -> Result<T, Stop> {
    Err(Stop::Refused(why))
}

impl Planner<'_> {
    pub(super) fn check_functions(&self, arm: &ArmPlan) -> Result<(), Stop> {
        for function in &arm.functions {
            if self.catalog.has_aggregate(function)? {
                return refuse("it makes one value of many rows");
            }
        }
        Ok(())
    }

    /// Checks that each place in FROM has a name that no other place has. Also checks that no name of a place or its columns
    /// begins with `#`, as the names that are added to the statement do.
    pub(super) fn check_names(&self, arm: &ArmPlan) -> Result<(), Stop> {
        let is_own = |name: &str| name.starts_with('#');
        for (at, place) in arm.places.iter().enumerate() {
            let mut names = place.column_names(self.tables).into_iter().flatten();
            if names.any(is_own) || place.called.as_deref().is_some_and(is_own) {
                return refuse("a name in it begins with #, as those do that are added to it");
            }
            let is_same = |other: &Place| match (&other.called, &place.called) {
                (Some(other), Some(called)) => other.eq_ignore_ascii_case(called),
                _ => false,
            };
            if arm.places[..at].iter().any(is_same) {
                return refuse("two tables have the same name");
            }
        }
        Ok(())
    }

    /// An ordinary table in FROM.
    pub(super) fn source<'p>(&'p self, place: &'p Place) -> Result<Keyed<'p>, Stop> {
        let (table, columns) = table(place, self.tables)?;
        let without_rowid = match self.catalog.find(Some(table.name.schema()), table.name.table())? {
            Some(Found::Ordinary { without_rowid, .. }) => without_rowid,
            _ => return refuse("it reads something else than tables"),
        };
        let key = if without_rowid {
            self.primary_key(&table.name)?
        } else {
            let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
            let Some(name) = rowid_name(&names) else {
                return refuse("the rowid of a table has no name");
            };
            vec![(ROWID, name.to_owned())]
        };
        let Some(called) = &place.called else {
            return refuse("a table has no name");
        };
        let qualified = |column: String| format!("{}.{}", quoted(called, '"'), quoted(&column, '"'));
        let key = key.into_iter().map(|(column, name)| (column, qualified(name)));
        let key = key.collect();
        Ok(Keyed { place, table, key })
    }

    fn primary_key(&self, table: &TableName) -> Result<Vec<(u16, String)>, Stop> {
        let key = self.catalog.primary_key(table)?;
        for (_, name) in &key {
            if self.collation(table, name)? != Collation::Binary {
                return refuse("the collation of a key is not BINARY");
            }
        }
        Ok(key)
    }

    pub(super) fn collation(&self, table: &TableName, column: &str) -> Result<Collation, Stop> {
        let metadata = self
            .connection
            .column_metadata(Some(table.schema()), table.table(), column)?;
        named_collation(&metadata.collation)
    }
}

/// The ordinary table of a place, and its columns.
pub(super) fn table<'p>(place: &Place, tables: &'p [Table]) -> Result<(&'p Table, &'p [ColumnShape]), Stop> {
    if place.join == Join::Right {
        return refuse("it has a RIGHT or FULL JOIN");
    }
    let Rows::Table(position) = place.rows else {
        return refuse("it reads something else than tables");
    };
    let table = &tables[position];
    if table.name.schema() != "main" {
        return refuse("it reads an attached database");
    }
    let Kind::Ordinary(columns) = &table.kind else {
        return refuse("it reads a virtual table");
    };
    Ok((table, columns))
}

impl Keyed<'_> {
    pub(super) fn is_optional(&self) -> bool {
        self.place.is_optional()
    }

    /// Returns whether the statement itself names the table in FROM.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.place.rows, Rows::Table(_))
    }

    /// Returns the condition that a row of the result has a row of the source.
    pub(super) fn is_there(&self) -> String {
        format!("{} IS NOT NULL", self.key[0].1)
    }

    /// Returns the condition that the key of the source equals the next parameters.
    pub(super) fn has_key(&self, operator: &str, parameter: &mut usize) -> String {
        let mut terms = Vec::new();
        for (_, column) in &self.key {
            *parameter += 1;
            terms.push(format!("{column} {operator} ?{parameter}"));
        }
        terms.join(" AND ")
    }
}

/// Returns the sources behind LEFT JOIN that have a row wherever `source` has one: the ON of `source`, or of one of these,
/// compares a column of theirs, and is not true for NULL. Where the key of `source` is asked for, SQLite sees that `source` has
/// a row. It does not see the same of the sources before it, and would read all of the first table.
pub(super) fn present_with<'k, 'a>(
    source: &Keyed<'a>,
    sources: &'k [Keyed<'a>],
) -> impl Iterator<Item = &'k Keyed<'a>> {
    let position = |place: usize| sources.iter().position(|other| other.place.number == place);
    let (mut present, mut next) = (vec![false; sources.len()], vec![source.place]);
    while let Some(place) = next.pop().filter(|place| place.is_optional()) {
        for compared in place
            .on
            .equalities
            .iter()
            .flat_map(|pair| [pair.left, pair.right])
        {
            let Some(at) = position(compared.place).filter(|_| compared.place != place.number) else {
                continue;
            };
            if sources[at].is_optional() && !std::mem::replace(&mut present[at], true) {
                next.push(sources[at].place);
            }
        }
    }
    sources
        .iter()
        .zip(present)
        .filter_map(|(other, is_present)| is_present.then_some(other))
}

impl Place {
    pub(super) fn is_optional(&self) -> bool {
        self.join == Join::Left
    }

    /// Returns the place of the only table whose rows come from this place.
    pub(super) fn only_table(&self) -> Option<&Self> {
        match &self.rows {
            Rows::Table(_) => Some(self),
            Rows::Query(plan, _) => match &plan.arms[..] {
                [arm] if arm.places.len() == 1 => arm.places[0].only_table(),
                _ => None,
            },
            Rows::Other(..) => None,
        }
    }

    /// Returns the column that has this name in the only table of this place.
    pub(super) fn column_called(&self, name: &str, tables: &[Table]) -> Option<u16> {
        let is_it = |known: &str| known.eq_ignore_ascii_case(name);
        match &self.rows {
            Rows::Table(table) => match &tables[*table].kind {
                Kind::Ordinary(columns) => columns.iter().position(|column| is_it(&column.name)),
                Kind::Virtual => None,
            }
            .and_then(|position| u16::try_from(position).ok()),
            Rows::Query(plan, outputs) => {
                let [arm] = &plan.arms[..] else { return None };
                let mut columns = outputs.columns.iter();
                let column = columns
                    .find(|column| column.name.as_deref().is_some_and(is_it))?
                    .column?;
                match &arm.places[..] {
                    [place] if matches!(place.rows, Rows::Table(_)) => Some(column.index),
                    [place] => {
                        let Rows::Query(_, outputs) = &place.rows else {
                            return None;
                        };
                        let inside = outputs.columns.get(usize::from(column.index))?;
                        place.column_called(inside.name.as_deref()?, tables)
                    }
                    _ => None,
                }
            }
            Rows::Other(..) => None,
        }
    }
}

pub(super) fn named_collation(name: &str) -> Result<Collation, Stop> {
    match name.to_ascii_uppercase().as_str() {
        "BINARY" => Ok(Collation::Binary),
        "NOCASE" => Ok(Collation::NoCase),
        "RTRIM" => Ok(Collation::RTrim),
        _ => refuse("it is ordered by a collation of its own"),
    }
}
