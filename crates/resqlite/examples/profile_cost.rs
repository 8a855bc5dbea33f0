//! A fixed number of operations of one kind, with a live query open, for `scripts/profile-cost.sh` to count their
//! instructions.
//!
//! `cargo run --release -p resqlite --example profile_cost <select | insert | batch | emit> <operations>`

use std::env;

use resqlite::{Database, LiveQuery, Options, Result};

fn main() -> Result<()> {
    let mut args = env::args().skip(1);
    let kind = args.next().unwrap_or_default();
    let operations = args.next().and_then(|count| count.parse().ok()).unwrap_or(1000);
    pollster::block_on(run(&kind, operations))
}

async fn run(kind: &str, operations: i64) -> Result<()> {
    let options = Options {
        readers: Some(1),
        ..Options::default()
    };
    let db = Database::open(":memory:", options).await?;
    db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)").await?;
    let rows: Vec<_> = (1..=100_i64)
        .map(|id| vec![id.into(), (id * 7).into(), "some text".into()])
        .collect();
    db.execute_batch("INSERT INTO t VALUES (?, ?, ?)", &rows).await?;
    let mut live = db.stream("SELECT a, b FROM t WHERE id = ?", [1.into()]);
    let first = live.next().await.expect("a live query has a result")?;
    assert_eq!(first.rows().len(), 1);
    for n in 0..operations {
        match kind {
            "select" => point_select(&db, n).await?,
            "insert" => insert(&db, n).await?,
            "batch" => batch(&db, n).await?,
            "emit" => emit(&db, &mut live, n).await?,
            _ => panic!("which kind: select, insert, batch or emit?"),
        }
    }
    drop(live);
    db.close().await
}

async fn point_select(db: &Database, n: i64) -> Result<()> {
    let rows = db
        .select("SELECT a, b FROM t WHERE id = ?", [(n % 100 + 1).into()])
        .await?;
    assert_eq!(rows.len(), 1);
    Ok(())
}

/// A commit that does not concern the live query.
async fn insert(db: &Database, n: i64) -> Result<()> {
    let done = db
        .execute("INSERT INTO t(a, b) VALUES (?, 'some text')", [n.into()])
        .await?;
    assert_eq!(done.changes, 1);
    Ok(())
}

/// A hundred rows in one commit that does not concern the live query.
async fn batch(db: &Database, n: i64) -> Result<()> {
    let sets: Vec<_> = (0..100).map(|row| vec![(100 * n + row).into()]).collect();
    let done = db
        .execute_batch("INSERT INTO t(a, b) VALUES (?, 'some text')", &sets)
        .await?;
    assert_eq!(done.changes, 100);
    Ok(())
}

/// A commit that gives the live query a new result.
async fn emit(db: &Database, live: &mut LiveQuery, n: i64) -> Result<()> {
    db.execute("UPDATE t SET a = ? WHERE id = 1", [(n - 1_000_000).into()])
        .await?;
    let emitted = live.next().await.expect("it is open")?;
    assert_eq!(emitted.rows().len(), 1);
    Ok(())
}
