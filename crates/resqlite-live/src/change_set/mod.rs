//! What the open transaction has changed so far.
//!
//! State only grows while changes are recorded. To be able to shrink again, the first change to a table after a
//! mark saves the table's [`Extent`]. A rollback takes these saved states back, newest first. So a saved state
//! that was forgotten (there is a bound) can only leave too much in the set, never too little.

mod touched;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use self::touched::{Extent, Touched};
use crate::{
    key::Key,
    limits,
    row_change::{RowChange, is_kept},
    summary::ChangeSummary,
    table_name::TableName,
};

/// Room for keys that an emptied set keeps for the next transaction.
const KEYS_KEPT_ALLOCATED: usize = 1_024;

/// A point in the recording of a [`ChangeSet`], to roll back to. Later marks are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

/// What the open transaction has changed so far. See the [crate] for an example.
#[derive(Debug, Default)]
pub struct ChangeSet {
    bounds: Bounds,
    /// The newest mark; what is recorded now was recorded after it.
    now: u64,
    /// In order of first change, so that a rollback removes tables only from the end.
    tables: Vec<Touched>,
    positions: HashMap<TableName, usize>,
    /// Where the last change went: most go to the same table as the one before.
    last: usize,
    /// The keys of all tables, to find those already named.
    keys: HashSet<(usize, Key)>,
    key_bytes: usize,
    saved: Vec<Saved>,
    schema_changed_at: Option<u64>,
    everything_changed_at: Option<u64>,
}

/// The bounds of one change set: [`limits`], or smaller ones in tests.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    keys_per_table: usize,
    key_bytes: usize,
    tables: usize,
    saved: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            keys_per_table: limits::KEYS_PER_TABLE,
            key_bytes: limits::KEY_BYTES_PER_CHANGE_SET,
            tables: limits::TABLES_PER_CHANGE_SET,
            saved: limits::SAVED_STATES,
        }
    }
}

/// How a table stood before its first change after a mark.
#[derive(Debug)]
struct Saved {
    position: usize,
    /// The mark.
    at: u64,
    /// The table's `saved_at` before.
    saved_before: u64,
    extent: Extent,
}

impl ChangeSet {
    /// Nothing has changed.
    pub fn new() -> Self {
        Self::default()
    }

    #[cfg(test)]
    fn with_bounds(bounds: Bounds) -> Self {
        Self {
            bounds,
            ..Self::default()
        }
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.schema_changed_at.is_none() && self.everything_changed_at.is_none()
    }

    /// A row of the table changed. An UPDATE that is known to have changed neither column nor key adds nothing.
    pub fn record(&mut self, table: &TableName, change: RowChange) {
        if self.everything_changed_at.is_some() || change.is_nothing() {
            return;
        }
        let Some(position) = self.touch(table) else {
            return self.record_everything_changed();
        };
        self.save(position);
        let extent = &mut self.tables[position].extent;
        match change {
            RowChange::Insert { key } => {
                extent.operations.inserts += 1;
                self.add_key(position, key);
            }
            RowChange::Update { columns, old, new } => {
                extent.operations.updates += 1;
                let kept = is_kept(&old, &new);
                extent.add_columns(kept.then_some(columns));
                self.add_key(position, old);
                if !kept {
                    self.add_key(position, new);
                }
            }
            RowChange::Delete { key } => {
                extent.operations.deletes += 1;
                self.add_key(position, key);
            }
        }
    }

    /// The schema changed: DDL.
    pub fn record_schema_changed(&mut self) {
        self.schema_changed_at.get_or_insert(self.now);
    }

    /// Anything in any table may have changed, and keys may name other rows now: VACUUM, or a change of which
    /// nothing is known.
    pub fn record_everything_changed(&mut self) {
        self.everything_changed_at.get_or_insert(self.now);
    }

    /// A point to roll back to: take one before each statement and savepoint that can be undone by itself. It
    /// needs no release, and stays usable after a rollback to it or to an earlier one.
    pub fn mark(&mut self) -> Mark {
        self.now += 1;
        Mark(self.now)
    }

    /// Discards what was recorded after the mark was taken: the statement failed, or ROLLBACK TO.
    pub fn rollback_to(&mut self, Mark(mark): Mark) {
        self.schema_changed_at.take_if(|at| *at >= mark);
        self.everything_changed_at.take_if(|at| *at >= mark);
        while let Some(saved) = self.saved.pop_if(|saved| saved.at >= mark) {
            self.restore(saved);
        }
        while let Some(gone) = self.tables.pop_if(|touched| touched.first_at >= mark) {
            self.positions.remove(&gone.name);
            self.forget_keys(self.tables.len(), gone.keys);
        }
    }

    /// Discards everything: ROLLBACK.
    pub fn clear(&mut self) {
        self.tables.clear();
        self.positions.clear();
        self.keys.clear();
        self.keys.shrink_to(KEYS_KEPT_ALLOCATED);
        self.key_bytes = 0;
        self.saved.clear();
        self.schema_changed_at = None;
        self.everything_changed_at = None;
    }

    /// What the transaction changed: COMMIT. The set is empty after it.
    pub fn finish(&mut self) -> ChangeSummary {
        let everything_changed = self.everything_changed_at.is_some();
        if everything_changed {
            self.tables.clear();
        }
        let tables = self.tables.drain(..).map(Touched::into_change).collect();
        let summary = ChangeSummary::new(tables, self.schema_changed_at.is_some(), everything_changed);
        self.clear();
        summary
    }

    /// Where the table stands, made now if this is its first change; `None` if there are too many tables.
    fn touch(&mut self, table: &TableName) -> Option<usize> {
        if self
            .tables
            .get(self.last)
            .is_some_and(|touched| touched.name == *table)
        {
            return Some(self.last);
        }
        self.last = match self.positions.get(table) {
            Some(&position) => position,
            None if self.tables.len() >= self.bounds.tables => return None,
            None => {
                self.positions.insert(table.clone(), self.tables.len());
                self.tables.push(Touched::new(table.clone(), self.now));
                self.tables.len() - 1
            }
        };
        Some(self.last)
    }

    /// Saves the table's state if this is its first change since the newest mark.
    fn save(&mut self, position: usize) {
        if self.tables[position].saved_at == self.now {
            return;
        }
        if self.saved.len() >= self.bounds.saved {
            self.forget_saved();
        }
        let touched = &mut self.tables[position];
        let saved_before = std::mem::replace(&mut touched.saved_at, self.now);
        self.saved.push(Saved {
            position,
            at: self.now,
            saved_before,
            extent: touched.extent.clone(),
        });
    }

    /// Forgets all saved states but those of the newest mark, which are at most one per table.
    fn forget_saved(&mut self) {
        let older = self.saved.partition_point(|saved| saved.at < self.now);
        self.saved.drain(..older);
    }

    fn restore(&mut self, saved: Saved) {
        let touched = &mut self.tables[saved.position];
        let gone = touched.keys.split_off(saved.extent.keys);
        touched.extent = saved.extent;
        touched.saved_at = saved.saved_before;
        self.forget_keys(saved.position, gone);
    }

    /// Names a row of the table. A key that is unknown or finds no room stands for any row.
    fn add_key(&mut self, position: usize, key: Option<Key>) {
        let touched = &mut self.tables[position];
        if touched.extent.any_key {
            return;
        }
        let Some(key) = key else {
            touched.extent.any_key = true;
            return;
        };
        let entry = (position, key);
        if self.keys.contains(&entry) {
            return;
        }
        let key_bytes = self.key_bytes + entry.1.weight();
        if touched.keys.len() >= self.bounds.keys_per_table || key_bytes > self.bounds.key_bytes {
            touched.extent.any_key = true;
            return;
        }
        self.key_bytes = key_bytes;
        touched.keys.push(entry.1.clone());
        touched.extent.keys += 1;
        self.keys.insert(entry);
    }

    fn forget_keys(&mut self, position: usize, keys: Vec<Key>) {
        for key in keys {
            self.key_bytes -= key.weight();
            self.keys.remove(&(position, key));
        }
    }
}
