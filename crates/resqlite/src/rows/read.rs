//! Reading packed rows from Rust.

use std::sync::Arc;

use super::{
    ColumnLayout,
    batch::{HEADER, Kind, cell, padded},
};
use crate::core::{profile, value::Value};

/// The rows of a query.
///
/// ```
/// # use resqlite::{Database, Options, Value};
/// # pollster::block_on(async {
/// let db = Database::open(":memory:", Options::default()).await?;
/// let rows = db.select("SELECT 1 AS one, 'two' AS two", ()).await?;
/// assert_eq!(rows.len(), 1);
/// let row = rows.iter().next().unwrap();
/// assert_eq!(row.get("two"), Some(&Value::Text("two".into())));
/// # db.close().await
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct Rows {
    layout: Option<Arc<ColumnLayout>>,
    values: Vec<Value>,
    rows: usize,
}

/// One row of [`Rows`].
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    names: &'a [String],
    values: &'a [Value],
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The column names; empty when the statement returns no rows at all.
    pub fn columns(&self) -> &[String] {
        self.layout.as_ref().map_or(&[], |layout| layout.names())
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// The first row.
    pub fn first(&self) -> Option<Row<'_>> {
        (self.rows > 0).then(|| self.row(0))
    }

    fn row(&self, row: usize) -> Row<'_> {
        let names = self.columns();
        Row {
            names,
            values: &self.values[row * names.len()..(row + 1) * names.len()],
        }
    }

    /// Adds the rows of a row batch ([`RowBatch::to_bytes`](super::RowBatch::to_bytes)) of these columns.
    ///
    /// # Panics
    /// If the bytes are not such a row batch.
    pub fn extend(&mut self, layout: &Arc<ColumnLayout>, batch: &[u8]) {
        self.try_extend(layout, batch).expect("a row batch");
    }

    /// Does the same as [`extend`](Self::extend) if the bytes are such a row batch. Otherwise adds nothing and returns `None`.
    #[must_use]
    pub fn try_extend(&mut self, layout: &Arc<ColumnLayout>, batch: &[u8]) -> Option<()> {
        let reader = BatchReader::new(batch).filter(|reader| reader.kinds.len() == layout.names().len())?;
        let (rows, before) = (reader.rows, self.values.len());
        self.values.reserve(rows * reader.kinds.len());
        profile::rows(rows, reader.kinds.len());
        if reader.read(&mut self.values).is_none() {
            self.values.truncate(before);
            return None;
        }
        self.rows += rows;
        self.layout = Some(Arc::clone(layout));
        Some(())
    }
}

impl<'a> Row<'a> {
    pub(crate) fn new(names: &'a [String], values: &'a [Value]) -> Self {
        Self { names, values }
    }

    /// Returns the value of the column with that name. If several columns have it, the last one counts.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let at = self.names.iter().rposition(|column| column == name)?;
        self.values.get(at)
    }

    /// The values in column order.
    pub fn values(&self) -> &'a [Value] {
        self.values
    }
}

/// Walks a row batch row by row. A method returns `None` if the bytes are not a row batch.
struct BatchReader<'a> {
    rows: usize,
    /// Kind and section start of each column.
    kinds: Vec<(Kind, usize)>,
    batch: &'a [u8],
    wide: bool,
    /// The start of the next text. `heap_end` is the end of the last text.
    heap: usize,
    heap_end: usize,
    blobs: usize,
}

impl<'a> BatchReader<'a> {
    fn new(batch: &'a [u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(*batch.get(at..)?.first_chunk()?) as usize);
        let (rows, columns) = (word(0)?, word(4)?);
        let mut at = HEADER + padded(columns);
        let mut kinds = Vec::new();
        for &byte in batch.get(HEADER..)?.get(..columns)? {
            let kind = Kind::from_byte(byte)?;
            kinds.push((kind, at));
            at = at.checked_add(kind.section(rows))?;
        }
        let wide = word(12)? & 1 == 1;
        let units = word(8)?;
        let (heap, blobs) = (word(16)?, word(20)?);
        let text = if wide { 2 * units } else { units };
        let is_laid_out = at == heap && heap + padded(text) == blobs && word(24)? == batch.len();
        (is_laid_out && blobs <= batch.len() && (columns > 0 || rows == 0)).then_some(Self {
            rows,
            kinds,
            batch,
            wide,
            heap,
            heap_end: heap + text,
            blobs,
        })
    }

    fn read(mut self, out: &mut Vec<Value>) -> Option<()> {
        let kinds = std::mem::take(&mut self.kinds);
        for row in 0..self.rows {
            for &(kind, start) in &kinds {
                out.push(self.cell(kind, start, row)?);
            }
        }
        (self.heap == self.heap_end).then_some(())
    }

    fn cell(&mut self, kind: Kind, start: usize, row: usize) -> Option<Value> {
        Some(match kind {
            Kind::Int32 => match self.word(start, row)? {
                i32::MIN => Value::Null,
                value => Value::Integer(value.into()),
            },
            Kind::Int64 => match i64::from_le_bytes(self.long(start, row)?) {
                i64::MIN => Value::Null,
                value => Value::Integer(value),
            },
            Kind::Float64 => match f64::from_le_bytes(self.long(start, row)?) {
                value if value.is_nan() => Value::Null,
                value => Value::Real(value),
            },
            Kind::Text => match self.word(start, row)? {
                -1 => Value::Null,
                length => self.text(length as usize)?,
            },
            Kind::Blob => match self.word(start, row)? {
                -1 => Value::Null,
                length => self.blob(length as usize)?,
            },
            Kind::Mixed => self.mixed(start, row)?,
        })
    }

    fn mixed(&mut self, start: usize, row: usize) -> Option<Value> {
        let bits = self.long(start, row)?;
        let length = f64::from_le_bytes(bits) as usize;
        Some(match *self.batch.get(start + 8 * self.rows + row)? {
            cell::NUMBER => Value::Real(f64::from_le_bytes(bits)),
            cell::TEXT => self.text(length)?,
            cell::BLOB => self.blob(length)?,
            cell::INT64 => Value::Integer(i64::from_le_bytes(bits)),
            cell::NULL => Value::Null,
            _ => return None,
        })
    }

    fn text(&mut self, units: usize) -> Option<Value> {
        let length = if self.wide { units.checked_mul(2)? } else { units };
        let bytes = self.batch[..self.heap_end].get(self.heap..)?.get(..length)?;
        self.heap += length;
        Some(Value::Text(if self.wide {
            let units: Vec<u16> = bytes
                .chunks_exact(2)
                .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
                .collect();
            String::from_utf16_lossy(&units)
        } else {
            encoding_rs::mem::decode_latin1(bytes).into_owned()
        }))
    }

    fn blob(&mut self, length: usize) -> Option<Value> {
        let bytes = self.batch.get(self.blobs..)?.get(..length)?;
        self.blobs += length;
        Some(Value::Blob(bytes.to_vec()))
    }

    fn word(&self, start: usize, row: usize) -> Option<i32> {
        let bytes = self.batch.get(start + 4 * row..)?.first_chunk()?;
        Some(i32::from_le_bytes(*bytes))
    }

    fn long(&self, start: usize, row: usize) -> Option<[u8; 8]> {
        self.batch.get(start + 8 * row..)?.first_chunk().copied()
    }
}
