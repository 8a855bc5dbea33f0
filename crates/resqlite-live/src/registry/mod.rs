//! The live queries that a commit affects, found among very many.
//!
//! Live queries whose dependencies have the same [`Shape`] form a [`Group`]: a change is compared only once with the
//! columns that all of them read. Live queries with filters are found through an index, by the values of the changed
//! rows; live queries that are not found are not visited. So the work per commit depends on the size of the commit and
//! on the number of live queries that it affects, not on the number of all live queries.

mod entry;
mod group;
mod hits;
mod key_index;
#[cfg(test)]
mod properties;
mod ranges;
mod shape;
mod skips;
mod table_index;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use slab::Slab;

pub use self::skips::Skips;
use self::{entry::Entry, group::Group, hits::Hits, shape::Shape};
use crate::{
    affects, dependencies::Dependencies, impact::Reason, limits, live_query_id::LiveQueryId,
    live_query_map::LiveQueryMap, summary::ChangeSummary, table_name::TableName,
};

/// The live queries and their dependencies.
///
/// ```
/// use std::sync::Arc;
/// use resqlite_live::{
///     ChangeSet, Columns, Conjunct, Dependencies, Filter, LiveQueryId, Reason, Registry, RowChange, TableDependency,
///     TableName, Test, Value, Watched,
/// };
///
/// // SELECT name FROM users WHERE id = ?, with the columns 0 and 1 of users
/// let users = TableName::new("main", "users");
/// let of_user = |id| {
///     let test = Test::In([Value::Integer(id)].into());
///     let table = TableDependency {
///         table: users.clone(),
///         columns: Columns::Only([0, 1].into_iter().collect()),
///         filter: Filter::new([Conjunct { column: 0, test }]),
///     };
///     Arc::new(Dependencies { tables: [table].into(), ..Dependencies::default() })
/// };
/// let mut registry = Registry::new();
/// (0..1_000).for_each(|id| registry.insert(LiveQueryId(id), of_user(i64::from(id))));
///
/// let watched = Arc::new(Watched { compared: [0, 1].into_iter().collect(), images: [0].into(), ..Watched::default() });
/// let mut changes = ChangeSet::new();
/// changes.record(&users, &watched, RowChange::Insert { new: Some([Value::Integer(7)].into()) });
///
/// let mut affected = Vec::new();
/// registry.affected(&changes.finish(), &mut affected);
/// assert_eq!(affected, [(LiveQueryId(7), Reason::Rows)]);
/// assert!(registry.visited() < 10);
/// assert_eq!(registry.skips(LiveQueryId(8)).by_key, 1);
/// ```
#[derive(Debug)]
pub struct Registry {
    entries: LiveQueryMap<Entry>,
    groups: Slab<Group>,
    by_shape: HashMap<Arc<Shape>, usize>,
    /// For each table, the groups that read it, each with the position of the table in the shape of the group.
    by_table: HashMap<TableName, BTreeSet<(usize, usize)>>,
    /// Groups with a table that the present commit changed. This is a field so that its memory is reused.
    touched: Vec<usize>,
    /// The number of commits so far, including the present one. So it is also the number of the present commit, from 1.
    commits: u64,
    totals: Skips,
    visited: u64,
    keys_per_filter: usize,
}

impl Default for Registry {
    fn default() -> Self {
        Self::with_bound(limits::KEYS_PER_FILTER)
    }
}

impl Registry {
    /// Makes a registry without live queries.
    pub fn new() -> Self {
        Self::default()
    }

    fn with_bound(keys_per_filter: usize) -> Self {
        Self {
            entries: LiveQueryMap::default(),
            groups: Slab::new(),
            by_shape: HashMap::new(),
            by_table: HashMap::new(),
            touched: Vec::new(),
            commits: 0,
            totals: Skips::default(),
            visited: 0,
            keys_per_filter,
        }
    }

    /// The number of live queries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no live queries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a live query. If the live query is here already, replaces its dependencies and keeps its
    /// [`skips`](Self::skips).
    pub fn insert(&mut self, id: LiveQueryId, dependencies: Arc<Dependencies>) {
        let before = self.entries.get(id);
        if before.is_some_and(|before| before.dependencies == dependencies) {
            return;
        }
        let earlier = self.skips(id);
        self.remove(id);
        let number = self.group_of(&dependencies);
        let group = &mut self.groups[number];
        group.insert(&dependencies, id);
        let not_own = group.skips(self.commits);
        self.entries
            .insert(id, Entry::new(dependencies, number, earlier, not_own));
    }

    /// Removes a live query, if it is here.
    pub fn remove(&mut self, id: LiveQueryId) {
        let Some(entry) = self.entries.remove(id) else {
            return;
        };
        let group = &mut self.groups[entry.group];
        group.remove(&entry.dependencies, id);
        if group.ids.is_empty() {
            self.remove_group(entry.group);
        }
    }

    /// Replaces the content of `affected` with the live queries that the commit affects, each once, in no particular
    /// order. The impact on each is [`Dependencies::impact`]. Call this once per commit, because it also counts the
    /// [`skips`](Self::skips).
    pub fn affected(&mut self, summary: &ChangeSummary, affected: &mut Vec<(LiveQueryId, Reason)>) {
        self.commits += 1;
        let mut hits = Hits::new(&mut self.entries, affected, self.commits, &mut self.visited);
        if let Some(reason) = affects::affects_all(summary) {
            hits.hit_all(reason);
        } else {
            if let Some(&group) = self.by_shape.get(&Shape::unknown()) {
                self.groups[group].hit_all(Reason::Unknown, &mut hits);
            }
            for (table, change) in summary.tables() {
                for &(group, position) in self.by_table.get(table).into_iter().flatten() {
                    hits.visit(1);
                    if self.groups[group].find(position, change, &mut hits) {
                        self.touched.push(group);
                    }
                }
            }
        }
        self.count_skips(affected);
    }

    /// Returns the counts of commits since the live query was inserted; zeros if it is not here.
    pub fn skips(&self, id: LiveQueryId) -> Skips {
        let skips = |entry: &Entry| entry.skips(self.groups[entry.group].skips(self.commits));
        self.entries.get(id).map(skips).unwrap_or_default()
    }

    /// The sum of all [`skips`](Self::skips), those of removed live queries included.
    pub fn totals(&self) -> Skips {
        self.totals
    }

    /// Returns the number of index entries visited so far, which measures the work of finding live queries.
    pub fn visited(&self) -> u64 {
        self.visited
    }

    /// Counts the present commit as a skip for each group as a whole, and undoes this for the live queries that the
    /// commit affected.
    fn count_skips(&mut self, affected: &[(LiveQueryId, Reason)]) {
        let queries = self.entries.len() as u64;
        self.totals.commits += queries;
        self.totals.by_table += queries;
        for number in self.touched.drain(..) {
            let group = &mut self.groups[number];
            group.count_skip();
            let queries = group.ids.len() as u64;
            self.totals.by_table -= queries;
            *self.totals.counter(group.skip(self.commits)) += queries;
        }
        for &(id, _) in affected {
            if let Some(entry) = self.entries.get_mut(id) {
                let skip = self.groups[entry.group].skip(self.commits);
                *entry.not_own.counter(skip) += 1;
                *self.totals.counter(skip) -= 1;
            }
        }
    }

    /// Returns the group of the dependencies' shape. Makes the group if there is none.
    fn group_of(&mut self, dependencies: &Dependencies) -> usize {
        let shape = Shape::of(dependencies, self.keys_per_filter);
        if let Some(&group) = self.by_shape.get(&shape) {
            return group;
        }
        let shape = Arc::new(shape);
        let group = self.groups.insert(Group::new(Arc::clone(&shape)));
        for (position, table) in shape.tables.iter().enumerate() {
            let readers = self.by_table.entry(table.table.clone()).or_default();
            readers.insert((group, position));
        }
        self.by_shape.insert(shape, group);
        group
    }

    fn remove_group(&mut self, group: usize) {
        let shape = self.groups.remove(group).shape;
        self.by_shape.remove(&shape);
        for (position, table) in shape.tables.iter().enumerate() {
            let Some(readers) = self.by_table.get_mut(&table.table) else {
                continue;
            };
            readers.remove(&(group, position));
            if readers.is_empty() {
                self.by_table.remove(&table.table);
            }
        }
    }
}
