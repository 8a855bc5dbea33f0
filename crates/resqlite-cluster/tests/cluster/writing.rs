//! Writes on any node.

use pollster::block_on;
use resqlite::Value;

use crate::support::{World, assert_equal, insert};

// G321
#[test]
fn writes_on_all_nodes_are_seen_at_once_where_they_were_made_and_everywhere_in_the_end() {
    let (_world, nodes) = World::of_three("CREATE TABLE t(a)");
    insert(&nodes, 0..60);
    let all = assert_equal(&nodes, "SELECT a FROM t ORDER BY rowid");
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..60).collect::<Vec<_>>());
}

// G322
#[test]
fn transactions_of_several_nodes_run_again_until_each_was_done_alone() {
    let (_world, nodes) = World::of_three("CREATE TABLE t(a); INSERT INTO t VALUES (0)");
    let add = async |tx: &resqlite::Transaction| {
        let rows = tx.select("SELECT a FROM t", ()).await?;
        let Some([Value::Integer(a)]) = rows.first().map(|row| row.values()) else {
            panic!("one row");
        };
        tx.execute("UPDATE t SET a = ?", [(a + 1).into()]).await
    };
    std::thread::scope(|scope| {
        for node in &nodes {
            scope.spawn(|| {
                for _ in 0..10 {
                    block_on(node.cluster.transaction(1000, &add)).unwrap();
                }
            });
        }
    });
    assert_eq!(assert_equal(&nodes, "SELECT a FROM t"), [30]);
}

// G322
#[test]
fn a_transaction_without_retries_says_that_another_node_was_first() {
    let (_world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    let late = async |tx: &resqlite::Transaction| {
        tx.execute("INSERT INTO t VALUES (1)", ()).await?;
        other.run("INSERT INTO t VALUES (2)");
        Ok(())
    };
    // The other writes by itself, since its requests would wait for this transaction.
    other.run("INSERT INTO t VALUES (0)");
    block_on(other.cluster.database().execute("INSERT INTO t VALUES (0)", ())).unwrap();
    one.catch_up();
    let error = block_on(one.cluster.transaction(0, late)).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENTRY_OVERTAKEN");
    one.catch_up();
    assert_eq!(one.integers("SELECT a FROM t"), [0, 0, 2]);
}

// G323
#[test]
fn results_and_errors_are_those_of_the_database_wherever_the_write_ran() {
    let (_world, nodes) = World::of_three("CREATE TABLE t(a UNIQUE, b)");
    nodes[0].run("INSERT INTO t VALUES (1, 'x')");
    for node in &nodes {
        node.catch_up();
        let written = node.run("UPDATE t SET b = 'y' RETURNING a, b");
        let row = written.rows.first().unwrap();
        assert_eq!((row.get("a"), row.get("b")), (Some(&1.into()), Some(&"y".into())));
        assert_eq!(
            node.fails("INSERT INTO t VALUES (1, 'z')").code(),
            "SQLITE_CONSTRAINT_UNIQUE"
        );
        let done = block_on(node.cluster.batch([
            ("INSERT INTO t VALUES (?, 'z')", [7.into()].into()),
            ("DELETE FROM t WHERE a = 7 RETURNING b", ().into()),
        ]));
        let done = done.unwrap();
        assert_eq!((done[0].changes, done[1].rows.len()), (1, 1));
        let sets = [vec![8.into(), 8.into()], vec![9.into(), 9.into()]];
        let written = block_on(node.cluster.execute_batch("INSERT INTO t VALUES (?, ?)", &sets)).unwrap();
        assert_eq!(written.changes, 2);
        block_on(node.cluster.exec("DELETE FROM t WHERE a > 7")).unwrap();
    }
    assert_equal(&nodes, "SELECT a FROM t");
}

// G322
#[test]
fn a_transaction_that_writes_and_changes_nothing_has_seen_the_newest_state() {
    let (_world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    let update = async |tx: &resqlite::Transaction| {
        let written = tx.execute("UPDATE t SET a = a + 1", ()).await?;
        if written.changes == 0 {
            one.run("INSERT INTO t VALUES (1)");
        }
        Ok(written.changes)
    };
    assert_eq!(block_on(other.cluster.transaction(1, update)).unwrap(), 1);
}

// G322
#[test]
fn a_transaction_that_changes_nothing_beside_others_that_always_write_runs_twice_at_most() {
    let (_world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    one.run("INSERT INTO t VALUES (0)");
    for _ in 0..20 {
        let delete = async |tx: &resqlite::Transaction| {
            let done = tx.execute("DELETE FROM t WHERE a < 0", ()).await;
            one.run("INSERT INTO t VALUES (1)");
            done.map(drop)
        };
        block_on(other.cluster.transaction(1, delete)).unwrap();
    }
}
