//! The operations of an entry.

use std::sync::Arc;

use resqlite_live::{RowKey, ToldRow, told};
use resqlite_sqlite::ValueRef;

use super::image::Image;

/// A table, as the operations of an entry mean it. A change of the schema inside an entry gives a table a new one.
#[derive(Debug, Clone, Eq)]
pub struct EntryTable {
    /// Its name. All tables are in the main database.
    pub name: String,
    /// Its columns, in the order of the values of an [`Image`]: all that are stored, so none that is VIRTUAL.
    pub columns: Vec<EntryColumn>,
    /// The key by which SQL names a row.
    pub key: EntryKey,
    /// The positions of the columns of its declared primary key, in the order of the key; empty if it has none.
    pub primary_key: Vec<usize>,
    /// It is one of SQLite's own, or a virtual table keeps its data in it, as far as SQLite knows: while there is a temporary
    /// table that is called like the virtual one, it does not.
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

    /// Its share of [`limits::ENTRY_COLUMNS_MAX`](crate::limits::ENTRY_COLUMNS_MAX).
    pub(super) fn weight(&self) -> usize {
        let key = match &self.key {
            EntryKey::Rowid(_) => 0,
            EntryKey::Columns(columns) => columns.len(),
        };
        4 + self.columns.len() + key + self.primary_key.len()
    }

    /// Of a row with this row id, if rows have one: what tells it apart, and its values.
    fn keyed<'a>(&self, rowid: i64, row: Image<'a>) -> (RowKey<ValueRef<'a>>, Vec<ValueRef<'a>>) {
        let values = row.values();
        let declared = self.primary_key.iter().map(|&column| values[column]);
        let is_null = |value: &ValueRef<'_>| self.has_rowids() && matches!(value, ValueRef::Null);
        let key = RowKey::of(declared, is_null, Some(rowid));
        (key.expect("there is a row id"), values)
    }
}

/// A change of a row, as change feeds tell it: what tells the row apart, and its values before and after.
pub type ToldChange<'a> = ToldRow<RowKey<ValueRef<'a>>, Vec<ValueRef<'a>>>;

/// A column of an [`EntryTable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryColumn {
    /// Its name.
    pub name: String,
    /// SQLite computes it from other columns of the row, so no statement can set it.
    pub generated: bool,
}

/// The key by which SQL names a row of an [`EntryTable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKey {
    /// By its rowid, which has this name: that of the INTEGER PRIMARY KEY, or one that no column has.
    Rowid(String),
    /// By the primary key of a WITHOUT ROWID table: the positions of its columns.
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
    /// A row is gone.
    Delete {
        /// Its table.
        table: Arc<EntryTable>,
        /// Its row id.
        rowid: i64,
        /// Its values.
        old: Image<'a>,
    },
    /// All rows of a table are gone, whatever they were. Those that are there instead follow: the rows of a table that was
    /// made with content, or of a table of SQLite's own.
    Clear {
        /// The table.
        table: Arc<EntryTable>,
    },
    /// A statement that changed the schema, or a number in the header of the file.
    Sql(&'a str),
}

impl<'a> Operation<'a> {
    /// The row that it changes, as change feeds and commit events tell it: under the values of its declared primary key; without
    /// one, or where one of them is NULL, under its row id. An update that changes what the row is told by is a row that is gone,
    /// and one that is new. `None` if it changes no single row.
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
