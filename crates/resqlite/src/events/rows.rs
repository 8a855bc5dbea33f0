//! The rows of commit events.

use std::sync::Arc;

use resqlite_live::{RowKey, RowNames};

use crate::core::value::Value;

/// The rows of a table that changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Changes {
    /// These rows, in the order in which they were first changed; each key once.
    Rows(Vec<RowEvent>),
    /// Any rows may have changed.
    Unlisted(Unlisted),
}

/// The reason why the rows of a table are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlisted {
    /// There are too many rows, or they are too large: see [`EVENT_ROWS`](crate::limits::EVENT_ROWS) and
    /// [`EVENT_BYTES`](crate::limits::EVENT_BYTES). Or a rollback went back further than is remembered.
    Many,
    /// The schema changed.
    Schema,
    /// Rows cannot be told apart: columns have all names of the rowid, and no primary key is declared, or the key has a NULL.
    Key,
    /// The rows were not recorded: the table is virtual, or a transaction was already open when the listener began.
    Unknown,
}

/// The change of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowEvent {
    /// The names of the values.
    pub names: Arc<RowNames>,
    /// The key of the row: the values of [`RowNames::key`], or the rowid, whose name is [`RowNames::rowid`].
    pub key: RowKey<Value>,
    /// The row before.
    pub old: RowState,
    /// The row after.
    pub new: RowState,
}

/// The state of a row before or after the changes.
#[derive(Debug, Clone, PartialEq)]
pub enum RowState {
    /// There is no row with this key.
    Absent,
    /// There is a row, whose values the listener does not want.
    Present,
    /// The values of [`RowNames::columns`].
    Values(Box<[Value]>),
}

impl RowEvent {
    /// Returns the approximate memory that the values of the event take.
    pub(super) fn bytes(&self) -> usize {
        let images = [&self.old, &self.new]
            .into_iter()
            .filter_map(|state| match state {
                RowState::Values(image) => Some(image),
                RowState::Absent | RowState::Present => None,
            });
        let key = match &self.key {
            RowKey::Columns(values) => Some(values),
            RowKey::Rowid(_) => None,
        };
        let values = images.chain(key).flatten();
        values
            .map(|value| size_of::<Value>() + text_or_blob_bytes(value))
            .sum()
    }
}

fn text_or_blob_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
    }
}
