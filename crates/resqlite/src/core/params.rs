//! Parameters of a statement, packed into bytes. The form is the same for every language.
//!
//! `u16 count · u8 named · u8 0`, then the values. A named value starts with `u16 length · UTF-8 name`. A value is `u8 tag` and its
//! content; see [`tag`]. Numbers are little-endian and not aligned. The texts of many sets may follow the sets, end to end.

use std::{ops::Range, sync::Arc};

use resqlite_sqlite::{Statement, ValueRef};

use crate::core::{
    error::{Error, Result},
    value::Value,
};

/// Tags of packed values.
pub mod tag {
    /// Nothing follows.
    pub const NULL: u8 = 0;
    /// An `i32` follows.
    pub const INT32: u8 = 1;
    /// An `f64` that holds a safe integer follows.
    pub const INTEGER: u8 = 2;
    /// An `i64` follows.
    pub const INT64: u8 = 3;
    /// An `f64` follows.
    pub const REAL: u8 = 4;
    /// A `u32` length and UTF-8 text follow.
    pub const TEXT: u8 = 5;
    /// A `u32` length and bytes follow.
    pub const BLOB: u8 = 6;
    /// A `u32` length in UTF-16 units follows. The UTF-8 text is located after all sets, following the previous text.
    pub const DEFERRED: u8 = 7;
}

/// One packed set of parameters, or several back to back. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Params {
    bytes: Arc<[u8]>,
    range: Range<usize>,
    /// The place of the texts that are not among the values.
    texts: Range<usize>,
}

impl Params {
    /// Makes parameters from packed sets in a part of a shared buffer. They are checked when they are bound.
    pub fn packed(bytes: Arc<[u8]>, range: Range<usize>) -> Self {
        let end = range.end.min(bytes.len());
        Self {
            range: range.start.min(end)..end,
            texts: end..end,
            bytes,
        }
    }

    /// Splits off the texts, which begin `offset` bytes after the start of the parameters.
    #[must_use]
    pub fn with_texts_at(self, offset: usize) -> Self {
        let Range { start, end } = self.range;
        let texts = start.saturating_add(offset).min(end);
        Self {
            range: start..texts,
            texts: texts..end,
            bytes: self.bytes,
        }
    }

    /// Returns the same parameters in a buffer of their own, if their present buffer holds much
    /// else.
    pub(crate) fn compact(self) -> Self {
        if self.bytes.len() <= 2 * self.range.len() + 64 {
            return self;
        }
        let length = self.range.len();
        Self::packed(self.bytes[self.range].into(), 0..length)
    }

    /// Returns the packed sets, from which [`packed`](Self::packed) makes the same parameters.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }

    /// Returns the texts that were [split off](Self::with_texts_at), end to end.
    pub fn texts(&self) -> &[u8] {
        &self.bytes[self.texts.clone()]
    }

    /// Joins the sets of several parts into one. Each part comes with the number of its sets.
    pub(crate) fn joined<'a>(parts: impl Iterator<Item = (usize, &'a Self)> + Clone) -> Self {
        let mut packed: Vec<u8> = Vec::new();
        for (_, part) in parts.clone() {
            packed.extend_from_slice(part.as_bytes());
        }
        let texts_at = packed.len();
        for (sets, part) in parts {
            packed.extend_from_slice(part.texts_of(sets));
        }
        let range = 0..packed.len();
        Self::packed(packed.into(), range).with_texts_at(texts_at)
    }

    /// Returns the texts of the first `sets` sets, without bytes that may follow them.
    fn texts_of(&self, sets: usize) -> &[u8] {
        let mut reader = self.reader();
        for _ in 0..sets {
            if reader.texts().is_err() {
                break; // which binding will say
            }
        }
        let rest = reader.texts.len();
        &self.texts()[..self.texts().len() - rest]
    }

    /// Returns the number of bytes that the packed parameters take, without texts that were split
    /// off.
    pub(crate) fn byte_len(&self) -> usize {
        self.range.len()
    }

    /// Returns the first text among the values of the first set for which `is_like` is true.
    pub(crate) fn text_like(&self, is_like: impl Fn(&str) -> bool) -> Option<&str> {
        let texts = self.reader().texts().unwrap_or_default().into_iter();
        texts
            .filter_map(|text| std::str::from_utf8(text).ok())
            .find(|text| is_like(text))
    }

    /// Lets a statement keep the bytes while the sets are bound, so that SQLite need not copy texts and BLOBs.
    pub(crate) fn held_by(&self, statement: &mut Statement) {
        statement.hold(&self.bytes);
    }

    /// Returns a reader for the sets.
    pub(crate) fn reader(&self) -> Reader<'_> {
        let texts = self.texts();
        Reader {
            bytes: &self.bytes[self.range.clone()],
            texts,
            is_ascii: texts.is_ascii(),
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::from(&[][..])
    }
}

impl From<&[Value]> for Params {
    fn from(values: &[Value]) -> Self {
        let mut out = Vec::new();
        pack(&mut out, values);
        let range = 0..out.len();
        Self::packed(out.into(), range)
    }
}

impl<const N: usize> From<[Value; N]> for Params {
    fn from(values: [Value; N]) -> Self {
        Self::from(&values[..])
    }
}

impl From<Vec<Value>> for Params {
    fn from(values: Vec<Value>) -> Self {
        Self::from(&values[..])
    }
}

impl From<()> for Params {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl Params {
    /// Makes named parameters. A name may include its prefix (`:name`) or not (`name`).
    ///
    /// ```
    /// # use resqlite::{Database, Options, Params};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// db.select("SELECT :a + :b", Params::named([("a", 1.into()), ("b", 2.into())])).await?;
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    pub fn named<const N: usize>(values: [(&str, Value); N]) -> Self {
        let mut out = Vec::new();
        out.extend((N as u16).to_le_bytes());
        out.extend([1, 0]);
        for (name, value) in &values {
            out.extend((name.len() as u16).to_le_bytes());
            out.extend(name.as_bytes());
            pack_value(&mut out, value);
        }
        let range = 0..out.len();
        Self::packed(out.into(), range)
    }
}

/// Packs one positional set, and appends it to `out`.
pub(crate) fn pack(out: &mut Vec<u8>, values: &[Value]) {
    // If there are more values than SQLite can take, they are refused for their number, which is then reported as `u16::MAX`.
    let count = u16::try_from(values.len()).unwrap_or(u16::MAX);
    out.extend(count.to_le_bytes());
    out.extend([0, 0]);
    values.iter().for_each(|value| pack_value(out, value));
}

fn pack_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(tag::NULL),
        Value::Integer(value) => {
            out.push(tag::INT64);
            out.extend(value.to_le_bytes());
        }
        Value::Real(value) => {
            out.push(tag::REAL);
            out.extend(value.to_le_bytes());
        }
        Value::Text(text) => pack_bytes(out, tag::TEXT, text.as_bytes()),
        Value::Blob(bytes) => pack_bytes(out, tag::BLOB, bytes),
    }
}

fn pack_bytes(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

/// Reads packed sets and binds them.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The texts after the sets that were not read yet.
    texts: &'a [u8],
    is_ascii: bool,
}

impl<'a> Reader<'a> {
    /// Binds the next set to a statement. The set must give all parameters of the statement.
    ///
    /// # Errors
    /// [`Error::Parameter`] reports parameters that are missing, too many or unknown.
    pub(crate) fn bind_next(&mut self, statement: &mut Statement) -> Result<()> {
        let count = usize::from(u16::from_le_bytes(self.array()?));
        let [named, _] = self.array()?;
        if named == 0 {
            self.bind_positional(statement, count)
        } else {
            self.bind_named(statement, count)
        }
    }

    /// Reads the number before a set.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bytes that are malformed.
    pub(crate) fn number(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    fn bind_positional(&mut self, statement: &mut Statement, count: usize) -> Result<()> {
        let wanted = statement.parameter_count();
        if count != wanted {
            return Err(Error::Parameter(format!(
                "the statement has {}, but {count} were given",
                counted(wanted)
            )));
        }
        for index in 1..=count {
            let value = self.value()?;
            bind(statement, index, value)?;
        }
        Ok(())
    }

    fn bind_named(&mut self, statement: &mut Statement, count: usize) -> Result<()> {
        let wanted = statement.parameter_count();
        let mut bound = vec![false; wanted];
        for _ in 0..count {
            let (name, value) = self.named_value()?;
            let indexes = indexes(statement, name);
            if indexes.is_empty() {
                return Err(Error::Parameter(format!(
                    "the statement has no parameter named {name:?}"
                )));
            }
            for index in indexes {
                bind(statement, index, value)?;
                bound[index - 1] = true;
            }
        }
        match bound.iter().position(|bound| !bound) {
            None => Ok(()),
            Some(missing) => Err(missing_parameter(statement, missing + 1)),
        }
    }

    /// Returns the values of the next set by the number of their parameter, as [`bind_next`](Self::bind_next) would bind them to the
    /// statement. A parameter that is not given is NULL.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bytes that are malformed.
    pub(crate) fn values(&mut self, statement: &Statement) -> Result<Vec<ValueRef<'a>>> {
        let count = usize::from(u16::from_le_bytes(self.array()?));
        let [named, _] = self.array()?;
        if named == 0 {
            return (0..count).map(|_| self.value()).collect();
        }
        let mut values = vec![ValueRef::Null; statement.parameter_count()];
        for _ in 0..count {
            let (name, value) = self.named_value()?;
            for index in indexes(statement, name) {
                values[index - 1] = value;
            }
        }
        Ok(values)
    }

    /// Binds the values of the next set to the first parameters of a statement, which may have more parameters. The values must have been
    /// bound before to a statement with the same parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bytes that are malformed; SQLite's errors.
    pub(crate) fn bind_first(&mut self, statement: &mut Statement, parameters: usize) -> Result<()> {
        let values = self.values(statement)?;
        for (number, value) in (1..=parameters).zip(values) {
            bind(statement, number, value)?;
        }
        Ok(())
    }

    /// Returns the texts among the values of the next set.
    fn texts(&mut self) -> Result<Vec<&'a [u8]>> {
        let count = usize::from(u16::from_le_bytes(self.array()?));
        let [named, _] = self.array()?;
        let mut texts = Vec::new();
        for _ in 0..count {
            let value = match named {
                0 => self.value()?,
                _ => self.named_value()?.1,
            };
            if let ValueRef::Text(text) = value {
                texts.push(text);
            }
        }
        Ok(texts)
    }

    fn named_value(&mut self) -> Result<(&'a str, ValueRef<'a>)> {
        let length = u16::from_le_bytes(self.array()?);
        let name = std::str::from_utf8(self.take(usize::from(length))?).map_err(|_| malformed())?;
        Ok((name, self.value()?))
    }

    fn value(&mut self) -> Result<ValueRef<'a>> {
        let [tag] = self.array()?;
        Ok(match tag {
            tag::NULL => ValueRef::Null,
            tag::INT32 => ValueRef::Integer(i32::from_le_bytes(self.array()?).into()),
            tag::INTEGER => ValueRef::Integer(f64::from_le_bytes(self.array()?) as i64),
            tag::INT64 => ValueRef::Integer(i64::from_le_bytes(self.array()?)),
            tag::REAL => ValueRef::Real(f64::from_le_bytes(self.array()?)),
            tag::TEXT => ValueRef::Text(self.bytes()?),
            tag::BLOB => ValueRef::Blob(self.bytes()?),
            tag::DEFERRED => ValueRef::Text(self.deferred_text()?),
            _ => return Err(malformed()),
        })
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = u32::from_le_bytes(self.array()?);
        self.take(length as usize)
    }

    fn deferred_text(&mut self) -> Result<&'a [u8]> {
        let units = u32::from_le_bytes(self.array()?) as usize;
        let length = if self.is_ascii {
            Some(units)
        } else {
            utf8_length(self.texts, units)
        };
        let cut = length.and_then(|length| self.texts.split_at_checked(length));
        let (text, rest) = cut.ok_or_else(malformed)?;
        self.texts = rest;
        Ok(text)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(malformed)?;
        self.bytes = rest;
        Ok(*head)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.bytes.split_at_checked(length).ok_or_else(malformed)?;
        self.bytes = rest;
        Ok(head)
    }
}

/// Returns the number of UTF-8 bytes for the first `units` UTF-16 units of a text.
fn utf8_length(text: &[u8], mut units: usize) -> Option<usize> {
    // Even if some of the texts are not ASCII, most are. Checking for ASCII takes far less time than counting.
    if text.get(..units).is_some_and(<[u8]>::is_ascii) {
        return Some(units);
    }
    let mut length = 0;
    while units > 0 {
        let (bytes, used) = match text.get(length)? {
            0..=0x7f => (1, 1),
            0x80..=0xdf => (2, 1),
            0xe0..=0xef => (3, 1),
            0xf0.. => (4, 2),
        };
        length += bytes;
        units = units.checked_sub(used)?;
    }
    Some(length)
}

fn bind(statement: &mut Statement, index: usize, value: ValueRef<'_>) -> Result<()> {
    statement.bind(index, value).map_err(Error::from)
}

/// Returns the parameters that a name means. A bare name means `:name`, `@name` and `$name` alike.
fn indexes(statement: &Statement, name: &str) -> Vec<usize> {
    if name.starts_with([':', '@', '$', '?']) {
        return statement.parameter_index(name).into_iter().collect();
    }
    [':', '@', '$']
        .iter()
        .filter_map(|prefix| statement.parameter_index(&format!("{prefix}{name}")))
        .collect()
}

fn missing_parameter(statement: &Statement, index: usize) -> Error {
    Error::Parameter(match statement.parameter_name(index) {
        Some(name) => format!("no value was given for parameter {name}"),
        None => format!("no value was given for parameter {index}, which has no name"),
    })
}

pub(crate) fn malformed() -> Error {
    Error::Parameter("the packed parameters are malformed".into())
}

fn counted(parameters: usize) -> String {
    match parameters {
        0 => "no parameters".into(),
        1 => "1 parameter".into(),
        many => format!("{many} parameters"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resqlite_sqlite::{Access, Connection, ValueRef};

    use super::{Params, tag};

    /// Two sets of two texts each. The second text of each set is located after the sets.
    fn packed(texts: [&str; 2]) -> Params {
        let mut out = Vec::new();
        for text in texts {
            out.extend([2, 0, 0, 0, tag::TEXT, 1, 0, 0, 0, b'x', tag::DEFERRED]);
            out.extend((text.encode_utf16().count() as u32).to_le_bytes());
        }
        let offset = out.len();
        out.extend(texts.concat().bytes());
        let range = 0..out.len();
        Params::packed(out.into(), range).with_texts_at(offset)
    }

    /// Adds bytes after the texts of a part, as there may be to fill its frame.
    fn filled(params: &Params) -> Params {
        let bytes: Arc<[u8]> = [params.as_bytes(), params.texts(), &[0; 5]].concat().into();
        let range = 0..bytes.len();
        Params::packed(bytes, range).with_texts_at(params.as_bytes().len())
    }

    #[test]
    fn parts_that_are_joined_keep_their_texts() {
        let parts = [
            packed(["plain", "text"]),
            packed(["é日😀", ""]),
            packed(["", "end"]),
        ];
        let filled = parts.map(|part| (2, filled(&part)));
        let joined = Params::joined(filled.iter().map(|(sets, part)| (*sets, part)));
        let texts: Vec<_> = read_sets(&joined, 6);
        assert_eq!(
            texts,
            [
                "x",
                "plain",
                "x",
                "text",
                "x",
                "é日😀",
                "x",
                "",
                "x",
                "",
                "x",
                "end"
            ]
        );
    }

    fn read(params: &Params) -> Vec<String> {
        read_sets(params, 2)
    }

    fn read_sets(params: &Params, count: usize) -> Vec<String> {
        let connection = Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap();
        let statement = connection
            .prepare("SELECT ?, ?", false)
            .unwrap()
            .statement
            .unwrap();
        let mut reader = params.reader();
        let text = |value: &ValueRef<'_>| match value {
            ValueRef::Text(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            other => panic!("{other:?} is no text"),
        };
        let sets = (0..count).flat_map(|_| reader.values(&statement).unwrap());
        sets.map(|value| text(&value)).collect()
    }

    #[test]
    fn texts_that_stand_behind_the_sets_are_cut_by_their_utf_16_lengths() {
        for (first, second) in [("plain", "text"), ("", "é日😀"), ("😀é", ""), ("日本", "語")] {
            assert_eq!(read(&packed([first, second])), ["x", first, "x", second]);
        }
    }

    #[test]
    fn texts_that_are_too_short_are_malformed() {
        for text in ["plain", "é日😀"] {
            let Params { bytes, range, texts } = packed([text, text]);
            let cut = Params {
                bytes,
                range,
                texts: texts.start..texts.end - 1,
            };
            let connection = Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap();
            let statement = connection
                .prepare("SELECT ?, ?", false)
                .unwrap()
                .statement
                .unwrap();
            let mut reader = cut.reader();
            reader.values(&statement).unwrap();
            reader.values(&statement).unwrap_err();
        }
    }
}
