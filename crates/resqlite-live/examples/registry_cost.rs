//! The cost of finding the live queries that a commit affects, among many.
//!
//! `cargo run --release -p resqlite-live --example registry_cost [live queries]`

use std::{
    env,
    hint::black_box,
    ops::Bound,
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite_live::{
    ChangeSet, ChangeSummary, Columns, Conjunct, Dependencies, Filter, LiveQueryId, Registry, RowChange,
    TableDependency, TableName, Test, Value, Watched,
};

const COMMITS: u32 = 20_000;

/// Live queries of one kind, and rows that each affect one of them or a few.
struct Kind {
    name: &'static str,
    filter: fn(i64) -> Vec<Conjunct>,
    row: fn(i64) -> [Value; 2],
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "a = ?",
        filter: |id| vec![equals(0, Value::Integer(id))],
        row: |id| [Value::Integer(id), Value::Null],
    },
    Kind {
        name: "a = ? (36 characters)",
        filter: |id| vec![equals(0, uuid(id))],
        row: |id| [uuid(id), Value::Null],
    },
    Kind {
        name: "a = 1 AND b = ?",
        filter: |id| vec![equals(0, Value::Integer(1)), equals(1, Value::Integer(id))],
        row: |id| [Value::Integer(1), Value::Integer(id)],
    },
    Kind {
        name: "a BETWEEN ? AND ?, apart",
        filter: |id| vec![between(0, id * 10, id * 10 + 9)],
        row: |id| [Value::Integer(id * 10), Value::Null],
    },
    Kind {
        name: "a BETWEEN ? AND ?, 3 at a place",
        filter: |id| vec![between(0, id * 10, id * 10 + 29)],
        row: |id| [Value::Integer(id * 10), Value::Null],
    },
    Kind {
        name: "a = 1 AND b BETWEEN ? AND ?",
        filter: |id| vec![equals(0, Value::Integer(1)), between(1, id * 10, id * 10 + 9)],
        row: |id| [Value::Integer(1), Value::Integer(id * 10)],
    },
];

fn equals(column: u16, value: Value) -> Conjunct {
    let test = Test::In([value].into());
    Conjunct { column, test }
}

fn between(column: u16, lower: i64, upper: i64) -> Conjunct {
    let [lower, upper] = [lower, upper].map(|end| Bound::Included(Value::Integer(end)));
    let test = Test::Range { lower, upper };
    Conjunct { column, test }
}

fn uuid(id: i64) -> Value {
    Value::Text(
        format!("{id:08x}-0000-4000-8000-000000000000")
            .into_bytes()
            .into(),
    )
}

fn table() -> TableName {
    TableName::new("main", "t")
}

fn dependencies(filter: Vec<Conjunct>) -> Arc<Dependencies> {
    let table = TableDependency {
        table: table(),
        columns: Columns::Only([0, 1, 2].into_iter().collect()),
        filter: Filter::new(filter),
    };
    Arc::new(Dependencies {
        unknown: false,
        tables: [table].into(),
        ..Dependencies::default()
    })
}

fn commit(table: &TableName, rows: impl IntoIterator<Item = [Value; 2]>) -> ChangeSummary {
    let watched = Arc::new(Watched {
        compared: [0, 1, 2].into_iter().collect(),
        images: [0, 1].into(),
        ..Watched::default()
    });
    let mut changes = ChangeSet::new();
    for row in rows {
        changes.record(
            table,
            &watched,
            RowChange::Insert {
                new: Some(row.into()),
            },
        );
    }
    changes.finish()
}

/// The numbers below `count`, in an order as good as random.
fn shuffled(count: u32) -> impl Iterator<Item = u32> {
    const PRIME: u64 = 2_654_435_761;
    (0..u64::from(count)).map(move |number| (number * PRIME % u64::from(count)) as u32)
}

/// Runs `each` for every item, and returns the mean duration.
fn time<T>(items: impl ExactSizeIterator<Item = T>, mut each: impl FnMut(T)) -> Duration {
    let count = items.len().max(1) as u32;
    let start = Instant::now();
    items.for_each(&mut each);
    start.elapsed() / count
}

fn measure(kind: &Kind, queries: u32) {
    let mut registry = Registry::new();
    let ids: Vec<u32> = shuffled(queries).collect();
    let all: Vec<_> = ids
        .iter()
        .map(|&id| (LiveQueryId(id), dependencies((kind.filter)(id.into()))))
        .collect();
    let inserted = time(all.into_iter(), |(id, dependencies)| {
        registry.insert(id, dependencies)
    });

    let mut out = Vec::new();
    let mut found = 0;
    let mut affected = |registry: &mut Registry, summary: &ChangeSummary| {
        registry.affected(black_box(summary), &mut out);
        found += out.len();
    };
    let hits: Vec<_> = (ids.iter().rev().take(COMMITS as usize))
        .map(|&id| commit(&table(), [(kind.row)(id.into())]))
        .collect();
    let hit = time(hits.iter(), |summary| affected(&mut registry, summary));
    let visited = registry.visited() as f64 / hits.len() as f64;
    let missed = commit(&table(), [(kind.row)(-1_000)]);
    let miss = time(0..COMMITS as usize, |_| affected(&mut registry, &missed));
    let elsewhere = commit(&TableName::new("main", "u"), [(kind.row)(1)]);
    let other = time(0..COMMITS as usize, |_| affected(&mut registry, &elsewhere));
    let removed = time(ids.iter(), |&id| registry.remove(LiveQueryId(id)));

    println!(
        "{:<32} insert {inserted:>9.2?}  remove {removed:>9.2?}",
        kind.name
    );
    println!(
        "    commit of one row: {hit:.2?} found ({visited:.1} entries, {:.1} affected), {miss:.2?} none, {other:.2?} another table",
        found as f64 / hits.len() as f64
    );
}

/// A commit of many rows to a table with live queries of the kind `WHERE a >= ?`, where each row affects very many
/// of them: those that ask for less.
fn measure_large(queries: u32, rows: i64, name: &str, row: impl Fn(i64) -> i64) {
    let mut registry = Registry::new();
    for id in 0..queries {
        registry.insert(
            LiveQueryId(id),
            dependencies(vec![between(0, id.into(), i64::MAX)]),
        );
    }
    let summary = commit(
        &table(),
        (0..rows).map(|at| [Value::Integer(row(at)), Value::Null]),
    );
    let mut out = Vec::new();
    let took = (0..5).map(|_| time(0..1_usize, |_| registry.affected(&summary, &mut out)));
    let took = took.min().unwrap_or_default();
    println!(
        "{queries:>6} x a >= ?, {rows:>5} rows {name}: {took:>10.2?}, {} affected",
        out.len()
    );
}

fn main() {
    let queries = env::args()
        .nth(1)
        .and_then(|queries| queries.parse().ok())
        .unwrap_or(100_000);
    println!("{queries} live queries:");
    KINDS.iter().for_each(|kind| measure(kind, queries));
    for (queries, rows) in [
        (10, 10_000),
        (100, 100),
        (100, 10_000),
        (1_000, 1_000),
        (1_000, 10_000),
        (10_000, 10_000),
    ] {
        let count = i64::from(queries);
        measure_large(queries, rows, "above all", |at| count + at);
        measure_large(queries, rows, "among them", |at| at * 7_919 % count);
    }
}
