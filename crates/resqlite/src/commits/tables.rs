//! What recording a change must know about its table.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use resqlite_live::{RowNames, TableName};
use resqlite_sqlite::{Connection, ValueRef};

use crate::{
    core::{
        error::Result,
        names::{OWN_TABLES, rowid_name},
    },
    sql::affinity::Affinity,
};

/// What is known about all tables, by schema, then table.
#[derive(Default)]
pub(super) struct Tables {
    facts: HashMap<String, HashMap<String, Rc<Facts>>>,
    have_names: bool,
}

/// What is known about a table.
pub(super) struct Facts {
    /// The table that the change counts for: for a shadow table, its virtual table.
    pub(super) name: TableName,
    /// A virtual table to which the table may belong nevertheless: while there is a table of the same name in another
    /// schema, SQLite does not distinguish shadow tables from others.
    pub(super) perhaps_of: Option<TableName>,
    pub(super) keys: Keys,
    /// For commit events that tell rows. Only ordinary tables have them: no views, virtual tables, shadow tables,
    /// or tables of resqlite's own.
    pub(super) names: Option<Arc<RowNames>>,
    /// The columns that store numbers as REAL, if the names are known.
    pub(super) real: Vec<u16>,
}

/// What decides the order in which queries visit the rows of a table.
pub(super) enum Keys {
    Rowid,
    /// Primary-key columns, of a table without rowids.
    Columns(Vec<usize>),
    /// Not known, and neither are the columns: a shadow table has other columns than its virtual table.
    Unknown,
}

impl Facts {
    fn without_columns(name: TableName, perhaps_of: Option<TableName>, keys: Keys) -> Self {
        Self {
            name,
            perhaps_of,
            keys,
            names: None,
            real: Vec::new(),
        }
    }
}

impl Tables {
    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Whether names were read with the tables.
    pub(super) fn have_names(&self) -> bool {
        self.have_names
    }

    pub(super) fn clear(&mut self) {
        self.facts.clear();
    }

    /// What is known about a table; its keys are unknown if it was not among the tables that were read.
    pub(super) fn facts(&self, schema: &str, table: &str) -> Rc<Facts> {
        let known = self.facts.get(schema).and_then(|tables| tables.get(table));
        known.cloned().unwrap_or_else(|| {
            let name = TableName::new(schema, table);
            Rc::new(Facts::without_columns(name, None, Keys::Unknown))
        })
    }
}

/// What `PRAGMA table_xinfo` says of a generated column that is not stored.
const VIRTUAL: u16 = 2;

/// One line of `PRAGMA table_list`.
struct Listed {
    schema: String,
    table: String,
    kind: String,
    without_rowid: bool,
}

/// Reads the tables of all schemas, `with_names` of their columns or without.
pub(super) fn read_tables(connection: &Connection, with_names: bool) -> Result<Tables> {
    let listed = list_tables(connection)?;
    let mut tables = Tables {
        have_names: with_names,
        ..Tables::default()
    };
    for entry in &listed {
        let owner = owner(entry, &listed);
        let facts = match entry.kind.as_str() {
            "shadow" => {
                let name = owner.unwrap_or_else(|| entry.name());
                Facts::without_columns(name, None, Keys::Unknown)
            }
            _ => {
                let mut facts = Facts::without_columns(entry.name(), owner, entry.keys(connection)?);
                if with_names && entry.has_news() {
                    entry.read_columns(connection, &mut facts)?;
                }
                facts
            }
        };
        let schema = tables.facts.entry(entry.schema.clone()).or_default();
        schema.insert(entry.table.clone(), Rc::new(facts));
    }
    Ok(tables)
}

impl Listed {
    fn name(&self) -> TableName {
        TableName::new(self.schema.as_str(), self.table.as_str())
    }

    /// Whether commit events can tell its rows. What resqlite itself keeps is nobody's news.
    fn has_news(&self) -> bool {
        self.kind == "table" && !OWN_TABLES.contains(&self.table.as_str())
    }

    fn keys(&self, connection: &Connection) -> Result<Keys> {
        if self.without_rowid {
            primary_key(connection, self)
        } else {
            Ok(Keys::Rowid)
        }
    }

    /// Reads the names of its columns, which of them are its key, and which store REAL.
    fn read_columns(&self, connection: &Connection, facts: &mut Facts) -> Result<()> {
        let sql =
            r#"SELECT cid, name, hidden, pk, type, "notnull" FROM pragma_table_xinfo(?1, ?2) ORDER BY cid"#;
        let (mut all, mut columns, mut key) = (Vec::new(), Vec::new(), Vec::new());
        let mut may_be_null = false;
        if let Some(mut listed) = connection.prepare(sql, false)?.statement {
            listed.bind(1, ValueRef::Text(self.table.as_bytes()))?;
            listed.bind(2, ValueRef::Text(self.schema.as_bytes()))?;
            while listed.step()? {
                let number = |column| match listed.column(column) {
                    ValueRef::Integer(number) => number as u16,
                    _ => 0,
                };
                let name: Arc<str> = listed.column_text(1).unwrap_or_default().into();
                let (column, hidden, place_in_key) = (number(0), number(2), number(3));
                if hidden != VIRTUAL {
                    columns.push((column, Arc::clone(&name)));
                }
                if place_in_key > 0 {
                    key.push((place_in_key, (column, Arc::clone(&name))));
                    may_be_null |= number(5) == 0;
                }
                if Affinity::of(&listed.column_text(4).unwrap_or_default()) == Affinity::Real {
                    facts.real.push(column);
                }
                all.push(name);
            }
        }
        key.sort_unstable();
        let key: Box<[_]> = key.into_iter().map(|(_, column)| column).collect();
        let by_rowid =
            !self.without_rowid && (key.is_empty() || may_be_null && self.indexes_its_key(connection)?);
        let rowid = by_rowid.then(|| rowid_name(&all)).flatten();
        facts.names = Some(Arc::new(RowNames {
            key,
            rowid: rowid.map(Into::into),
            columns: columns.into(),
        }));
        Ok(())
    }

    /// Its primary key is not the rowid itself, which is never NULL.
    fn indexes_its_key(&self, connection: &Connection) -> Result<bool> {
        let sql = "SELECT 1 FROM pragma_index_list(?1, ?2) WHERE origin = 'pk'";
        let Some(mut indexes) = connection.prepare(sql, false)?.statement else {
            return Ok(true);
        };
        indexes.bind(1, ValueRef::Text(self.table.as_bytes()))?;
        indexes.bind(2, ValueRef::Text(self.schema.as_bytes()))?;
        Ok(indexes.step()?)
    }
}

fn list_tables(connection: &Connection) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    let Some(mut list) = connection.prepare("PRAGMA table_list", false)?.statement else {
        return Ok(listed);
    };
    while list.step()? {
        let text = |column| list.column_text(column).unwrap_or_default();
        listed.push(Listed {
            schema: text(0),
            table: text(1),
            kind: text(2),
            without_rowid: list.column(4) == ValueRef::Integer(1),
        });
    }
    Ok(listed)
}

/// The virtual table that a shadow table of this name belongs to: the longest name that it extends with an underscore.
fn owner(shadow: &Listed, listed: &[Listed]) -> Option<TableName> {
    let extends = |owner: &&Listed| {
        owner.kind == "virtual"
            && owner.schema == shadow.schema
            && shadow
                .table
                .strip_prefix(&owner.table)
                .is_some_and(|rest| rest.starts_with('_'))
    };
    listed
        .iter()
        .filter(extends)
        .max_by_key(|owner| owner.table.len())
        .map(Listed::name)
}

fn primary_key(connection: &Connection, table: &Listed) -> Result<Keys> {
    let sql = "SELECT cid, pk FROM pragma_table_xinfo(?1, ?2) WHERE pk > 0 ORDER BY pk";
    let Some(mut columns) = connection.prepare(sql, false)?.statement else {
        return Ok(Keys::Unknown);
    };
    columns.bind(1, ValueRef::Text(table.table.as_bytes()))?;
    columns.bind(2, ValueRef::Text(table.schema.as_bytes()))?;
    let mut key = Vec::new();
    while columns.step()? {
        if let ValueRef::Integer(column) = columns.column(0) {
            key.push(column as usize);
        }
    }
    Ok(if key.is_empty() {
        Keys::Unknown
    } else {
        Keys::Columns(key)
    })
}
