//! Live queries of one shape.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    hits::Hits,
    shape::Shape,
    skips::Skips,
    table_index::{Affected, TableIndex},
};
use crate::{
    dependencies::Dependencies,
    impact::{Reason, Skip},
    live_query_id::LiveQueryId,
    summary::TableChange,
};

/// Live queries that read the same columns of the same tables, and differ at most in the values of their filters.
///
/// If a commit affects only some of these live queries, all others are skipped for the same reason. So the group counts
/// skips once for all its live queries, and each [`Entry`](super::entry::Entry) knows which of these skips are not its
/// own.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) shape: Arc<Shape>,
    pub(super) ids: BTreeSet<LiveQueryId>,
    /// One index per table of the shape, in the order of the shape.
    tables: Box<[TableIndex]>,
    by_column: u64,
    by_key: u64,
    /// The last commit that changed one of the tables, and the skip of the live queries that it did not affect.
    commit: u64,
    skip: Skip,
}

impl Group {
    pub(super) fn new(shape: Arc<Shape>) -> Self {
        let tables = (0..).zip(&shape.tables);
        Self {
            tables: tables
                .map(|(position, table)| TableIndex::new(position, table))
                .collect(),
            shape,
            ids: BTreeSet::new(),
            by_column: 0,
            by_key: 0,
            commit: 0,
            skip: Skip::Table,
        }
    }

    pub(super) fn insert(&mut self, dependencies: &Dependencies, id: LiveQueryId) {
        self.ids.insert(id);
        for (index, table) in self.tables.iter_mut().zip(&dependencies.tables) {
            index.insert(table.filter.as_ref(), id);
        }
    }

    pub(super) fn remove(&mut self, dependencies: &Dependencies, id: LiveQueryId) {
        self.ids.remove(&id);
        for (index, table) in self.tables.iter_mut().zip(&dependencies.tables) {
            index.remove(table.filter.as_ref(), id);
        }
    }

    /// Marks as hit the live queries that the change of the table at `position` affects. Returns whether this is the
    /// first change by this commit to any table of the group.
    pub(super) fn find(&mut self, position: usize, change: &TableChange, hits: &mut Hits<'_>) -> bool {
        let is_first = self.commit != hits.commit();
        if is_first {
            self.commit = hits.commit();
            self.skip = Skip::Table;
        }
        match self.tables[position].find(change, hits) {
            Affected::All(reason) => self.hit_all(reason, hits),
            Affected::Hit { others } => self.skip = self.skip.max(others),
        }
        is_first
    }

    pub(super) fn hit_all(&self, reason: Reason, hits: &mut Hits<'_>) {
        hits.visit(self.ids.len() as u64);
        self.ids.iter().for_each(|&id| hits.hit(id, reason));
    }

    /// The skip of the live queries that the commit did not affect.
    pub(super) fn skip(&self, commit: u64) -> Skip {
        if self.commit == commit {
            self.skip
        } else {
            Skip::Table
        }
    }

    /// Counts the skip of the last commit. Call this when `find` has had all changes of that commit.
    pub(super) fn count_skip(&mut self) {
        match self.skip {
            Skip::Table => {}
            Skip::Column => self.by_column += 1,
            Skip::Key => self.by_key += 1,
        }
    }

    /// Returns the skips of a live query after this many commits, if none of these commits affected it.
    pub(super) fn skips(&self, commits: u64) -> Skips {
        Skips {
            commits,
            by_table: commits - self.by_column - self.by_key,
            by_column: self.by_column,
            by_key: self.by_key,
        }
    }
}
