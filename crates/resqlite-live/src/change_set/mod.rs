//! The changes of the open transaction.
//!
//! Recording only adds. To be able to roll back, the first change to a table after a mark saves the table's [`Extent`]; a
//! rollback restores these saved states, newest first. The number of saved states is bounded. A dropped state leaves too much in
//! the set after a rollback, never too little, and the summary says so.

mod touched;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

use self::touched::{Extent, Touched};
use crate::{
    column_set::Columns, image::Watched, limits, row_change::RowChange, summary::ChangeSummary,
    table_name::TableName,
};

/// A point in the recording of a [`ChangeSet`], to roll back to. Later marks are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

/// The changes of the open transaction. See the [crate] for an example.
#[derive(Debug, Default)]
pub struct ChangeSet {
    bounds: Bounds,
    /// The newest mark.
    now: u64,
    /// The tables in the order of their first change, so that a rollback removes tables only from the end.
    tables: Vec<Touched>,
    positions: HashMap<TableName, usize>,
    /// The position of the table that changed last: most changes are to the same table as the change before.
    last: usize,
    /// The weight of the rows of all tables.
    row_bytes: usize,
    saved: Vec<Saved>,
    /// The newest mark of which a saved state was dropped.
    dropped_at: Option<u64>,
    /// A rollback needed a state that was dropped.
    leaves_too_much: bool,
    schema_changed_at: Option<u64>,
    everything_changed_at: Option<u64>,
}

/// The bounds of one change set: [`limits`], or smaller bounds in tests.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    rows_per_table: usize,
    row_bytes: usize,
    tables: usize,
    saved: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            rows_per_table: limits::ROWS_PER_TABLE,
            row_bytes: limits::IMAGE_BYTES_PER_CHANGE_SET,
            tables: limits::TABLES_PER_CHANGE_SET,
            saved: limits::SAVED_STATES,
        }
    }
}

/// The state of a table before its first change after a mark.
#[derive(Debug)]
struct Saved {
    position: usize,
    /// The mark.
    at: u64,
    /// The table's `saved_at` before this state was saved.
    saved_before: u64,
    extent: Extent,
}

impl ChangeSet {
    /// Returns a set in which nothing has changed.
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

    /// Returns whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.schema_changed_at.is_none() && self.everything_changed_at.is_none()
    }

    /// Records a change to a row of the table, decoded as `watched` says. If the changes to one table were decoded
    /// differently (which a transaction should avoid), only their operations are kept.
    pub fn record(&mut self, table: &TableName, watched: &Arc<Watched>, change: RowChange) {
        if self.everything_changed_at.is_some() {
            return;
        }
        let Some(position) = self.touch(table, watched) else {
            return self.record_everything_changed();
        };
        self.save(position);
        let touched = &mut self.tables[position];
        if !touched.is_decoded_as(watched) {
            touched.extent.columns = Columns::Any;
            touched.extent.any_row = true;
        }
        let operations = &mut touched.extent.operations;
        match &change {
            RowChange::Insert { .. } => operations.inserts += 1,
            RowChange::Delete { .. } => operations.deletes += 1,
            RowChange::Update { columns, .. } => {
                operations.updates += 1;
                touched.extent.columns.union_with(columns);
            }
        }
        if !self.tables[position].extent.any_row {
            self.add_row(position, change);
        }
    }

    /// Records DDL.
    pub fn record_schema_changed(&mut self) {
        self.schema_changed_at.get_or_insert(self.now);
    }

    /// Records that anything in any table may have changed, and rowids may now belong to other rows. The cause is VACUUM, or an
    /// unknown change.
    pub fn record_everything_changed(&mut self) {
        self.everything_changed_at.get_or_insert(self.now);
    }

    /// Returns a mark to roll back to. Take a mark before each statement and savepoint that can be undone by itself. A mark needs
    /// no release, and stays valid after a rollback to it or to an earlier mark.
    pub fn mark(&mut self) -> Mark {
        self.now += 1;
        Mark(self.now)
    }

    /// Discards what was recorded after the mark was taken: the statement failed, or ROLLBACK TO.
    pub fn rollback_to(&mut self, Mark(mark): Mark) {
        self.schema_changed_at.take_if(|at| *at >= mark);
        self.everything_changed_at.take_if(|at| *at >= mark);
        self.leaves_too_much |= self.dropped_at.is_some_and(|dropped| dropped >= mark);
        while let Some(saved) = self.saved.pop_if(|saved| saved.at >= mark) {
            self.restore(saved);
        }
        while let Some(gone) = self.tables.pop_if(|touched| touched.first_at >= mark) {
            self.positions.remove(&gone.name);
            self.row_bytes -= weight(&gone.rows);
        }
    }

    /// Discards everything: ROLLBACK.
    pub fn clear(&mut self) {
        self.tables.clear();
        self.positions.clear();
        self.row_bytes = 0;
        self.saved.clear();
        self.dropped_at = None;
        self.leaves_too_much = false;
        self.schema_changed_at = None;
        self.everything_changed_at = None;
    }

    /// Returns the changes of the transaction, and leaves the set empty: COMMIT.
    pub fn finish(&mut self) -> ChangeSummary {
        let everything_changed = self.everything_changed_at.is_some();
        if everything_changed {
            self.tables.clear();
        }
        let tables = self.tables.drain(..).map(Touched::into_change).collect();
        let mut summary = ChangeSummary::new(tables, self.schema_changed_at.is_some(), everything_changed);
        summary.is_exact = !self.leaves_too_much;
        self.clear();
        summary
    }

    /// Returns the position of the table, which is added with its first change; `None` if there are too many tables.
    fn touch(&mut self, table: &TableName, watched: &Arc<Watched>) -> Option<usize> {
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
                self.tables
                    .push(Touched::new(table.clone(), Arc::clone(watched), self.now));
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
            self.drop_saved();
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

    /// Drops all saved states except the states of the newest mark, of which there is at most one per table.
    fn drop_saved(&mut self) {
        let older = self.saved.partition_point(|saved| saved.at < self.now);
        let newest = self.saved.drain(..older).next_back();
        self.dropped_at = newest.map(|saved| saved.at).or(self.dropped_at);
    }

    fn restore(&mut self, saved: Saved) {
        let touched = &mut self.tables[saved.position];
        self.row_bytes -= weight(&touched.rows[saved.extent.rows..]);
        touched.rows.truncate(saved.extent.rows);
        touched.extent = saved.extent;
        touched.saved_at = saved.saved_before;
    }

    /// Adds a row to the table. If an image is unknown or a bound is reached, any row may have changed.
    fn add_row(&mut self, position: usize, row: RowChange) {
        let touched = &mut self.tables[position];
        let has_room = touched.rows.len() < self.bounds.rows_per_table && row.images().is_some();
        let weight = if has_room { row.weight() } else { 0 };
        if has_room && self.row_bytes + weight <= self.bounds.row_bytes {
            self.row_bytes += weight;
            touched.rows.push(row);
            touched.extent.rows += 1;
        } else {
            touched.extent.any_row = true;
        }
    }
}

fn weight(rows: &[RowChange]) -> usize {
    rows.iter().map(RowChange::weight).sum()
}
