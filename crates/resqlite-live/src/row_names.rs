//! The names of what commit events tell of a row, and the rule by which they and change feeds tell rows apart.

use std::sync::Arc;

/// The place of the rowid in images: not a column, and greater than any.
pub const ROWID: u16 = u16::MAX;

/// The part of each changed row that commit events tell.
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
    /// The columns of the primary key with their names; empty if none is declared.
    pub key: Box<[(u16, Arc<str>)]>,
    /// A name of the rowid, if one is free and rows may be told by it: without a primary key, or one of which a column may be NULL.
    pub rowid: Option<Arc<str>>,
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
        let rowid = self.rowid.iter().map(|_| ROWID);
        self.key
            .iter()
            .chain(columns)
            .map(|(column, _)| *column)
            .chain(rowid)
    }

    pub(crate) fn weight(&self) -> usize {
        let names = self.key.iter().chain(&self.columns);
        size_of::<Self>()
            + names
                .map(|(_, name)| size_of::<(u16, Arc<str>)>() + name.len())
                .sum::<usize>()
            + self.rowid.as_ref().map_or(0, |name| name.len())
    }
}

/// The key of a row among the others of its table, in commit events and change feeds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RowKey<V> {
    /// The values of its declared primary key.
    Columns(Box<[V]>),
    /// Its rowid: no primary key is declared, or one of its values is NULL, which any number of rows may have.
    Rowid(i64),
}

impl<V> RowKey<V> {
    /// The key of a row with these values of the declared primary key, if there is one. `None` if nothing tells it apart.
    ///
    /// ```
    /// use resqlite_live::{RowKey, Value};
    ///
    /// let key = |id| RowKey::of([id], |value| matches!(value, Value::Null), Some(7));
    /// assert_eq!(key(Value::Integer(1)), Some(RowKey::Columns([Value::Integer(1)].into())));
    /// assert_eq!(key(Value::Null), Some(RowKey::Rowid(7)));
    /// ```
    pub fn of(
        declared: impl IntoIterator<Item = V>,
        is_null: impl Fn(&V) -> bool,
        rowid: Option<i64>,
    ) -> Option<Self> {
        let declared: Box<[V]> = declared.into_iter().collect();
        if declared.is_empty() || declared.iter().any(is_null) {
            rowid.map(Self::Rowid)
        } else {
            Some(Self::Columns(declared))
        }
    }
}

/// Tells a change of one row, given the row before and after, each with its key: as one change under that key; or if the key
/// has changed, as a row that is gone, and then one that is new.
pub fn told<K: PartialEq, R>(old: Option<(K, R)>, new: Option<(K, R)>) -> [Option<ToldRow<K, R>>; 2] {
    let row = |key, old, new| Some(ToldRow { key, old, new });
    match (old, new) {
        (Some((before, old)), Some((key, new))) if before == key => [row(key, Some(old), Some(new)), None],
        (old, new) => [
            old.and_then(|(key, old)| row(key, Some(old), None)),
            new.and_then(|(key, new)| row(key, None, Some(new))),
        ],
    }
}

/// One of the changes that [`told`] returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldRow<K, R> {
    /// The key of the row.
    pub key: K,
    /// The row before.
    pub old: Option<R>,
    /// The row after.
    pub new: Option<R>,
}
