//! The facts that an entry must know about each table of the main database.

use std::collections::HashMap;

use resqlite_sqlite::{Connection, ValueRef};

use crate::{
    core::{
        error::Result,
        names::{OWN_TABLES, quoted, rowid_name},
    },
    entries::{Draft, EntryColumn, EntryKey, EntryTable},
    sql::shape::{self, ColumnShape, TableKind, TableShape, all_tables, columns},
};

/// All tables of the main database, by name.
#[derive(Default)]
pub(super) struct Shapes(HashMap<String, Shape>);

/// The facts that an entry must know about a table.
pub(super) struct Shape {
    pub(super) nature: Nature,
    pub(super) table: EntryTable,
    /// The positions of its stored columns in the table.
    pub(super) columns: Vec<u16>,
    /// The positions of the columns that store numbers as REAL.
    pub(super) real: Vec<u16>,
}

/// The way in which an entry carries the changes in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// Row by row.
    Rows,
    /// Not at all: the table has no rows of its own.
    Virtual,
    /// Its columns use all the names of the rowid, so that no statement can identify a row.
    Unnamed,
    /// `sqlite_sequence`: SQLite does not report its changes, so it is compared.
    Sequence,
    /// The findings of ANALYZE. SQLite does not report all of their changes, so all rows are carried.
    Statistics,
    /// One of [`OWN_TABLES`].
    Own,
}

impl Shapes {
    pub(super) fn read(connection: &Connection) -> Result<Self> {
        let tables = all_tables(connection)?.into_iter();
        let main = tables.filter(|table| table.name.schema() == "main" && table.kind != TableKind::View);
        let shapes = main.map(|table| {
            let columns = columns(connection, &table.name)?;
            Ok((table.name.table().to_owned(), Shape::of(&table, &columns)))
        });
        shapes.collect::<Result<_>>().map(Self)
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

impl Shape {
    fn of(table: &TableShape, columns: &[ColumnShape]) -> Self {
        let name = table.name.table();
        let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        let rowid = rowid_name(&names);
        let nature = match name {
            _ if table.kind == TableKind::Virtual => Nature::Virtual,
            name if OWN_TABLES.contains(&name) => Nature::Own,
            "sqlite_sequence" => Nature::Sequence,
            "sqlite_stat1" | "sqlite_stat4" => Nature::Statistics,
            _ if !table.without_rowid && rowid.is_none() => Nature::Unnamed,
            _ => Nature::Rows,
        };
        let stored: Vec<usize> = shape::stored(columns).collect();
        let key = shape::primary_key(columns).into_iter();
        let primary_key: Vec<_> = key
            .filter_map(|at| stored.iter().position(|&other| other == at))
            .collect();
        let entry_columns = stored.iter().map(|&at| EntryColumn {
            name: columns[at].name.clone(),
            generated: columns[at].is_generated(),
        });
        Self {
            nature,
            table: EntryTable {
                name: name.to_owned(),
                columns: entry_columns.collect(),
                key: if table.without_rowid {
                    EntryKey::Columns(primary_key.clone())
                } else {
                    EntryKey::Rowid(rowid.unwrap_or_default().to_owned())
                },
                primary_key,
                is_internal: table.kind == TableKind::Shadow || name.starts_with("sqlite_"),
            },
            columns: stored.iter().map(|&at| at as u16).collect(),
            real: shape::reals(columns),
        }
    }
}

/// Adds to the draft that a table has exactly the rows that it has now.
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
