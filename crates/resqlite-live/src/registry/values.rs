//! Streams by the values that some columns must have.

use std::{collections::HashMap, ops::Bound};

use super::{StreamId, ids::Ids, key::Key, ranges::Ranges};
use crate::value::Value;

/// The range of a stream whose filter has none.
const ANY: (&Bound<Value>, &Bound<Value>) = (&Bound::Unbounded, &Bound::Unbounded);

/// Streams by key: one value for each of some columns, in the order of these. Where nothing else is tested, that
/// is all; else those of one key are further told apart by a range.
#[derive(Debug)]
pub(super) struct Values {
    buckets: HashMap<Key, Bucket>,
    ranged: bool,
}

/// The streams of one key.
#[derive(Debug)]
enum Bucket {
    /// All of them match.
    Streams {
        ids: Ids,
        /// The commit for which they have been found.
        found_for: u64,
    },
    /// In memory of its own, as mostly there are none.
    Ranged(Box<Ranges>),
}

impl Values {
    /// Nothing. `ranged`: a key does not decide it alone.
    pub(super) fn new(ranged: bool) -> Self {
        Self {
            buckets: HashMap::new(),
            ranged,
        }
    }

    /// Adds a stream under the keys, of which none occurs twice.
    pub(super) fn insert(
        &mut self,
        keys: Vec<Key>,
        range: Option<(&Bound<Value>, &Bound<Value>)>,
        id: StreamId,
    ) {
        let (lower, upper) = range.unwrap_or(ANY);
        for key in keys {
            let bucket = self
                .buckets
                .entry(key)
                .or_insert_with(|| Bucket::new(self.ranged));
            match bucket {
                Bucket::Streams { ids, found_for } => {
                    ids.insert(id);
                    *found_for = 0;
                }
                Bucket::Ranged(ranges) => ranges.insert(lower, upper, id),
            }
        }
    }

    /// Removes what was inserted.
    pub(super) fn remove(
        &mut self,
        keys: Vec<Key>,
        range: Option<(&Bound<Value>, &Bound<Value>)>,
        id: StreamId,
    ) {
        let (lower, _) = range.unwrap_or(ANY);
        for key in keys {
            let Some(bucket) = self.buckets.get_mut(&key) else {
                debug_assert!(false, "{key:?} was not inserted");
                continue;
            };
            let is_empty = match bucket {
                Bucket::Streams { ids, .. } => {
                    ids.remove(id);
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

    /// Offers each stream of the key, and of a range around `point`. Some that were accepted are not offered again
    /// for the same commit (which is more than 0).
    pub(super) fn find(
        &mut self,
        key: &[Value],
        point: &Value,
        commit: u64,
        visited: &mut u64,
        mut accept: impl FnMut(StreamId) -> bool,
    ) {
        *visited += 1;
        match self.buckets.get_mut(key) {
            Some(Bucket::Streams { ids, found_for }) if *found_for != commit => {
                *found_for = commit;
                ids.for_each(|id| {
                    *visited += 1;
                    accept(id);
                });
            }
            Some(Bucket::Ranged(ranges)) => ranges.find(point, commit, visited, accept),
            Some(Bucket::Streams { .. }) | None => {}
        }
    }
}

impl Bucket {
    fn new(ranged: bool) -> Self {
        if ranged {
            return Bucket::Ranged(Box::default());
        }
        Bucket::Streams {
            ids: Ids::default(),
            found_for: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Unbounded};

    use super::{Key, StreamId, Values};
    use crate::value::Value;

    fn key<const N: usize>(values: [i64; N]) -> Key {
        values.map(Value::Integer).to_vec().into()
    }

    fn found(values: &mut Values, key: &Key, point: i64, commit: u64) -> Vec<u32> {
        let mut found = Vec::new();
        values.find(key.values(), &Value::Integer(point), commit, &mut 0, |id| {
            found.push(id.0);
            true
        });
        found
    }

    #[test]
    fn a_stream_is_found_under_each_of_its_keys() {
        let mut values = Values::new(false);
        values.insert(vec![key([1, 1]), key([1, 2])], None, StreamId(7));
        values.insert(vec![key([1, 2])], None, StreamId(8));
        assert_eq!(found(&mut values, &key([1, 1]), 0, 1), [7]);
        assert_eq!(found(&mut values, &key([1, 2]), 0, 1), [7, 8]);
        assert_eq!(found(&mut values, &key([2, 1]), 0, 1), []);
    }

    #[test]
    fn a_key_is_found_once_per_commit() {
        let mut values = Values::new(false);
        values.insert(vec![key([1])], None, StreamId(7));
        assert_eq!(found(&mut values, &key([1]), 0, 1), [7]);
        assert_eq!(found(&mut values, &key([1]), 0, 1), []);
        assert_eq!(found(&mut values, &key([1]), 0, 2), [7]);
    }

    #[test]
    fn streams_of_one_key_are_told_apart_by_their_ranges() {
        let mut values = Values::new(true);
        let above = |point| Excluded(Value::Integer(point));
        values.insert(vec![key([1])], Some((&above(5), &Unbounded)), StreamId(7));
        values.insert(vec![key([1])], Some((&above(8), &Unbounded)), StreamId(8));
        values.insert(vec![key([2])], None, StreamId(9));
        assert_eq!(found(&mut values, &key([1]), 7, 1), [7]);
        assert_eq!(found(&mut values, &key([1]), 9, 2), [7, 8]);
        assert_eq!(found(&mut values, &key([2]), 0, 3), [9]);
    }

    #[test]
    fn removing_the_last_stream_of_a_key_removes_the_key() {
        for ranged in [false, true] {
            let mut values = Values::new(ranged);
            let keys = || vec![key([1]), key([2])];
            values.insert(keys(), None, StreamId(7));
            values.insert(keys(), None, StreamId(8));
            values.remove(keys(), None, StreamId(7));
            assert_eq!(found(&mut values, &key([2]), 0, 1), [8]);
            values.remove(keys(), None, StreamId(8));
            assert!(values.buckets.is_empty());
        }
    }
}
