//! The operations of an entry.

use std::sync::Arc;

use resqlite_live::{RowKey, ToldRow, told};
use resqlite_sqlite::ValueRef;

use super::image::Image;

/// A table, as the operations of an entry know it. If the schema changes inside an entry, a table gets a new `EntryTable`.
#[derive(Debug, Clone, Eq)]
pub struct EntryTable {
    /// Its name. All tables are in the main database.
    pub name: String,
    /// Its columns, in the order of the values of an [`Image`]. All stored columns are listed, so no VIRTUAL column is.
    pub columns: Vec<EntryColumn>,
    /// The key by which SQL names a row.
    pub key: EntryKey,
    /// The positions of the columns of its declared primary key, in the order of the key; empty if it has none.
    pub primary_key: Vec<usize>,
    /// States that the table is one of SQLite's own, or that a virtual table keeps its data in it. SQLite does not recognise the latter
    /// while a temporary table has the same name as the virtual table.
    pub is_internal: bool,
}

/// Two tables are equal if their rows are the same rows. `is_internal`, which SQLite does not always know, is left out.
impl PartialEq for EntryTable {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            name,
            columns,
            key,
            primary_key,
            is_internal: _,
        } = self;
        (name, columns, key, primary_key) == (&other.name, &other.columns, &other.key, &other.primary_key)
    }
}

impl EntryTable {
    pub(crate) fn has_rowids(&self) -> bool {
        matches!(self.key, EntryKey::Rowid(_))
    }

    /// Returns the share of [`limits::ENTRY_COLUMNS_MAX`](crate::limits::ENTRY_COLUMNS_MAX) that
    /// this table takes.
    pub(super) fn weight(&self) -> usize {
        let key = match &self.key {
            EntryKey::Rowid(_) => 0,
            EntryKey::Columns(columns) => columns.len(),
        };
        4 + self.columns.len() + key + self.primary_key.len()
    }

    /// Returns the key that identifies a row, and the values of the row. `rowid` is its row id, if
    /// rows have one.
    fn keyed<'a>(&self, rowid: i64, row: Image<'a>) -> (RowKey<ValueRef<'a>>, Vec<ValueRef<'a>>) {
        let values = row.values();
        let declared = self.primary_key.iter().map(|&column| values[column]);
        let is_null = |value: &ValueRef<'_>| self.has_rowids() && matches!(value, ValueRef::Null);
        let key = RowKey::of(declared, is_null, Some(rowid));
        (key.expect("there is a row id"), values)
    }
}

/// A change of a row, as change feeds report it: the key that identifies the row, and its values before and after.
pub type ToldChange<'a> = ToldRow<RowKey<ValueRef<'a>>, Vec<ValueRef<'a>>>;

/// A column of an [`EntryTable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryColumn {
    /// Its name.
    pub name: String,
    /// States that SQLite computes the column from other columns of the row, so that no statement
    /// can set it.
    pub generated: bool,
}

/// The key by which SQL names a row of an [`EntryTable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKey {
    /// The rowid, which has this name: that of the INTEGER PRIMARY KEY, or a name that no column has.
    Rowid(String),
    /// The primary key of a WITHOUT ROWID table: the positions of its columns.
    Columns(Vec<usize>),
}

/// One change, in the order in which the changes were made. Row ids are 0 for WITHOUT ROWID tables.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation<'a> {
    /// A row is new.
    Insert {
        /// Its table.
        table: Arc<EntryTable>,
        /// Its row id.
        rowid: i64,
        /// Its values.
        new: Image<'a>,
    },
    /// A row has new values, and perhaps another key.
    Update {
        /// Its table.
        table: Arc<EntryTable>,
        /// Its row id before.
        old_rowid: i64,
        /// Its row id after.
        new_rowid: i64,
        /// Its values before.
        old: Image<'a>,
        /// Its values after.
        new: Image<'a>,
    },
    /// A row is deleted.
    Delete {
        /// Its table.
        table: Arc<EntryTable>,
        /// Its row id.
        rowid: i64,
        /// Its values.
        old: Image<'a>,
    },
    /// All rows of a table are deleted, whatever they were. Operations for the rows that replace them follow: the rows of a table that
    /// was made with content, or of a table of SQLite's own.
    Clear {
        /// The table.
        table: Arc<EntryTable>,
    },
    /// A statement that changed the schema, or a number in the header of the file.
    Sql(&'a str),
}

impl<'a> Operation<'a> {
    /// Returns the row that the operation changes, as change feeds and commit events report it. The row is identified by the values of
    /// its declared primary key; without such a key, or if one of its values is NULL, by its row id. An update that changes the
    /// identifying key is reported as a deleted row and a new row. Returns `None` if the operation changes no single row.
    ///
    /// ```
    /// # use resqlite::{Database, Options, feeds::FeedOptions, live::RowKey};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// db.exec("CREATE TABLE t(v); INSERT INTO t VALUES ('a')").await?;
    /// let mut feed = db.feed(FeedOptions::named("copy")).await?;
    /// db.exec("UPDATE t SET rowid = 50").await?;
    ///
    /// let commit = feed.next().await?;
    /// let operation = commit.entry.operations().next().unwrap();
    /// let (table, [gone, new]) = operation.told().unwrap();
    /// assert_eq!(table.name, "t");
    /// assert_eq!(gone.unwrap().key, RowKey::Rowid(1));
    /// assert_eq!(new.unwrap().key, RowKey::Rowid(50));
    /// # drop(feed);
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    pub fn told(&self) -> Option<(&Arc<EntryTable>, [Option<ToldChange<'a>>; 2])> {
        let (table, old, new) = match self {
            Self::Insert { table, rowid, new } => (table, None, Some((*rowid, *new))),
            Self::Update {
                table,
                old_rowid,
                new_rowid,
                old,
                new,
            } => (table, Some((*old_rowid, *old)), Some((*new_rowid, *new))),
            Self::Delete { table, rowid, old } => (table, Some((*rowid, *old)), None),
            Self::Clear { .. } | Self::Sql(_) => return None,
        };
        let keyed = |(rowid, row)| table.keyed(rowid, row);
        Some((table, told(old.map(keyed), new.map(keyed))))
    }
}
