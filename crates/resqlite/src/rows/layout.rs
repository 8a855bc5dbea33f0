//! Column layouts: lists of the column names of statements. Each list has a number.

use std::{collections::HashMap, sync::Arc};

use resqlite_sqlite::Statement;

use super::{json_text::key as json_key, registry::Registry};
use crate::core::sync::{Mutex, OfProcess, lock};

/// The column names of a statement. Statements with the same names share one layout, whichever thread prepared them.
#[derive(Debug)]
pub struct ColumnLayout {
    id: u32,
    names: Vec<String>,
    /// For each column the JSON text `"name":`, or `None` where a later column has the same name.
    json_keys: Vec<Option<String>>,
}

static REGISTRY: OfProcess<Mutex<Registry<Vec<String>, ColumnLayout>>> = OfProcess::new(Mutex::default);

/// A packed row batch with its column layout.
pub type Packed = (Arc<ColumnLayout>, Box<[u8]>);

impl ColumnLayout {
    pub(crate) fn of(statement: &Statement) -> Arc<Self> {
        Self::of_first(statement, statement.column_count())
    }

    /// Returns the layout of the first columns of a statement.
    pub(crate) fn of_first(statement: &Statement, columns: usize) -> Arc<Self> {
        Self::named((0..columns).map(|column| statement.column_name(column)).collect())
    }

    /// Returns the layout of columns with these names.
    pub fn named(names: Vec<String>) -> Arc<Self> {
        lock(REGISTRY.get()).intern(names, |id, names| Self {
            id,
            json_keys: json_keys(&names),
            names,
        })
    }

    /// A number that no other column layout of this process has.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The column names, in order. Names may repeat.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn json_keys(&self) -> &[Option<String>] {
        &self.json_keys
    }
}

fn json_keys(names: &[String]) -> Vec<Option<String>> {
    let last: HashMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.as_str(), at))
        .collect();
    let key = |(at, name): (usize, &String)| (last[name.as_str()] == at).then(|| json_key(name));
    names.iter().enumerate().map(key).collect()
}
