//! The kept rows themselves, each under a handle that does not change.

use crate::{
    kept::row::{KeptRow, Place, SourceKey},
    value::Value,
};

/// The rows, in one list for each of their parts. A row takes memory only for its fingerprint, sort values and sources.
#[derive(Debug)]
pub(super) struct Store {
    /// The number of ORDER BY terms of each row.
    terms: usize,
    /// The number of sources of each row, which the first row decides.
    width: usize,
    fingerprints: Vec<u64>,
    sort: Vec<Value>,
    sources: Vec<SourceKey>,
    /// The handles of rows that were removed.
    free: Vec<u32>,
    /// The number of bytes that the values hold outside the lists.
    heap: usize,
}

impl Store {
    pub(super) fn new(terms: usize) -> Self {
        Self {
            terms,
            width: 0,
            fingerprints: Vec::new(),
            sort: Vec::new(),
            sources: Vec::new(),
            free: Vec::new(),
            heap: 0,
        }
    }

    pub(super) fn insert(&mut self, row: KeptRow) -> u32 {
        if self.fingerprints.is_empty() {
            self.width = row.sources.len();
        }
        assert_eq!(
            row.sort.len(),
            self.terms,
            "one sort value for each ORDER BY term"
        );
        assert_eq!(row.sources.len(), self.width, "every row has the same sources");
        self.heap += row.place().heap_bytes();
        match self.free.pop() {
            Some(handle) => {
                let at = handle as usize;
                self.fingerprints[at] = row.fingerprint;
                replace(&mut self.sort[at * self.terms..], row.sort);
                replace(&mut self.sources[at * self.width..], row.sources);
                handle
            }
            None => {
                let handle = self.fingerprints.len() as u32;
                extend(&mut self.fingerprints, [row.fingerprint].into_iter());
                extend(&mut self.sort, row.sort.into_iter());
                extend(&mut self.sources, row.sources.into_iter());
                handle
            }
        }
    }

    pub(super) fn remove(&mut self, handle: u32) {
        self.heap -= self.place(handle).heap_bytes();
        let at = handle as usize;
        self.sort[at * self.terms..][..self.terms].fill(Value::Null);
        self.sources[at * self.width..][..self.width].fill(SourceKey::Absent);
        self.free.push(handle);
    }

    pub(super) fn fingerprint(&self, handle: u32) -> u64 {
        self.fingerprints[handle as usize]
    }

    pub(super) fn place(&self, handle: u32) -> Place<'_> {
        Place {
            sort: &self.sort[handle as usize * self.terms..][..self.terms],
            sources: self.sources(handle),
        }
    }

    pub(super) fn row(&self, handle: u32) -> KeptRow {
        let Place { sort, sources } = self.place(handle);
        KeptRow {
            sort: sort.into(),
            sources: sources.into(),
            fingerprint: self.fingerprint(handle),
        }
    }

    pub(super) fn sources(&self, handle: u32) -> &[SourceKey] {
        &self.sources[handle as usize * self.width..][..self.width]
    }

    /// Returns the base row of one source.
    pub(super) fn source(&self, handle: u32, source: usize) -> &SourceKey {
        &self.sources(handle)[source]
    }

    /// Returns the approximate number of bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        self.heap
            + self.fingerprints.capacity() * size_of::<u64>()
            + self.sort.capacity() * size_of::<Value>()
            + self.sources.capacity() * size_of::<SourceKey>()
            + self.free.capacity() * size_of::<u32>()
    }

    #[cfg(test)]
    pub(super) fn weight_of_values(&self) -> usize {
        self.heap
    }
}

fn replace<T>(places: &mut [T], values: impl IntoIterator<Item = T>) {
    for (place, value) in places.iter_mut().zip(values) {
        *place = value;
    }
}

/// Adds items to a list. Lists grow by an eighth, not by their length, because they take most of the memory of a live query.
pub(super) fn extend<T>(list: &mut Vec<T>, items: impl ExactSizeIterator<Item = T>) {
    if list.capacity() - list.len() < items.len() {
        list.reserve_exact(items.len() + list.len() / 8);
    }
    list.extend(items);
}
