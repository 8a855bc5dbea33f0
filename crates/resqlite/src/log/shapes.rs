//! What an entry must know about each table of the main database.

use std::collections::HashMap;

use resqlite_sqlite::{Connection, ValueRef};

use crate::{
    core::{
        error::Result,
        names::{OWN_TABLES, quoted, rowid_name},
    },
    entries::{Draft, EntryColumn, EntryKey, EntryTable},
    sql::affinity::Affinity,
};

/// All tables of the main database, by name.
#[derive(Default)]
pub(super) struct Shapes(HashMap<String, Shape>);

/// What an entry must know about a table.
pub(super) struct Shape {
    pub(super) nature: Nature,
    pub(super) table: EntryTable,
    /// The positions of its stored columns in the table.
    pub(super) columns: Vec<u16>,
    /// Those that store numbers as REAL.
    pub(super) real: Vec<u16>,
}

/// How an entry carries what changes in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// Row by row.
    Rows,
    /// It has no rows of its own.
    Virtual,
    /// Its columns have all the names of the rowid, so that no statement can name a row.
    Unnamed,
    /// `sqlite_sequence`: SQLite does not report its changes, so it is compared.
    Sequence,
    /// What ANALYZE found; not all of its changes are reported, so all rows are carried.
    Statistics,
    /// One of [`OWN_TABLES`].
    Own,
}

/// What `PRAGMA table_xinfo` says of generated columns.
const VIRTUAL: i64 = 2;
const STORED: i64 = 3;

const COLUMNS: &str = "SELECT l.name, l.type, l.wr, x.cid, x.name, x.hidden, x.pk, x.type
    FROM pragma_table_list AS l, pragma_table_xinfo(l.name, 'main') AS x
    WHERE l.schema = 'main' AND l.type <> 'view' ORDER BY l.name, x.cid";

impl Shapes {
    pub(super) fn read(connection: &Connection) -> Result<Self> {
        let mut shapes = HashMap::new();
        let Some(mut columns) = connection.prepare(COLUMNS, false)?.statement else {
            return Ok(Self(shapes));
        };
        let mut reading: Option<Reading> = None;
        while columns.step()? {
            let name = columns.column_text(0).unwrap_or_default();
            if reading.as_ref().is_none_or(|reading| reading.name != name) {
                let next = Reading {
                    name,
                    is_virtual: columns.column_text(1).as_deref() == Some("virtual"),
                    is_shadow: columns.column_text(1).as_deref() == Some("shadow"),
                    has_rowids: columns.column(2) != ValueRef::Integer(1),
                    ..Reading::default()
                };
                shapes.extend(reading.replace(next).map(Reading::shape));
            }
            let number = |column| match columns.column(column) {
                ValueRef::Integer(number) => number,
                _ => 0,
            };
            let name = columns.column_text(4).unwrap_or_default();
            let (column, hidden, place_in_key) = (number(3), number(5), number(6));
            let declared = columns.column_text(7).unwrap_or_default();
            if let Some(reading) = &mut reading {
                reading.column(column as u16, name, hidden, place_in_key);
                if Affinity::of(&declared) == Affinity::Real {
                    reading.real.push(column as u16);
                }
            }
        }
        shapes.extend(reading.map(Reading::shape));
        Ok(Self(shapes))
    }

    pub(super) fn get(&self, table: &str) -> Option<&Shape> {
        self.0.get(table)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub(super) fn have_virtual_tables(&self) -> bool {
        self.0.values().any(|shape| shape.nature == Nature::Virtual)
    }
}

/// A table whose columns are being read.
#[derive(Default)]
struct Reading {
    name: String,
    is_virtual: bool,
    is_shadow: bool,
    has_rowids: bool,
    names: Vec<String>,
    stored: Vec<EntryColumn>,
    columns: Vec<u16>,
    real: Vec<u16>,
    /// Place in the key, and place among the stored columns.
    key: Vec<(i64, usize)>,
}

impl Reading {
    fn column(&mut self, column: u16, name: String, hidden: i64, place_in_key: i64) {
        self.names.push(name.clone());
        if hidden == VIRTUAL {
            return;
        }
        if place_in_key > 0 {
            self.key.push((place_in_key, self.stored.len()));
        }
        self.columns.push(column);
        self.stored.push(EntryColumn {
            name,
            generated: hidden == STORED,
        });
    }

    fn shape(mut self) -> (String, Shape) {
        self.key.sort_unstable();
        let rowid = rowid_name(&self.names);
        let nature = match self.name.as_str() {
            _ if self.is_virtual => Nature::Virtual,
            name if OWN_TABLES.contains(&name) => Nature::Own,
            "sqlite_sequence" => Nature::Sequence,
            "sqlite_stat1" | "sqlite_stat4" => Nature::Statistics,
            _ if self.has_rowids && rowid.is_none() => Nature::Unnamed,
            _ => Nature::Rows,
        };
        let primary_key: Vec<_> = self.key.iter().map(|(_, column)| *column).collect();
        let key = if self.has_rowids {
            EntryKey::Rowid(rowid.unwrap_or_default().to_owned())
        } else {
            EntryKey::Columns(primary_key.clone())
        };
        let table = EntryTable {
            name: self.name.clone(),
            columns: self.stored,
            key,
            primary_key,
            is_internal: self.is_shadow || self.name.starts_with("sqlite_"),
        };
        let shape = Shape {
            nature,
            table,
            columns: self.columns,
            real: self.real,
        };
        (self.name, shape)
    }
}

/// Adds that a table has exactly the rows that it has now.
pub(super) fn add_content(connection: &Connection, table: &EntryTable, draft: &mut Draft) -> Result<()> {
    let number = draft.table(table);
    draft.clear_table(number);
    let columns = table.columns.iter().map(|column| quoted(&column.name, '"'));
    let rowid = match &table.key {
        EntryKey::Rowid(name) => Some(quoted(name, '"')),
        EntryKey::Columns(_) => None,
    };
    let terms: Vec<_> = rowid.iter().cloned().chain(columns).collect();
    let sql = format!(
        "SELECT {} FROM main.{}",
        terms.join(", "),
        quoted(&table.name, '"')
    );
    let Some(mut rows) = connection.prepare(&sql, false)?.statement else {
        return Ok(());
    };
    let first = usize::from(rowid.is_some());
    while rows.step()? {
        let rowid = match rows.column(0) {
            ValueRef::Integer(rowid) if first == 1 => Some(rowid),
            _ => None,
        };
        draft.insert(
            number,
            rowid,
            (first..terms.len()).map(|column| rows.column(column)),
        );
    }
    Ok(())
}
