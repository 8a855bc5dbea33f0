//! The tables, columns and rows that a statement reads, so that a live query runs again only after commits that can change
//! its result.
//!
//! Tables come from the bytecode of the statement and from SQLite's authorizer, columns from the authorizer, and
//! filters from the text of the statement. Correctness depends on the tables; the rest only saves work. In case of doubt there is
//! no filter, or every column counts, or every commit.
//!
//! ```text
//! read    ─ opened               what SQLite says of the statement
//!         ─ catalog, module      what the names in it stand for; shape: what SQLite says of tables
//!         ─ tables               the tables and columns it depends on
//!         ─ conditions           what rows must fulfil to matter, at each place that reads a table:
//!           ─ tokens, parse        what the text says (syntax)
//!           ─ expand, scope        names replaced by what they mean (plan)
//!           ─ propagate            what follows from conditions at one place for others
//! resolve ─ templates            with the values of parameters: filters
//! ```

pub(crate) mod affinity;
pub(crate) mod catalog;
mod conditions;
mod constants;
mod elements;
pub(crate) mod expand;
mod explain;
mod foreign;
mod module;
pub(crate) mod names;
mod natures;
mod opened;
pub(crate) mod parse;
pub(crate) mod plan;
mod propagate;
pub(crate) mod scope;
pub(crate) mod shape;
pub(crate) mod syntax;
pub(crate) mod tables;
mod templates;
pub(crate) mod terms;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tokens;
mod volatile;
pub(crate) mod walk;

use resqlite_live::{Columns, Dependencies, Filter, TableDependency};
use resqlite_sqlite::{Connection, Statement};

pub use explain::{Precision, TableExplanation};

use self::{
    catalog::Catalog,
    conditions::{Conditions, PlaceConditions},
    opened::Opened,
    syntax::Refused,
    tables::{Kind, Table, Tables},
    templates::Parameters,
    volatile::is_volatile,
};
use crate::{
    core::{
        error::{Error, Result},
        live_value::owned,
        params::Params,
    },
    guard::{Guard, authorizer_log::AuthorizerLog},
};

/// The dependencies of a statement, before its parameters have values. They are found once per prepared statement.
#[derive(Debug, PartialEq)]
pub(crate) struct StatementReads {
    tables: Tables,
    conditions: Conditions,
    /// Functions whose result can change although no row changes.
    pub(crate) volatile: Vec<String>,
    /// The database stores text as UTF-8.
    utf8: bool,
}

/// Finds what the single statement `sql` reads, and prepares the statement. Call this in an open read transaction, with a catalog
/// that was read in the same transaction.
///
/// # Errors
/// If SQLite cannot prepare the statement or read the schema.
pub(crate) fn read(
    connection: &Connection,
    guard: &Guard,
    catalog: &Catalog<'_>,
    sql: &str,
) -> Result<(StatementReads, Statement)> {
    // Prepared twice: the first time connects the virtual tables, which read tables of their own to do so.
    prepare(connection, guard, sql)?;
    let (statement, authorized) = guard.authorizer.log(|| prepare(connection, guard, sql));
    let statement = statement?;
    let foreign = guard.as_internal(|| foreign::find(connection, &authorized.functions))?;
    let (tables, conditions) = match (limitless(&statement, &authorized), foreign.first()) {
        (Some(why), _) => (Tables::Everything(why.into()), Err(why)),
        (None, Some(function)) => {
            let why = format!("it calls {function}, a function that is not said to be deterministic");
            (
                Tables::Everything(why),
                Err("it calls a function that can depend on anything"),
            )
        }
        (None, None) => {
            guard.as_internal(|| plain_query(connection, catalog, sql, &statement, &authorized))?
        }
    };
    let functions = authorized.functions.into_iter();
    let reads = StatementReads {
        tables,
        conditions,
        volatile: functions
            .filter(|name| is_volatile(name) || foreign.contains(name))
            .collect(),
        utf8: catalog.utf8,
    };
    Ok((reads, statement))
}

fn prepare(connection: &Connection, guard: &Guard, sql: &str) -> Result<Statement> {
    let prepared = connection
        .prepare(sql, false)
        .map_err(|error| guard.explain(error.into()))?;
    prepared
        .statement
        .ok_or_else(|| Error::Statement("the SQL text holds no statement".into()))
}

/// Returns the reason why the dependencies of a statement cannot be known, if this is clear at once.
fn limitless(statement: &Statement, authorized: &AuthorizerLog) -> Option<&'static str> {
    match () {
        () if statement.is_explain() => Some("the statement is an EXPLAIN"),
        () if authorized.has_pragma => Some("the statement is a PRAGMA"),
        () if !statement.is_read_only() => Some("the statement does not only read"),
        () if authorized.has_unknown => Some("a table or column has a name that is no valid text"),
        () => None,
    }
}

fn plain_query(
    connection: &Connection,
    catalog: &Catalog<'_>,
    sql: &str,
    statement: &Statement,
    authorized: &AuthorizerLog,
) -> Result<(Tables, Conditions)> {
    let opened = Opened::read(connection, sql)?;
    let tables = tables::find(catalog, sql, authorized, &opened)?;
    let conditions = match &tables {
        Tables::Known(known) => conditions::find(connection, catalog, sql, statement, known)?,
        Tables::Everything(_) => Err("every commit concerns it"),
    };
    Ok((tables, conditions))
}

/// The dependency on one table at one place that reads it, with the filter of that place.
struct Need<'s> {
    dependency: TableDependency,
    /// The conditions of the place, if they are known.
    conditions: Option<&'s PlaceConditions>,
    /// The positions of conditions that are not part of the filter, each with the reason.
    dropped: Vec<(usize, &'static str)>,
}

impl StatementReads {
    /// Returns the dependencies of a run of the statement with these parameters.
    pub(crate) fn resolve(
        &self,
        connection: &Connection,
        statement: &Statement,
        params: &Params,
    ) -> Dependencies {
        let Tables::Known(tables) = &self.tables else {
            return Dependencies {
                unknown: true,
                ..Dependencies::default()
            };
        };
        let parameters = self.parameters(connection, statement, params);
        let needs = (0..tables.len()).flat_map(|position| self.needs(position, tables, &parameters));
        Dependencies {
            unknown: false,
            tables: needs.map(|need| need.dependency).collect(),
            images: Box::default(),
        }
    }

    /// Returns the dependencies of a run in a form for people, table by table.
    ///
    /// # Errors
    /// The reason why every commit concerns the statement.
    pub(crate) fn explain(
        &self,
        connection: &Connection,
        statement: &Statement,
        params: &Params,
    ) -> std::result::Result<Vec<TableExplanation>, String> {
        let tables = match &self.tables {
            Tables::Everything(why) => return Err(why.clone()),
            Tables::Known(tables) => tables,
        };
        let parameters = self.parameters(connection, statement, params);
        let explained = tables.iter().enumerate().flat_map(|(position, table)| {
            let needs = self.needs(position, tables, &parameters);
            needs.into_iter().map(|need| self.explain_need(table, &need))
        });
        Ok(explained.collect())
    }

    /// Returns the tables that the statement reads.
    ///
    /// # Errors
    /// The reason why the tables are not known.
    pub(crate) fn tables(&self) -> std::result::Result<&[Table], Refused> {
        match (&self.tables, &self.conditions) {
            (Tables::Known(tables), _) => Ok(tables),
            (Tables::Everything(_), Err(why)) => Err(why),
            (Tables::Everything(_), Ok(_)) => Err("every commit concerns it"),
        }
    }

    /// Returns whether the result follows from rows of ordinary tables alone, so that every connection that sees the same rows
    /// returns the same result. Virtual tables can hold data that other connections do not see.
    pub(crate) fn reads_only_rows(&self) -> bool {
        let Tables::Known(tables) = &self.tables else {
            return false;
        };
        let are_ordinary = tables.iter().all(|table| matches!(table.kind, Kind::Ordinary(_)));
        are_ordinary && !self.is_volatile()
    }

    /// Returns whether the result can change although no row changes.
    pub(crate) fn is_volatile(&self) -> bool {
        !self.volatile.is_empty()
    }

    /// Returns the values of all parameters. If they do not fit the statement, which then fails by itself, returns no values.
    fn parameters<'c>(
        &self,
        connection: &'c Connection,
        statement: &Statement,
        params: &Params,
    ) -> Parameters<'c> {
        let values = params.reader().values(statement).unwrap_or_default();
        Parameters {
            connection,
            values: values.into_iter().map(owned).collect(),
            utf8: self.utf8,
        }
    }

    /// Returns the needs of one table: one for each place that reads the table, with a filter, or a single need if a place reads
    /// all of it.
    fn needs<'s>(&'s self, position: usize, tables: &[Table], parameters: &Parameters<'_>) -> Vec<Need<'s>> {
        let table = &tables[position];
        let places = match &self.conditions {
            Ok(by_table) => &by_table[position][..],
            Err(_) => &[],
        };
        let mut needs: Vec<Need<'_>> = Vec::with_capacity(1);
        for place in places {
            let (filter, dropped) = templates::filter(&place.templates, parameters);
            let is_unfiltered = filter.is_none();
            let need = Need {
                dependency: dependency(table, filter),
                conditions: Some(place),
                dropped,
            };
            if is_unfiltered {
                return vec![need];
            }
            if needs.iter().all(|known| known.dependency != need.dependency) {
                needs.push(need);
            }
        }
        if needs.is_empty() {
            needs.push(Need {
                dependency: dependency(table, None),
                conditions: None,
                dropped: Vec::new(),
            });
        }
        needs
    }

    fn explain_need(&self, table: &Table, need: &Need<'_>) -> TableExplanation {
        let dependency = &need.dependency;
        let columns = match &dependency.columns {
            Columns::Only(set) => Some(set.iter().map(|column| table.column(column)).collect()),
            Columns::Any => None,
        };
        let conjuncts = dependency.filter.iter().flat_map(Filter::conjuncts);
        let conjuncts = conjuncts.map(|one| explain::condition(&table.column(one.column), &one.test));
        let precision = Precision::of_table(dependency);
        TableExplanation {
            schema: table.name.schema().into(),
            table: table.name.table().into(),
            columns,
            precision,
            conjuncts: conjuncts.collect(),
            why: self.why(table, need, precision),
        }
    }

    /// Returns the reason why the dependency on a table is not known more precisely.
    fn why(&self, table: &Table, need: &Need<'_>, precision: Precision) -> Option<String> {
        match precision {
            Precision::Key => return None,
            Precision::Table => return table.why_any.clone(),
            _ => {}
        }
        if let Err(why) = &self.conditions {
            return Some((*why).to_owned());
        }
        let late = need.dropped.first().zip(need.conditions);
        let late = late.map(|((at, why), place)| (table.column(place.templates[*at].column), *why));
        let early = need.conditions.and_then(|place| place.dropped.first());
        let lost = late.or_else(|| early.map(|lost| (lost.column.clone(), lost.why)));
        Some(match lost {
            Some((column, why)) => format!("no filter by {column}: {why}"),
            None if precision == Precision::Range => "no condition names single values of a column".into(),
            None => "no AND-ed condition compares a plain column with a constant".into(),
        })
    }
}

fn dependency(table: &Table, filter: Option<Filter>) -> TableDependency {
    let mut columns = table.columns.clone();
    if let (Columns::Only(set), Some(filter)) = (&mut columns, &filter) {
        set.extend(filter.columns());
    }
    TableDependency {
        table: table.name.clone(),
        columns,
        filter,
    }
}

impl Table {
    /// The name of a column.
    fn column(&self, position: u16) -> String {
        match &self.kind {
            Kind::Ordinary(columns) => columns[usize::from(position)].name.clone(),
            Kind::Virtual => position.to_string(),
        }
    }
}
