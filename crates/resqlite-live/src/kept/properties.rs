//! [`KeptRows`] against a sorted list.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use dice::cases;
use proptest::{collection::vec, prelude::*, sample};
use smallvec::SmallVec;

use super::{Collation, KeptRow, KeptRows, Order, OrderTerm, OutOfOrder, Plan, SourceKey};
use crate::{patch::Segment, value::Value};

const SOURCES: usize = 2;

type Sources = SmallVec<[SourceKey; 1]>;

/// The effect of a commit. Each row that contains a changed base row has a fate; other rows come.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    pub(super) changed: Vec<(usize, SourceKey)>,
    fates: Vec<Fate>,
    come: Vec<KeptRow>,
}

#[derive(Debug, Clone)]
enum Fate {
    Leaves,
    Stays,
    Moves(Box<[Value]>),
    IsRewritten(u64),
    /// Into a row from other base rows that looks the same.
    IsReplaced(SourceKey),
}

fn order() -> impl Strategy<Value = Order> {
    let collation = sample::select(vec![Collation::Binary, Collation::NoCase, Collation::RTrim]);
    let term =
        (collation, any::<bool>(), any::<bool>()).prop_map(|(collation, descending, nulls_last)| OrderTerm {
            collation,
            descending,
            nulls_last,
        });
    (vec(term, 0..3), any::<bool>()).prop_map(|(terms, descending)| Order::new(terms.into(), descending))
}

/// Few values of all storage classes, some of them equal under one collation or another.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(Value::Null),
        3 => (0..3_i64).prop_map(Value::Integer),
        1 => (0..5_i32).prop_map(|half| Value::Real(f64::from(half) / 2.0)),
        3 => sample::select(vec!["a", "A", "a ", "b", "B "]).prop_map(|text| Value::Text(text.as_bytes().into())),
        1 => sample::select(vec!["a", "A"]).prop_map(|blob| Value::Blob(blob.as_bytes().into())),
    ]
}

fn sort(order: &Order) -> impl Strategy<Value = Box<[Value]>> + use<> {
    vec(value(), order.terms()).prop_map(Into::into)
}

fn key() -> impl Strategy<Value = SourceKey> {
    prop_oneof![
        6 => (0..8_i64).prop_map(SourceKey::Rowid),
        2 => vec(value(), 1..3).prop_map(|columns| SourceKey::Columns(columns.into())),
    ]
}

fn partner() -> impl Strategy<Value = SourceKey> {
    prop_oneof![1 => Just(SourceKey::Absent), 3 => key()]
}

fn row(order: &Order) -> impl Strategy<Value = KeptRow> + use<> {
    (sort(order), key(), partner(), 0..6_u64).prop_map(|(sort, left, right, fingerprint)| KeptRow {
        sort,
        sources: [left, right].into_iter().collect(),
        fingerprint,
    })
}

fn fate(order: &Order) -> impl Strategy<Value = Fate> + use<> {
    prop_oneof![
        Just(Fate::Leaves),
        Just(Fate::Stays),
        sort(order).prop_map(Fate::Moves),
        (0..6_u64).prop_map(Fate::IsRewritten),
        key().prop_map(Fate::IsReplaced),
    ]
}

fn commit(order: &Order) -> impl Strategy<Value = Commit> + use<> {
    let changed = vec((0..SOURCES, key()), 1..4);
    (changed, vec(fate(order), 1..5), vec(row(order), 0..4)).prop_map(|(changed, fates, come)| Commit {
        changed,
        fates,
        come,
    })
}

pub(super) fn scenario() -> impl Strategy<Value = (Order, Vec<KeptRow>, Vec<Commit>)> {
    order().prop_flat_map(|order| {
        let (rows, commits) = (vec(row(&order), 0..40), vec(commit(&order), 1..12));
        (Just(order), rows, commits)
    })
}

/// All rows by the base rows they came from, as a query would find them.
pub(super) struct Model {
    order: Order,
    rows: BTreeMap<Sources, KeptRow>,
}

impl Model {
    pub(super) fn new(order: Order, rows: Vec<KeptRow>) -> Self {
        let rows = rows.into_iter().map(|row| (row.sources.clone(), row)).collect();
        Self { order, rows }
    }

    pub(super) fn result(&self) -> Vec<KeptRow> {
        let mut rows: Vec<KeptRow> = self.rows.values().cloned().collect();
        rows.sort_by(|left, right| self.order.compare(left.place(), right.place()));
        rows
    }

    pub(super) fn run(&self) -> KeptRows {
        let mut rows = KeptRows::new(self.order.clone());
        let appended = self.result().into_iter().try_for_each(|row| rows.append(row));
        assert_eq!(appended, Ok(()));
        rows
    }

    /// Makes the changes, and returns the rows that contain a changed base row before and after.
    pub(super) fn commit(&mut self, commit: Commit) -> (Vec<KeptRow>, Vec<KeptRow>) {
        let Commit { changed, fates, come } = commit;
        let is_changed = |row: &KeptRow| changed.iter().any(|(source, key)| row.sources[*source] == *key);
        let before: Vec<KeptRow> = self
            .rows
            .values()
            .filter(|row| is_changed(row))
            .cloned()
            .collect();
        self.rows.retain(|_, row| !is_changed(row));

        let mut after = BTreeMap::new();
        let returned = before.iter().zip(fates.iter().cycle()).filter_map(|(row, fate)| {
            let mut row = row.clone();
            match fate {
                Fate::Leaves => return None,
                Fate::Stays => {}
                Fate::Moves(sort) => row.sort = sort.clone(),
                Fate::IsRewritten(fingerprint) => row.fingerprint = *fingerprint,
                Fate::IsReplaced(key) => row.sources[0] = key.clone(),
            }
            Some(row)
        });
        let come = come
            .into_iter()
            .zip(changed.iter().cycle())
            .map(|(mut row, (source, key))| {
                row.sources[*source] = key.clone();
                row
            });
        // A row that replaces another may contain no changed base row; then the query does not find it.
        for row in returned.chain(come).filter(is_changed) {
            after.entry(row.sources.clone()).or_insert(row);
        }
        self.rows.extend(after.clone());
        (before, after.into_values().collect())
    }
}

pub(super) fn fingerprints(rows: &[KeptRow]) -> Vec<u64> {
    rows.iter().map(|row| row.fingerprint).collect()
}

/// The fingerprints of the new result, as a subscriber makes them.
pub(super) fn fold<'a>(
    old: &[u64],
    segments: &[Segment],
    mut new: impl Iterator<Item = &'a KeptRow>,
) -> Vec<u64> {
    let mut made = Vec::new();
    for segment in segments {
        match *segment {
            Segment::Keep { start, count } => made.extend(&old[start as usize..(start + count) as usize]),
            Segment::New { count } => {
                made.extend(new.by_ref().take(count as usize).map(|row| row.fingerprint))
            }
        }
    }
    assert!(new.next().is_none());
    made
}

/// The positions in the old result of the rows that are kept.
pub(super) fn kept(segments: &[Segment]) -> Vec<u32> {
    let positions = segments.iter().filter_map(|segment| match *segment {
        Segment::Keep { start, count } => Some(start..start + count),
        Segment::New { .. } => None,
    });
    positions.flatten().collect()
}

/// For each base row the result rows that contain it.
fn containing(rows: &[KeptRow]) -> BTreeMap<(usize, SourceKey), BTreeSet<Sources>> {
    let mut containing: BTreeMap<_, BTreeSet<Sources>> = BTreeMap::new();
    for row in rows {
        for (source, key) in row.sources.iter().enumerate() {
            containing
                .entry((source, key.clone()))
                .or_default()
                .insert(row.sources.clone());
        }
    }
    containing
}

fn partners(rows: &KeptRows, of: usize, key: &SourceKey, source: usize) -> BTreeSet<SourceKey> {
    rows.partners(of, key, source).cloned().collect()
}

/// Runs the commits of a scenario, each with what it found and planned, before it is applied.
fn run(
    (order, rows, commits): (Order, Vec<KeptRow>, Vec<Commit>),
    mut check: impl FnMut(Step) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut model = Model::new(order, rows);
    let mut rows = model.run();
    for commit in commits {
        let old = model.result();
        let changed = commit.changed.clone();
        let (before, after) = model.commit(commit);
        let plan = rows.plan(&changed, after.clone());
        let plan = plan.map_err(|error| TestCaseError::fail(error.to_string()))?;
        check(Step {
            old: &old,
            new: &model.result(),
            before: &before,
            after: &after,
            plan: &plan,
        })?;
        prop_assert_eq!(rows.fingerprints(), fingerprints(&old), "a plan changes nothing");
        rows.apply(plan);
        prop_assert_eq!(rows.fingerprints(), fingerprints(&model.result()));
        prop_assert_eq!(rows.len(), model.rows.len());
    }
    Ok(())
}

struct Step<'a> {
    old: &'a [KeptRow],
    new: &'a [KeptRow],
    /// The rows that contain a changed base row.
    before: &'a [KeptRow],
    after: &'a [KeptRow],
    plan: &'a Plan,
}

proptest! {
    #![proptest_config(cases(256))]

    // G136
    #[test]
    fn the_segments_make_the_new_result_from_the_old_one(scenario in scenario()) {
        run(scenario, |step| {
            let made = fold(&fingerprints(step.old), step.plan.segments(), step.plan.new_rows());
            prop_assert_eq!(made, fingerprints(step.new));
            Ok(())
        })?;
    }

    #[test]
    fn an_old_row_is_kept_at_most_once(scenario in scenario()) {
        run(scenario, |step| {
            let kept = kept(step.plan.segments());
            let different: HashSet<u32> = kept.iter().copied().collect();
            prop_assert_eq!(kept.len(), different.len());
            Ok(())
        })?;
    }

    #[test]
    fn a_row_that_stays_as_it_was_is_kept(scenario in scenario()) {
        run(scenario, |step| {
            let new: HashSet<&Sources> = step.plan.new_rows().map(|row| &row.sources).collect();
            let kept: HashSet<u32> = kept(step.plan.segments()).into_iter().collect();
            let after: BTreeMap<_, _> = step.new.iter().map(|row| (&row.sources, row.fingerprint)).collect();
            for (position, row) in (0..).zip(step.old) {
                if after.get(&row.sources) == Some(&row.fingerprint) {
                    prop_assert!(kept.contains(&position) && !new.contains(&row.sources));
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn equal_results_are_told_from_different_ones(scenario in scenario()) {
        run(scenario, |step| {
            let equal = fingerprints(step.old) == fingerprints(step.new);
            prop_assert_eq!(step.plan.is_unchanged(), equal);
            Ok(())
        })?;
    }

    // G138
    #[test]
    fn the_number_of_segments_depends_on_the_change_only(scenario in scenario()) {
        run(scenario, |step| {
            let most = step.before.len() + 2 * step.after.len() + 1;
            prop_assert!(step.plan.segments().len() <= most);
            Ok(())
        })?;
    }

    #[test]
    fn a_base_row_leads_to_the_rows_that_contain_it((order, rows, commits) in scenario()) {
        let mut model = Model::new(order, rows);
        let mut rows = model.run();
        for commit in commits {
            let mut keys: BTreeSet<(usize, SourceKey)> = containing(&model.result()).into_keys().collect();
            let changed = commit.changed.clone();
            let (_, after) = model.commit(commit);
            rows.apply(rows.plan(&changed, after)?);
            let containing = containing(&model.result());
            keys.extend(containing.keys().cloned());
            for (of, key) in keys.iter().filter(|(_, key)| *key != SourceKey::Absent) {
                for source in 0..SOURCES {
                    let found = containing.get(&(*of, key.clone())).into_iter().flatten();
                    let expected = found.map(|sources| sources[source].clone());
                    let expected: BTreeSet<_> = expected.filter(|key| *key != SourceKey::Absent).collect();
                    prop_assert_eq!(partners(&rows, *of, key, source), expected);
                }
            }
        }
    }

    /// A rebuild has smaller lists, but what the values hold is the same.
    #[test]
    fn the_weight_of_values_is_that_of_the_rows_that_are_there((order, rows, commits) in scenario()) {
        let mut model = Model::new(order, rows);
        let mut rows = model.run();
        for commit in commits {
            let changed = commit.changed.clone();
            let (_, after) = model.commit(commit);
            rows.apply(rows.plan(&changed, after)?);
            let recounted: usize = model.rows.values().map(|row| row.place().heap_bytes()).sum();
            prop_assert_eq!(rows.weight_of_values(), recounted);
            prop_assert!(rows.weight() >= recounted);
        }
    }
}

pub(super) fn row_of(id: i64, sort: i64) -> KeptRow {
    KeptRow {
        sort: [Value::Integer(sort)].into(),
        sources: [SourceKey::Rowid(id)].into_iter().collect(),
        fingerprint: id as u64,
    }
}

pub(super) fn by_one_term() -> KeptRows {
    let term = OrderTerm {
        collation: Collation::Binary,
        descending: false,
        nulls_last: false,
    };
    KeptRows::new(Order::new([term].into(), false))
}

#[test]
fn a_row_that_does_not_sort_behind_the_last_one_is_refused() {
    let mut rows = by_one_term();
    assert_eq!(rows.append(row_of(2, 5)), Ok(()));
    assert_eq!(rows.append(row_of(3, 4)), Err(OutOfOrder));
    assert_eq!(
        rows.append(row_of(1, 5)),
        Err(OutOfOrder),
        "a tie in the other order"
    );
    assert_eq!(rows.append(row_of(2, 5)), Err(OutOfOrder), "the same row again");
    assert_eq!(rows.append(row_of(3, 5)), Ok(()));
    assert_eq!(rows.fingerprints(), [2, 3]);
}

#[test]
fn a_row_found_in_the_place_of_one_that_did_not_change_is_refused() {
    let mut rows = by_one_term();
    rows.append(row_of(1, 1)).unwrap();
    rows.append(row_of(2, 2)).unwrap();
    let changed = [(0, SourceKey::Rowid(2))];
    assert_eq!(rows.plan(&changed, vec![row_of(1, 1)]).err(), Some(OutOfOrder));
    assert_eq!(
        rows.plan(&changed, vec![row_of(2, 7), row_of(2, 7)]).err(),
        Some(OutOfOrder)
    );
}

#[test]
#[should_panic(expected = "the plan is for these rows")]
fn a_plan_for_another_state_is_not_applied() {
    let mut rows = by_one_term();
    let plan = rows.plan(&[], vec![row_of(1, 1)]).unwrap();
    rows.append(row_of(2, 2)).unwrap();
    rows.apply(plan);
}

#[test]
fn a_moved_row_is_kept_and_only_its_neighbours_are_new_segments() {
    let mut rows = by_one_term();
    (1..=9).for_each(|id| rows.append(row_of(id, 10 * id)).unwrap());
    let plan = rows
        .plan(&[(0, SourceKey::Rowid(8))], vec![row_of(8, 25)])
        .unwrap();
    let keep = |start, count| Segment::Keep { start, count };
    assert_eq!(plan.segments(), [keep(0, 2), keep(7, 1), keep(2, 5), keep(8, 1)]);
    assert!(!plan.is_unchanged());
    assert_eq!(plan.new_rows().count(), 0);
}
