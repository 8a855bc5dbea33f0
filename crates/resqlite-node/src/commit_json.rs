//! Commit events as JSON, and the values in them.
//!
//! Values that JSON cannot express are objects with one property: `{"integer": "9007199254740993"}`,
//! `{"real": "-Infinity"}`, `{"blob": "AAEC"}`. No other value is an object.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use resqlite::{
    Value, ValueRef,
    binding::Integers,
    events::{Changes, CommitEvent, RowEvent, RowState, TableEvent, Unlisted},
    live::{ROWID, RowKey},
};
use serde::{Serialize, Serializer, ser::SerializeMap};

/// The greatest integer up to which JavaScript's numbers are exact.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Something to write, and how integers in it are written.
pub(crate) struct Json<'a, T: ?Sized>(pub(crate) &'a T, pub(crate) Integers);

pub(crate) fn to_json(event: &CommitEvent, integers: Integers) -> Vec<u8> {
    serde_json::to_vec(&Json(event, integers)).expect("all keys are strings, and memory can be written to")
}

impl Serialize for Json<'_, CommitEvent> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(event, integers) = self;
        let tables = event.tables.as_ref().map(|tables| list(tables, *integers));
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("from", &event.first.0)?;
        map.serialize_entry("to", &event.last.0)?;
        map.serialize_entry("external", &event.is_external)?;
        map.serialize_entry("schemaChanged", &event.schema_changed)?;
        map.serialize_entry("truncated", &event.is_truncated)?;
        map.serialize_entry("tables", &tables)?;
        map.end()
    }
}

impl Serialize for Json<'_, TableEvent> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(table, integers) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", table.name.schema())?;
        map.serialize_entry("table", table.name.table())?;
        map.serialize_entry("inserted", &table.operations.inserts)?;
        map.serialize_entry("updated", &table.operations.updates)?;
        map.serialize_entry("deleted", &table.operations.deletes)?;
        match &table.changes {
            Some(Changes::Rows(rows)) => map.serialize_entry("rows", &list(rows, *integers))?,
            Some(Changes::Unlisted(why)) => map.serialize_entry("rows", reason(*why))?,
            None => {}
        }
        map.end()
    }
}

fn reason(why: Unlisted) -> &'static str {
    match why {
        Unlisted::Many => "many",
        Unlisted::Schema => "schema",
        Unlisted::Key => "key",
        Unlisted::Unknown => "unknown",
    }
}

impl Serialize for Json<'_, RowEvent> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(row, integers) = self;
        let operation = match (&row.old, &row.new) {
            (_, RowState::Absent) => "delete",
            (RowState::Absent, _) => "insert",
            _ => "update",
        };
        let values = |names, values| Values {
            names,
            values,
            integers: *integers,
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", operation)?;
        match (&row.key, &row.names.rowid) {
            (RowKey::Rowid(rowid), Some(name)) => {
                let key = Values {
                    names: &[(ROWID, Arc::clone(name))],
                    values: &[Value::Integer(*rowid)],
                    integers: *integers,
                };
                map.serialize_entry("key", &key)?;
            }
            (RowKey::Columns(key), _) => map.serialize_entry("key", &values(&row.names.key, key))?,
            (RowKey::Rowid(_), None) => unreachable!("rows are told by a rowid that has a name"),
        }
        if !matches!(
            (&row.old, &row.new),
            (RowState::Present, _) | (_, RowState::Present)
        ) {
            for (name, state) in [("old", &row.old), ("new", &row.new)] {
                let image = match state {
                    RowState::Values(image) => Some(values(&row.names.columns, image)),
                    RowState::Absent | RowState::Present => None,
                };
                map.serialize_entry(name, &image)?;
            }
        }
        map.end()
    }
}

/// Values by their names.
struct Values<'a> {
    names: &'a [(u16, Arc<str>)],
    values: &'a [Value],
    integers: Integers,
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for ((_, name), value) in self.names.iter().zip(self.values) {
            map.serialize_entry(&**name, &Json(value, self.integers))?;
        }
        map.end()
    }
}

impl Serialize for Json<'_, Value> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json(&ValueRef::from(self.0), self.1).serialize(serializer)
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

fn list<T>(all: &[T], integers: Integers) -> Vec<Json<'_, T>> {
    all.iter().map(|one| Json(one, integers)).collect()
}
