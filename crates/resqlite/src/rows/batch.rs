//! Packs rows by column. The layout of a row batch (offsets from its start, numbers little-endian):
//!
//! ```text
//!  0  u32 rows          4  u32 columns       8  u32 string units in the heap   12  u32 flags (bit 0: wide)
//! 16  u32 heap offset  20  u32 BLOB offset  24  u32 byte length                28  u32 0
//! 32  u8 kind × columns, padded to 8; then one section per column, each padded to 8
//! ```
//! Strings are stored in row order in one heap, as latin-1 or (wide) UTF-16. BLOBs follow the heap. See [`Kind`] for the sections.

use encoding_rs::mem as text;
use resqlite_sqlite::{Statement, ValueRef, codes};

use crate::core::{
    error::{Error, Result},
    limits,
};

/// Bytes of the header of a row batch.
pub(crate) const HEADER: usize = 32;

/// NULL in a column of [`Kind::Int32`], which never holds this value.
const NULL_INT32: i32 = i32::MIN;

/// NULL in a column of [`Kind::Int64`], which never holds this value.
const NULL_INT64: i64 = i64::MIN;

/// The form in which INTEGER values reach JavaScript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Integers {
    /// As numbers where they are safe (±(2^53 − 1)), else as BigInts.
    #[default]
    Auto,
    /// As numbers; a value that is not safe is an error that names the column.
    Number,
    /// All as BigInts.
    BigInt,
}

/// The format of the cells of a column in one row batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `i32` × rows; NULL is `i32::MIN`, which no value of such a column equals.
    #[default]
    Int32 = 0,
    /// `f64` × rows; NULL is NaN.
    Float64 = 1,
    /// `i32` length in string units × rows; NULL is −1.
    Text = 2,
    /// `i32` length in bytes × rows; NULL is −1.
    Blob = 3,
    /// `i64` × rows; NULL is `i64::MIN`, which no value of such a column equals.
    Int64 = 4,
    /// 8 bytes × rows (`f64`, `i64`, or a length as `f64`), then `u8` tag × rows; see [`cell`].
    Mixed = 5,
}

/// Tags of the cells of a mixed column.
pub mod cell {
    /// NULL.
    pub const NULL: u8 = 0;
    /// An `f64`.
    pub const NUMBER: u8 = 1;
    /// A string; its length as `f64`.
    pub const TEXT: u8 = 2;
    /// A BLOB; its length as `f64`.
    pub const BLOB: u8 = 3;
    /// An `i64`.
    pub const INT64: u8 = 4;
}

/// The kinds of values that a column has held so far in this row batch, as a set of bits.
mod seen {
    pub const INT32: u8 = 1;
    /// A safe integer that does not fit in an `i32`.
    pub const INT53: u8 = 2;
    /// An integer that becomes a BigInt.
    pub const INT64: u8 = 4;
    pub const REAL: u8 = 8;
    pub const TEXT: u8 = 16;
    pub const BLOB: u8 = 32;
    pub const INT32_MIN: u8 = 64;
    pub const INT64_MIN: u8 = 128;
    pub const NUMBERS: u8 = INT32 | INT53 | REAL | INT32_MIN;
}

#[derive(Default)]
struct Column {
    seen: u8,
    tags: Vec<u8>,
    /// The integer, the bits of the real, or the length in bytes.
    bits: Vec<u64>,
}

/// Collects rows until a row batch is full.
#[derive(Default)]
pub(crate) struct Packer {
    columns: Vec<Column>,
    rows: usize,
    /// Text of the row batch in row order, as SQLite returns it.
    heap: Vec<u8>,
    blobs: Vec<u8>,
    latin1: Vec<u8>,
    wide: Vec<u16>,
    integers: Integers,
}

const TAG_INTEGER: u8 = 5;

const SAFE: std::ops::RangeInclusive<i64> = -((1 << 53) - 1)..=(1 << 53) - 1;

impl Packer {
    /// Starts again, for rows of `columns` columns.
    pub(crate) fn begin(&mut self, columns: usize, integers: Integers) {
        self.integers = integers;
        self.columns.resize_with(columns, Column::default);
        self.clear();
    }

    /// Drops the rows of the last row batch.
    pub(crate) fn clear(&mut self) {
        for column in &mut self.columns {
            column.seen = 0;
            column.tags.clear();
            column.bits.clear();
        }
        self.rows = 0;
        self.heap.clear();
        self.blobs.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the row batch should be taken before another row is added.
    pub(crate) fn is_full(&self, rows_max: usize) -> bool {
        self.rows >= rows_max
            || self.rows * self.columns.len() >= limits::ROW_BATCH_CELLS_MAX
            || self.heap.len() >= limits::ROW_BATCH_HEAP_MAX
            || self.blobs.len() >= limits::ROW_BATCH_HEAP_MAX
    }

    /// Returns whether the texts or the BLOBs have more than `most` bytes.
    pub(crate) fn has_bytes(&self, most: usize) -> bool {
        self.heap.len() > most || self.blobs.len() > most
    }

    /// Adds the current row of a statement.
    ///
    /// # Errors
    /// With [`Integers::Number`], if an INTEGER is not safe.
    #[inline]
    pub(crate) fn push(&mut self, statement: &Statement) -> Result<()> {
        let integers = self.integers;
        for (at, column) in self.columns.iter_mut().enumerate() {
            let (tag, bits, seen) = match statement.column(at) {
                ValueRef::Integer(value) => {
                    let seen = integer_class(value, integers);
                    if integers == Integers::Number && seen & (seen::INT64 | seen::INT64_MIN) != 0 {
                        return Err(unsafe_integer(statement, at, value));
                    }
                    (TAG_INTEGER, value as u64, seen)
                }
                ValueRef::Text(bytes) => {
                    self.heap.extend_from_slice(bytes);
                    (cell::TEXT, bytes.len() as u64, seen::TEXT)
                }
                ValueRef::Real(value) => (cell::NUMBER, value.to_bits(), seen::REAL),
                ValueRef::Null => (cell::NULL, 0, 0),
                ValueRef::Blob(bytes) => {
                    self.blobs.extend_from_slice(bytes);
                    (cell::BLOB, bytes.len() as u64, seen::BLOB)
                }
            };
            column.seen |= seen;
            column.tags.push(tag);
            column.bits.push(bits);
        }
        self.rows += 1;
        if self.heap.len().max(self.blobs.len()) > limits::ROW_BATCH_BYTES_MAX {
            return Err(too_big());
        }
        Ok(())
    }

    /// Frees buffers that a result with very large cells has made grow.
    pub(crate) fn recycle(&mut self) {
        self.clear();
        self.heap.shrink_to(limits::PACKER_KEPT);
        self.blobs.shrink_to(limits::PACKER_KEPT);
        self.latin1.shrink_to(limits::PACKER_KEPT);
        self.wide.shrink_to(limits::PACKER_KEPT);
    }

    /// Returns the rows collected since the last [`clear`](Self::clear). `kinds` holds the kinds of the columns in the last row
    /// batch and is updated. A column of only NULLs keeps its kind.
    pub(crate) fn batch(&mut self, kinds: &mut Vec<Kind>) -> RowBatch<'_> {
        kinds.resize(self.columns.len(), Kind::default());
        for (kind, column) in kinds.iter_mut().zip(&self.columns) {
            *kind = column.kind(*kind);
        }
        let (units, heap) = self.encode_heap();
        let mut batch = RowBatch {
            packer: self,
            kinds: kinds.clone(),
            units,
            heap,
            heap_offset: 0,
            blob_offset: 0,
        };
        batch.lay_out();
        batch
    }

    /// Converts the text to one string encoding. The lengths of cells are then counted in string units.
    fn encode_heap(&mut self) -> (usize, Heap) {
        if text::is_ascii(&self.heap) {
            return (self.heap.len(), Heap::Ascii);
        }
        if self.texts().all(|(_, _, bytes)| text::is_utf8_latin1(bytes)) {
            self.encode_latin1();
            return (self.latin1.len(), Heap::Latin1);
        }
        self.encode_wide();
        (self.wide.len(), Heap::Wide)
    }

    /// Every text cell in row order: column, row, bytes.
    fn texts(&self) -> impl Iterator<Item = (usize, usize, &[u8])> {
        let mut start = 0;
        let cells = (0..self.rows).flat_map(|row| (0..self.columns.len()).map(move |column| (column, row)));
        cells
            .filter(|&(column, row)| self.columns[column].tags[row] == cell::TEXT)
            .map(move |(column, row)| {
                let length = self.columns[column].bits[row] as usize;
                start += length;
                (column, row, &self.heap[start - length..start])
            })
    }

    fn encode_latin1(&mut self) {
        let mut out = std::mem::take(&mut self.latin1);
        out.clear();
        let mut lengths = Vec::new();
        for (column, row, bytes) in self.texts() {
            let start = out.len();
            out.resize(start + bytes.len(), 0);
            let length = text::convert_utf8_to_latin1_lossy(bytes, &mut out[start..]);
            out.truncate(start + length);
            lengths.push((column, row, length));
        }
        self.latin1 = out;
        self.set_lengths(&lengths);
    }

    fn encode_wide(&mut self) {
        let mut out = std::mem::take(&mut self.wide);
        out.clear();
        let mut lengths = Vec::new();
        for (column, row, bytes) in self.texts() {
            let start = out.len();
            // The conversion needs one unit more than there are bytes.
            out.resize(start + bytes.len() + 1, 0);
            let length = text::convert_utf8_to_utf16(bytes, &mut out[start..]);
            out.truncate(start + length);
            lengths.push((column, row, length));
        }
        self.wide = out;
        self.set_lengths(&lengths);
    }

    fn set_lengths(&mut self, lengths: &[(usize, usize, usize)]) {
        for &(column, row, length) in lengths {
            self.columns[column].bits[row] = length as u64;
        }
    }
}

#[inline]
fn integer_class(value: i64, integers: Integers) -> u8 {
    if integers == Integers::BigInt {
        if value == i64::MIN {
            seen::INT64_MIN
        } else {
            seen::INT64
        }
    } else if let Ok(small) = i32::try_from(value) {
        if small == i32::MIN {
            seen::INT32_MIN
        } else {
            seen::INT32
        }
    } else if SAFE.contains(&value) {
        seen::INT53
    } else if value == i64::MIN {
        seen::INT64_MIN
    } else {
        seen::INT64
    }
}

fn too_big() -> Error {
    let message = "one row holds more text or more BLOB bytes than can be handed over at once (1 GiB)";
    Error::Sqlite(resqlite_sqlite::Error::new(codes::TOOBIG, message))
}

fn unsafe_integer(statement: &Statement, column: usize, value: i64) -> Error {
    let name = statement.column_name(column);
    Error::Integer(format!(
        "column {name:?} holds {value}, which is no safe integer for a JavaScript number (integers: 'number')"
    ))
}

impl Column {
    fn kind(&self, before: Kind) -> Kind {
        match self.seen {
            0 => before,
            seen::INT32 if before != Kind::Float64 => Kind::Int32,
            seen::TEXT => Kind::Text,
            seen::BLOB => Kind::Blob,
            // Only unsafe values, or BigInts because the caller asked for them: one kind serves both.
            seen::INT64 => Kind::Int64,
            seen if seen & !seen::NUMBERS == 0 => Kind::Float64,
            _ => Kind::Mixed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heap {
    Ascii,
    Latin1,
    Wide,
}

/// A row batch, ready to be written.
pub struct RowBatch<'a> {
    packer: &'a Packer,
    kinds: Vec<Kind>,
    units: usize,
    heap: Heap,
    heap_offset: usize,
    blob_offset: usize,
}

impl RowBatch<'_> {
    /// The number of its rows.
    pub fn rows(&self) -> usize {
        self.packer.rows
    }

    /// The number of bytes that [`write`](Self::write) needs.
    pub fn byte_len(&self) -> usize {
        padded(self.blob_offset + self.packer.blobs.len())
    }

    fn lay_out(&mut self) {
        let rows = self.packer.rows;
        let sections: usize = self.kinds.iter().map(|kind| kind.section(rows)).sum();
        self.heap_offset = HEADER + padded(self.kinds.len()) + sections;
        let unit = if self.heap == Heap::Wide { 2 } else { 1 };
        self.blob_offset = self.heap_offset + padded(self.units * unit);
    }

    /// Returns the packed form as owned bytes.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let mut out = vec![0; self.byte_len()];
        self.write(&mut out);
        out.into()
    }

    /// Writes the packed form.
    ///
    /// # Panics
    /// If `out` is shorter than [`byte_len`](Self::byte_len).
    pub fn write(&self, out: &mut [u8]) {
        let length = self.byte_len();
        let flags = u32::from(self.heap == Heap::Wide);
        let header = [
            self.packer.rows as u32,
            self.kinds.len() as u32,
            self.units as u32,
            flags,
            self.heap_offset as u32,
            self.blob_offset as u32,
            length as u32,
            0,
        ];
        for (chunk, word) in out.chunks_exact_mut(4).zip(header) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        for (byte, kind) in out[HEADER..].iter_mut().zip(&self.kinds) {
            *byte = *kind as u8;
        }
        let mut at = HEADER + padded(self.kinds.len());
        for (kind, column) in self.kinds.iter().zip(&self.packer.columns) {
            let end = at + kind.section(self.packer.rows);
            column.write(*kind, self.packer.integers, &mut out[at..end]);
            at = end;
        }
        self.write_heap(&mut out[self.heap_offset..self.blob_offset]);
        out[self.blob_offset..self.blob_offset + self.packer.blobs.len()].copy_from_slice(&self.packer.blobs);
    }

    fn write_heap(&self, out: &mut [u8]) {
        match self.heap {
            Heap::Ascii => out[..self.units].copy_from_slice(&self.packer.heap),
            Heap::Latin1 => out[..self.units].copy_from_slice(&self.packer.latin1),
            Heap::Wide => {
                for (chunk, unit) in out.chunks_exact_mut(2).zip(&self.packer.wide) {
                    chunk.copy_from_slice(&unit.to_le_bytes());
                }
            }
        }
    }
}

impl Kind {
    /// Returns the number of bytes of a column's section.
    pub(crate) fn section(self, rows: usize) -> usize {
        match self {
            Self::Int32 | Self::Text | Self::Blob => padded(4 * rows),
            Self::Float64 | Self::Int64 => 8 * rows,
            Self::Mixed => 8 * rows + padded(rows),
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        let kinds = [
            Self::Int32,
            Self::Float64,
            Self::Text,
            Self::Blob,
            Self::Int64,
            Self::Mixed,
        ];
        kinds.into_iter().find(|kind| *kind as u8 == byte)
    }
}

impl Column {
    fn write(&self, kind: Kind, integers: Integers, out: &mut [u8]) {
        match kind {
            Kind::Int32 => self.write_words(out, NULL_INT32),
            Kind::Text | Kind::Blob => self.write_words(out, -1),
            Kind::Float64 => self.write_longs(out, |tag, bits| match tag {
                cell::NULL => f64::NAN.to_bits(),
                TAG_INTEGER => (bits as i64 as f64).to_bits(),
                _ => bits,
            }),
            Kind::Int64 => self.write_longs(out, |tag, bits| {
                if tag == cell::NULL {
                    NULL_INT64 as u64
                } else {
                    bits
                }
            }),
            Kind::Mixed => self.write_mixed(integers, out),
        }
    }

    fn write_words(&self, out: &mut [u8], null: i32) {
        for ((chunk, &tag), &bits) in out.chunks_exact_mut(4).zip(&self.tags).zip(&self.bits) {
            let word = if tag == cell::NULL { null } else { bits as i32 };
            chunk.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn write_longs(&self, out: &mut [u8], encode: impl Fn(u8, u64) -> u64) {
        for ((chunk, &tag), &bits) in out.chunks_exact_mut(8).zip(&self.tags).zip(&self.bits) {
            chunk.copy_from_slice(&encode(tag, bits).to_le_bytes());
        }
    }

    fn write_mixed(&self, integers: Integers, out: &mut [u8]) {
        let (cells, tags) = out.split_at_mut(8 * self.tags.len());
        let number = |bits: u64| integers != Integers::BigInt && SAFE.contains(&(bits as i64));
        let encode = |tag: u8, bits: u64| match tag {
            TAG_INTEGER if number(bits) => (cell::NUMBER, (bits as i64 as f64).to_bits()),
            TAG_INTEGER => (cell::INT64, bits),
            cell::TEXT | cell::BLOB => (tag, (bits as f64).to_bits()),
            _ => (tag, bits),
        };
        for (((chunk, out_tag), &tag), &bits) in cells
            .chunks_exact_mut(8)
            .zip(tags)
            .zip(&self.tags)
            .zip(&self.bits)
        {
            let (tag, bits) = encode(tag, bits);
            chunk.copy_from_slice(&bits.to_le_bytes());
            *out_tag = tag;
        }
    }
}

/// The next multiple of 8.
pub(crate) fn padded(length: usize) -> usize {
    length.next_multiple_of(8)
}
