//! The dependencies that are found for statements of many forms, on a connection as the engine opens it.

mod builders;
mod filters;
pub(crate) mod grammar;
mod parse;
mod queries;
pub(crate) mod sound;
mod tables;

use crate::{
    connection::{engine_connection::EngineConnection, location::Location, open::open},
    core::{
        options::{Options, Settings},
        params::Params,
        value::Value,
    },
    guard::authorizer::Role,
    maintain::{Explanation, StatementDependencies, analyse},
};

pub(crate) struct Db {
    pub(crate) connection: EngineConnection,
    /// Keeps the memory.
    _location: Location,
}

/// A database on which this script ran.
pub(crate) fn db(script: &str) -> Db {
    with_pragmas(&[], script)
}

fn with_pragmas(pragmas: &[(&str, &str)], script: &str) -> Db {
    let options = Options {
        pragmas: pragmas
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Options::default()
    };
    with_options(&options, script)
}

fn with_options(options: &Options, script: &str) -> Db {
    let location = Location::find(":memory:", &Options::default()).unwrap();
    let settings = Settings::decide(options).unwrap();
    let connection = open(&location, &settings, Role::Writer, |_| {}).unwrap();
    let db = Db {
        connection,
        _location: location,
    };
    db.run(script);
    db
}

impl Db {
    pub(crate) fn run(&self, script: &str) {
        let connection = &self.connection.sqlite;
        let run = || connection.execute_script(script);
        self.connection
            .guard
            .authorizer
            .unwrapped(crate::guard::pragmas::Asker::Script, run)
            .unwrap();
    }

    pub(crate) fn analyse(&self, sql: &str) -> StatementDependencies {
        let analysed = analyse(
            &self.connection.sqlite,
            &self.connection.guard,
            &self.connection.given_tables,
            sql,
        );
        analysed.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) fn explain(&self, sql: &str, params: impl Into<Params>) -> Explanation {
        let prepared = self.connection.sqlite.prepare(sql, false).unwrap();
        let (statement, params) = (prepared.statement.unwrap(), params.into());
        let analysed = self.analyse(sql);
        let dependencies = analysed
            .reads
            .resolve(&self.connection.sqlite, &statement, &params);
        let explanation = analysed.explain(&self.connection.sqlite, &statement, &params);
        assert_eq!(dependencies.unknown, explanation.unknown.is_some());
        assert_eq!(dependencies.tables.len(), explanation.tables.len());
        explanation
    }

    /// All of an explanation in a line: `main.t(a, b) WHERE a = 1; main.u(*)`, or `everything`.
    pub(crate) fn reads(&self, sql: &str, params: impl Into<Params>) -> String {
        let explanation = self.explain(sql, params);
        if explanation.unknown.is_some() {
            return "everything".into();
        }
        let tables = explanation.tables.iter().map(|table| {
            let columns = table
                .columns
                .as_ref()
                .map_or("*".into(), |names| names.join(", "));
            let condition = match &table.conjuncts[..] {
                [] => String::new(),
                all => format!(" WHERE {}", all.join(" AND ")),
            };
            format!("{}.{}({columns}){condition}", table.schema, table.table)
        });
        tables.collect::<Vec<_>>().join("; ")
    }

    /// The same of a statement without parameters.
    pub(crate) fn plain(&self, sql: &str) -> String {
        self.reads(sql, ())
    }

    /// Why the only table of a statement is not known more precisely.
    pub(crate) fn why(&self, sql: &str, params: impl Into<Params>) -> String {
        let explanation = self.explain(sql, params);
        let [table] = &explanation.tables[..] else {
            panic!("{explanation:?}");
        };
        table.why.clone().unwrap_or_default()
    }
}

fn text(text: &str) -> Value {
    Value::from(text)
}
