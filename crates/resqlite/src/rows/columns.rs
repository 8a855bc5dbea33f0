//! The columns of a statement: their names, declared types and origins.

use std::sync::Arc;

use resqlite_sqlite::{ColumnOrigin, Statement};

use super::registry::Registry;
use crate::core::sync::{Mutex, OfProcess, lock};

/// A column of a result. For an expression, everything but its name is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Column {
    /// The name of the column in the result.
    pub name: String,
    /// Its declared type, as it is written in CREATE TABLE; `None` where none is written.
    pub declared_type: Option<String>,
    /// The table that the column belongs to.
    pub table: Option<String>,
    /// The column of that table.
    pub column: Option<String>,
    /// The database of that table: `main`, `temp`, or the name of an attached one.
    pub database: Option<String>,
}

/// The columns of a statement. Statements with the same columns share one such list.
#[derive(Debug)]
pub struct Columns {
    id: u32,
    columns: Vec<Column>,
}

static REGISTRY: OfProcess<Mutex<Registry<Vec<Column>, Columns>>> = OfProcess::new(Mutex::default);

impl Columns {
    pub(crate) fn of(statement: &Statement) -> Arc<Self> {
        Self::of_list(
            (0..statement.column_count())
                .map(|at| column(statement, at))
                .collect(),
        )
    }

    /// Returns the shared list of these columns.
    pub fn of_list(columns: Vec<Column>) -> Arc<Self> {
        lock(REGISTRY.get()).intern(columns, |id, columns| Self { id, columns })
    }

    /// Returns a number that no other list of columns in this process has.
    pub fn id(&self) -> u32 {
        self.id
    }
}

impl std::ops::Deref for Columns {
    type Target = [Column];

    fn deref(&self) -> &[Column] {
        &self.columns
    }
}

fn column(statement: &Statement, at: usize) -> Column {
    let ColumnOrigin {
        declared_type,
        table,
        column,
        database,
    } = statement.column_origin(at);
    Column {
        name: statement.column_name(at),
        declared_type,
        table,
        column,
        database,
    }
}
