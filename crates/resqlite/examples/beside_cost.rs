//! The cost of a re-run whose rows are kept, beside other live queries that most commits concern instead.
//!
//! `cargo run --release -p resqlite --example beside_cost`

use std::io::Error;

use resqlite::{Database, LiveQuery, Options};

/// Rows of one result: so many that it is kept.
const ROWS: usize = 100;
const COMMITS: usize = 4_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| live queries | re-runs | maintained | engine per re-run |");
    println!("|--:|--:|--:|--:|");
    for queries in [1, 10, 100, 1_000] {
        pollster::block_on(measure(queries))?;
    }
    Ok(())
}

/// Each commit changes a row of the next live query.
async fn measure(queries: usize) -> Result<(), Box<dyn std::error::Error>> {
    let db = Database::open(":memory:", Options::default()).await?;
    db.exec(&format!(
        "CREATE TABLE items(id INTEGER PRIMARY KEY, list INTEGER, n INTEGER);
         CREATE INDEX items_by_list ON items(list);
         INSERT INTO items SELECT value, value % {queries}, 0 FROM generate_series(1, {})",
        queries * ROWS
    ))
    .await?;
    let sql = "SELECT id, n FROM items WHERE list = ? ORDER BY id";
    let mut open: Vec<LiveQuery> = (0..queries)
        .map(|list| db.stream(sql, [(list as i64).into()]))
        .collect();
    for live in &mut open {
        next(live).await?;
    }
    let mut at = 0;
    while db.diagnostics().streams.sums.maintained < 2 * queries as u64 {
        change(&db, &mut open, at).await?;
        at += 1;
    }
    let before = db.diagnostics().streams.sums;
    for commit in at..at + COMMITS {
        change(&db, &mut open, commit).await?;
    }
    let now = db.diagnostics().streams.sums;
    let reruns = now.reruns - before.reruns;
    println!(
        "| {queries} | {reruns} | {} | {:.2} µs |",
        now.maintained - before.maintained,
        (now.total_micros - before.total_micros) as f64 / reruns as f64
    );
    drop(open);
    Ok(db.close().await?)
}

async fn change(
    db: &Database,
    open: &mut [LiveQuery],
    commit: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let list = commit % open.len();
    let id = if list == 0 { open.len() } else { list };
    db.execute("UPDATE items SET n = n + 1 WHERE id = ?", [(id as i64).into()])
        .await?;
    next(&mut open[list]).await
}

async fn next(live: &mut LiveQuery) -> Result<(), Box<dyn std::error::Error>> {
    let value = live
        .next()
        .await
        .ok_or_else(|| Error::other("the live query ended"))?;
    value.map(drop).map_err(Into::into)
}
