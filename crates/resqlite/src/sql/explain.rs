//! The explanation, for people, of what a live query needs of its tables.

use std::ops::Bound;

use resqlite_live::{Columns, TableDependency, Test, Value};

/// The precision with which the commits that affect a live query are known. The finer the precision, the more commits the query can
/// skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    /// Every commit, because nothing is known.
    Unknown,
    /// Every commit that changes one of its tables.
    Table,
    /// Every commit that inserts or deletes rows, or changes columns that it reads.
    Columns,
    /// Of the commits of `Columns`, only those that change rows in a range of values.
    Range,
    /// Of the commits of `Columns`, only those that change rows with certain values.
    Key,
}

impl Precision {
    /// Returns its name: `unknown`, `table`, `columns`, `range` or `key`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Table => "table",
            Self::Columns => "columns",
            Self::Range => "range",
            Self::Key => "key",
        }
    }

    pub(super) fn of_table(table: &TableDependency) -> Self {
        let is_values = |test: &Test| matches!(test, Test::In(_));
        match (&table.filter, &table.columns) {
            (Some(filter), _) if filter.conjuncts().iter().any(|one| is_values(&one.test)) => Self::Key,
            (Some(_), _) => Self::Range,
            (None, Columns::Only(_)) => Self::Columns,
            (None, Columns::Any) => Self::Table,
        }
    }
}

/// An explanation of what a live query needs of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableExplanation {
    /// The schema: `main`, `temp` or the name of an attached database.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The columns whose changes matter: columns that are read and columns that can change the order of rows. `None` means all
    /// columns.
    pub columns: Option<Vec<String>>,
    /// The precision with which the commits that matter are known.
    pub precision: Precision,
    /// The conditions that rows must fulfil to matter, one text per column.
    pub conjuncts: Vec<String>,
    /// The reason why the precision is not finer.
    pub why: Option<String>,
}

/// Returns a test of a column, as SQL.
pub(super) fn condition(column: &str, test: &Test) -> String {
    match test {
        Test::In(values) => match &**values {
            [value] => format!("{column} = {}", literal(value)),
            values => {
                let shown: Vec<_> = values.iter().take(VALUES_SHOWN).map(literal).collect();
                let more = if values.len() > VALUES_SHOWN { ", …" } else { "" };
                format!("{column} IN ({}{more})", shown.join(", "))
            }
        },
        Test::Range { lower, upper } => {
            let lower = end(column, lower, ">");
            let upper = end(column, upper, "<");
            let ends: Vec<_> = lower.into_iter().chain(upper).collect();
            ends.join(" AND ")
        }
    }
}

/// The largest number of values of a list that are shown. `TEXT_SHOWN` is the largest number of characters of a value.
const VALUES_SHOWN: usize = 20;
const TEXT_SHOWN: usize = 60;

fn end(column: &str, bound: &Bound<Value>, operator: &str) -> Option<String> {
    match bound {
        Bound::Included(value) => Some(format!("{column} {operator}= {}", literal(value))),
        Bound::Excluded(value) => Some(format!("{column} {operator} {}", literal(value))),
        Bound::Unbounded => None,
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => format!("{value:?}"),
        Value::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let shown: String = text.chars().take(TEXT_SHOWN).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("'{}{more}'", shown.replace('\'', "''"))
        }
        Value::Blob(bytes) => {
            let digits: String = bytes
                .iter()
                .take(TEXT_SHOWN / 2)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let more = if bytes.len() > TEXT_SHOWN / 2 { "…" } else { "" };
            format!("x'{digits}{more}'")
        }
    }
}
