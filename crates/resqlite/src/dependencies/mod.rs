//! What a query depends on, so that a live query runs again only after commits that can change its result.
//!
//! Tables come from the bytecode of the statement and from SQLite's authorizer, columns from the authorizer, and
//! filters from the text of simple statements. Tables give correctness, the rest only saves work: where anything is
//! in doubt there is no filter, or any column counts, or every commit.
//!
//! ```text
//! analyse ─ opened             what SQLite says of the statement
//!         ─ catalog, module    what the names in it stand for
//!         ─ tables             the tables and columns it depends on
//!         ─ tokens, parse      the conditions in its text
//!         ─ conditions         on which columns they are
//! resolve ─ templates          with the values of parameters: filters
//! ```

mod affinity;
mod catalog;
mod conditions;
mod explain;
mod foreign;
mod module;
mod names;
mod opened;
mod parse;
mod tables;
mod templates;
#[cfg(test)]
mod tests;
mod tokens;
mod value;
mod volatile;

use resqlite_live::{Columns, Dependencies, TableDependency, Value, fault::planted};
use resqlite_sqlite::{Connection, Statement};

pub use explain::{Explanation, Precision, TableExplanation};

use self::{
    catalog::Catalog,
    conditions::{Conditions, TableConditions},
    opened::Opened,
    tables::{Kind, Table, Tables},
    volatile::is_volatile,
};
use crate::{
    core::{
        error::{Error, Result},
        params::Params,
    },
    guard::{Guard, authorizer_log::AuthorizerLog},
};

/// What a statement depends on, before its parameters have values. Made once per prepared statement.
#[derive(Debug, PartialEq)]
pub(crate) struct StatementDependencies {
    tables: Tables,
    conditions: Conditions,
    /// Functions whose result can change although no row does.
    volatile: Vec<String>,
    /// The database stores text as UTF-8.
    utf8: bool,
}

/// Finds what `sql`, one statement, depends on. Call it in an open read transaction.
///
/// # Errors
/// What SQLite says when it prepares the statement or reads the schema.
pub(crate) fn analyse(connection: &Connection, guard: &Guard, sql: &str) -> Result<StatementDependencies> {
    // First of all, because it brings the connection's own idea of the schema up to date.
    let catalog = guard.as_internal(|| Catalog::read(connection))?;
    // Prepared twice: the first time connects virtual tables, which look into tables of their own for that.
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
            guard.as_internal(|| plain_query(connection, &catalog, sql, &statement, &authorized))?
        }
    };
    let functions = authorized.functions.into_iter();
    Ok(StatementDependencies {
        tables,
        conditions,
        volatile: functions
            .filter(|name| is_volatile(name) || foreign.contains(name))
            .collect(),
        utf8: catalog.utf8,
    })
}

fn prepare(connection: &Connection, guard: &Guard, sql: &str) -> Result<Statement> {
    let prepared = connection
        .prepare(sql, false)
        .map_err(|error| guard.explain(error.into()))?;
    prepared
        .statement
        .ok_or_else(|| Error::Statement("the SQL text holds no statement".into()))
}

/// Why the dependencies of a statement cannot be known, if that is clear at once.
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
        Tables::Everything(_) => Err("every commit concerns it"),
        Tables::Known(known) => conditions::find(connection, catalog, sql, statement, known)?,
    };
    Ok((tables, conditions))
}

impl StatementDependencies {
    /// What a run of the statement with these parameters depends on.
    pub(crate) fn resolve(&self, statement: &Statement, params: &Params) -> Dependencies {
        let Tables::Known(tables) = &self.tables else {
            return Dependencies {
                unknown: true,
                tables: Box::default(),
            };
        };
        let values = self.values(statement, params);
        let known = if planted("forget_second_table") {
            1
        } else {
            tables.len()
        };
        let dependencies = tables.iter().enumerate().take(known).map(|(position, table)| {
            let (dependency, _) = self.table(position, table, &values);
            dependency
        });
        Dependencies {
            unknown: false,
            tables: dependencies.collect(),
        }
    }

    /// The same for people.
    pub(crate) fn explain(&self, statement: &Statement, params: &Params) -> Explanation {
        let (tables, unknown) = match &self.tables {
            Tables::Everything(why) => (&[][..], Some(why.clone())),
            Tables::Known(tables) => (&tables[..], None),
        };
        let values = self.values(statement, params);
        let tables = tables.iter().enumerate();
        Explanation {
            unknown,
            tables: tables
                .map(|(position, table)| self.explain_table(position, table, &values))
                .collect(),
            volatile: self.volatile.clone(),
        }
    }

    /// Whether the result can change although no row does.
    pub(crate) fn is_volatile(&self) -> bool {
        !self.volatile.is_empty()
    }

    /// The values of all parameters; none where they do not fit the statement, which then fails by itself.
    fn values(&self, statement: &Statement, params: &Params) -> Vec<Value> {
        let values = params.reader().values(statement).unwrap_or_default();
        values.into_iter().map(value::owned).collect()
    }

    fn conditions(&self, position: usize) -> Option<&TableConditions> {
        self.conditions.as_ref().ok()?.get(position)
    }

    /// What is needed of one table, and why some conditions are no part of its filter.
    fn table(
        &self,
        position: usize,
        table: &Table,
        values: &[Value],
    ) -> (TableDependency, Vec<(usize, &'static str)>) {
        let conditions = self.conditions(position);
        let templates = conditions.map_or(&[][..], |found| &found.templates);
        let (filter, dropped) = templates::filter(templates, values, self.utf8);
        let mut columns = table.columns.clone();
        if let (Columns::Only(set), Some(filter)) = (&mut columns, &filter) {
            set.extend(filter.columns());
        }
        let dependency = TableDependency {
            table: table.name.clone(),
            columns,
            filter,
        };
        (dependency, dropped)
    }

    fn explain_table(&self, position: usize, table: &Table, values: &[Value]) -> TableExplanation {
        let (dependency, dropped) = self.table(position, table, values);
        let name = |column: u16| match &table.kind {
            Kind::Ordinary(columns) => columns[usize::from(column)].name.clone(),
            Kind::Virtual => column.to_string(),
        };
        let columns = match &dependency.columns {
            Columns::Only(set) => Some(set.iter().map(name).collect()),
            Columns::Any => None,
        };
        let conjuncts = dependency.filter.iter().flat_map(|filter| filter.conjuncts());
        let conjuncts = conjuncts.map(|one| explain::condition(&name(one.column), &one.test));
        let precision = Precision::of_table(&dependency);
        TableExplanation {
            schema: table.name.schema().into(),
            table: table.name.table().into(),
            columns,
            precision,
            conjuncts: conjuncts.collect(),
            why: self.why(position, table, precision, &dropped),
        }
    }

    /// Why a table is not known more precisely.
    fn why(
        &self,
        position: usize,
        table: &Table,
        precision: Precision,
        dropped: &[(usize, &'static str)],
    ) -> Option<String> {
        match precision {
            Precision::Key => return None,
            Precision::Table => return table.why_any.clone(),
            _ => {}
        }
        let conditions = match &self.conditions {
            Err(why) => return Some((*why).to_owned()),
            Ok(_) => self.conditions(position)?,
        };
        let late = dropped.first().map(|(at, why)| {
            let column = usize::from(conditions.templates[*at].column);
            match &table.kind {
                Kind::Ordinary(columns) => format!("no filter by {}: {why}", columns[column].name),
                Kind::Virtual => (*why).to_owned(),
            }
        });
        let early = conditions.dropped.first();
        let reason = late.or_else(|| early.map(|lost| format!("no filter by {}: {}", lost.column, lost.why)));
        Some(match reason {
            Some(reason) => reason,
            None if conditions.is_repeated => "the table occurs more than once in FROM".into(),
            None if precision == Precision::Range => "no condition names single values of a column".into(),
            None => "no AND-ed condition compares a plain column with a constant".into(),
        })
    }
}
