//! A changed row as JSON, as commit events and change feeds report it.
//!
//! Values that JSON cannot express are objects with one property: `{"integer": "9007199254740993"}`,
//! `{"real": "-Infinity"}`, `{"blob": "AAEC"}`. No other value is an object.

use base64::{Engine, engine::general_purpose::STANDARD};
use resqlite::{ValueRef, binding::Integers};
use serde::{Serialize, Serializer, ser::SerializeMap};

/// The greatest integer up to which JavaScript's numbers are exact.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A value to write, and the form in which its integers are written.
pub(crate) struct Json<'a, T: ?Sized>(pub(crate) &'a T, pub(crate) Integers);

/// Values by their names.
pub(crate) type Named<'a> = Vec<(&'a str, ValueRef<'a>)>;

/// A row before or after a change.
pub(crate) enum Side<'a> {
    Absent,
    /// There is a row, but its values are not reported.
    Present,
    Values(Named<'a>),
}

pub(crate) struct ChangedRow<'a> {
    pub(crate) table: Option<&'a str>,
    pub(crate) key: Named<'a>,
    pub(crate) old: Side<'a>,
    pub(crate) new: Side<'a>,
}

impl Serialize for Json<'_, ChangedRow<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(row, integers) = self;
        let operation = match (&row.old, &row.new) {
            (_, Side::Absent) => "delete",
            (Side::Absent, _) => "insert",
            _ => "update",
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", operation)?;
        if let Some(table) = row.table {
            map.serialize_entry("table", table)?;
        }
        map.serialize_entry("key", &Json(&*row.key, *integers))?;
        let sides = [("old", &row.old), ("new", &row.new)];
        if !sides.iter().any(|(_, side)| matches!(side, Side::Present)) {
            for (moment, side) in sides {
                let values = match side {
                    Side::Values(values) => Some(Json(&**values, *integers)),
                    Side::Absent | Side::Present => None,
                };
                map.serialize_entry(moment, &values)?;
            }
        }
        map.end()
    }
}

impl Serialize for Json<'_, [(&str, ValueRef<'_>)]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(named, integers) = self;
        serializer.collect_map(named.iter().map(|(name, value)| (name, Json(value, *integers))))
    }
}

impl Serialize for Json<'_, ValueRef<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self.0 {
            ValueRef::Null => serializer.serialize_unit(),
            ValueRef::Integer(value) if self.is_number(value) => serializer.serialize_i64(value),
            ValueRef::Integer(value) => tagged(serializer, "integer", &value.to_string()),
            ValueRef::Real(value) if value.is_finite() => serializer.serialize_f64(value),
            ValueRef::Real(value) => {
                let infinity = if value > 0.0 { "Infinity" } else { "-Infinity" };
                tagged(serializer, "real", infinity)
            }
            ValueRef::Text(text) => serializer.serialize_str(&String::from_utf8_lossy(text)),
            ValueRef::Blob(bytes) => tagged(serializer, "blob", &STANDARD.encode(bytes)),
        }
    }
}

impl Json<'_, ValueRef<'_>> {
    fn is_number(&self, value: i64) -> bool {
        self.1 != Integers::BigInt && value.unsigned_abs() <= MAX_SAFE_INTEGER
    }
}

fn tagged<S: Serializer>(serializer: S, tag: &str, text: &str) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, text)?;
    map.end()
}
