//! What it costs to find the streams that a commit concerns, among many.
//!
//! `cargo run --release -p resqlite-live --example registry_cost [streams]`

use std::{
    env,
    hint::black_box,
    ops::Bound,
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite_live::{
    ChangeSet, ChangeSummary, Columns, Conjunct, Dependencies, Filter, Registry, RowChange, StreamId,
    TableDependency, TableName, Test, Value, Watched,
};

const COMMITS: u32 = 20_000;

/// Streams of one kind, and rows of which each concerns a stream or few.
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
        everything: false,
        tables: [table].into(),
    })
}

fn commit(table: &TableName, rows: impl IntoIterator<Item = [Value; 2]>) -> ChangeSummary {
    let watched = Arc::new(Watched {
        compared: [0, 1, 2].into_iter().collect(),
        images: [0, 1].into(),
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

/// The places 0 to `count`, as good as in random order.
fn shuffled(count: u32) -> impl Iterator<Item = u32> {
    const PRIME: u64 = 2_654_435_761;
    (0..u64::from(count)).map(move |place| (place * PRIME % u64::from(count)) as u32)
}

/// Runs `each` for every item, and tells how long one took.
fn time<T>(items: impl ExactSizeIterator<Item = T>, mut each: impl FnMut(T)) -> Duration {
    let count = items.len().max(1) as u32;
    let start = Instant::now();
    items.for_each(&mut each);
    start.elapsed() / count
}

fn measure(kind: &Kind, streams: u32) {
    let mut registry = Registry::new();
    let places: Vec<u32> = shuffled(streams).collect();
    let all: Vec<_> = places
        .iter()
        .map(|&id| (StreamId(id), dependencies((kind.filter)(id.into()))))
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
    let hits: Vec<_> = (places.iter().rev().take(COMMITS as usize))
        .map(|&id| commit(&table(), [(kind.row)(id.into())]))
        .collect();
    let hit = time(hits.iter(), |summary| affected(&mut registry, summary));
    let visited = registry.visited() as f64 / hits.len() as f64;
    let missed = commit(&table(), [(kind.row)(-1_000)]);
    let miss = time(0..COMMITS as usize, |_| affected(&mut registry, &missed));
    let elsewhere = commit(&TableName::new("main", "u"), [(kind.row)(1)]);
    let other = time(0..COMMITS as usize, |_| affected(&mut registry, &elsewhere));
    let removed = time(places.iter(), |&id| registry.remove(StreamId(id)));

    println!(
        "{:<32} insert {inserted:>9.2?}  remove {removed:>9.2?}",
        kind.name
    );
    println!(
        "    commit of one row: {hit:.2?} found ({visited:.1} entries, {:.1} streams), {miss:.2?} none, {other:.2?} another table",
        found as f64 / hits.len() as f64
    );
}

/// One large commit, of which every stream must hear.
fn measure_large(streams: u32, rows: i64) {
    let mut registry = Registry::new();
    for id in 0..streams {
        registry.insert(StreamId(id), dependencies(vec![between(0, id.into(), i64::MAX)]));
    }
    let rows_of_all = (0..rows).map(|row| [Value::Integer(i64::from(streams) + row), Value::Null]);
    let summary = commit(&table(), rows_of_all);
    let mut out = Vec::new();
    let took = time(0..10_usize, |_| registry.affected(&summary, &mut out));
    println!("a commit of {rows} rows that concerns all of {streams} streams: {took:.2?}");
}

fn main() {
    let streams = env::args()
        .nth(1)
        .and_then(|streams| streams.parse().ok())
        .unwrap_or(100_000);
    println!("{streams} streams:");
    KINDS.iter().for_each(|kind| measure(kind, streams));
    measure_large(streams, 10_000);
}
