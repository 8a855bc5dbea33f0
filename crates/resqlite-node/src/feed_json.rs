//! Change feeds: what callers ask for, and commits, as JSON. Values are written as in commit events.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use resqlite::{
    EntryKey, EntryTable, Error, FeedCommit, FeedOptions, Gap, Image, Integers, Keep, Operation, Result,
    Value, ValueRef,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::commit_json::Json;

/// What a `FEED` request asks for.
pub(crate) enum Asked {
    Open(FeedOptions),
    Acknowledge { name: String, position: u64 },
    LookForStrangers { name: String },
    Drop { name: String },
}

/// What a `READ_FEED` request asks for.
pub(crate) struct Reading {
    pub(crate) name: String,
    pub(crate) after: u64,
    /// The tables whose rows are told; all if `None`.
    pub(crate) tables: Option<Vec<String>>,
}

/// Reads the payload of a `FEED` request. JavaScript has checked names and types already.
pub(crate) fn asked(text: &str) -> Result<Asked> {
    let value = parse(text)?;
    let name = name(&value);
    let number = |key: &str| value.get(key).and_then(serde_json::Value::as_u64);
    Ok(match value.get("do").and_then(serde_json::Value::as_str) {
        Some("acknowledge") => Asked::Acknowledge {
            name,
            position: number("position").unwrap_or(0),
        },
        Some("look") => Asked::LookForStrangers { name },
        Some("drop") => Asked::Drop { name },
        _ => Asked::Open(FeedOptions {
            name,
            after: number("after"),
            keep: value.get("keep").filter(|keep| keep.is_object()).map(keep),
        }),
    })
}

/// Reads the payload of a `READ_FEED` request.
pub(crate) fn reading(text: &str) -> Result<Reading> {
    let value = parse(text)?;
    let tables = value
        .get("tables")
        .and_then(serde_json::Value::as_array)
        .map(|tables| {
            let names = tables.iter().filter_map(serde_json::Value::as_str);
            names.map(str::to_owned).collect()
        });
    Ok(Reading {
        name: name(&value),
        after: value
            .get("after")
            .and_then(serde_json::Value::as_u64)
            .unwrap_or(0),
        tables,
    })
}

fn parse(text: &str) -> Result<serde_json::Value> {
    serde_json::from_str(text).map_err(|error| Error::Option(error.to_string()))
}

fn name(value: &serde_json::Value) -> String {
    value
        .get("name")
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
        .into()
}

fn keep(value: &serde_json::Value) -> Keep {
    let number = |key: &str| value.get(key).and_then(serde_json::Value::as_u64);
    Keep {
        commits: number("commits"),
        bytes: number("bytes"),
        age: number("age").map(Duration::from_millis),
    }
}

/// The commits that tell something, and the position of the last one that was read.
pub(crate) fn to_json(commits: &[FeedCommit], reading: &Reading, integers: Integers) -> Vec<u8> {
    let told = commits.iter().map(|commit| Told::of(commit, reading, integers));
    let told = Page {
        to: commits.last().map_or(reading.after, |last| last.entry.position()),
        commits: told.filter(Told::tells_something).collect(),
    };
    serde_json::to_vec(&told).expect("all keys are strings, and memory can be written to")
}

struct Page<'a> {
    to: u64,
    commits: Vec<Told<'a>>,
}

/// What is told of a commit.
struct Told<'a> {
    position: u64,
    at: u64,
    gap: Option<&'static str>,
    changes: Vec<Change<'a>>,
}

enum Change<'a> {
    /// Its name, and the row.
    Row(&'static str, Row),
    Schema(&'a str),
}

struct Row {
    table: String,
    key: Values,
    old: Option<Values>,
    new: Option<Values>,
}

impl Serialize for Page<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("to", &self.to)?;
        map.serialize_entry("commits", &self.commits)?;
        map.end()
    }
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("position", &self.position)?;
        map.serialize_entry("at", &self.at)?;
        map.serialize_entry("gap", &self.gap)?;
        map.serialize_entry("changes", &self.changes)?;
        map.end()
    }
}

impl Serialize for Change<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Row(operation, row) => {
                map.serialize_entry("operation", operation)?;
                map.serialize_entry("table", &row.table)?;
                map.serialize_entry("key", &row.key)?;
                map.serialize_entry("old", &row.old)?;
                map.serialize_entry("new", &row.new)?;
            }
            Self::Schema(sql) => {
                map.serialize_entry("operation", "schema")?;
                map.serialize_entry("sql", sql)?;
            }
        }
        map.end()
    }
}

impl<'a> Told<'a> {
    fn of(commit: &'a FeedCommit, reading: &Reading, integers: Integers) -> Self {
        let at = commit.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changes = commit.entry.operations();
        Self {
            position: commit.entry.position(),
            at: at.as_millis() as u64,
            gap: commit.gap.map(Gap::name),
            changes: changes
                .filter_map(|operation| change(operation, reading, integers))
                .collect(),
        }
    }

    fn tells_something(&self) -> bool {
        self.gap.is_some() || !self.changes.is_empty()
    }
}

fn change<'a>(operation: Operation<'a>, reading: &Reading, integers: Integers) -> Option<Change<'a>> {
    let row = |name, table: Arc<EntryTable>, rowid, old: Option<Image<'_>>, new: Option<Image<'_>>| {
        let told = reading.tells(&table);
        told.then(|| Change::Row(name, Row::of(&table, rowid, old, new, integers)))
    };
    match operation {
        Operation::Insert { table, rowid, new } => row("insert", table, rowid, None, Some(new)),
        Operation::Update {
            table,
            old_rowid,
            old,
            new,
            ..
        } => row("update", table, old_rowid, Some(old), Some(new)),
        Operation::Delete { table, rowid, old } => row("delete", table, rowid, Some(old), None),
        // The table was made by the same commit, or is internal.
        Operation::Clear { .. } => None,
        Operation::Sql(sql) => Some(Change::Schema(sql)),
    }
}

impl Reading {
    fn tells(&self, table: &EntryTable) -> bool {
        let is_wanted =
            |tables: &Vec<String>| tables.iter().any(|name| name.eq_ignore_ascii_case(&table.name));
        !table.is_internal && self.tables.as_ref().is_none_or(is_wanted)
    }
}

impl Row {
    /// `rowid`: of the image that gives the key: the one before, if there is one.
    fn of(
        table: &EntryTable,
        rowid: i64,
        old: Option<Image<'_>>,
        new: Option<Image<'_>>,
        integers: Integers,
    ) -> Self {
        let values = |named| Values { named, integers };
        let named = |column: usize, value: ValueRef<'_>| (table.columns[column].name.clone(), owned(value));
        let image = |image: Image<'_>| {
            let all = image.values().into_iter().enumerate();
            values(all.map(|(column, value)| named(column, value)).collect())
        };
        let key = match &table.key {
            EntryKey::Rowid(name) if table.primary_key.is_empty() => {
                vec![(name.clone(), Value::Integer(rowid))]
            }
            _ => {
                let of_row = old.or(new).map(|image| image.values()).unwrap_or_default();
                let columns = table.primary_key.iter();
                columns.map(|&column| named(column, of_row[column])).collect()
            }
        };
        Self {
            table: table.name.clone(),
            key: values(key),
            old: old.map(image),
            new: new.map(image),
        }
    }
}

/// Values by their names.
struct Values {
    named: Vec<(String, Value)>,
    integers: Integers,
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = self.named.iter();
        serializer.collect_map(named.map(|(name, value)| (name, Json(value, self.integers))))
    }
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => Value::Blob(blob.into()),
    }
}
