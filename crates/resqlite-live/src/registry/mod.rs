//! Which streams must hear of a commit, of very many.
//!
//! Streams whose dependencies have the same [`Shape`] form a [`Group`]: what a commit changed is
//! compared with what they read once for all of them. Those of them that can be told apart by the values of
//! changed rows are found by these values in an index, as the others are not looked at. So a commit costs what it
//! changed and whom it concerns, however many streams there are.

mod group;
mod ids;
mod key;
mod members;
#[cfg(test)]
mod properties;
mod ranges;
mod shape;
mod skips;
mod slab;
mod slot;
#[cfg(test)]
mod tests;
mod values;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

pub use self::skips::Skips;
use self::{
    group::Group,
    members::{Hits, Member, Since},
    shape::Shape,
    skips::Reached,
    slab::Slab,
};
use crate::{
    by_stream::ByStream,
    dependencies::{self, Dependencies, Reason},
    limits,
    summary::ChangeSummary,
    table_name::TableName,
};

/// Names a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u32);

/// The streams and what they depend on.
///
/// ```
/// use std::sync::Arc;
/// use resqlite_live::{
///     ChangeSet, Columns, Conjunct, Dependencies, Filter, Reason, Registry, RowChange, StreamId, TableDependency,
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
///     Arc::new(Dependencies { everything: false, tables: [table].into() })
/// };
/// let mut registry = Registry::new();
/// (0..1_000).for_each(|id| registry.insert(StreamId(id), of_user(i64::from(id))));
///
/// let watched = Arc::new(Watched { compared: [0, 1].into_iter().collect(), images: [0].into() });
/// let mut changes = ChangeSet::new();
/// changes.record(&users, &watched, RowChange::Insert { new: Some([Value::Integer(7)].into()) });
///
/// let mut affected = Vec::new();
/// registry.affected(&changes.finish(), &mut affected);
/// assert_eq!(affected, [(StreamId(7), Reason::Rows)]);
/// assert!(registry.visited() < 10);
/// assert_eq!(registry.skips(StreamId(8)).by_key, 1);
/// ```
#[derive(Debug)]
pub struct Registry {
    members: ByStream<Member>,
    groups: Slab<Group>,
    by_shape: HashMap<Arc<Shape>, u32>,
    /// Per table the groups that depend on it, each with the place of the table in its shape.
    by_table: HashMap<TableName, BTreeSet<(u32, usize)>>,
    /// Groups whose tables the commit at hand changed; kept for its memory.
    touched: Vec<u32>,
    /// Commits so far. The one at hand is among them, so it is never 0.
    commits: u64,
    totals: Totals,
    visited: u64,
    /// Keys under which a stream is to be found at most.
    keys_per_filter: usize,
}

/// [`Skips`] of all streams, as far as they cannot be told from the others.
#[derive(Debug, Default)]
struct Totals {
    commits: u64,
    skipped: Reached,
    concerned: u64,
}

impl Default for Registry {
    fn default() -> Self {
        Self::with_bound(limits::KEYS_PER_FILTER)
    }
}

impl Registry {
    /// No streams.
    pub fn new() -> Self {
        Self::default()
    }

    fn with_bound(keys_per_filter: usize) -> Self {
        Self {
            members: ByStream::default(),
            groups: Slab::default(),
            by_shape: HashMap::new(),
            by_table: HashMap::new(),
            touched: Vec::new(),
            commits: 0,
            totals: Totals::default(),
            visited: 0,
            keys_per_filter,
        }
    }

    /// How many streams there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a stream. One that is here already gets new dependencies and keeps its [`skips`](Self::skips).
    pub fn insert(&mut self, id: StreamId, dependencies: Arc<Dependencies>) {
        let known = self.members.get(id);
        if known.is_some_and(|known| known.dependencies == dependencies) {
            return;
        }
        let carried = self.skips(id);
        self.remove(id);
        let number = self.group_of(&dependencies);
        let group = &mut self.groups[number];
        group.insert(&dependencies, id);
        let since = Since {
            commits: self.commits,
            reached: group.reached,
        };
        self.members
            .insert(id, Member::new(dependencies, number, since, carried));
    }

    /// Removes a stream, if it is here.
    pub fn remove(&mut self, id: StreamId) {
        let Some(member) = self.members.remove(id) else {
            return;
        };
        let group = &mut self.groups[member.group];
        group.remove(&member.dependencies, id);
        if group.members.is_empty() {
            self.remove_group(member.group);
        }
    }

    /// The streams that must hear of a commit, each once, in no particular order: for each the same as
    /// [`Dependencies::concerned`] says. They replace what `out` held. To be called once per commit, because
    /// that is what [`skips`](Self::skips) counts.
    pub fn affected(&mut self, summary: &ChangeSummary, out: &mut Vec<(StreamId, Reason)>) {
        self.commits += 1;
        self.totals.commits += self.members.len() as u64;
        let mut hits = Hits::new(&mut self.members, out, self.commits, &mut self.visited);
        if let Some(reason) = dependencies::unlimited(summary) {
            hits.hit_all(reason);
            self.totals.concerned += out.len() as u64;
            return;
        }
        if let Some(&group) = self.by_shape.get(&Shape::everything()) {
            self.groups[group].hit_all(Reason::Everything, &mut hits);
        }
        for (table, change) in summary.tables() {
            for &(group, place) in self.by_table.get(table).into_iter().flatten() {
                hits.visit(1);
                if self.groups[group].find(place, change, &mut hits) {
                    self.touched.push(group);
                }
            }
        }
        let groups = &mut self.groups;
        hits.for_each(|member| member.exempt += groups[member.group].exempt(self.commits));
        for group in self.touched.drain(..) {
            self.totals.skipped += groups[group].count();
        }
        self.totals.concerned += out.len() as u64;
    }

    /// What became of the commits since the stream was inserted; zeros for one that is not here.
    pub fn skips(&self, id: StreamId) -> Skips {
        let Some(member) = self.members.get(id) else {
            return Skips::default();
        };
        member.skips(Since {
            commits: self.commits,
            reached: self.groups[member.group].reached,
        })
    }

    /// The sum of all [`skips`](Self::skips), those of removed streams included.
    pub fn totals(&self) -> Skips {
        Skips::of(self.totals.commits, self.totals.skipped, self.totals.concerned)
    }

    /// Entries of indexes that were looked at so far: what finding the streams has cost.
    pub fn visited(&self) -> u64 {
        self.visited
    }

    /// The group of the dependencies' shape, made now if there is none.
    fn group_of(&mut self, dependencies: &Dependencies) -> u32 {
        let shape = Shape::of(dependencies, self.keys_per_filter);
        if let Some(&group) = self.by_shape.get(&shape) {
            return group;
        }
        let shape = Arc::new(shape);
        let group = self.groups.insert(Group::new(Arc::clone(&shape)));
        for (place, table) in shape.tables.iter().enumerate() {
            let places = self.by_table.entry(table.table.clone()).or_default();
            places.insert((group, place));
        }
        self.by_shape.insert(shape, group);
        group
    }

    fn remove_group(&mut self, group: u32) {
        let shape = Arc::clone(&self.groups[group].shape);
        self.groups.remove(group);
        self.by_shape.remove(&shape);
        for (place, table) in shape.tables.iter().enumerate() {
            let Some(places) = self.by_table.get_mut(&table.table) else {
                continue;
            };
            places.remove(&(group, place));
            if places.is_empty() {
                self.by_table.remove(&table.table);
            }
        }
    }
}
