//! Tables, columns and functions that SQLite asks the authorizer about while it prepares a statement.

use std::collections::{BTreeMap, BTreeSet};

use resqlite_sqlite::{Action, action};

/// Tables, columns and functions that a statement names, with views and CTEs resolved.
///
/// The log may have more names than the statement uses. It may also have fewer: columns that are only compared by `USING` or
/// `NATURAL` are missing, and so is a table of which nothing else is used.
#[derive(Debug, Default)]
pub(crate) struct AuthorizerLog {
    /// Columns by table; see [`Named`]. An empty column stands for a table of which no column is used.
    pub(crate) tables: BTreeMap<Named, BTreeSet<String>>,
    pub(crate) functions: BTreeSet<String>,
    /// The statement is a PRAGMA.
    pub(crate) has_pragma: bool,
    /// Some table or column has a name that is not UTF-8, so it cannot be compared with others.
    pub(crate) has_unknown: bool,
}

/// A table as the authorizer names it. If none of its columns is used, the name is spelt as in the statement, and the schema is
/// missing if the statement does not give one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named {
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
}

impl AuthorizerLog {
    /// Adds an action that the authorizer was asked about.
    pub(crate) fn record(&mut self, action: Action<'_>) {
        match (action.code, action.first, action.second) {
            (action::READ, Some(table), Some(column)) => {
                let named = Named {
                    schema: action.schema.map(str::to_owned),
                    table: table.to_owned(),
                };
                self.tables.entry(named).or_default().insert(column.to_owned());
            }
            (action::READ, ..) => self.has_unknown = true,
            (action::FUNCTION, _, Some(name)) => {
                self.functions.insert(name.to_ascii_lowercase());
            }
            (action::PRAGMA, ..) => self.has_pragma = true,
            _ => {}
        }
    }
}
