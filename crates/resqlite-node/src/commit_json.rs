//! Commit events as JSON.

use std::sync::Arc;

use resqlite::{
    Value, ValueRef,
    binding::Integers,
    events::{Changes, CommitEvent, RowEvent, RowState, TableEvent, Unlisted},
    live::RowKey,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::row_json::{ChangedRow, Json, Named, Side};

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
        let Json(RowEvent { names, key, old, new }, integers) = self;
        let [old, new] = [old, new].map(|state| match state {
            RowState::Absent => Side::Absent,
            RowState::Present => Side::Present,
            RowState::Values(image) => Side::Values(named(&names.columns, image)),
        });
        let row = ChangedRow {
            table: None,
            key: match (key, &names.rowid) {
                (RowKey::Rowid(rowid), Some(name)) => vec![(&**name, ValueRef::Integer(*rowid))],
                (RowKey::Columns(key), _) => named(&names.key, key),
                (RowKey::Rowid(_), None) => unreachable!("rows are told by a rowid that has a name"),
            },
            old,
            new,
        };
        Json(&row, *integers).serialize(serializer)
    }
}

fn named<'a>(names: &'a [(u16, Arc<str>)], values: &'a [Value]) -> Named<'a> {
    let names = names.iter().map(|(_, name)| &**name);
    names.zip(values.iter().map(ValueRef::from)).collect()
}

fn list<T>(all: &[T], integers: Integers) -> Vec<Json<'_, T>> {
    all.iter().map(|one| Json(one, integers)).collect()
}
