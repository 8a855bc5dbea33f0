//! Nodes that come late.

use std::{fs, time::Instant};

use pollster::block_on;
use resqlite::Database;
use serde_json::{Value, json};

use crate::{
    Outcome,
    world::{IN_FLIGHT, SCHEMA, World, in_flight, integer},
};

const ROWS_OF_A_WRITE: usize = 64;
/// Inserts rows from number `?1` on.
const INSERT: &str = "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + 63) INSERT INTO t(id, a) \
                      SELECT i, 'forty letters are what many a program stores' FROM n";
const LARGE: usize = 16;

/// A node that was away for so many rows.
pub fn catch_up(kind: &str, rows: usize) -> Outcome<Value> {
    let world = World::new(kind, "catch-up")?;
    let writer = world.open("a")?;
    block_on(writer.exec(SCHEMA))?;
    let away = world.open("b")?;
    block_on(away.fresh())?;
    drop(away);
    let written = in_flight(rows / ROWS_OF_A_WRITE, async |write| {
        let first = integer(write * ROWS_OF_A_WRITE);
        writer.execute(INSERT, [first]).await.map(drop)
    })?;
    let start = Instant::now();
    let late = world.open("b")?;
    block_on(late.fresh())?;
    let seconds = start.elapsed().as_secs_f64();
    // Measures a database alone with the same rows, in groups of the same size.
    let alone = block_on(Database::open(
        &world.path("alone")?,
        resqlite::Options::default(),
    ))?;
    block_on(alone.exec(SCHEMA))?;
    let beside = in_flight(rows / ROWS_OF_A_WRITE, async |write| {
        let first = integer(write * ROWS_OF_A_WRITE);
        alone.execute(INSERT, [first]).await.map(drop)
    })?;
    let rate = rows as f64 / seconds;
    Ok(json!({
        "rows": rows,
        "entries": writer.status().applied.0,
        "inFlight": IN_FLIGHT,
        "writtenRowsPerSecond": written * ROWS_OF_A_WRITE as f64,
        "rowsPerSecond": rate,
        "aloneRowsPerSecond": beside * ROWS_OF_A_WRITE as f64,
        "toWritten": rate / (written * ROWS_OF_A_WRITE as f64),
        "toAlone": rate / (beside * ROWS_OF_A_WRITE as f64),
    }))
}

/// A new node that begins from a snapshot of this size.
pub fn join(kind: &str, mebibytes: usize) -> Outcome<Value> {
    let world = World::new(kind, "join")?;
    let writer = world.open("a")?;
    block_on(writer.exec("CREATE TABLE blobs(a)"))?;
    let start = Instant::now();
    let large = "INSERT INTO blobs VALUES (randomblob(? << 20))";
    for _ in 0..mebibytes / LARGE {
        block_on(writer.execute(large, [integer(LARGE)]))?;
    }
    let written = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let position = block_on(writer.snapshot())?;
    let put = start.elapsed().as_secs_f64();
    world.runtime.block_on(world.log()?.purge(position))?;
    let start = Instant::now();
    let late = world.open("b")?;
    let joined = start.elapsed().as_secs_f64();
    let bytes = fs::metadata(world.path("b")?)?.len();
    let rows = block_on(late.database().select("SELECT count(*) FROM blobs", ()))?;
    let mib = bytes as f64 / f64::from(1 << 20);
    Ok(json!({
        "mib": mib,
        "rows": format!("{:?}", rows.first().map(|row| row.values().to_vec())),
        "largeEntriesMibPerSecond": mib / written,
        "snapshotMibPerSecond": mib / put,
        "joinMibPerSecond": mib / joined,
    }))
}
