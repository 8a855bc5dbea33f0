//! The names of what commit events tell of a row.

use std::sync::Arc;

/// The place of the rowid in images: not a column, and greater than any.
pub const ROWID: u16 = u16::MAX;

/// How much of each changed row commit events tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowDetail {
    /// Its key.
    Keys,
    /// Its key, and the values before and after.
    Images,
}

/// The columns of a table by which commit events tell its rows apart, and those that they tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowNames {
    /// The columns of the primary key with their names, or [`ROWID`] and a name for it. Empty if no name of the rowid is
    /// free.
    pub key: Box<[(u16, Arc<str>)]>,
    /// All columns that are stored, with their names; ascending.
    pub columns: Box<[(u16, Arc<str>)]>,
}

impl RowNames {
    /// The columns whose values an event of this detail needs.
    pub fn needed(&self, detail: RowDetail) -> impl Iterator<Item = u16> {
        let columns: &[_] = match detail {
            RowDetail::Keys => &[],
            RowDetail::Images => &self.columns,
        };
        self.key.iter().chain(columns).map(|(column, _)| *column)
    }

    pub(crate) fn weight(&self) -> usize {
        let names = self.key.iter().chain(&self.columns);
        size_of::<Self>()
            + names
                .map(|(_, name)| size_of::<(u16, Arc<str>)>() + name.len())
                .sum::<usize>()
    }
}
