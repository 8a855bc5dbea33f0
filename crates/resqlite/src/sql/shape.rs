//! The one place that asks SQLite for the shape of tables.

use resqlite_live::TableName;
use resqlite_sqlite::{Connection, Statement, ValueRef};

use super::affinity::Affinity;
use crate::core::error::Result;

/// A table or view.
pub(crate) struct TableShape {
    pub(crate) name: TableName,
    pub(crate) kind: TableKind,
    pub(crate) without_rowid: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableKind {
    Ordinary,
    View,
    Virtual,
    /// A table that belongs to a virtual table.
    Shadow,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnShape {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    /// The place in the primary key, counted from 1.
    pub(crate) place_in_key: Option<u16>,
    pub(crate) not_null: bool,
    pub(crate) affinity: Affinity,
}

impl ColumnShape {
    pub(crate) fn is_generated(&self) -> bool {
        self.origin != Origin::Written
    }
}

/// The origin of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Written,
    /// The values are computed, and stored.
    Stored,
    /// The values are computed whenever they are read.
    Virtual,
}

/// All tables and views of all schemas.
pub(crate) fn all_tables(connection: &Connection) -> Result<Vec<TableShape>> {
    let mut listed = rows(
        connection,
        "SELECT schema, name, type, wr FROM pragma_table_list",
        &[],
    )?;
    let mut tables = Vec::new();
    while listed.step()? {
        tables.push(table(&listed));
    }
    Ok(tables)
}

/// The table or view of this name; `None` for a virtual table that needs no declaration.
pub(super) fn one_table(connection: &Connection, name: &TableName) -> Result<Option<TableShape>> {
    let sql = "SELECT schema, name, type, wr FROM pragma_table_list(?1) WHERE schema = ?2";
    let mut listed = rows(connection, sql, &[name.table(), name.schema()])?;
    Ok(listed.step()?.then(|| table(&listed)))
}

/// The columns of a table, in the order in which hooks count them.
pub(crate) fn columns(connection: &Connection, name: &TableName) -> Result<Vec<ColumnShape>> {
    let sql = r#"SELECT name, hidden, pk, "notnull", type FROM pragma_table_xinfo(?1, ?2) ORDER BY cid"#;
    let mut listed = rows(connection, sql, &[name.table(), name.schema()])?;
    let mut columns = Vec::new();
    while listed.step()? {
        columns.push(ColumnShape {
            name: text(&listed, 0),
            origin: match integer(&listed, 1) {
                2 => Origin::Virtual,
                3 => Origin::Stored,
                _ => Origin::Written,
            },
            place_in_key: u16::try_from(integer(&listed, 2)).ok().filter(|place| *place > 0),
            not_null: integer(&listed, 3) != 0,
            affinity: Affinity::of(&text(&listed, 4)),
        });
    }
    Ok(columns)
}

/// Returns the positions of the columns of the primary key, in the order of the key.
pub(crate) fn primary_key(columns: &[ColumnShape]) -> Vec<usize> {
    let mut key: Vec<_> = (0..columns.len())
        .filter(|&at| columns[at].place_in_key.is_some())
        .collect();
    key.sort_unstable_by_key(|&at| columns[at].place_in_key);
    key
}

/// The positions of the columns that are stored.
pub(crate) fn stored(columns: &[ColumnShape]) -> impl Iterator<Item = usize> {
    (0..columns.len()).filter(|&at| columns[at].origin != Origin::Virtual)
}

/// The positions of the columns that store numbers as REAL.
pub(crate) fn reals(columns: &[ColumnShape]) -> Vec<u16> {
    let is_real = |at: &u16| columns[usize::from(*at)].affinity == Affinity::Real;
    (0..columns.len() as u16).filter(is_real).collect()
}

/// Returns whether the primary key of a table with rowids has an index. If so, the key is not the rowid itself, and it may be NULL
/// in several rows.
pub(crate) fn has_index_of_key(connection: &Connection, name: &TableName) -> Result<bool> {
    let sql = "SELECT 1 FROM pragma_index_list(?1, ?2) WHERE origin = 'pk'";
    Ok(rows(connection, sql, &[name.table(), name.schema()])?.step()?)
}

fn table(listed: &Statement) -> TableShape {
    TableShape {
        name: TableName::new(text(listed, 0), text(listed, 1)),
        kind: match text(listed, 2).as_str() {
            "table" => TableKind::Ordinary,
            "view" => TableKind::View,
            "shadow" => TableKind::Shadow,
            _ => TableKind::Virtual,
        },
        without_rowid: integer(listed, 3) == 1,
    }
}

/// Prepares a statement about the schema. The values of its parameters are texts.
pub(super) fn rows(connection: &Connection, sql: &str, values: &[&str]) -> Result<Statement> {
    let mut statement = connection
        .prepare(sql, false)?
        .statement
        .expect("the texts of this room are statements");
    for (index, value) in values.iter().enumerate() {
        statement.bind(index + 1, ValueRef::Text(value.as_bytes()))?;
    }
    Ok(statement)
}

pub(super) fn text(row: &Statement, column: usize) -> String {
    row.column_text(column).unwrap_or_default()
}

pub(super) fn integer(row: &Statement, column: usize) -> i64 {
    row.integer(column).unwrap_or(0)
}
