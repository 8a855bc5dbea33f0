//! One change to one row.

use crate::{column_set::Columns, image::Image};

/// What happened to one row, as far as it was decoded (see [`Watched`](crate::Watched)). An image of `None` is
/// not known: nobody asks for it, or it cannot be had.
#[derive(Debug, Clone, PartialEq)]
pub enum RowChange {
    /// The row is new.
    Insert {
        /// Its values.
        new: Option<Image>,
    },
    /// The row got new values.
    Update {
        /// Which of the compared columns no longer hold the same value; `1` becoming `1.0` counts. Any, where
        /// they were not compared, and where the key (rowid, or PRIMARY KEY of a WITHOUT ROWID table) changed or
        /// may have: the row moves in the order in which queries meet it, even those that do not read the key.
        columns: Columns,
        /// The values before.
        old: Option<Image>,
        /// The values after.
        new: Option<Image>,
    },
    /// The row is gone.
    Delete {
        /// The values that it had.
        old: Option<Image>,
    },
}
