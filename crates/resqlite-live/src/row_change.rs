//! One change to one row.

use crate::{column_set::Columns, image::Image};

/// A change to one row, as far as it was decoded (see [`Watched`](crate::Watched)). An image of `None` is not known: it
/// is not needed, or SQLite does not give the values.
#[derive(Debug, Clone, PartialEq)]
pub enum RowChange {
    /// The row was inserted.
    Insert {
        /// Its values.
        new: Option<Image>,
    },
    /// The row was updated.
    Update {
        /// Those of the compared columns that hold another value now; `1` becoming `1.0` counts. Any, if they were not
        /// compared, or if the key (rowid, or PRIMARY KEY of a WITHOUT ROWID table) changed or may have: the row moves
        /// in the order in which queries visit it, even those that do not read the key.
        columns: Columns,
        /// The values before.
        old: Option<Image>,
        /// The values after.
        new: Option<Image>,
    },
    /// The row was deleted.
    Delete {
        /// The values before.
        old: Option<Image>,
    },
}
