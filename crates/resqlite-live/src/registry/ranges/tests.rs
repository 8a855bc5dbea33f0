use std::{
    collections::{BTreeMap, BTreeSet},
    ops::{
        Bound::{self, *},
        RangeBounds,
    },
};

use dice::cases;
use proptest::{collection::vec, prelude::*};

use super::{Link, LiveQueryId, Ranges, priority};
use crate::value::Value;

type Range = (Bound<Value>, Bound<Value>);

impl Ranges {
    /// Ranges with both ends included, of the live queries 0, 1, 2, …
    fn of(ranges: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut made = Ranges::default();
        for (id, ends) in (0..).zip(ranges) {
            let [lower, upper] = <[i64; 2]>::from(ends).map(|end| Included(Value::Integer(end)));
            made.insert(&lower, &upper, LiveQueryId(id));
        }
        made
    }

    /// The live queries that are offered, all of which are accepted, and the number of nodes visited.
    fn found(&mut self, value: i64, commit: u64) -> (Vec<u32>, u64) {
        let (mut found, mut visited) = (Vec::new(), 0);
        self.find(&Value::Integer(value), commit, &mut visited, |id| {
            found.push(id.0);
            true
        });
        found.sort_unstable();
        (found, visited)
    }
}

#[test]
fn ranges_around_a_value_are_found() {
    let mut ranges = Ranges::of([(0, 9), (5, 15), (10, 20), (7, 3)]);
    assert_eq!(ranges.found(7, 1).0, [0, 1]);
    assert_eq!(ranges.found(15, 2).0, [1, 2]);
    assert_eq!(ranges.found(21, 3).0, []);
}

#[test]
fn ranges_that_were_all_found_are_not_visited_again_for_the_same_commit() {
    let mut ranges = Ranges::of([(0, 9), (5, 15)]);
    assert_eq!(ranges.found(7, 1).0, [0, 1]);
    assert_eq!(ranges.found(7, 1), (vec![], 1));
    assert_eq!(ranges.found(7, 2).0, [0, 1]);
}

#[test]
fn a_live_query_that_was_not_accepted_is_offered_again() {
    let mut ranges = Ranges::of([(0, 9)]);
    ranges.find(&Value::Integer(3), 1, &mut 0, |_| false);
    assert_eq!(ranges.found(3, 1).0, [0]);
}

#[test]
fn finding_visits_few_of_many_ranges() {
    let count = if cfg!(miri) { 100 } else { 10_000 };
    let mut ranges = Ranges::of((0..count).map(|position| (position * 10, position * 10 + 9)));
    let (found, visited) = ranges.found(555, 1);
    assert_eq!(found, [55]);
    assert!(visited < 80, "{visited}");
}

#[test]
fn an_emptied_tree_is_empty() {
    let mut ranges = Ranges::of([(0, 9), (5, 15), (5, 16)]);
    for (id, lower) in (0..).zip([0, 5, 5]) {
        assert!(!ranges.is_empty());
        ranges.remove(&Included(Value::Integer(lower)), LiveQueryId(id));
    }
    assert!(ranges.is_empty() && ranges.root.is_none());
}

#[derive(Debug, Clone)]
enum Step {
    /// Replaces the range of the live query.
    Insert(LiveQueryId, Range),
    Remove(LiveQueryId),
    /// A commit with rows of these values; it affects the live queries whose number is not divisible by `refused`.
    Commit {
        values: Vec<Value>,
        refused: u32,
    },
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
    let id = || (0..40_u32).prop_map(LiveQueryId);
    prop_oneof![
        4 => (id(), (bound(), bound())).prop_map(|(id, range)| Step::Insert(id, range)),
        2 => id().prop_map(Step::Remove),
        2 => (vec(value(), 1..6), 2..50_u32).prop_map(|(values, refused)| Step::Commit { values, refused }),
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

proptest! {
    #![proptest_config(cases(512))]

    /// Each query that is offered matches. Each that matches is offered, unless it was accepted for the same commit before.
    #[test]
    fn finding_equals_a_scan(steps in vec(step(), 0..if cfg!(miri) { 30 } else { 200 })) {
        let mut ranges = Ranges::default();
        let mut model = BTreeMap::<LiveQueryId, Range>::new();
        for (commit, step) in (1..).zip(steps) {
            match step {
                Step::Insert(id, range) => {
                    if let Some((lower, _)) = model.remove(&id) {
                        ranges.remove(&lower, id);
                    }
                    ranges.insert(&range.0, &range.1, id);
                    model.insert(id, range);
                }
                Step::Remove(id) => {
                    if let Some((lower, _)) = model.remove(&id) {
                        ranges.remove(&lower, id);
                    }
                }
                Step::Commit { values, refused } => {
                    let accepts = |id: LiveQueryId| !id.0.is_multiple_of(refused);
                    let mut accepted = BTreeSet::new();
                    for value in values {
                        let mut offered = BTreeSet::new();
                        let mut twice = false;
                        ranges.find(&value, commit, &mut 0, |id| {
                            twice |= !offered.insert(id);
                            accepts(id)
                        });
                        let matching = model.iter().filter(|(_, range)| range.contains(&value));
                        let matching: BTreeSet<_> = matching.map(|(&id, _)| id).collect();
                        prop_assert!(!twice && offered.is_subset(&matching));
                        prop_assert!(matching.difference(&offered).all(|id| accepted.contains(id)));
                        accepted.extend(offered.into_iter().filter(|&id| accepts(id)));
                    }
                }
            }
            check_below(&ranges, ranges.root);
            prop_assert_eq!(ranges.is_empty(), model.is_empty());
        }
    }
}
