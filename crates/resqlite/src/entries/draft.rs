//! The operations of an entry while it is being made. To undo some operations, the end is cut off.

use resqlite_sqlite::ValueRef;

use super::{
    entry::{Entry, Hash},
    format::{tag, value},
    operation::{EntryKey, EntryTable},
};
use crate::core::{limits, position::Position};

/// The operations of an entry that is being made.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    /// The number of tables that the operations have defined. `weight` is their weight.
    tables: usize,
    weight: usize,
}

/// A point in a [`Draft`] to which it can be rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct DraftMark {
    bytes: usize,
    tables: usize,
    weight: usize,
}

impl DraftMark {
    /// Returns the number of tables that were defined before this point.
    pub(crate) fn tables(self) -> usize {
        self.tables
    }
}

impl Draft {
    /// Defines a table, and returns the number by which rows refer to it.
    pub(crate) fn table(&mut self, table: &EntryTable) -> usize {
        self.bytes.push(tag::TABLE);
        self.text(&table.name);
        self.unsigned(table.columns.len() as u64);
        for column in &table.columns {
            self.text(&column.name);
            self.bytes.push(u8::from(column.generated));
        }
        match &table.key {
            EntryKey::Rowid(name) => {
                self.unsigned(0);
                self.text(name);
            }
            EntryKey::Columns(columns) => self.places(columns),
        }
        self.places(&table.primary_key);
        self.bytes.push(u8::from(table.is_internal));
        self.tables += 1;
        self.weight += table.weight();
        self.tables - 1
    }

    /// Adds the record of a new row. `rowid` is given if the table has rowids.
    pub(crate) fn insert<'v>(
        &mut self,
        table: usize,
        rowid: Option<i64>,
        new: impl Iterator<Item = ValueRef<'v>>,
    ) {
        self.row(tag::INSERT, table, rowid);
        new.for_each(|value| self.value(value));
    }

    /// Adds the record of a changed row. `rowids` are the row ids before and after the change, if the table has rowids. `images` has each
    /// value before and after the change.
    pub(crate) fn update<'v>(
        &mut self,
        table: usize,
        rowids: Option<(i64, i64)>,
        images: impl Iterator<Item = (ValueRef<'v>, ValueRef<'v>)> + Clone,
    ) {
        self.row(tag::UPDATE, table, rowids.map(|(old, _)| old));
        if let Some((_, new)) = rowids {
            self.signed(new);
        }
        images.clone().for_each(|(old, _)| self.value(old));
        for (old, new) in images {
            if old.is_same(new) {
                self.bytes.push(value::SAME);
            } else {
                self.value(new);
            }
        }
    }

    /// Adds the record of a deleted row.
    pub(crate) fn delete<'v>(
        &mut self,
        table: usize,
        rowid: Option<i64>,
        old: impl Iterator<Item = ValueRef<'v>>,
    ) {
        self.row(tag::DELETE, table, rowid);
        old.for_each(|value| self.value(value));
    }

    /// Adds the record that all rows of a table are deleted.
    pub(crate) fn clear_table(&mut self, table: usize) {
        self.row(tag::CLEAR, table, None);
    }

    /// Adds a statement.
    pub(crate) fn sql(&mut self, sql: &str) {
        self.bytes.push(tag::SQL);
        self.text(sql);
    }

    pub(crate) fn mark(&self) -> DraftMark {
        DraftMark {
            bytes: self.bytes.len(),
            tables: self.tables,
            weight: self.weight,
        }
    }

    /// Removes everything that was added after the mark.
    pub(crate) fn roll_back_to(&mut self, mark: DraftMark) {
        self.bytes.truncate(mark.bytes);
        self.tables = mark.tables;
        self.weight = mark.weight;
    }

    /// Removes all operations. The tables keep their numbers.
    pub(crate) fn forget_operations(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the reason why an entry of these operations could not be read, if there is one.
    pub(crate) fn too_large(&self) -> Option<String> {
        if self.bytes.len() > limits::ENTRY_BYTES_MAX {
            return Some(format!(
                "the entry would be larger than {} bytes",
                limits::ENTRY_BYTES_MAX
            ));
        }
        let is_wide = self.weight > limits::ENTRY_COLUMNS_MAX;
        is_wide.then(|| format!("its tables have more than {} columns", limits::ENTRY_COLUMNS_MAX))
    }

    /// Returns the operations since the mark.
    pub(crate) fn since(&self, mark: DraftMark) -> &[u8] {
        &self.bytes[mark.bytes..]
    }

    /// Returns the entry of these operations.
    pub(crate) fn entry(&self, position: Position, previous: Hash) -> Entry {
        Entry::new(position, previous, &self.bytes)
    }

    fn row(&mut self, tag: u8, table: usize, rowid: Option<i64>) {
        self.bytes.push(tag);
        self.unsigned(table as u64);
        if let Some(rowid) = rowid {
            self.signed(rowid);
        }
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.bytes.push(value::NULL),
            ValueRef::Integer(value) => {
                self.bytes.push(value::INTEGER);
                self.signed(value);
            }
            ValueRef::Real(value) => {
                self.bytes.push(value::REAL);
                self.bytes.extend_from_slice(&value.to_bits().to_le_bytes());
            }
            ValueRef::Text(text) => {
                self.bytes.push(value::TEXT);
                self.sized(text);
            }
            ValueRef::Blob(blob) => {
                self.bytes.push(value::BLOB);
                self.sized(blob);
            }
        }
    }

    fn places(&mut self, columns: &[usize]) {
        self.unsigned(columns.len() as u64);
        columns.iter().for_each(|&column| self.unsigned(column as u64));
    }

    fn text(&mut self, text: &str) {
        self.sized(text.as_bytes());
    }

    fn sized(&mut self, bytes: &[u8]) {
        self.unsigned(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a signed number. Small numbers of either sign take few bytes.
    fn signed(&mut self, number: i64) {
        self.unsigned(((number << 1) ^ (number >> 63)) as u64);
    }

    /// Adds an unsigned number: seven bits a byte, the lowest first. The highest bit of a byte says
    /// that more bytes follow.
    fn unsigned(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}
