//! The schemas that a connection sees, read from their schema tables.

use resqlite_live::{ColumnSet, TableName};
use resqlite_sqlite::{Connection, ValueRef};

use super::shape::{self, ColumnShape, TableKind, TableShape, integer, rows, text};
use crate::core::{error::Result, names::quoted};

/// All schemas, in SQLite's numbering.
pub(crate) struct Catalog<'c> {
    connection: &'c Connection,
    schemas: Vec<Schema>,
    /// Text is stored as UTF-8, so that its bytes compare as SQLite compares them.
    pub(crate) utf8: bool,
}

struct Schema {
    number: i64,
    name: String,
    objects: Vec<Object>,
}

/// A line of `sqlite_schema`.
struct Object {
    kind: ObjectKind,
    name: String,
    /// The table that an index belongs to; for a table, its own name.
    table: String,
    root: i64,
    sql: String,
}

#[derive(PartialEq, Eq)]
enum ObjectKind {
    Table,
    View,
    Other,
}

/// The object that a name in a FROM clause stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A view, with its schema and the statement that created it.
    View {
        schema: String,
        sql: String,
    },
    Ordinary {
        name: TableName,
        without_rowid: bool,
    },
    /// A virtual table, with the statement that created it.
    Virtual {
        name: TableName,
        sql: String,
    },
    /// A table that belongs to a virtual table.
    Shadow,
}

/// The columns that indexes of a table hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Indexed {
    Columns(ColumnSet),
    /// One of the indexes is on an expression.
    Expression,
}

impl<'c> Catalog<'c> {
    /// Reads the schemas. This also makes SQLite notice if its own copy of the schemas is out of date.
    pub(crate) fn read(connection: &'c Connection) -> Result<Self> {
        let mut schemas = Vec::new();
        let mut list = rows(connection, "PRAGMA database_list", &[])?;
        while list.step()? {
            let (number, name) = (integer(&list, 0), text(&list, 1));
            let objects = read_objects(connection, &name)?;
            schemas.push(Schema {
                number,
                name,
                objects,
            });
        }
        // Unqualified names are looked for in `temp` first.
        schemas.sort_by_key(|schema| (schema.number != 1, schema.number));
        let encoding = connection.query_text("PRAGMA encoding")?;
        Ok(Self {
            connection,
            schemas,
            utf8: encoding.as_deref() == Some("UTF-8"),
        })
    }

    /// Finds the table or view that a name means. Returns `None` if there is no such object: the name means a CTE, or a virtual
    /// table that
    /// needs no declaration.
    pub(crate) fn find(&self, schema: Option<&str>, table: &str) -> Result<Option<Found>> {
        let found = self
            .schemas
            .iter()
            .filter(|known| schema.is_none_or(|schema| known.name.eq_ignore_ascii_case(schema)))
            .find_map(|known| known.table(table).map(|object| (known, object)));
        found
            .map(|(schema, object)| self.describe(schema, object))
            .transpose()
    }

    /// Finds the table to which a b-tree belongs; `None` if the b-tree is not known.
    pub(crate) fn owner(&self, number: i64, root: i64) -> Result<Option<Found>> {
        let known = self.schemas.iter().find(|schema| schema.number == number);
        let name = known.and_then(|schema| {
            let object = schema.objects.iter().find(|object| object.root == root)?;
            Some((schema.name.as_str(), object.table.as_str()))
        });
        match name {
            Some((schema, table)) => self.find(Some(schema), table),
            None => Ok(None),
        }
    }

    /// Names and definitions of all views.
    pub(crate) fn views(&self) -> impl Iterator<Item = (&str, &str)> {
        let objects = self.schemas.iter().flat_map(|schema| &schema.objects);
        objects
            .filter(|object| object.kind == ObjectKind::View)
            .map(|view| (view.name.as_str(), view.sql.as_str()))
    }

    fn describe(&self, schema: &Schema, object: &Object) -> Result<Found> {
        if object.kind == ObjectKind::View {
            return Ok(Found::View {
                schema: schema.name.clone(),
                sql: object.sql.clone(),
            });
        }
        let name = TableName::new(schema.name.as_str(), object.name.as_str());
        Ok(match shape::one_table(self.connection, &name)? {
            Some(TableShape {
                kind: TableKind::Ordinary,
                without_rowid,
                ..
            }) => Found::Ordinary { name, without_rowid },
            Some(TableShape {
                kind: TableKind::Shadow,
                ..
            }) => Found::Shadow,
            _ => Found::Virtual {
                name,
                sql: object.sql.clone(),
            },
        })
    }

    /// The columns of an ordinary table.
    pub(crate) fn columns(&self, table: &TableName) -> Result<Vec<ColumnShape>> {
        shape::columns(self.connection, table)
    }

    /// The columns of the primary key, with their positions.
    pub(crate) fn primary_key(&self, table: &TableName) -> Result<Vec<(u16, String)>> {
        let columns = self.columns(table)?;
        let key = shape::primary_key(&columns).into_iter();
        Ok(key.map(|at| (at as u16, columns[at].name.clone())).collect())
    }

    /// Returns the columns of the primary key, if it is different in each row: the key of a table WITHOUT ROWID, or a name of the
    /// rowid.
    pub(crate) fn row_key(&self, table: &TableName) -> Result<Vec<u16>> {
        let without_rowid = matches!(
            self.find(Some(table.schema()), table.table())?,
            Some(Found::Ordinary {
                without_rowid: true,
                ..
            })
        );
        if !without_rowid && shape::has_index_of_key(self.connection, table)? {
            return Ok(Vec::new());
        }
        let key = self.primary_key(table)?;
        Ok(key.into_iter().map(|(column, _)| column).collect())
    }

    /// Returns whether some function of this name, in lower case, is an aggregate, which makes one value of many rows.
    pub(crate) fn has_aggregate(&self, name: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM pragma_function_list WHERE name = ?1 AND type <> 's'";
        Ok(rows(self.connection, sql, &[name])?.step()?)
    }

    /// Returns whether all functions of this name, in lower case, are SQLite's own.
    pub(crate) fn is_builtin(&self, name: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM pragma_function_list WHERE name = ?1 AND NOT builtin";
        Ok(!rows(self.connection, sql, &[name])?.step()?)
    }

    /// Returns whether some function of this name, in lower case, reads more of its arguments than their values. JSON functions,
    /// for example, recognise text that is JSON.
    pub(crate) fn reads_subtypes(&self, name: &str) -> Result<bool> {
        const SUBTYPE: i64 = 0x10_0000;
        let sql = "SELECT 1 FROM pragma_function_list WHERE name = ?1 AND flags & ?2";
        let mut list = rows(self.connection, sql, &[name])?;
        list.bind(2, ValueRef::Integer(SUBTYPE))?;
        Ok(list.step()?)
    }

    /// Returns the columns that decide the order in which an index of the table has its rows.
    pub(super) fn indexed(&self, table: &TableName, without_rowid: bool) -> Result<Indexed> {
        // The index of the primary key of a table without rowids holds, besides the key, the rest of the row.
        let sql = "SELECT x.cid FROM pragma_index_list(?1, ?2) AS l, pragma_index_xinfo(l.name, ?2) AS x \
                   WHERE x.key = 1 OR l.origin <> 'pk' OR NOT ?3";
        let mut list = rows(self.connection, sql, &[table.table(), table.schema()])?;
        list.bind(3, ValueRef::Integer(without_rowid.into()))?;
        let mut columns = ColumnSet::new();
        while list.step()? {
            match u16::try_from(integer(&list, 0)) {
                Ok(column) => columns.insert(column),
                Err(_) if integer(&list, 0) == ROWID => {}
                Err(_) => return Ok(Indexed::Expression),
            }
        }
        Ok(Indexed::Columns(columns))
    }
}

/// The number of the rowid in `PRAGMA index_xinfo`. The next lower number stands for an expression.
const ROWID: i64 = -1;

impl Schema {
    fn table(&self, name: &str) -> Option<&Object> {
        self.objects
            .iter()
            .find(|object| object.kind != ObjectKind::Other && object.name.eq_ignore_ascii_case(name))
    }
}

fn read_objects(connection: &Connection, schema: &str) -> Result<Vec<Object>> {
    let schema = quoted(schema, '"');
    let sql = format!("SELECT type, name, tbl_name, rootpage, sql FROM {schema}.sqlite_schema");
    let mut list = rows(connection, &sql, &[])?;
    let mut objects = Vec::new();
    while list.step()? {
        objects.push(Object {
            kind: match text(&list, 0).as_str() {
                "table" => ObjectKind::Table,
                "view" => ObjectKind::View,
                _ => ObjectKind::Other,
            },
            name: text(&list, 1),
            table: text(&list, 2),
            root: integer(&list, 3),
            sql: text(&list, 4),
        });
    }
    Ok(objects)
}
