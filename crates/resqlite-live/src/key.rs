//! What names a row.

use std::sync::Arc;

use crate::value::Value;

/// The name of a row in its table. Cheap to clone. Equal where [`Value`]s are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// The rowid of a row in an ordinary table.
    Rowid(i64),
    /// The primary key of a row in a WITHOUT ROWID table, in the order of its declaration.
    Columns(Arc<[Value]>),
}

impl Key {
    /// Approximate bytes of the key, with all that it holds.
    pub(crate) fn weight(&self) -> usize {
        let held = match self {
            Key::Rowid(_) => 0,
            Key::Columns(values) => {
                size_of_val(&**values) + values.iter().map(Value::heap_bytes).sum::<usize>()
            }
        };
        size_of::<Key>() + held
    }
}

/// The rows of a table that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// No other rows than these. No key occurs twice; in order of their first change.
    Only(Box<[Key]>),
    /// Any row may have changed.
    Any,
}
