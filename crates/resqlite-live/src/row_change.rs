//! One change to one row.

use crate::{column_set::Columns, key::Key};

/// What happened to one row. A key of `None` is not known: it may be any.
#[derive(Debug, Clone, PartialEq)]
pub enum RowChange {
    /// The row is new.
    Insert {
        /// Its key.
        key: Option<Key>,
    },
    /// The row got new values. A key that changed, or may have, stands for a change of any column: the row
    /// moves in the order in which queries meet it, even those that do not read the key.
    Update {
        /// The columns whose stored value is no longer the same. `1` becoming `1.0` counts.
        columns: Columns,
        /// The key before.
        old: Option<Key>,
        /// The key after.
        new: Option<Key>,
    },
    /// The row is gone.
    Delete {
        /// The key that it had.
        key: Option<Key>,
    },
}

impl RowChange {
    /// An UPDATE that stored what was there. With an unknown key that cannot be said, because a rowid can
    /// change while no column does.
    pub(crate) fn is_nothing(&self) -> bool {
        match self {
            RowChange::Update {
                columns: Columns::Only(columns),
                old,
                new,
            } => columns.is_empty() && is_kept(old, new),
            _ => false,
        }
    }
}

/// Whether an UPDATE is known to have left the key as it was.
pub(crate) fn is_kept(old: &Option<Key>, new: &Option<Key>) -> bool {
    old.is_some() && old == new
}
