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
    /// The row id of the last row inserted; 0 if no row was inserted.
    pub last_insert_rowid: i64,
    /// The position of the write in the log. The node that was asked shows the write; every other node does once it has this
    /// position.
    pub position: Position,
}

/// The result of a statement, with its rows as bytes, as it is sent between nodes.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) changes: i64,
    pub(crate) last_insert_rowid: i64,
    pub(crate) rows: Vec<(Arc<ColumnLayout>, Box<[u8]>)>,
    /// The columns, for a statement of any kind.
    pub(crate) columns: Option<Arc<Columns>>,
}
