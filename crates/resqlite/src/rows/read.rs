//! Reading packed rows from Rust.

use std::sync::Arc;

use super::{
    ColumnLayout,
    batch::{Kind, cell, padded},
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
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
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
    /// If the bytes are something else.
    pub fn extend(&mut self, layout: &Arc<ColumnLayout>, batch: &[u8]) {
        let reader = BatchReader::new(batch);
        self.values.reserve(reader.rows * reader.kinds.len());
        self.rows += reader.rows;
        profile::rows(reader.rows, reader.kinds.len());
        reader.read(&mut self.values);
        self.layout = Some(Arc::clone(layout));
    }
}

impl<'a> Row<'a> {
    pub(crate) fn new(names: &'a [String], values: &'a [Value]) -> Self {
        Self { names, values }
    }

    /// The value of the column with that name; of several, the last.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let at = self.names.iter().rposition(|column| column == name)?;
        self.values.get(at)
    }

    /// The values in column order.
    pub fn values(&self) -> &'a [Value] {
        self.values
    }
}

/// Walks a row batch row by row.
struct BatchReader<'a> {
    rows: usize,
    /// Kind and section start of each column.
    kinds: Vec<(Kind, usize)>,
    batch: &'a [u8],
    wide: bool,
    heap: usize,
    blobs: usize,
}

impl<'a> BatchReader<'a> {
    fn new(batch: &'a [u8]) -> Self {
        let word =
            |at: usize| u32::from_le_bytes(*batch[at..].first_chunk().expect("a whole header")) as usize;
        let (rows, columns) = (word(0), word(4));
        let mut at = 32 + padded(columns);
        let mut kinds = Vec::with_capacity(columns);
        for &byte in &batch[32..32 + columns] {
            let kind = Kind::from_byte(byte);
            kinds.push((kind, at));
            at += kind.section(rows);
        }
        Self {
            rows,
            kinds,
            batch,
            wide: word(12) & 1 == 1,
            heap: word(16),
            blobs: word(20),
        }
    }

    fn read(mut self, out: &mut Vec<Value>) {
        let kinds = std::mem::take(&mut self.kinds);
        for row in 0..self.rows {
            out.extend(kinds.iter().map(|&(kind, start)| self.cell(kind, start, row)));
        }
    }

    fn cell(&mut self, kind: Kind, start: usize, row: usize) -> Value {
        match kind {
            Kind::Int32 => match self.word(start, row) {
                i32::MIN => Value::Null,
                value => Value::Integer(value.into()),
            },
            Kind::Int64 => match i64::from_le_bytes(self.long(start, row)) {
                i64::MIN => Value::Null,
                value => Value::Integer(value),
            },
            Kind::Float64 => match f64::from_le_bytes(self.long(start, row)) {
                value if value.is_nan() => Value::Null,
                value => Value::Real(value),
            },
            Kind::Text => match self.word(start, row) {
                -1 => Value::Null,
                length => self.text(length as usize),
            },
            Kind::Blob => match self.word(start, row) {
                -1 => Value::Null,
                length => self.blob(length as usize),
            },
            Kind::Mixed => self.mixed(start, row),
        }
    }

    fn mixed(&mut self, start: usize, row: usize) -> Value {
        let bits = self.long(start, row);
        let length = f64::from_le_bytes(bits) as usize;
        match self.batch[start + 8 * self.rows + row] {
            cell::NUMBER => Value::Real(f64::from_le_bytes(bits)),
            cell::TEXT => self.text(length),
            cell::BLOB => self.blob(length),
            cell::INT64 => Value::Integer(i64::from_le_bytes(bits)),
            _ => Value::Null,
        }
    }

    fn text(&mut self, units: usize) -> Value {
        let length = if self.wide { 2 * units } else { units };
        let bytes = &self.batch[self.heap..self.heap + length];
        self.heap += length;
        Value::Text(if self.wide {
            let units: Vec<u16> = bytes
                .chunks_exact(2)
                .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
                .collect();
            String::from_utf16_lossy(&units)
        } else {
            encoding_rs::mem::decode_latin1(bytes).into_owned()
        })
    }

    fn blob(&mut self, length: usize) -> Value {
        let bytes = &self.batch[self.blobs..self.blobs + length];
        self.blobs += length;
        Value::Blob(bytes.to_vec())
    }

    fn word(&self, start: usize, row: usize) -> i32 {
        i32::from_le_bytes(
            *self.batch[start + 4 * row..]
                .first_chunk()
                .expect("a whole section"),
        )
    }

    fn long(&self, start: usize, row: usize) -> [u8; 8] {
        *self.batch[start + 8 * row..]
            .first_chunk()
            .expect("a whole section")
    }
}
