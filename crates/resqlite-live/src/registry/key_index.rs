//! Live queries by the values that some columns must have.

use std::{collections::HashMap, ops::Bound};

use smallvec::SmallVec;

use super::ranges::Ranges;
use crate::{live_query_id::LiveQueryId, value::Value};

/// One value for each column of a key, in the order of the columns. Most keys have one column and take no memory of
/// their own.
pub(super) type Key = SmallVec<[Value; 1]>;

/// The range of a live query whose filter has no range.
const ANY: (&Bound<Value>, &Bound<Value>) = (&Bound::Unbounded, &Bound::Unbounded);

/// Live queries by key. If the filter tests more than the key, live queries with the same key are distinguished by
/// range.
#[derive(Debug)]
pub(super) struct KeyIndex {
    buckets: HashMap<Key, Bucket>,
    ranged: bool,
}

/// The live queries of one key.
#[derive(Debug)]
enum Bucket {
    /// Live queries that are all affected by each row with the key.
    Ids {
        /// The live queries, ascending.
        ids: SmallVec<[LiveQueryId; 4]>,
        /// The last commit for which these live queries were found.
        found_for: u64,
    },
    /// Live queries by range. Boxed, because most filters have no ranges.
    Ranged(Box<Ranges>),
}

impl KeyIndex {
    /// Makes an empty index. `ranged` means that the filter tests more than the key.
    pub(super) fn new(ranged: bool) -> Self {
        Self {
            buckets: HashMap::new(),
            ranged,
        }
    }

    /// Adds a live query under distinct keys.
    pub(super) fn insert(
        &mut self,
        keys: Vec<Key>,
        range: Option<(&Bound<Value>, &Bound<Value>)>,
        id: LiveQueryId,
    ) {
        let (lower, upper) = range.unwrap_or(ANY);
        for key in keys {
            let bucket = self
                .buckets
                .entry(key)
                .or_insert_with(|| Bucket::new(self.ranged));
            match bucket {
                Bucket::Ids { ids, .. } => {
                    if let Err(position) = ids.binary_search(&id) {
                        ids.insert(position, id);
                    }
                }
                Bucket::Ranged(ranges) => ranges.insert(lower, upper, id),
            }
        }
    }

    /// Removes a live query, given the keys and the range with which it was inserted.
    pub(super) fn remove(
        &mut self,
        keys: Vec<Key>,
        range: Option<(&Bound<Value>, &Bound<Value>)>,
        id: LiveQueryId,
    ) {
        let (lower, _) = range.unwrap_or(ANY);
        for key in keys {
            let Some(bucket) = self.buckets.get_mut(&key) else {
                debug_assert!(false, "{key:?} was not inserted");
                continue;
            };
            let is_empty = match bucket {
                Bucket::Ids { ids, .. } => {
                    if let Ok(position) = ids.binary_search(&id) {
                        ids.remove(position);
                    }
                    ids.is_empty()
                }
                Bucket::Ranged(ranges) => {
                    ranges.remove(lower, id);
                    ranges.is_empty()
                }
            };
            if is_empty {
                self.buckets.remove(&key);
            }
        }
    }

    /// Offers to `accept` each live query of the key whose range contains `point`. Some live queries that were accepted
    /// are not offered again for the same commit. Commits are numbered from 1, and live queries are neither added nor
    /// removed between the searches for one commit.
    pub(super) fn find(
        &mut self,
        key: &[Value],
        point: &Value,
        commit: u64,
        visited: &mut u64,
        mut accept: impl FnMut(LiveQueryId) -> bool,
    ) {
        *visited += 1;
        match self.buckets.get_mut(key) {
            Some(Bucket::Ids { ids, found_for }) if *found_for != commit => {
                *found_for = commit;
                *visited += ids.len() as u64;
                for &id in ids.iter() {
                    accept(id);
                }
            }
            Some(Bucket::Ranged(ranges)) => ranges.find(point, commit, visited, accept),
            Some(Bucket::Ids { .. }) | None => {}
        }
    }
}

impl Bucket {
    fn new(ranged: bool) -> Self {
        if ranged {
            return Bucket::Ranged(Box::default());
        }
        Bucket::Ids {
            ids: SmallVec::new(),
            found_for: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Unbounded};

    use super::{Key, KeyIndex, LiveQueryId};
    use crate::value::Value;

    fn key<const N: usize>(values: [i64; N]) -> Key {
        values.map(Value::Integer).into_iter().collect()
    }

    fn found(index: &mut KeyIndex, key: &Key, point: i64, commit: u64) -> Vec<u32> {
        let mut found = Vec::new();
        index.find(key, &Value::Integer(point), commit, &mut 0, |id| {
            found.push(id.0);
            true
        });
        found
    }

    #[test]
    fn a_live_query_is_found_under_each_of_its_keys() {
        let mut index = KeyIndex::new(false);
        index.insert(vec![key([1, 1]), key([1, 2])], None, LiveQueryId(8));
        index.insert(vec![key([1, 2])], None, LiveQueryId(7));
        assert_eq!(found(&mut index, &key([1, 1]), 0, 1), [8]);
        assert_eq!(found(&mut index, &key([1, 2]), 0, 1), [7, 8]);
        assert_eq!(found(&mut index, &key([2, 1]), 0, 1), []);
    }

    #[test]
    fn a_key_is_found_once_per_commit() {
        let mut index = KeyIndex::new(false);
        index.insert(vec![key([1])], None, LiveQueryId(7));
        assert_eq!(found(&mut index, &key([1]), 0, 1), [7]);
        assert_eq!(found(&mut index, &key([1]), 0, 1), []);
        assert_eq!(found(&mut index, &key([1]), 0, 2), [7]);
    }

    #[test]
    fn live_queries_of_one_key_are_told_apart_by_their_ranges() {
        let mut index = KeyIndex::new(true);
        let above = |point| Excluded(Value::Integer(point));
        index.insert(vec![key([1])], Some((&above(5), &Unbounded)), LiveQueryId(7));
        index.insert(vec![key([1])], Some((&above(8), &Unbounded)), LiveQueryId(8));
        index.insert(vec![key([2])], None, LiveQueryId(9));
        assert_eq!(found(&mut index, &key([1]), 7, 1), [7]);
        assert_eq!(found(&mut index, &key([1]), 9, 2), [7, 8]);
        assert_eq!(found(&mut index, &key([2]), 0, 3), [9]);
    }

    #[test]
    fn removing_the_last_live_query_of_a_key_removes_the_key() {
        for ranged in [false, true] {
            let mut index = KeyIndex::new(ranged);
            let keys = || vec![key([1]), key([2])];
            index.insert(keys(), None, LiveQueryId(7));
            index.insert(keys(), None, LiveQueryId(8));
            index.remove(keys(), None, LiveQueryId(7));
            assert_eq!(found(&mut index, &key([2]), 0, 1), [8]);
            index.remove(keys(), None, LiveQueryId(8));
            assert!(index.buckets.is_empty());
        }
    }
}
