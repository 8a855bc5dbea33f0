//! Reads the operations of an entry.

use std::sync::Arc;

use super::{
    format::{Bytes, tag},
    image::Image,
    operation::{EntryColumn, EntryKey, EntryTable, Operation},
};
use crate::core::{
    error::{EntryFault, Error, Result},
    limits,
};

/// Reads operations one after the other.
pub(crate) struct Reader<'a> {
    bytes: Bytes<'a>,
    tables: Vec<Arc<EntryTable>>,
    /// The weight of the tables that may still be defined.
    weight_left: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(operations: &'a [u8]) -> Self {
        Self::knowing(Vec::new(), operations)
    }

    /// Reads operations that may refer to `tables`, which earlier operations have defined.
    pub(crate) fn knowing(tables: Vec<Arc<EntryTable>>, operations: &'a [u8]) -> Self {
        Self {
            bytes: Bytes(operations),
            tables,
            weight_left: limits::ENTRY_COLUMNS_MAX,
        }
    }

    /// Returns the tables that are defined by now.
    pub(crate) fn into_tables(self) -> Vec<Arc<EntryTable>> {
        self.tables
    }

    /// Returns the next operation; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Entry`] if the bytes are no operation.
    pub(crate) fn next(&mut self) -> Result<Option<Operation<'a>>> {
        while !self.bytes.0.is_empty() {
            if let Some(operation) = self.operation().ok_or_else(malformed)? {
                return Ok(Some(operation));
            }
        }
        Ok(None)
    }

    /// Reads an operation, or the definition of a table.
    fn operation(&mut self) -> Option<Option<Operation<'a>>> {
        let tag = self.bytes.byte()?;
        if tag == tag::TABLE {
            let table = table(&mut self.bytes, self.weight_left)?;
            self.weight_left = self.weight_left.checked_sub(table.weight())?;
            self.tables.push(Arc::new(table));
            return Some(None);
        }
        if tag == tag::SQL {
            return Some(Some(Operation::Sql(self.bytes.text()?)));
        }
        let number = usize::try_from(self.bytes.unsigned()?).ok()?;
        let table = Arc::clone(self.tables.get(number)?);
        let (bytes, has_rowids) = (&mut self.bytes, table.has_rowids());
        let rowid = |bytes: &mut Bytes<'a>| if has_rowids { bytes.signed() } else { Some(0) };
        let count = table.columns.len();
        Some(Some(match tag {
            tag::INSERT => Operation::Insert {
                rowid: rowid(bytes)?,
                new: Image::read(bytes, count, None)?,
                table,
            },
            tag::UPDATE => {
                let (old_rowid, new_rowid) = (rowid(bytes)?, rowid(bytes)?);
                let old = Image::read(bytes, count, None)?;
                Operation::Update {
                    old_rowid,
                    new_rowid,
                    old,
                    new: Image::read(bytes, count, Some(old))?,
                    table,
                }
            }
            tag::DELETE => Operation::Delete {
                rowid: rowid(bytes)?,
                old: Image::read(bytes, count, None)?,
                table,
            },
            tag::CLEAR => Operation::Clear { table },
            _ => return None,
        }))
    }
}

fn malformed() -> Error {
    Error::entry(
        EntryFault::Malformed,
        "the entry has a valid hash, but its operations cannot be read",
    )
}

fn table(bytes: &mut Bytes<'_>, weight_max: usize) -> Option<EntryTable> {
    let name = bytes.text()?.to_owned();
    let count = bytes.count().filter(|count| *count <= weight_max)?;
    let columns = (0..count).map(|_| column(bytes));
    let columns = columns.collect::<Option<Vec<_>>>()?;
    let key = places(bytes, columns.len(), weight_max)?;
    let key = if key.is_empty() {
        EntryKey::Rowid(bytes.text()?.to_owned())
    } else {
        EntryKey::Columns(key)
    };
    let primary_key = places(bytes, columns.len(), weight_max)?;
    Some(EntryTable {
        name,
        columns,
        key,
        primary_key,
        is_internal: flag(bytes)?,
    })
}

/// Reads the positions of some columns of a table that has `columns` columns.
fn places(bytes: &mut Bytes<'_>, columns: usize, max: usize) -> Option<Vec<usize>> {
    let count = bytes.count().filter(|count| *count <= max)?;
    let place = |_| {
        usize::try_from(bytes.unsigned()?)
            .ok()
            .filter(|place| *place < columns)
    };
    (0..count).map(place).collect()
}

fn flag(bytes: &mut Bytes<'_>) -> Option<bool> {
    match bytes.byte()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn column(bytes: &mut Bytes<'_>) -> Option<EntryColumn> {
    let name = bytes.text()?.to_owned();
    let generated = flag(bytes)?;
    Some(EntryColumn { name, generated })
}
