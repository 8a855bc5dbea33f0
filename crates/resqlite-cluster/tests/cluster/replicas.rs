//! Nodes that never write.

use std::time::Duration;

use pollster::block_on;
use resqlite_cluster::{Options, Role};

use crate::support::{Node, World, assert_equal};

fn replica(world: &World, name: &str) -> Node {
    let never_writes = |options: &mut Options| options.writes = false;
    world.open_with(name, never_writes).unwrap()
}

// G352
#[test]
fn its_writes_run_on_the_node_that_writes() {
    let world = World::new();
    let writer = world.open("a");
    writer.run("CREATE TABLE t(a)");
    let replica = replica(&world, "b");
    replica.run("INSERT INTO t VALUES (1)");
    block_on(replica.cluster.batch([("INSERT INTO t VALUES (2)", ().into())])).unwrap();
    assert_eq!(replica.cluster.status().role, Role::Follower);
    assert_eq!(replica.cluster.status().appends.count, 0);
    assert_eq!(writer.cluster.status().appends.count, 3);
    assert_eq!(assert_equal(&[writer, replica], "SELECT a FROM t"), [1, 2]);
}

// G352
#[test]
fn a_transaction_that_has_written_is_refused_and_one_that_has_read_is_not() {
    let world = World::new();
    let writer = world.open("a");
    writer.run("CREATE TABLE t(a)");
    let replica = replica(&world, "b");
    let writes = async |tx: &resqlite::Transaction| tx.execute("INSERT INTO t VALUES (1)", ()).await;
    let error = block_on(replica.cluster.transaction(3, writes)).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_NEVER_WRITES");
    let reads = async |tx: &resqlite::Transaction| tx.select("SELECT a FROM t", ()).await;
    assert_eq!(block_on(replica.cluster.transaction(3, reads)).unwrap().len(), 0);
    assert!(assert_equal(&[writer, replica], "SELECT a FROM t").is_empty());
}

// G352
#[test]
fn it_does_not_take_over_from_a_writer_that_is_gone_and_finds_the_one_that_comes_back() {
    let world = World::new();
    let writer = world.open("a");
    writer.run("CREATE TABLE t(a)");
    let hurried = |options: &mut Options| {
        options.writes = false;
        options.write_timeout = Duration::from_millis(100);
    };
    // A file that has entries is opened however slow the log is.
    replica(&world, "b").close();
    let late = world.open_with("b", hurried).unwrap();
    writer.close();
    assert_eq!(
        late.fails("INSERT INTO t VALUES (1)").code(),
        "RESQLITE_NO_QUORUM"
    );
    assert_eq!(late.cluster.status().role, Role::Follower);
    let patient = replica(&world, "c");
    let writer = world.open("a");
    patient.run("INSERT INTO t VALUES (2)");
    assert_eq!(assert_equal(&[writer, patient], "SELECT a FROM t"), [2]);
}

// G352
#[test]
fn it_founds_no_cluster() {
    let world = World::new();
    let path = world.path("a");
    let open = resqlite::Database::open(path.to_str().unwrap(), resqlite::Options::default());
    let database = block_on(open).unwrap();
    block_on(database.exec("CREATE TABLE t(a)")).unwrap();
    block_on(database.close()).unwrap();
    let refused = world
        .open_with("a", |options| options.writes = false)
        .map(drop)
        .unwrap_err();
    assert_eq!(refused.code(), "RESQLITE_CLUSTER_FILE");
    world.open("a").run("INSERT INTO t VALUES (1)");
}
