//! One change to one row.

use crate::{
    column_set::Columns,
    image::{self, Image},
};

/// A change to one row, as far as it was decoded (see [`Watched`](crate::Watched)). An image of `None` is not known: it
/// is not needed, or SQLite does not give the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowChange {
    /// The row was inserted.
    Insert {
        /// Its values.
        new: Option<Image>,
    },
    /// The row was updated.
    Update {
        /// The compared columns that hold another value now; `1` becoming `1.0` counts. [`Columns::Any`] if they were not
        /// compared, or if the key (rowid, or PRIMARY KEY of a WITHOUT ROWID table) changed or may have: the row then
        /// moves in the order in which queries visit it, even queries that do not read the key.
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
    /// The values of [`Watched::images`](crate::Watched::images) before, if they are known; an INSERT has none.
    pub fn before(&self) -> Option<&Image> {
        match self {
            Self::Insert { .. } => None,
            Self::Update { old, .. } | Self::Delete { old } => old.as_ref(),
        }
    }

    /// The values of [`Watched::images`](crate::Watched::images) after, if they are known; a DELETE has none.
    pub fn after(&self) -> Option<&Image> {
        match self {
            Self::Insert { new } | Self::Update { new, .. } => new.as_ref(),
            Self::Delete { .. } => None,
        }
    }

    /// Returns the compared columns that an UPDATE changed; possibly none, if only others changed. `None`: INSERT or DELETE.
    pub fn columns(&self) -> Option<&Columns> {
        match self {
            Self::Update { columns, .. } => Some(columns),
            Self::Insert { .. } | Self::Delete { .. } => None,
        }
    }

    /// The images that there are, before and after; `None` if one of them is not known.
    pub(crate) fn images(&self) -> Option<impl Iterator<Item = &Image>> {
        let (old, new) = (self.before(), self.after());
        let is_known = match self {
            Self::Insert { .. } => new.is_some(),
            Self::Delete { .. } => old.is_some(),
            Self::Update { .. } => old.is_some() && new.is_some(),
        };
        is_known.then(|| old.into_iter().chain(new))
    }

    /// Approximate bytes with everything on the heap.
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
