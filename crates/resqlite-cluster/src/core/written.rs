//! The results of writes.

use std::sync::Arc;

use resqlite::{Columns, Rows, binding::ColumnLayout, log::Position};

/// The result of a statement that writes.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The rows of `RETURNING`; empty otherwise.
    pub rows: Rows,
    /// Rows inserted, updated or deleted by the statement itself.
    pub changes: i64,
    /// Row id of the last row inserted; 0 where none was.
    pub last_insert_rowid: i64,
    /// Where the write stands in the log. The node that was asked shows it; every other one does once it has this position.
    pub position: Position,
}

/// The result of a statement, with its rows as bytes: so it travels between nodes.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) changes: i64,
    pub(crate) last_insert_rowid: i64,
    pub(crate) rows: Vec<(Arc<ColumnLayout>, Box<[u8]>)>,
    /// Of a statement of any kind.
    pub(crate) columns: Option<Arc<Columns>>,
}
