//! Change feeds as JSON: the requests of callers, and commits. Values are written as in commit events.

use std::{
    io,
    time::{Duration, UNIX_EPOCH},
};

use resqlite::{
    Error, Result, ValueRef,
    binding::Integers,
    feeds::{FeedCommit, FeedOptions, Gap, Keep},
    live::RowKey,
    log::{Entry, EntryKey, EntryTable, Operation, Position, ToldChange},
};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use crate::{
    limits,
    row_json::{ChangedRow, Json, Side},
};

/// The content of a `FEED` request.
pub(crate) enum Asked {
    Open(FeedOptions),
    Acknowledge { name: String, position: Position },
    Skip { name: String, position: Position },
    LookForExternal { name: String },
    Drop { name: String },
}

/// The content of a `READ_FEED` request.
pub(crate) struct Reading {
    pub(crate) name: String,
    pub(crate) after: Position,
    /// The tables whose rows are reported; all tables if `None`.
    pub(crate) tables: Option<Vec<String>>,
}

/// Reads the payload of a `FEED` request. JavaScript has checked names and types already.
pub(crate) fn asked(text: &str) -> Result<Asked> {
    let value = parse(text)?;
    let name = name(&value);
    Ok(match value.get("do").and_then(serde_json::Value::as_str) {
        Some("acknowledge") => Asked::Acknowledge {
            name,
            position: position(&value, "position").unwrap_or_default(),
        },
        Some("skip") => Asked::Skip {
            name,
            position: position(&value, "position").unwrap_or_default(),
        },
        Some("look") => Asked::LookForExternal { name },
        Some("drop") => Asked::Drop { name },
        _ => Asked::Open(FeedOptions {
            name,
            after: position(&value, "after"),
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
        after: position(&value, "after").unwrap_or_default(),
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

fn number(value: &serde_json::Value, key: &str) -> Option<u64> {
    value.get(key).and_then(serde_json::Value::as_u64)
}

fn position(value: &serde_json::Value, key: &str) -> Option<Position> {
    number(value, key).map(Position)
}

fn keep(value: &serde_json::Value) -> Keep {
    let number = |key| number(value, key);
    Keep {
        commits: number("commits"),
        bytes: number("bytes"),
        age: number("age").map(Duration::from_millis),
    }
}

/// Writes the commits that have something to report, and the position of the last commit that was read. The first of
/// these commits is always written, and then as many as fit into [`limits::FEED_PAGE_JSON`] with it.
pub(crate) fn to_json(commits: &[FeedCommit], reading: &Reading, integers: Integers) -> Vec<u8> {
    let mut json = br#"{"commits":["#.to_vec();
    let start = json.len();
    let mut to = reading.after;
    for commit in commits {
        let told = Told::of(commit, reading, integers);
        if told.tells_something() {
            let before = json.len();
            let is_first = before == start;
            let most = if is_first {
                limits::FEED_COMMIT_JSON
            } else {
                json.push(b',');
                limits::FEED_PAGE_JSON
            };
            let fits = serde_json::to_writer(
                Bounded {
                    json: &mut json,
                    most,
                },
                &told,
            )
            .is_ok();
            if !fits {
                json.truncate(before);
            }
            if !fits && !is_first {
                break;
            }
            if !fits {
                let gap = Told {
                    changes: None,
                    ..told
                };
                serde_json::to_writer(&mut json, &gap).expect("memory can be written to");
            }
        }
        to = commit.entry.position();
    }
    json.extend_from_slice(format!("],\"to\":{to}}}").as_bytes());
    json
}

/// Memory that takes at most `most` bytes in all.
struct Bounded<'a> {
    json: &'a mut Vec<u8>,
    most: usize,
}

impl io::Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.json.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.json.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A commit as it is reported to a consumer.
struct Told<'a> {
    position: Position,
    at: u64,
    gap: Option<Gap>,
    /// `None` if the changes are too long. The commit is then reported as a gap.
    changes: Option<Changes<'a>>,
}

impl<'a> Told<'a> {
    fn of(commit: &'a FeedCommit, reading: &'a Reading, integers: Integers) -> Self {
        let at = commit.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            position: commit.entry.position(),
            at: at.as_millis() as u64,
            gap: commit.gap,
            changes: Some(Changes {
                entry: &commit.entry,
                reading,
                integers,
            }),
        }
    }

    fn tells_something(&self) -> bool {
        self.gap.is_some()
            || self
                .changes
                .as_ref()
                .is_some_and(|changes| changes.told().next().is_some())
    }
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let gap = self.changes.as_ref().map_or(Some(Gap::Unlisted), |_| self.gap);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("position", &self.position.0)?;
        map.serialize_entry("at", &self.at)?;
        map.serialize_entry("gap", &gap.map(Gap::name))?;
        match &self.changes {
            Some(changes) => map.serialize_entry("operations", changes)?,
            None => map.serialize_entry("operations", &[(); 0])?,
        }
        map.end()
    }
}

/// The changes of a commit that concern a consumer. They are written one after the other, so that they are never all in
/// memory twice.
struct Changes<'a> {
    entry: &'a Entry,
    reading: &'a Reading,
    integers: Integers,
}

impl Changes<'_> {
    fn told(&self) -> impl Iterator<Item = Operation<'_>> {
        let operations = self.entry.operations();
        operations.filter(|operation| match operation {
            Operation::Insert { table, .. }
            | Operation::Update { table, .. }
            | Operation::Delete { table, .. } => self.reading.tells(table),
            // The cleared table was made by the same commit, or is internal.
            Operation::Clear { .. } => false,
            Operation::Sql(_) => true,
        })
    }
}

impl Serialize for Changes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for operation in self.told() {
            if let Operation::Sql(sql) = operation {
                list.serialize_element(&Schema(sql))?;
            }
            let Some((table, told)) = operation.told() else {
                continue;
            };
            for change in told.into_iter().flatten() {
                list.serialize_element(&Json(&row(table, change), self.integers))?;
            }
        }
        list.end()
    }
}

impl Reading {
    fn tells(&self, table: &EntryTable) -> bool {
        let is_wanted =
            |tables: &Vec<String>| tables.iter().any(|name| name.eq_ignore_ascii_case(&table.name));
        !table.is_internal && self.tables.as_ref().is_none_or(is_wanted)
    }
}

/// A change of the schema.
struct Schema<'a>(&'a str);

impl Serialize for Schema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", "schema")?;
        map.serialize_entry("sql", self.0)?;
        map.end()
    }
}

fn row<'a>(table: &'a EntryTable, change: ToldChange<'a>) -> ChangedRow<'a> {
    let name = |column: usize| table.columns[column].name.as_str();
    let side = |row: Option<Vec<ValueRef<'a>>>| {
        row.map_or(Side::Absent, |row| {
            Side::Values((0..).map(name).zip(row).collect())
        })
    };
    ChangedRow {
        table: Some(&table.name),
        key: match (change.key, &table.key) {
            (RowKey::Rowid(rowid), EntryKey::Rowid(name)) => vec![(name.as_str(), ValueRef::Integer(rowid))],
            (RowKey::Columns(key), _) => table
                .primary_key
                .iter()
                .map(|&column| name(column))
                .zip(key)
                .collect(),
            (RowKey::Rowid(_), EntryKey::Columns(_)) => Vec::new(),
        },
        old: side(change.old),
        new: side(change.new),
    }
}
