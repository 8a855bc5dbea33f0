//! The names of the parts of a row that commit events report, and the rule by which commit events and change feeds
//! distinguish rows.

use std::sync::Arc;

/// The number that stands for the rowid in images. It is no column, and is greater than the number of any column.
pub const ROWID: u16 = u16::MAX;

/// The part of each changed row that commit events report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowDetail {
    /// The key of the row.
    Keys,
    /// The key of the row, and its values before and after the change.
    Images,
}

/// The columns by which commit events distinguish the rows of a table, and the columns that they report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowNames {
    /// The columns of the primary key with their names; empty if none is declared.
    pub key: Box<[(u16, Arc<str>)]>,
    /// A name of the rowid, if a name is free and rows may be distinguished by the rowid: if the table has no primary
    /// key, or a column of the primary key may be NULL.
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

/// The key that distinguishes a row from the others of its table, in commit events and change feeds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RowKey<V> {
    /// The values of its declared primary key.
    Columns(Box<[V]>),
    /// The rowid of the row: no primary key is declared, or one of the primary key's values is NULL, which any number
    /// of rows may have.
    Rowid(i64),
}

impl<V> RowKey<V> {
    /// Returns the key of a row. `declared` has the values of the declared primary key, if there is one. Returns `None`
    /// if nothing distinguishes the row.
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

/// Reports a change of one row, given the row before and after, each with its key. If the key is the same, reports one
/// change under that key. If the key has changed, reports a deleted row, and then a new one.
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
