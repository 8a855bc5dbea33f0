//! The facts about a table that the recording of its changes needs.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use resqlite_live::{RowNames, TableName};
use resqlite_sqlite::Connection;

use crate::{
    core::{
        error::Result,
        names::{OWN_TABLES, rowid_name},
    },
    sql::shape::{TableKind, TableShape, all_tables, columns, has_index_of_key, primary_key, reals, stored},
};

/// The known facts about all tables, by schema, then table.
#[derive(Default)]
pub(super) struct Tables {
    facts: HashMap<String, HashMap<String, Rc<Facts>>>,
    have_names: bool,
}

/// The known facts about a table.
pub(super) struct Facts {
    /// The table for which the change counts. For a shadow table, this is its virtual table.
    pub(super) name: TableName,
    /// A virtual table to which the table may belong nevertheless. While a table of the same name exists in another schema, SQLite does
    /// not distinguish shadow tables from others.
    pub(super) perhaps_of: Option<TableName>,
    pub(super) keys: Keys,
    /// The names for commit events that list rows. Only ordinary tables have them: no views, virtual tables, shadow tables, or tables of
    /// resqlite's own.
    pub(super) names: Option<Arc<RowNames>>,
    /// The columns that store numbers as REAL, if the names are known.
    pub(super) real: Vec<u16>,
}

/// The keys that decide the order in which queries visit the rows of a table.
pub(super) enum Keys {
    Rowid,
    /// The primary-key columns of a table without rowids.
    Columns(Vec<usize>),
    /// Neither the keys nor the columns are known: a shadow table has other columns than its virtual table.
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

    /// Returns whether names were read with the tables.
    pub(super) fn have_names(&self) -> bool {
        self.have_names
    }

    pub(super) fn clear(&mut self) {
        self.facts.clear();
    }

    /// Returns the known facts about a table. Its keys are unknown if the table was not among those that were read.
    pub(super) fn facts(&self, schema: &str, table: &str) -> Rc<Facts> {
        let known = self.facts.get(schema).and_then(|tables| tables.get(table));
        known.cloned().unwrap_or_else(|| {
            let name = TableName::new(schema, table);
            Rc::new(Facts::without_columns(name, None, Keys::Unknown))
        })
    }
}

/// Reads the tables of all schemas. `with_names` states whether the names of their columns are
/// read, too.
pub(super) fn read_tables(connection: &Connection, with_names: bool) -> Result<Tables> {
    let listed = all_tables(connection)?;
    let mut tables = Tables {
        have_names: with_names,
        ..Tables::default()
    };
    for table in &listed {
        let owner = owner(table, &listed);
        let facts = match table.kind {
            TableKind::Shadow => {
                let name = owner.unwrap_or_else(|| table.name.clone());
                Facts::without_columns(name, None, Keys::Unknown)
            }
            _ => facts_of(connection, table, owner, with_names && has_news(table))?,
        };
        let schema = tables.facts.entry(table.name.schema().to_owned()).or_default();
        schema.insert(table.name.table().to_owned(), Rc::new(facts));
    }
    Ok(tables)
}

/// Returns whether commit events list the rows of a table. They do so for ordinary tables, except
/// those of resqlite itself.
fn has_news(table: &TableShape) -> bool {
    table.kind == TableKind::Ordinary && !OWN_TABLES.contains(&table.name.table())
}

/// Reads the facts about a table. The columns of a table with rowids are not read if nobody needs
/// their names.
fn facts_of(
    connection: &Connection,
    table: &TableShape,
    owner: Option<TableName>,
    with_names: bool,
) -> Result<Facts> {
    let mut facts = Facts::without_columns(table.name.clone(), owner, Keys::Rowid);
    if !with_names && !table.without_rowid {
        return Ok(facts);
    }
    let columns = columns(connection, &table.name)?;
    let key = primary_key(&columns);
    if table.without_rowid {
        facts.keys = match key.is_empty() {
            true => Keys::Unknown,
            false => Keys::Columns(key.clone()),
        };
    }
    if with_names {
        let may_be_null = key.iter().any(|&at| !columns[at].not_null);
        let by_rowid = !table.without_rowid
            && (key.is_empty() || may_be_null && has_index_of_key(connection, &table.name)?);
        let names: Vec<Arc<str>> = columns.iter().map(|column| (*column.name).into()).collect();
        let named = |at: usize| (at as u16, Arc::clone(&names[at]));
        facts.real = reals(&columns);
        facts.names = Some(Arc::new(RowNames {
            rowid: by_rowid.then(|| rowid_name(&names)).flatten().map(Into::into),
            key: key.iter().map(|&at| named(at)).collect(),
            columns: stored(&columns).map(named).collect(),
        }));
    }
    Ok(facts)
}

/// Returns the virtual table to which a shadow table belongs. This is the virtual table with the longest name that, followed by an
/// underscore, begins the name of the shadow table.
fn owner(shadow: &TableShape, listed: &[TableShape]) -> Option<TableName> {
    let extends = |owner: &&TableShape| {
        let rest = shadow.name.table().strip_prefix(owner.name.table());
        owner.kind == TableKind::Virtual
            && owner.name.schema() == shadow.name.schema()
            && rest.is_some_and(|rest| rest.starts_with('_'))
    };
    let owners = listed.iter().filter(extends);
    let nearest = owners.max_by_key(|owner| owner.name.table().len());
    nearest.map(|owner| owner.name.clone())
}
