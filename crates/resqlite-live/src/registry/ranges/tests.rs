use std::{
    collections::BTreeMap,
    ops::{
        Bound::{self, *},
        RangeBounds,
    },
};

use proptest::{collection::vec, prelude::*};

use super::{FREE_LOOKS, Link, Ranges, StreamId, priority};
use crate::{testing::cases, value::Value};

type Range = (Bound<Value>, Bound<Value>);

impl Ranges {
    /// Inserts, as fast as it can be had.
    fn with(ranges: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut made = Ranges::default();
        for (id, (lower, upper)) in (0..).zip(ranges) {
            made.insert(
                &Included(Value::Integer(lower)),
                &Included(Value::Integer(upper)),
                StreamId(id),
            );
        }
        made
    }

    /// The streams found that `accept` takes, and how many nodes that visited.
    fn found(&mut self, value: i64, commit: u64, accept: impl Fn(StreamId) -> bool) -> (Vec<u32>, u64) {
        let (mut found, mut visited) = (Vec::new(), 0);
        self.find(&Value::Integer(value), commit, &mut visited, |id| {
            found.extend(accept(id).then_some(id.0));
            accept(id)
        });
        found.sort_unstable();
        (found, visited)
    }
}

#[test]
fn ranges_around_a_value_are_found() {
    let mut ranges = Ranges::with([(0, 9), (5, 15), (10, 20), (7, 3)]);
    assert_eq!(ranges.found(7, 1, |_| true).0, [0, 1]);
    assert_eq!(ranges.found(15, 2, |_| true).0, [1, 2]);
    assert_eq!(ranges.found(21, 3, |_| true).0, []);
}

#[test]
fn streams_accepted_for_many_rows_of_a_commit_are_offered_no_more() {
    let mut ranges = Ranges::with([(0, 9), (5, 15)]);
    for _ in 0..FREE_LOOKS {
        assert_eq!(ranges.found(7, 1, |_| true).0, [0, 1]);
    }
    assert_eq!(ranges.found(3, 1, |_| true).0, [0]);
    assert_eq!(ranges.found(7, 1, |_| true).0, [1]);
    assert_eq!(ranges.found(7, 1, |_| true), (vec![], 1));
    assert_eq!(ranges.found(7, 2, |_| true).0, [0, 1]);
}

#[test]
fn a_stream_that_was_not_accepted_is_offered_again() {
    let mut ranges = Ranges::with([(0, 9)]);
    for _ in 0..FREE_LOOKS + 1 {
        assert_eq!(ranges.found(3, 1, |_| false).0, []);
    }
    assert_eq!(ranges.found(3, 1, |_| true).0, [0]);
}

#[test]
fn finding_visits_few_of_many_ranges() {
    let count = if cfg!(miri) { 100 } else { 10_000 };
    let mut ranges = Ranges::with((0..count).map(|place| (place * 10, place * 10 + 9)));
    let (found, visited) = ranges.found(555, 1, |_| true);
    assert_eq!(found, [55]);
    assert!(visited < 80, "{visited}");
}

#[test]
fn an_emptied_tree_is_empty() {
    let mut ranges = Ranges::with([(0, 9), (5, 15), (5, 16)]);
    for (id, lower) in (0..).zip([0, 5, 5]) {
        assert!(!ranges.is_empty());
        ranges.remove(&Included(Value::Integer(lower)), StreamId(id));
    }
    assert!(ranges.is_empty() && ranges.root.is_none());
}

#[derive(Debug, Clone)]
enum Step {
    /// Replaces the range of the stream.
    Insert(StreamId, Range),
    Remove(StreamId),
    /// Accepts the streams whose number is not divisible by this.
    Find(Value, u32),
    NextCommit,
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (0..20_i64).prop_map(Value::Integer),
        1 => (0..40_i32).prop_map(|half| Value::Real(f64::from(half) / 2.0)),
        1 => Just(Value::Text(b"a".as_slice().into())),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Value>> {
    prop_oneof![
        3 => value().prop_map(Included),
        3 => value().prop_map(Excluded),
        1 => Just(Unbounded),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let id = || (0..40_u32).prop_map(StreamId);
    prop_oneof![
        4 => (id(), (bound(), bound())).prop_map(|(id, range)| Step::Insert(id, range)),
        2 => id().prop_map(Step::Remove),
        4 => (value(), 2..5_u32).prop_map(|(value, refused)| Step::Find(value, refused)),
        1 => Just(Step::NextCommit),
    ]
}

fn check_below(ranges: &Ranges, link: Link) {
    let Some(at) = link else { return };
    let node = &ranges.nodes[at];
    for child in [node.left, node.right].into_iter().flatten() {
        assert!(priority(node.id) >= priority(ranges.nodes[child].id));
        check_below(ranges, Some(child));
    }
    assert!(node.left.is_none_or(|left| ranges.compare(left, at).is_lt()));
    assert!(node.right.is_none_or(|right| ranges.compare(right, at).is_gt()));
}

/// The ranges, each with whether it is muted.
#[derive(Default)]
struct Model {
    ranges: BTreeMap<StreamId, (Range, bool)>,
    looks: u64,
}

impl Model {
    fn remove(&mut self, id: StreamId) -> Option<Bound<Value>> {
        let ((lower, _), _) = self.ranges.remove(&id)?;
        self.unmute();
        Some(lower)
    }

    fn insert(&mut self, id: StreamId, range: Range) {
        self.ranges.insert(id, (range, false));
        self.unmute();
    }

    fn unmute(&mut self) {
        self.ranges.values_mut().for_each(|(_, muted)| *muted = false);
    }

    fn find(&mut self, value: &Value, accept: impl Fn(StreamId) -> bool) -> Vec<StreamId> {
        self.looks += 1;
        let mut offered = Vec::new();
        for (&id, (range, muted)) in &mut self.ranges {
            if !*muted && range.contains(value) {
                offered.push(id);
                *muted = self.looks > FREE_LOOKS && accept(id);
            }
        }
        offered
    }

    fn next_commit(&mut self) {
        self.looks = 0;
        self.unmute();
    }
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn finding_equals_a_scan(steps in vec(step(), 0..if cfg!(miri) { 30 } else { 200 })) {
        let mut ranges = Ranges::default();
        let mut model = Model::default();
        let mut commit = 1;
        for step in steps {
            match step {
                Step::Insert(id, range) => {
                    if let Some(lower) = model.remove(id) {
                        ranges.remove(&lower, id);
                    }
                    ranges.insert(&range.0, &range.1, id);
                    model.insert(id, range);
                }
                Step::Remove(id) => {
                    if let Some(lower) = model.remove(id) {
                        ranges.remove(&lower, id);
                    }
                }
                Step::Find(value, refused) => {
                    let accept = |id: StreamId| !id.0.is_multiple_of(refused);
                    let mut offered = Vec::new();
                    ranges.find(&value, commit, &mut 0, |id| {
                        offered.push(id);
                        accept(id)
                    });
                    offered.sort_unstable();
                    prop_assert_eq!(offered, model.find(&value, accept));
                }
                Step::NextCommit => {
                    commit += 1;
                    model.next_commit();
                }
            }
            check_below(&ranges, ranges.root);
            prop_assert_eq!(ranges.is_empty(), model.ranges.is_empty());
        }
    }
}
