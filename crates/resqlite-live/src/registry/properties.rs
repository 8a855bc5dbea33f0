//! The registry against [`Dependencies::impact`] on each live query by itself.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use dice::cases;
use proptest::{collection::vec, option, prelude::*, sample};

use super::{Registry, Skips};
use crate::{
    column_set::{ColumnSet, Columns},
    dependencies::{Dependencies, TableDependency},
    filter::{Conjunct, Filter, Test},
    image::{Image, Watched},
    impact::{Impact, Reason},
    live_query_id::LiveQueryId,
    row_change::RowChange,
    summary::{ChangeSummary, Operations, Rows, TableChange},
    table_name::TableName,
    value::Value,
};

#[derive(Debug, Clone)]
enum Step {
    /// Replaces the dependencies if the live query is there.
    Insert(LiveQueryId, Arc<Dependencies>),
    Remove(LiveQueryId),
    Commit(ChangeSummary),
}

const COLUMNS: u16 = 4;

fn table() -> impl Strategy<Value = TableName> {
    sample::select(vec!["a", "b", "c"]).prop_map(|table| TableName::new("main", table))
}

/// Few values, so that filters match, among them some that are equal and look different.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0..5_i64).prop_map(Value::Integer),
        1 => (0..10_i32).prop_map(|half| Value::Real(f64::from(half) / 2.0)),
        1 => sample::select(vec![&b"a"[..], b"b"]).prop_map(|text| Value::Text(text.into())),
        1 => Just(Value::Null),
    ]
}

fn column_set() -> impl Strategy<Value = ColumnSet> {
    vec(0..COLUMNS, 0..4).prop_map(|columns| columns.into_iter().collect())
}

fn columns() -> impl Strategy<Value = Columns> {
    prop_oneof![9 => column_set().prop_map(Columns::Only), 1 => Just(Columns::Any)]
}

fn bound() -> impl Strategy<Value = Bound<Value>> {
    prop_oneof![
        2 => value().prop_map(Bound::Included),
        2 => value().prop_map(Bound::Excluded),
        1 => Just(Bound::Unbounded),
    ]
}

fn conjunct() -> impl Strategy<Value = Conjunct> {
    let test = prop_oneof![
        3 => vec(value(), 0..4).prop_map(|values| Test::In(values.into())),
        2 => (bound(), bound()).prop_map(|(lower, upper)| Test::Range { lower, upper }),
    ];
    (0..COLUMNS, test).prop_map(|(column, test)| Conjunct { column, test })
}

prop_compose! {
    fn table_dependency()(
        table in table(),
        columns in columns(),
        filter in vec(conjunct(), 0..5).prop_map(Filter::new),
    ) -> TableDependency {
        TableDependency { table, columns, filter }
    }
}

prop_compose! {
    fn dependencies()(
        unknown in prop::bool::weighted(0.03),
        tables in vec(table_dependency(), 0..4),
    ) -> Arc<Dependencies> {
        Arc::new(Dependencies { unknown, tables: tables.into(), ..Dependencies::default() })
    }
}

fn watched() -> impl Strategy<Value = Arc<Watched>> {
    let images = vec(prop::bool::weighted(0.9), usize::from(COLUMNS)).prop_map(|watched| {
        let columns = (0..COLUMNS).zip(watched);
        columns
            .filter(|(_, watched)| *watched)
            .map(|(column, _)| column)
            .collect()
    });
    let compared = prop_oneof![2 => Just((0..COLUMNS).collect()), 1 => column_set()];
    (compared, images).prop_map(|(compared, images)| {
        Arc::new(Watched {
            compared,
            images,
            ..Watched::default()
        })
    })
}

fn image(watched: &Watched) -> impl Strategy<Value = Option<Image>> + use<> {
    let image = vec(value(), watched.images.len()).prop_map(Image::from);
    option::weighted(0.98, image)
}

fn changed_row(watched: &Arc<Watched>) -> impl Strategy<Value = RowChange> + use<> {
    let compared = watched.compared.clone();
    let changed = columns().prop_map(move |columns| match columns {
        Columns::Only(changed) => Columns::Only(
            changed
                .iter()
                .filter(|&column| compared.contains(column))
                .collect(),
        ),
        Columns::Any => Columns::Any,
    });
    let (old, new) = (image(watched), image(watched));
    prop_oneof![
        new.prop_map(|new| RowChange::Insert { new }),
        image(watched).prop_map(|old| RowChange::Delete { old }),
        (changed, old, image(watched)).prop_map(|(columns, old, new)| RowChange::Update {
            columns,
            old,
            new,
        }),
    ]
}

/// Rows that changed as some change set could have recorded them.
fn table_change() -> impl Strategy<Value = TableChange> {
    let rows = |watched: Arc<Watched>| (vec(changed_row(&watched), 1..6), Just(watched));
    let known = prop::bool::weighted(0.9);
    (watched().prop_flat_map(rows), known).prop_map(|((rows, watched), known)| {
        let mut operations = Operations::default();
        let mut columns = Columns::none();
        for row in &rows {
            match (row.columns(), row.after()) {
                (Some(changed), _) => {
                    operations.updates += 1;
                    columns.union_with(changed);
                }
                (None, Some(_)) => operations.inserts += 1,
                (None, None) => operations.deletes += 1,
            }
        }
        TableChange {
            operations,
            watched,
            columns,
            rows: if known { Rows::Only(rows.into()) } else { Rows::Any },
        }
    })
}

fn summary() -> impl Strategy<Value = ChangeSummary> {
    let tables = prop::collection::btree_map(table(), table_change(), 0..3);
    let rarely = || prop::bool::weighted(0.03);
    (tables, rarely(), rarely()).prop_map(|(tables, schema, everything)| {
        ChangeSummary::new(tables.into_iter().collect(), schema, everything)
    })
}

fn step() -> impl Strategy<Value = Step> {
    let id = || (0..20_u32).prop_map(LiveQueryId);
    prop_oneof![
        5 => (id(), dependencies()).prop_map(|(id, dependencies)| Step::Insert(id, dependencies)),
        2 => id().prop_map(Step::Remove),
        4 => summary().prop_map(Step::Commit),
    ]
}

/// Live queries of few shapes, which share their groups.
fn similar_step() -> impl Strategy<Value = Step> {
    let column = |column, values: Vec<Value>| Conjunct {
        column,
        test: Test::In(values.into()),
    };
    let conjuncts = (
        vec(value(), 1..3),
        vec(value(), 1..3),
        (bound(), bound()),
        0..6_u8,
    )
        .prop_map(move |(first, second, (lower, upper), kind)| {
            let test = Test::Range { lower, upper };
            let range = Conjunct { column: 3, test };
            match kind {
                0 => vec![column(0, first)],
                1 => vec![column(0, first), column(2, second)],
                2 => vec![column(0, first), range],
                3 => vec![range],
                4 => vec![column(1, first), column(1, second), range],
                _ => vec![],
            }
        });
    let dependencies = (conjuncts, prop::bool::ANY).prop_map(|(conjuncts, twice)| {
        let table = |table: &str, filter| TableDependency {
            table: TableName::new("main", table),
            columns: Columns::Only((0..COLUMNS).collect()),
            filter,
        };
        let filter = Filter::new(conjuncts);
        let tables = if twice {
            vec![table("a", filter), table("b", None)]
        } else {
            vec![table("a", filter)]
        };
        Arc::new(Dependencies {
            unknown: false,
            tables: tables.into(),
            ..Dependencies::default()
        })
    });
    let id = || (0..60_u32).prop_map(LiveQueryId);
    prop_oneof![
        5 => (id(), dependencies).prop_map(|(id, dependencies)| Step::Insert(id, dependencies)),
        1 => id().prop_map(Step::Remove),
        2 => summary().prop_map(Step::Commit),
    ]
}

fn steps(step: impl Strategy<Value = Step>) -> impl Strategy<Value = Vec<Step>> {
    vec(step, 0..if cfg!(miri) { 20 } else { 60 })
}

/// Each live query by itself.
#[derive(Default)]
struct Model {
    queries: BTreeMap<LiveQueryId, (Arc<Dependencies>, Skips)>,
    totals: Skips,
}

impl Model {
    fn insert(&mut self, id: LiveQueryId, dependencies: Arc<Dependencies>) {
        let skips = self.queries.get(&id).map(|(_, skips)| *skips);
        self.queries.insert(id, (dependencies, skips.unwrap_or_default()));
    }

    fn affected(&mut self, summary: &ChangeSummary) -> Vec<(LiveQueryId, Reason)> {
        let mut affected = Vec::new();
        for (&id, (dependencies, skips)) in &mut self.queries {
            skips.commits += 1;
            self.totals.commits += 1;
            match dependencies.impact(summary) {
                Impact::Affected(reason) => affected.push((id, reason)),
                Impact::Skipped(skip) => {
                    *skips.counter(skip) += 1;
                    *self.totals.counter(skip) += 1;
                }
            }
        }
        affected
    }
}

fn check(mut registry: Registry, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    let mut out = vec![(LiveQueryId(1_000), Reason::Unknown)];
    for step in steps {
        match step {
            Step::Insert(id, dependencies) => {
                registry.insert(id, Arc::clone(&dependencies));
                model.insert(id, dependencies);
            }
            Step::Remove(id) => {
                registry.remove(id);
                model.queries.remove(&id);
            }
            Step::Commit(summary) => {
                registry.affected(&summary, &mut out);
                out.sort_unstable();
                prop_assert_eq!(&out, &model.affected(&summary));
            }
        }
        prop_assert_eq!(registry.len(), model.queries.len());
        for (&id, (_, skips)) in &model.queries {
            prop_assert_eq!(registry.skips(id), *skips);
        }
        prop_assert_eq!(registry.totals(), model.totals);
    }
    for &id in model.queries.keys() {
        registry.remove(id);
    }
    prop_assert!(registry.is_empty() && registry.groups.is_empty());
    prop_assert!(registry.by_shape.is_empty() && registry.by_table.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(cases(1024))]

    // G117
    #[test]
    fn the_live_queries_found_are_those_that_the_commit_affects(steps in steps(step())) {
        check(Registry::new(), steps)?;
    }

    #[test]
    fn those_of_one_shape_are_found_too(steps in steps(similar_step())) {
        check(Registry::new(), steps)?;
    }

    #[test]
    fn a_bound_on_keys_changes_nothing_but_the_work(steps in steps(step()), bound in 0..4_usize) {
        check(Registry::with_bound(bound), steps)?;
    }
}
