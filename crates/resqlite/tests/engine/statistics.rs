//! Statistics that ANALYZE gathers reach all connections.

use resqlite::{Error, Options, Value};

use crate::support::{Fixture, block_on, readers};

const QUESTION: &str = "EXPLAIN QUERY PLAN SELECT c FROM t WHERE a = 1 AND b = 1";

/// A table with an index on each of two columns, of which `a` tells rows apart.
fn fixture(options: Options) -> Fixture {
    let fixture = Fixture::with(
        "CREATE TABLE t(a, b, c); CREATE INDEX by_a ON t(a); CREATE INDEX by_b ON t(b);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) INSERT INTO t SELECT i, i % 2, i FROM n;
         ANALYZE",
        options,
    );
    assert!(plan(&fixture).contains("by_a"));
    fixture
}

fn plan(fixture: &Fixture) -> String {
    detail(&fixture.select(QUESTION))
}

fn detail(rows: &resqlite::Rows) -> String {
    match rows.first().unwrap().get("detail") {
        Some(Value::Text(detail)) => detail.clone(),
        other => panic!("{other:?}"),
    }
}

/// From now on it is `b` that tells rows apart.
const SWAP: &str = "UPDATE t SET a = b, b = c";

// G38
#[test]
fn readers_that_exist_plan_by_them() {
    let fixture = fixture(readers(1));
    fixture.exec(SWAP);
    fixture.run("ANALYZE");
    assert!(plan(&fixture).contains("by_b"));
}

// G38
#[test]
fn also_when_analyze_runs_in_a_transaction_or_a_script() {
    let fixture = fixture(readers(1));
    fixture.exec(&format!("{SWAP}; ANALYZE t"));
    assert!(plan(&fixture).contains("by_b"));
    block_on(fixture.db.transaction(async |tx| {
        tx.exec("UPDATE t SET b = a, a = c").await?;
        tx.execute("ANALYZE t", ()).await
    }))
    .unwrap();
    assert!(plan(&fixture).contains("by_a"));
}

// G38
#[test]
fn also_when_pragma_optimize_gathers_them() {
    let fixture = Fixture::with(
        "CREATE TABLE first(a, b); CREATE INDEX first_a ON first(a); CREATE INDEX first_b ON first(b);
         CREATE TABLE second(a, b); CREATE INDEX second_a ON second(a); CREATE INDEX second_b ON second(b);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) INSERT INTO first SELECT i, 1 FROM n;
         INSERT INTO second SELECT b, a FROM first",
        readers(1),
    );
    let plan = |table| {
        let question = format!("EXPLAIN QUERY PLAN SELECT rowid FROM {table} WHERE a = 1 AND b = 1");
        detail(&fixture.select(&question))
    };
    // Without statistics one of the two plans is bad.
    assert!(!plan("first").contains("first_a") || !plan("second").contains("second_b"));
    // 0x10000: all tables, not only those that this connection has queried.
    fixture.run("PRAGMA optimize(0x10002)");
    assert!(plan("first").contains("first_a"));
    assert!(plan("second").contains("second_b"));
}

// G38
#[test]
fn nobody_plans_by_those_that_were_rolled_back() {
    let fixture = fixture(readers(1));
    let rolled_back = block_on(fixture.db.transaction(async |tx| {
        tx.exec(SWAP).await?;
        tx.execute("ANALYZE", ()).await?;
        assert!(detail(&tx.select(QUESTION, ()).await?).contains("by_b"));
        Err::<(), _>(Error::Closed)
    }));
    assert!(matches!(rolled_back, Err(Error::Closed)));
    assert!(plan(&fixture).contains("by_a"));
    let tx = block_on(fixture.db.begin(None)).unwrap();
    assert!(detail(&block_on(tx.select(QUESTION, ())).unwrap()).contains("by_a"));
}

// G38
#[test]
fn snapshots_and_the_writer_agree_with_readers() {
    let fixture = fixture(readers(1));
    let before = block_on(fixture.db.snapshot()).unwrap();
    assert!(detail(&block_on(before.select(QUESTION, ())).unwrap()).contains("by_a"));
    drop(before);
    fixture.exec(SWAP);
    fixture.run("ANALYZE");
    let after = block_on(fixture.db.snapshot()).unwrap();
    assert!(detail(&block_on(after.select(QUESTION, ())).unwrap()).contains("by_b"));
    let tx = block_on(fixture.db.begin(None)).unwrap();
    assert!(detail(&block_on(tx.select(QUESTION, ())).unwrap()).contains("by_b"));
}
