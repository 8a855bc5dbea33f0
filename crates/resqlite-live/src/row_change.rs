//! One change to one row.

use crate::{
    column_set::Columns,
    image::{self, Image},
};

/// A change to one row, as far as it was decoded (see [`Watched`](crate::Watched)). An image that is `None` is not
/// known, because it is not needed or because SQLite does not give the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowChange {
    /// The row was inserted.
    Insert {
        /// The values of the row.
        new: Option<Image>,
    },
    /// The row was updated.
    Update {
        /// The compared columns that hold another value now; a change from `1` to `1.0` counts. [`Columns::Any`] if
        /// they were not compared, or if the key (rowid, or PRIMARY KEY of a WITHOUT ROWID table) changed or may have
        /// changed. When the key changes, the row moves in the order in which queries visit rows, even queries that do
        /// not read the key.
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

impl RowChange {
    /// Returns the values of [`Watched::images`](crate::Watched::images) before the change, if they are known; an
    /// INSERT has none.
    pub fn before(&self) -> Option<&Image> {
        match self {
            Self::Insert { .. } => None,
            Self::Update { old, .. } | Self::Delete { old } => old.as_ref(),
        }
    }

    /// Returns the values of [`Watched::images`](crate::Watched::images) after the change, if they are known; a DELETE
    /// has none.
    pub fn after(&self) -> Option<&Image> {
        match self {
            Self::Insert { new } | Self::Update { new, .. } => new.as_ref(),
            Self::Delete { .. } => None,
        }
    }

    /// Returns the compared columns that an UPDATE changed; there are none if it changed only other columns. Returns
    /// `None` for an INSERT or a DELETE.
    pub fn columns(&self) -> Option<&Columns> {
        match self {
            Self::Update { columns, .. } => Some(columns),
            Self::Insert { .. } | Self::Delete { .. } => None,
        }
    }

    /// Returns the images before and after the change, of which an INSERT and a DELETE have only one; `None` if one of
    /// them is not known.
    pub(crate) fn images(&self) -> Option<impl Iterator<Item = &Image>> {
        let (old, new) = (self.before(), self.after());
        let is_known = match self {
            Self::Insert { .. } => new.is_some(),
            Self::Delete { .. } => old.is_some(),
            Self::Update { .. } => old.is_some() && new.is_some(),
        };
        is_known.then(|| old.into_iter().chain(new))
    }

    /// Returns the approximate number of bytes, including everything on the heap.
    pub(crate) fn weight(&self) -> usize {
        let images = self
            .before()
            .into_iter()
            .chain(self.after())
            .map(image::heap_bytes);
        let columns = self.columns().map_or(0, Columns::heap_bytes);
        size_of::<Self>() + images.sum::<usize>() + columns
    }
}
