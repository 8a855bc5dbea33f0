//! The live queries of one shape, by what they need of one of its tables.

use std::{borrow::Cow, ops::Bound};

use super::{
    hits::Hits,
    key_index::{Key, KeyIndex},
    shape::{Role, TableShape},
};
use crate::{
    affects,
    column_set::Columns,
    filter::{Conjunct, Filter, Test},
    image::{Image, Watched},
    impact::{Impact, Reason, Skip},
    live_query_id::LiveQueryId,
    summary::TableChange,
    value::Value,
};

/// One table of a shape.
#[derive(Debug)]
pub(super) struct TableIndex {
    /// The position of the table among the tables of each live query.
    position: usize,
    columns: Columns,
    /// The index by filter, if the live queries have a filter.
    filters: Option<FilterIndex>,
}

/// The live queries of the shape that a change affects.
pub(super) enum Affected {
    All(Reason),
    /// The live queries that were hit; the others are skipped.
    Hit {
        others: Skip,
    },
}

impl TableIndex {
    pub(super) fn new(position: usize, shape: &TableShape) -> Self {
        Self {
            position,
            columns: shape.columns.clone(),
            filters: (!shape.roles.is_empty()).then(|| FilterIndex::new(&shape.roles)),
        }
    }

    pub(super) fn insert(&mut self, filter: Option<&Filter>, id: LiveQueryId) {
        if let Some((index, filter)) = self.filters.as_mut().zip(filter) {
            index
                .keys
                .insert(index.keys_of(filter), index.range_of(filter), id);
        }
    }

    pub(super) fn remove(&mut self, filter: Option<&Filter>, id: LiveQueryId) {
        if let Some((index, filter)) = self.filters.as_mut().zip(filter) {
            index
                .keys
                .remove(index.keys_of(filter), index.range_of(filter), id);
        }
    }

    /// Marks as hit the live queries that the change affects, or reports that it affects all. Decides as
    /// [`TableDependency::impact`](crate::TableDependency::impact) does for each live query.
    pub(super) fn find(&mut self, change: &TableChange, hits: &mut Hits<'_>) -> Affected {
        let filtered = self.filters.as_mut().and_then(|index| {
            let columns = index.roles.iter().map(|(column, _)| *column);
            let rows = affects::rows_with_values(columns, change)?;
            Some((index, rows))
        });
        let Some((index, rows)) = filtered else {
            return match affects::impact_by_columns(&self.columns, change) {
                Impact::Affected(reason) => Affected::All(reason),
                Impact::Skipped(others) => Affected::Hit { others },
            };
        };
        let watched = &change.watched;
        let key = index.key_position(watched);
        let mut others = Skip::Column;
        for row in rows {
            if !affects::changes_columns(&self.columns, row, change) {
                continue;
            }
            others = Skip::Key;
            let Some(images) = row.images() else {
                return Affected::All(Reason::Rows);
            };
            images.for_each(|image| index.find(self.position, watched, &key, image, hits));
        }
        Affected::Hit { others }
    }
}

/// The live queries by the values and ranges of their filters on the table.
#[derive(Debug)]
struct FilterIndex {
    /// The column and the role of each test of a filter, in the order of the tests.
    roles: Box<[(u16, Role)]>,
    /// The columns of the key, ascending.
    key: Box<[u16]>,
    range: Option<u16>,
    /// Some tests have the role [`Role::Check`].
    checks: bool,
    keys: KeyIndex,
}

/// The positions that the columns of a key have in an image.
enum KeyPosition {
    /// The columns follow one another, from this position on.
    Together(usize),
    Apart(Box<[usize]>),
}

impl FilterIndex {
    fn new(roles: &[(u16, Role)]) -> Self {
        let with = |wanted| {
            roles
                .iter()
                .filter(move |(_, role)| *role == wanted)
                .map(|(column, _)| *column)
        };
        let range = with(Role::Range).next();
        let checks = with(Role::Check).next().is_some();
        Self {
            roles: roles.into(),
            key: with(Role::Key).collect(),
            range,
            checks,
            keys: KeyIndex::new(range.is_some() || checks),
        }
    }

    /// The tests of a filter that have this role.
    fn tests<'a>(&self, filter: &'a Filter, role: Role) -> impl Iterator<Item = &'a Test> {
        let conjuncts = filter.conjuncts().iter().zip(&self.roles);
        conjuncts
            .filter(move |(_, (_, has))| *has == role)
            .map(|(Conjunct { test, .. }, _)| test)
    }

    /// Every combination of the values that the columns of the key may have.
    fn keys_of(&self, filter: &Filter) -> Vec<Key> {
        let mut keys = vec![Key::new()];
        for test in self.tests(filter, Role::Key) {
            if let Test::In(values) = test {
                let longer = |key: &Key, value| key.iter().chain([value]).cloned().collect();
                let with_each = |key| values.iter().map(move |value| longer(key, value));
                keys = keys.iter().flat_map(with_each).collect();
            }
        }
        keys
    }

    fn range_of<'a>(&self, filter: &'a Filter) -> Option<(&'a Bound<Value>, &'a Bound<Value>)> {
        self.tests(filter, Role::Range).find_map(|test| match test {
            Test::Range { lower, upper } => Some((lower, upper)),
            Test::In(_) => None,
        })
    }

    /// Finds the positions of the key's columns in images that have all columns of the filter.
    fn key_position(&self, watched: &Watched) -> KeyPosition {
        let first = self.key.first().map_or(0, |&column| position(watched, column));
        if watched.images[first..].starts_with(&self.key) {
            return KeyPosition::Together(first);
        }
        KeyPosition::Apart(self.key.iter().map(|&column| position(watched, column)).collect())
    }

    fn find(
        &mut self,
        table: usize,
        watched: &Watched,
        key: &KeyPosition,
        image: &Image,
        hits: &mut Hits<'_>,
    ) {
        let key = match key {
            KeyPosition::Together(first) => Cow::Borrowed(&image[*first..first + self.key.len()]),
            KeyPosition::Apart(positions) => positions
                .iter()
                .map(|&position| image[position].clone())
                .collect(),
        };
        let point = match self.range {
            Some(column) => &image[position(watched, column)],
            None => &Value::Null,
        };
        if self.range.is_some() && *point == Value::Null {
            return;
        }
        let mut visited = 0;
        self.keys.find(&key, point, hits.commit(), &mut visited, |id| {
            let passes = !self.checks || hits.passes(id, table, &watched.images, image);
            if passes {
                hits.hit(id, Reason::Rows);
            }
            passes
        });
        hits.visit(visited);
    }
}

/// Returns the position of a column in the images, which must have this column.
fn position(watched: &Watched, column: u16) -> usize {
    watched
        .images
        .binary_search(&column)
        .expect("the images have all columns of the filter")
}
