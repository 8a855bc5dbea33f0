//! Column layouts: the column names of statements, each list known by a number.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Weak},
};

use resqlite_sqlite::Statement;

use super::json_text::key as json_key;
use crate::core::{
    limits,
    sync::{Mutex, lock},
};

/// The column names of a statement. Statements with the same names share one, whichever thread prepared them.
#[derive(Debug)]
pub struct ColumnLayout {
    id: u32,
    names: Vec<String>,
    /// For each column the JSON text `"name":`, or `None` where a later column has the same name.
    json_keys: Vec<Option<String>>,
}

#[derive(Default)]
struct Registry {
    by_names: HashMap<Vec<String>, Weak<ColumnLayout>>,
    last_id: u32,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

impl ColumnLayout {
    pub(crate) fn of(statement: &Statement) -> Arc<Self> {
        let names = (0..statement.column_count())
            .map(|column| statement.column_name(column))
            .collect();
        lock(&REGISTRY).intern(names)
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

impl Registry {
    fn intern(&mut self, names: Vec<String>) -> Arc<ColumnLayout> {
        if let Some(layout) = self.by_names.get(&names).and_then(Weak::upgrade) {
            return layout;
        }
        if self.by_names.len() >= limits::SHAPES_MAX {
            self.by_names.retain(|_, layout| layout.strong_count() > 0);
        }
        self.last_id += 1;
        let json_keys = json_keys(&names);
        let layout = Arc::new(ColumnLayout {
            id: self.last_id,
            names: names.clone(),
            json_keys,
        });
        self.by_names.insert(names, Arc::downgrade(&layout));
        layout
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
