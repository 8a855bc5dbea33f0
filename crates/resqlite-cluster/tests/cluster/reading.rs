//! Reads and live queries of a node.

use pollster::block_on;
use resqlite::Value;

use crate::support::{World, assert_equal};

// G323
#[test]
fn fresh_shows_what_any_node_has_acknowledged_and_after_what_one_has_named() {
    let (_world, [one, other, third]) = World::of_three("CREATE TABLE t(a)");
    for value in 0..20 {
        let written = one.run(&format!("INSERT INTO t VALUES ({value})"));
        block_on(other.cluster.fresh()).unwrap();
        block_on(third.cluster.after(written.position)).unwrap();
        for node in [&one, &other, &third] {
            assert_eq!(node.integers("SELECT max(a) FROM t"), [value]);
        }
    }
}

// G323
#[test]
fn reads_of_a_node_show_whole_entries_and_never_go_back() {
    let schema = "CREATE TABLE t(a); INSERT INTO t VALUES (0), (0)";
    let (_world, nodes) = World::of_three(schema);
    let [one, other, reader] = &nodes;
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| {
            for turn in 0..60 {
                // The reader misses some entries.
                reader.connection.cut(turn % 10 < 3);
                [one, other][turn % 2].run("UPDATE t SET a = a + 1");
            }
            reader.connection.cut(false);
            reader.catch_up();
        });
        let mut before = 0;
        while !writes.is_finished() {
            let shown = reader.integers("SELECT a FROM t");
            assert_eq!(shown[0], shown[1], "they are of one entry");
            assert!(shown[0] >= before, "{} was shown after {before}", shown[0]);
            before = shown[0];
        }
        writes.join().unwrap();
    });
    assert_eq!(assert_equal(&nodes, "SELECT a FROM t"), [60, 60]);
}

// G324
#[test]
fn live_queries_of_a_follower_run_only_where_a_row_concerns_them() {
    const QUERIES: i64 = 50;
    let (_world, [writer, follower, _third]) = World::of_three(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a);
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49) INSERT INTO t SELECT i, 0 FROM n",
    );
    let database = follower.cluster.database();
    let mut live: Vec<_> = (0..QUERIES)
        .map(|id| database.stream("SELECT a FROM t WHERE id = ?", [id.into()]))
        .collect();
    for live in &mut live {
        block_on(live.next()).unwrap().unwrap();
    }
    // Around its first run, a live query may run without need.
    follower.wait_until_quiet();
    let before = database.diagnostics().streams.sums;
    for id in 0..QUERIES {
        writer.run(&format!("UPDATE t SET a = {} WHERE id = {id}", id + 1));
        let emitted = block_on(live[id as usize].next()).unwrap().unwrap();
        assert_eq!(
            emitted.rows().iter().next().unwrap().values(),
            [Value::Integer(id + 1)]
        );
    }
    let after = database.diagnostics().streams.sums;
    assert_eq!(
        after.reruns - before.reruns,
        QUERIES as u64,
        "one for each commit"
    );
    assert_eq!(after.unchanged - before.unchanged, 0, "none in vain");
}
