//! The streams of one shape by what they need of one of its tables.

use std::{borrow::Cow, ops::Bound, slice};

use super::{
    StreamId,
    key::Key,
    members::Hits,
    shape::{Role, TableShape},
    values::Values,
};
use crate::{
    column_set::Columns,
    dependencies::{self, Reason, Skip},
    filter::{Conjunct, Filter, Test},
    image::{Image, Watched},
    summary::TableChange,
    value::Value,
};

/// One table of a shape.
#[derive(Debug)]
pub(super) struct Slot {
    /// Its place in the dependencies of each stream.
    place: usize,
    columns: Columns,
    /// Where there is a filter.
    index: Option<Index>,
}

/// Whom a change concerns.
pub(super) enum Concerned {
    /// All streams of the shape.
    All(Reason),
    /// Those that were reported; the others for this reason not.
    Some(Skip),
}

#[derive(Debug)]
struct Index {
    /// What each test of a filter is for, in their order.
    roles: Box<[(u16, Role)]>,
    /// The columns of the key, ascending.
    key: Box<[u16]>,
    range: Option<u16>,
    /// Whether some tests are tried on each stream that was found.
    checks: bool,
    values: Values,
}

impl Slot {
    pub(super) fn new(place: usize, shape: &TableShape) -> Self {
        Self {
            place,
            columns: shape.columns.clone(),
            index: (!shape.roles.is_empty()).then(|| Index::new(&shape.roles)),
        }
    }

    pub(super) fn insert(&mut self, filter: Option<&Filter>, id: StreamId) {
        if let Some((index, filter)) = self.index.as_mut().zip(filter) {
            index.values.insert(index.keys(filter), index.range(filter), id);
        }
    }

    pub(super) fn remove(&mut self, filter: Option<&Filter>, id: StreamId) {
        if let Some((index, filter)) = self.index.as_mut().zip(filter) {
            index.values.remove(index.keys(filter), index.range(filter), id);
        }
    }

    /// Reports the streams whose filter lets a changed row pass, or says that the change concerns all. The same
    /// as [`Dependencies::concerned`](crate::Dependencies::concerned) for each of them.
    pub(super) fn find(&mut self, change: &TableChange, hits: &mut Hits<'_>) -> Concerned {
        let filtered = self.index.as_mut().and_then(|index| {
            let columns = index.roles.iter().map(|(column, _)| *column);
            let rows = dependencies::filterable(columns, change)?;
            Some((index, rows))
        });
        let Some((index, rows)) = filtered else {
            return match dependencies::concerned_by_columns(&self.columns, change) {
                Ok(reason) => Concerned::All(reason),
                Err(skip) => Concerned::Some(skip),
            };
        };
        let watched = &change.watched;
        let key = index.key_in(watched);
        let mut skip = Skip::Column;
        for row in rows {
            if !dependencies::is_read(&self.columns, row, change) {
                continue;
            }
            skip = Skip::Key;
            let Some(images) = dependencies::known_images(row) else {
                return Concerned::All(Reason::Rows);
            };
            images.for_each(|image| index.find(self.place, watched, &key, image, hits));
        }
        Concerned::Some(skip)
    }
}

/// Where the columns of a key are in an image.
enum KeyIn {
    /// One after the other from here on.
    Together(usize),
    Apart(Box<[usize]>),
}

impl Index {
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
            values: Values::new(range.is_some() || checks),
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
    fn keys(&self, filter: &Filter) -> Vec<Key> {
        let mut keys = vec![Vec::with_capacity(self.key.len())];
        for test in self.tests(filter, Role::Key) {
            if let Test::In(values) = test {
                let longer = |(key, value): (&Vec<Value>, &Value)| [key, slice::from_ref(value)].concat();
                let pairs = keys
                    .iter()
                    .flat_map(|key| values.iter().map(move |value| (key, value)));
                keys = pairs.map(longer).collect();
            }
        }
        keys.into_iter().map(Key::from).collect()
    }

    fn range<'a>(&self, filter: &'a Filter) -> Option<(&'a Bound<Value>, &'a Bound<Value>)> {
        self.tests(filter, Role::Range).find_map(|test| match test {
            Test::Range { lower, upper } => Some((lower, upper)),
            Test::In(_) => None,
        })
    }

    /// Where the key is in images of which all columns of the filter are part.
    fn key_in(&self, watched: &Watched) -> KeyIn {
        let first = self.key.first().map_or(0, |&column| position(watched, column));
        if watched.images[first..].starts_with(&self.key) {
            return KeyIn::Together(first);
        }
        KeyIn::Apart(self.key.iter().map(|&column| position(watched, column)).collect())
    }

    fn find(&mut self, place: usize, watched: &Watched, key: &KeyIn, image: &Image, hits: &mut Hits<'_>) {
        let key = match key {
            KeyIn::Together(first) => Cow::Borrowed(&image[*first..first + self.key.len()]),
            KeyIn::Apart(positions) => positions
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
        self.values.find(&key, point, hits.commit(), &mut visited, |id| {
            let passes = !self.checks || hits.passes(id, place, &watched.images, image);
            if passes {
                hits.hit(id, Reason::Rows);
            }
            passes
        });
        hits.visit(visited);
    }
}

/// Where the column is in an image, of which it is part.
fn position(watched: &Watched, column: u16) -> usize {
    watched
        .images
        .binary_search(&column)
        .expect("the images have all columns of the filter")
}
