//! Nodes that come, go, and come back.

use std::collections::BTreeSet;

use pollster::block_on;
use resqlite::{feeds::FeedOptions, log::Position};
use resqlite_cluster::Options;

use crate::support::{Node, World, assert_equal, insert, wait_until};

#[test]
fn a_node_that_was_away_applies_what_it_has_missed() {
    let (world, [one, other, third]) = World::of_three("CREATE TABLE t(a)");
    third.close();
    let nodes = [one, other];
    insert(&nodes, 0..20);
    let [one, other] = nodes;
    let third = world.open("c");
    assert_eq!(assert_equal(&[one, other, third], "SELECT count(*) FROM t"), [20]);
}

// G327
#[test]
fn a_new_node_begins_from_the_newest_snapshot() {
    let (world, [one, ..]) = World::of_three("CREATE TABLE t(a)");
    one.run("INSERT INTO t VALUES (1)");
    let position = block_on(one.cluster.snapshot()).unwrap();
    block_on(resqlite_cluster::Log::purge(&one.connection, position)).unwrap();
    one.run("INSERT INTO t VALUES (2)");
    let new = world.open("new");
    assert_eq!(new.integers("SELECT a FROM t"), [1, 2]);
}

// G327
#[test]
fn copies_that_a_killed_node_has_left_are_removed_when_its_file_is_opened() {
    let world = World::new();
    let left = world.folder.path().join("a.db-resqlite-snapshot-4711-0");
    let of_another = world.folder.path().join("b.db-resqlite-snapshot-4711-0");
    for file in [&left, &of_another] {
        std::fs::write(file, "half of a copy").unwrap();
    }
    world.open("a");
    assert!(!left.exists());
    assert!(of_another.exists());
}

// G327
#[test]
fn a_node_that_is_too_far_behind_begins_anew_from_a_snapshot() {
    let (world, [one, _other, third]) = World::of_three("CREATE TABLE t(a)");
    third.close();
    one.run("INSERT INTO t VALUES (1)");
    one.run("INSERT INTO t VALUES (2)");
    let position = block_on(one.cluster.snapshot()).unwrap();
    block_on(resqlite_cluster::Log::purge(&one.connection, position)).unwrap();
    one.run("INSERT INTO t VALUES (3)");
    let third = world.open("c");
    assert_eq!(third.integers("SELECT a FROM t"), [1, 2, 3]);
    third.run("INSERT INTO t VALUES (4)");
    assert_eq!(assert_equal(&[one, third], "SELECT a FROM t"), [1, 2, 3, 4]);
}

// G327
#[test]
fn change_feeds_stay_with_their_node_where_a_snapshot_takes_the_place_of_its_file() {
    let (world, [one, _other, third]) = World::of_three("CREATE TABLE t(a)");
    let feed = |node: &Node, name: &str| block_on(node.cluster.database().feed(FeedOptions::named(name)));
    feed(&one, "of one").unwrap();
    feed(&third, "of the third").unwrap();
    third.close();
    one.run("INSERT INTO t VALUES (1)");
    let position = block_on(one.cluster.snapshot()).unwrap();
    block_on(resqlite_cluster::Log::purge(&one.connection, position)).unwrap();
    let third = world.open("c");
    assert_eq!(
        third.integers("SELECT count(*) FROM _resqlite_feeds WHERE name = 'of one'"),
        [0]
    );
    let lost = feed(&third, "of the third").err().unwrap();
    assert_eq!(lost.code(), "RESQLITE_FEED_LOST");
    block_on(third.cluster.database().drop_feed("of the third")).unwrap();
    feed(&third, "of the third").unwrap();
    one.run("INSERT INTO t VALUES (2)");
    assert_eq!(assert_equal(&[one, third], "SELECT a FROM t"), [1, 2]);
}

#[test]
fn snapshots_are_made_on_the_way_and_the_log_is_let_go_of() {
    let world = World::new();
    let one = world
        .open_with("a", |options| options.snapshot_every = Some(10))
        .unwrap();
    one.run("CREATE TABLE t(a)");
    // The log shrinks when the second snapshot is there.
    for value in 0.. {
        one.run(&format!("INSERT INTO t VALUES ({value})"));
        if (world.log.entries().len() as u64) < one.cluster.status().applied.0 {
            break;
        }
        assert!(value < 100_000, "nothing was purged");
    }
    let new = world.open("new");
    assert_equal(&[one, new], "SELECT count(*) FROM t");
}

// G327
#[test]
fn snapshots_are_due_by_the_newest_of_the_log_however_often_nodes_are_opened() {
    let world = World::new();
    let open = || world.open_with("a", every_ten).unwrap();
    open().run("CREATE TABLE t(a)");
    for _ in 0..5 {
        let one = open();
        (0..6).for_each(|value| drop(one.run(&format!("INSERT INTO t VALUES ({value})"))));
        let applied = one.cluster.status().applied;
        // As long as others wait, if it is not the writer.
        wait_until(|| applied < newest(&world) + 12);
        one.close();
    }
    assert!(world.log.entries().len() < 31, "nothing was purged");
    assert_eq!(world.open("new").integers("SELECT count(*) FROM t"), [30]);
}

// G327
#[test]
fn nodes_do_not_put_a_snapshot_that_another_has_put() {
    let world = World::new();
    let one = world.open_with("a", every_ten).unwrap();
    one.run("CREATE TABLE t(a)");
    // Each was opened at another position.
    let other = world.open_with("b", every_ten).unwrap();
    one.run("INSERT INTO t VALUES (-1)");
    let nodes = [one, other, world.open_with("c", every_ten).unwrap()];
    let mut seen = BTreeSet::new();
    for value in 0..60 {
        let position = nodes[0].run(&format!("INSERT INTO t VALUES ({value})")).position;
        nodes.iter().for_each(Node::catch_up);
        if position >= newest(&world) + 10 {
            wait_until(|| position < newest(&world) + 10 && world.log.snapshots().len() <= 2);
        }
        seen.extend(world.log.snapshots());
    }
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        [10, 20, 30, 40, 50, 60].map(Position)
    );
    let entries = world.log.entries().len() as u64;
    assert_eq!(
        nodes[0].cluster.status().applied,
        world.log.snapshots()[0] + entries,
        "the log begins behind the one before"
    );
}

// G327
#[test]
fn other_nodes_put_a_snapshot_where_the_writer_puts_none() {
    let world = World::new();
    let never = |options: &mut Options| options.snapshot_every = None;
    let writer = world.open_with("a", never).unwrap();
    let _other = world.open_with("b", every_ten).unwrap();
    writer.run("CREATE TABLE t(a)");
    (0..20).for_each(|value| drop(writer.run(&format!("INSERT INTO t VALUES ({value})"))));
    wait_until(|| newest(&world) > Position(0));
}

fn every_ten(options: &mut Options) {
    options.snapshot_every = Some(10);
}

/// The position of the newest snapshot.
fn newest(world: &World) -> Position {
    world.log.snapshots().last().copied().unwrap_or_default()
}

// G331
#[test]
fn a_file_with_content_founds_a_cluster_and_is_refused_by_one_that_has_begun() {
    let world = World::new();
    let prepare = |name: &str| {
        let path = world.path(name);
        let open = resqlite::Database::open(path.to_str().unwrap(), resqlite::Options::default());
        let database = block_on(open).unwrap();
        block_on(database.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)")).unwrap();
        block_on(database.close()).unwrap();
    };
    prepare("a");
    prepare("b");
    let one = world.open("a");
    one.run("INSERT INTO t VALUES (2)");
    let refused = world.open_with("b", |_| ()).map(drop).unwrap_err();
    assert_eq!(refused.code(), "RESQLITE_CLUSTER_FILE");
    let new = world.open("new");
    assert_eq!(new.integers("SELECT a FROM t"), [1, 2]);
}

// G326, G331
#[test]
fn a_file_with_content_of_its_own_founds_no_cluster_that_another_has_founded() {
    let world = World::new();
    for (name, value) in [("a", 1), ("b", 2)] {
        let path = world.path(name);
        let options = resqlite::Options::default();
        let database = block_on(resqlite::Database::open(path.to_str().unwrap(), options)).unwrap();
        let script = format!("CREATE TABLE t(a); INSERT INTO t VALUES ({value})");
        block_on(database.exec(&script)).unwrap();
        block_on(database.close()).unwrap();
    }
    let founder = world.open("a");
    let error = world
        .open_with("b", |_| ())
        .err()
        .expect("the cluster has another content");
    assert_eq!(error.code(), "RESQLITE_CLUSTER_FILE");
    founder.close();
    assert_eq!(
        world.open("a").integers("SELECT a FROM t"),
        [1],
        "the founder opens again"
    );
    assert_eq!(world.open("c").integers("SELECT a FROM t"), [1]);
}
