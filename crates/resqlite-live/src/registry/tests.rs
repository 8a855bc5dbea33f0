use std::sync::Arc;

use super::{Registry, Skips};
use crate::{
    change_set::ChangeSet,
    column_set::Columns,
    dependencies::{Dependencies, TableDependency},
    filter::{Conjunct, Filter, Test},
    image::{Image, Watched},
    impact::Reason,
    live_query_id::LiveQueryId,
    row_change::RowChange,
    summary::ChangeSummary,
    table_name::TableName,
    value::Value,
};

/// Live queries of one kind: enough to see work that grows with them.
const MANY: u32 = if cfg!(miri) { 200 } else { 20_000 };

fn one_of(column: u16, values: impl IntoIterator<Item = i64>) -> Conjunct {
    let test = Test::In(values.into_iter().map(Value::Integer).collect());
    Conjunct { column, test }
}

fn between(column: u16, values: std::ops::RangeInclusive<i64>) -> Conjunct {
    let (lower, upper) = values.into_inner();
    let test = Test::Range {
        lower: std::ops::Bound::Included(Value::Integer(lower)),
        upper: std::ops::Bound::Included(Value::Integer(upper)),
    };
    Conjunct { column, test }
}

fn reads(table: &str, filter: impl IntoIterator<Item = Conjunct>) -> TableDependency {
    TableDependency {
        table: TableName::new("main", table),
        columns: Columns::Only([0, 1, 2].into_iter().collect()),
        filter: Filter::new(filter),
    }
}

fn on<const N: usize>(tables: [TableDependency; N]) -> Arc<Dependencies> {
    Arc::new(Dependencies {
        unknown: false,
        tables: tables.into(),
        ..Dependencies::default()
    })
}

/// A registry with MANY live queries, each with a filter on the table `t`.
fn many<const N: usize>(filter: impl Fn(i64) -> [Conjunct; N]) -> Registry {
    let mut registry = Registry::new();
    for id in 0..MANY {
        registry.insert(LiveQueryId(id), on([reads("t", filter(i64::from(id)))]));
    }
    registry
}

fn image<const N: usize>(values: [i64; N]) -> Option<Image> {
    Some(values.map(Value::Integer).into())
}

fn insert<const N: usize>(values: [i64; N]) -> RowChange {
    RowChange::Insert { new: image(values) }
}

/// A commit that inserts rows into `t`, of which all columns are compared and as many kept as the images have.
fn commit<const N: usize>(changes: impl IntoIterator<Item = [i64; N]>) -> ChangeSummary {
    commit_to("t", changes.into_iter().map(insert), N as u16)
}

fn commit_to(table: &str, changes: impl IntoIterator<Item = RowChange>, images: u16) -> ChangeSummary {
    let watched = Arc::new(Watched {
        compared: [0, 1, 2].into_iter().collect(),
        images: (0..images).collect(),
        ..Watched::default()
    });
    let mut set = ChangeSet::new();
    for change in changes {
        set.record(&TableName::new("main", table), &watched, change);
    }
    set.finish()
}

/// The live queries that the commit affects, and the number of index entries visited to find them.
fn affected(registry: &mut Registry, summary: &ChangeSummary) -> (Vec<u32>, u64) {
    let before = registry.visited();
    let mut out = Vec::new();
    registry.affected(summary, &mut out);
    let mut ids: Vec<u32> = out.into_iter().map(|(LiveQueryId(id), _)| id).collect();
    ids.sort_unstable();
    (ids, registry.visited() - before)
}

// G117
#[test]
fn a_row_finds_the_live_query_of_its_key_without_visiting_the_others() {
    let mut registry = many(|id| [one_of(0, [id])]);
    let (found, visited) = affected(&mut registry, &commit([[7]]));
    assert_eq!(found, [7]);
    assert!(visited <= 3, "{visited}");
}

// G117
#[test]
fn a_row_finds_the_live_queries_of_its_range_without_visiting_all_others() {
    let mut registry = many(|id| [between(0, id * 10..=id * 10 + 10)]);
    let (found, visited) = affected(&mut registry, &commit([[50]]));
    assert_eq!(found, [4, 5]);
    assert!(visited < 100, "{visited}");
}

#[test]
fn a_value_that_all_live_queries_share_does_not_make_them_all_candidates() {
    let mut registry = many(|id| [one_of(0, [1]), one_of(1, [id])]);
    let (found, visited) = affected(&mut registry, &commit([[1, 7]]));
    assert_eq!(found, [7]);
    assert!(visited <= 3, "{visited}");

    let mut registry = many(|id| [one_of(0, [1]), between(1, id..=id)]);
    let (found, visited) = affected(&mut registry, &commit([[1, 7]]));
    assert_eq!(found, [7]);
    assert!(visited < 100, "{visited}");
}

// G117
#[test]
fn a_commit_to_another_table_visits_nothing() {
    let mut registry = many(|id| [one_of(0, [id])]);
    let summary = commit_to("u", [insert([7])], 1);
    assert_eq!(affected(&mut registry, &summary), (vec![], 0));
}

#[test]
fn live_queries_that_many_rows_affect_are_found_once() {
    let rows = if cfg!(miri) { 10 } else { 1_000 };
    let mut registry = many(|id| [between(0, id..=i64::MAX)]);
    let (found, visited) = affected(
        &mut registry,
        &commit((0..rows).map(|row| [i64::from(MANY) + row])),
    );
    assert_eq!(found.len(), MANY as usize);
    assert!(visited < u64::from(MANY) * 6 + rows as u64, "{visited}");
}

#[test]
fn live_queries_of_one_value_are_all_found() {
    let mut registry = many(|_| [one_of(0, [1, 2])]);
    let (found, _) = affected(&mut registry, &commit([[1], [2], [1]]));
    assert!(found.into_iter().eq(0..MANY));
}

#[test]
fn a_live_query_is_found_once_with_the_first_of_its_reasons() {
    let mut registry = Registry::new();
    registry.insert(
        LiveQueryId(1),
        on([
            reads("t", [one_of(0, [1])]),
            reads("t", []),
            reads("t", [one_of(0, [2])]),
        ]),
    );
    let mut out = Vec::new();
    registry.affected(&commit([[1], [2]]), &mut out);
    assert_eq!(out, [(LiveQueryId(1), Reason::Table)]);
}

#[test]
fn earlier_results_are_replaced() {
    let mut registry = Registry::new();
    registry.insert(LiveQueryId(1), on([reads("t", [])]));
    let mut out = vec![(LiveQueryId(9), Reason::Schema)];
    registry.affected(&commit([[1]]), &mut out);
    assert_eq!(out, [(LiveQueryId(1), Reason::Table)]);
    registry.affected(&ChangeSet::new().finish(), &mut out);
    assert_eq!(out, []);
}

#[test]
fn a_removed_live_query_is_not_found() {
    let mut registry = Registry::new();
    registry.insert(LiveQueryId(1), on([reads("t", [one_of(0, [1])])]));
    registry.insert(LiveQueryId(2), on([reads("t", [one_of(0, [1])])]));
    registry.remove(LiveQueryId(1));
    registry.remove(LiveQueryId(1));
    assert_eq!(affected(&mut registry, &commit([[1]])).0, [2]);
    assert_eq!(registry.len(), 1);
}

#[test]
fn a_live_query_inserted_again_has_its_new_dependencies_and_keeps_its_skips() {
    let mut registry = Registry::new();
    registry.insert(LiveQueryId(1), on([reads("t", [one_of(0, [1])])]));
    assert_eq!(affected(&mut registry, &commit([[1]])).0, [1]);
    registry.insert(LiveQueryId(1), on([reads("t", [one_of(0, [2])])]));
    assert_eq!(affected(&mut registry, &commit([[1]])).0, []);
    let skips = Skips {
        commits: 2,
        by_key: 1,
        ..Skips::default()
    };
    assert_eq!(registry.skips(LiveQueryId(1)), skips);
    assert_eq!(registry.totals(), skips);
}

// G134
#[test]
fn skips_are_counted_from_the_insertion_by_what_ruled_the_commit_out() {
    let mut registry = Registry::new();
    let keyed = |value| on([reads("t", [one_of(0, [value])])]);
    registry.insert(LiveQueryId(1), keyed(1));
    affected(&mut registry, &commit([[2]]));
    registry.insert(LiveQueryId(2), keyed(2));
    let unread = RowChange::Update {
        columns: Columns::Only([7].into_iter().collect()),
        old: image([2]),
        new: image([2]),
    };
    affected(&mut registry, &commit_to("t", [unread], 1));
    affected(&mut registry, &commit_to("u", [insert([2])], 1));
    affected(&mut registry, &commit([[2]]));
    let first = Skips {
        commits: 4,
        by_table: 1,
        by_column: 1,
        by_key: 2,
    };
    let second = Skips {
        commits: 3,
        by_table: 1,
        by_column: 1,
        by_key: 0,
    };
    assert_eq!(registry.skips(LiveQueryId(1)), first);
    assert_eq!(registry.skips(LiveQueryId(2)), second);
}

// G134
#[test]
fn totals_include_removed_live_queries() {
    let mut registry = many(|id| [one_of(0, [id])]);
    affected(&mut registry, &commit([[7]]));
    (0..MANY).for_each(|id| registry.remove(LiveQueryId(id)));
    affected(&mut registry, &commit([[7]]));
    let totals = Skips {
        commits: MANY.into(),
        by_key: u64::from(MANY) - 1,
        ..Skips::default()
    };
    assert_eq!(registry.totals(), totals);
    assert_eq!(registry.skips(LiveQueryId(7)), Skips::default());
}

#[test]
fn a_registry_can_move_to_another_thread() {
    fn assert_send<T: Send + 'static>() {}
    assert_send::<Registry>();
}
