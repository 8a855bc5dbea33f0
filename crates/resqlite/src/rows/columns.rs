//! The columns of a statement: their names, declared types and origins.

use std::sync::Arc;

use resqlite_sqlite::{ColumnOrigin, Statement};

use super::registry::Registry;
use crate::core::sync::{Mutex, OfProcess, lock};

/// A column of a result. Everything but its name is `None` for an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Column {
    /// The name that it has in the result.
    pub name: String,
    /// Its declared type, as it is written in CREATE TABLE; `None` where none is written.
    pub declared_type: Option<String>,
    /// The table that it comes from.
    pub table: Option<String>,
    /// The column of that table.
    pub column: Option<String>,
    /// The database of that table: `main`, `temp`, or the name of an attached one.
    pub database: Option<String>,
}

/// The columns of a statement. Statements with the same columns share them.
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

    /// These columns.
    pub fn of_list(columns: Vec<Column>) -> Arc<Self> {
        lock(REGISTRY.get()).intern(columns, |id, columns| Self { id, columns })
    }

    /// A number that no other columns of this process have.
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
