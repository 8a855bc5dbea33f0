//! An index of the rows of a result by the base rows that they contain.

use std::{hash::BuildHasher, iter};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};

use crate::kept::{
    row::SourceKey,
    store::{Store, extend},
};

const NONE: u32 = u32::MAX;

/// An index from base rows to the rows that contain them. The rows that contain one base row form a list: the table has the first
/// row, and each row has its neighbours. The keys are not stored here, since the rows have them.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The first row of each key, by source.
    first: Vec<HashTable<u32>>,
    /// The links, by row and source.
    links: Vec<Link>,
    hasher: DefaultHashBuilder,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

const UNLINKED: Link = Link {
    previous: NONE,
    next: NONE,
};

impl Index {
    /// Adds a row of the store.
    pub(super) fn insert(&mut self, handle: u32, store: &Store) {
        let keys = store.sources(handle);
        self.first.resize_with(keys.len(), HashTable::new);
        let at = handle as usize * keys.len();
        let lacking = (at + keys.len()).saturating_sub(self.links.len());
        extend(&mut self.links, iter::repeat_n(UNLINKED, lacking));
        for (source, key) in keys.iter().enumerate() {
            if *key != SourceKey::Absent {
                self.link(handle, source, key, store);
            }
        }
    }

    /// Removes a row that is still in the store.
    pub(super) fn remove(&mut self, handle: u32, store: &Store) {
        for (source, key) in store.sources(handle).iter().enumerate() {
            if *key != SourceKey::Absent {
                self.unlink(handle, source, key);
            }
        }
    }

    /// Returns the rows that contain a base row.
    pub(super) fn rows<'a>(
        &'a self,
        source: usize,
        key: &SourceKey,
        store: &Store,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let first = self.first.get(source).and_then(|table| {
            let hash = self.hasher.hash_one(key);
            table.find(hash, |&row| store.source(row, source) == key).copied()
        });
        iter::successors(first, move |&row| {
            let next = self.links[self.at(row, source)].next;
            (next != NONE).then_some(next)
        })
    }

    /// Returns the approximate number of bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        let tables: usize = self.first.iter().map(HashTable::allocation_size).sum();
        tables
            + self.first.capacity() * size_of::<HashTable<u32>>()
            + self.links.capacity() * size_of::<Link>()
    }

    fn at(&self, handle: u32, source: usize) -> usize {
        handle as usize * self.first.len() + source
    }

    fn link(&mut self, handle: u32, source: usize, key: &SourceKey, store: &Store) {
        let hasher = &self.hasher;
        let entry = self.first[source].entry(
            hasher.hash_one(key),
            |&row| store.source(row, source) == key,
            |&row| hasher.hash_one(store.source(row, source)),
        );
        let mut next = NONE;
        match entry {
            Entry::Occupied(mut first) => next = std::mem::replace(first.get_mut(), handle),
            Entry::Vacant(place) => {
                place.insert(handle);
            }
        }
        let previous = NONE;
        let at = self.at(handle, source);
        self.links[at] = Link { previous, next };
        if next != NONE {
            let next = self.at(next, source);
            self.links[next].previous = handle;
        }
    }

    fn unlink(&mut self, handle: u32, source: usize, key: &SourceKey) {
        let at = self.at(handle, source);
        let Link { previous, next } = self.links[at];
        if next != NONE {
            let next = self.at(next, source);
            self.links[next].previous = previous;
        }
        if previous != NONE {
            let previous = self.at(previous, source);
            self.links[previous].next = next;
            return;
        }
        let entry = self.first[source].find_entry(self.hasher.hash_one(key), |&row| row == handle);
        let mut first = entry.unwrap_or_else(|_| unreachable!("the first row of a key is in the table"));
        if next == NONE {
            first.remove();
        } else {
            *first.get_mut() = next;
        }
    }
}
