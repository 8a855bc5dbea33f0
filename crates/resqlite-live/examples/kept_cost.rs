//! The memory and time of the rows of a live query that are kept with their base rows.
//!
//! `cargo run --release -p resqlite-live --example kept_cost`

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use resqlite_live::{Collation, KeptRow, KeptRows, Order, OrderTerm, SourceKey, Value};

const CHANGES: u64 = 20_000;

/// One of the queries that are measured: how its rows are sorted, and where they come from.
struct Query {
    name: &'static str,
    terms: usize,
    sources: fn(i64) -> Vec<SourceKey>,
}

const QUERIES: [Query; 3] = [
    Query {
        name: "one table, by rowid",
        terms: 0,
        sources: |id| vec![SourceKey::Rowid(id)],
    },
    Query {
        name: "one table, by an integer",
        terms: 1,
        sources: |id| vec![SourceKey::Rowid(id)],
    },
    Query {
        name: "two tables, by an integer",
        terms: 1,
        sources: |id| vec![SourceKey::Rowid(id), SourceKey::Rowid(id / 100)],
    },
];

fn row(query: &Query, id: i64, sort: i64, fingerprint: u64) -> KeptRow {
    KeptRow {
        sort: vec![Value::Integer(sort); query.terms].into(),
        sources: (query.sources)(id).into(),
        fingerprint,
    }
}

/// A number below `bound`, as good as random.
fn scattered(number: u64, bound: i64) -> i64 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as i64 % bound
}

fn measure(query: &Query, count: i64) {
    let term = OrderTerm {
        collation: Collation::Binary,
        descending: false,
        nulls_last: false,
    };
    let mut rows = KeptRows::new(Order::new(vec![term; query.terms].into(), false));
    let start = Instant::now();
    for id in 0..count {
        rows.append(row(query, id, 2 * id, id as u64))
            .expect("the rows are in order");
    }
    let filled = start.elapsed() / count as u32;
    let weight = rows.weight() as f64 / count as f64;

    let moves = time_changes(&mut rows, |change| {
        let id = scattered(change, count);
        let sort = scattered(change + 1, 2 * count);
        (vec![id], row(query, id, sort, u64::MAX - change))
    });
    let replaced = time_changes(&mut rows, |change| {
        let (old, new) = (change as i64, count + change as i64);
        (vec![old, new], row(query, new, 2 * new, change))
    });
    let after = rows.weight() as f64 / count as f64;
    println!(
        "{}, {count} rows: {weight:.1} bytes per row ({after:.1} after the changes), append {filled:.2?}",
        query.name
    );
    println!("    a row moves: {moves}; a row goes, another comes: {replaced}");
}

/// Makes changes of one row each: the keys that changed, and the row that is there now.
fn time_changes(rows: &mut KeptRows, change: impl Fn(u64) -> (Vec<i64>, KeptRow)) -> String {
    let mut times: Vec<Duration> = (0..CHANGES)
        .map(|number| {
            let (ids, now) = change(number);
            let changed: Vec<_> = ids.into_iter().map(|id| (0, SourceKey::Rowid(id))).collect();
            let start = Instant::now();
            let plan = rows
                .plan(&changed, vec![now])
                .expect("no other row has its place");
            black_box(plan.segments());
            rows.apply(plan);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let of = |share: usize| times[(times.len() - 1) * share / 100];
    format!(
        "{:.2?} (median; 99 %: {:.2?}, longest {:.2?})",
        of(50),
        of(99),
        of(100)
    )
}

fn main() {
    for query in &QUERIES {
        for count in [1_000, 100_000, 1_000_000] {
            measure(query, count);
        }
    }
}
