//! A new log from the file of a node, where the old one is lost.

use pollster::block_on;
use resqlite::{Database, feeds::FeedOptions, log::Position};
use resqlite_cluster::{Error, MemoryLog, reseed};

use crate::support::{World, assert_equal};

/// Three nodes with their last position; then they are closed, and the log is lost.
fn of_a_lost_log() -> (World, Position) {
    let (mut world, nodes) = World::of_three("CREATE TABLE t(a)");
    for (value, node) in nodes.iter().enumerate() {
        node.run(&format!("INSERT INTO t VALUES ({value})"));
    }
    nodes[0].catch_up();
    let position = nodes[0].cluster.status().applied;
    nodes.into_iter().for_each(|node| node.close());
    world.log = MemoryLog::new();
    (world, position)
}

fn reseed_file(world: &World, name: &str) -> Result<Position, Error> {
    let path = world.path(name);
    block_on(reseed(path.to_str().unwrap(), resqlite::Options::default()))
}

fn open_plainly(world: &World, name: &str) -> Database {
    let path = world.path(name);
    block_on(Database::open(
        path.to_str().unwrap(),
        resqlite::Options::default(),
    ))
    .unwrap()
}

// G338
#[test]
fn a_file_of_a_lost_log_founds_a_cluster_from_which_the_others_begin() {
    let (world, position) = of_a_lost_log();
    assert_eq!(reseed_file(&world, "a").unwrap(), position);
    let founder = world.open("a");
    assert_eq!(founder.integers("SELECT a FROM t ORDER BY a"), [0, 1, 2]);
    std::fs::remove_file(world.path("b")).unwrap();
    let other = world.open("b");
    other.run("INSERT INTO t VALUES (3)");
    let nodes = [founder, other];
    assert_eq!(assert_equal(&nodes, "SELECT a FROM t ORDER BY a"), [0, 1, 2, 3]);
}

// G338
#[test]
fn a_file_of_the_lost_log_does_not_go_on_in_the_new_one() {
    let (world, _) = of_a_lost_log();
    reseed_file(&world, "a").unwrap();
    let founder = world.open("a");
    let old = world.open("b");
    // Its next entry would be one of the new log, which does not follow.
    while founder.run("INSERT INTO t VALUES (4)").position <= old.cluster.status().applied {}
    let stopped = block_on(old.cluster.fresh()).unwrap_err();
    assert_eq!(stopped.code(), "RESQLITE_LOG_DIVERGED");
}

// G338
#[test]
fn a_file_without_a_position_is_refused_and_stays_as_it_is() {
    let world = World::new();
    let missing = reseed_file(&world, "a").unwrap_err();
    assert_eq!(missing.code(), "RESQLITE_CLUSTER_FILE");
    assert!(!world.path("a").exists());

    let database = open_plainly(&world, "a");
    block_on(database.exec("CREATE TABLE t(a)")).unwrap();
    block_on(database.close()).unwrap();
    let plain = reseed_file(&world, "a").unwrap_err();
    assert_eq!(plain.code(), "RESQLITE_CLUSTER_FILE");
}

// G338
#[test]
fn a_file_with_a_change_feed_is_refused_until_the_feed_is_dropped() {
    let (world, position) = of_a_lost_log();
    let database = open_plainly(&world, "a");
    drop(block_on(database.feed(FeedOptions::named("index"))).unwrap());
    let refused = reseed_file(&world, "a").unwrap_err();
    assert!(refused.to_string().contains("change feeds"), "{refused}");
    block_on(database.drop_feed("index")).unwrap();
    block_on(database.close()).unwrap();
    assert!(reseed_file(&world, "a").unwrap() >= position);
    world.open("a");
}

// G338
#[test]
fn an_open_node_is_not_reseeded() {
    let world = World::new();
    let node = world.open("a");
    node.run("CREATE TABLE t(a)");
    let refused = reseed_file(&world, "a").unwrap_err();
    assert_eq!(refused.code(), "RESQLITE_CLUSTER_FILE");
    assert!(refused.to_string().contains("is open as a node"), "{refused}");
    node.run("INSERT INTO t VALUES (1)");
}
