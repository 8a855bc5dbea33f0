//! Entries that are larger than the log takes: 1 MiB here, and parts of 512 KiB.

use std::{
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use pollster::block_on;
use resqlite::log::Position;
use resqlite_cluster::{Log, Result, Written};

use crate::support::{Node, World, assert_equal};

const LARGE: &str = "INSERT INTO t VALUES (randomblob(3000000))";
/// How many parts its entry has.
const PARTS: usize = 6;
const LENGTHS: &str = "SELECT length(a) FROM t ORDER BY rowid";
/// To tell contents apart.
const CONTENT: &str = "SELECT unicode(hex(substr(a, 1, 1))) FROM t ORDER BY rowid";

/// Writes a large entry, which comes no further than so many parts for now.
fn begin<'s>(
    scope: &'s thread::Scope<'s, '_>,
    world: &World,
    node: &'s Node,
    parts: usize,
) -> ScopedJoinHandle<'s, Result<Written>> {
    let before = world.log.parts();
    node.connection.take_parts(parts);
    let writes = scope.spawn(move || {
        let written = block_on(node.cluster.database().execute(LARGE, ()));
        written
            .map(|written| Written {
                position: Position(written.commit.0),
                ..Written::default()
            })
            .map_err(Into::into)
    });
    while world.log.parts() < before + parts {
        thread::yield_now();
    }
    writes
}

// G339
#[test]
fn a_large_entry_is_one_entry_for_every_node_also_for_one_that_joins_late() {
    let (world, nodes) = World::of_three("CREATE TABLE t(a)");
    for node in &nodes {
        let before = world.log.parts();
        node.run(LARGE);
        assert!(world.log.parts() >= before + PARTS);
    }
    assert_eq!(assert_equal(&nodes, LENGTHS), [3_000_000; 3]);
    assert_equal(&nodes, CONTENT);
    let [one, other, _third] = nodes;
    assert_equal(&[world.open("new"), one, other], CONTENT);
}

// G339
#[test]
fn a_large_entry_is_nowhere_until_its_last_part_is_there() {
    let (world, nodes) = World::of_three("CREATE TABLE t(a)");
    thread::scope(|scope| {
        let writes = begin(scope, &world, &nodes[0], PARTS - 1);
        assert_eq!(world.log.entries().len(), 1);
        nodes[0].connection.take_parts(usize::MAX);
        assert_eq!(writes.join().unwrap().unwrap().position, Position(2));
    });
    assert_eq!(assert_equal(&nodes, LENGTHS), [3_000_000]);
}

// G339
#[test]
fn a_large_entry_that_is_overtaken_while_its_parts_are_put_is_written_behind() {
    let (world, nodes) = World::of_three("CREATE TABLE t(a)");
    thread::scope(|scope| {
        let writes = begin(scope, &world, &nodes[0], 2);
        let small = nodes[1]
            .cluster
            .database()
            .execute("INSERT INTO t VALUES (zeroblob(1))", ());
        assert_eq!(block_on(small).unwrap().commit.0, 2);
        nodes[0].connection.take_parts(usize::MAX);
        assert_eq!(writes.join().unwrap().unwrap().position, Position(3));
    });
    assert_eq!(assert_equal(&nodes, LENGTHS), [1, 3_000_000]);
    assert_equal(&nodes, CONTENT);
}

// G339
#[test]
fn a_large_entry_whose_answer_is_lost_is_written_once() {
    let (_world, nodes) = World::of_three("CREATE TABLE t(a)");
    nodes[0].connection.lose_answers(1);
    assert_eq!(nodes[0].run(LARGE).position, Position(2));
    assert_eq!(assert_equal(&nodes, LENGTHS), [3_000_000]);
}

// G339
#[test]
fn what_a_writer_leaves_that_goes_between_two_parts_is_seen_by_nobody_and_goes_with_a_purge() {
    let world = World::new();
    let hurried = |options: &mut resqlite_cluster::Options| options.write_timeout = Duration::from_secs(1);
    let one = world.open_with("a", hurried).unwrap();
    let other = world.open("b");
    one.run("CREATE TABLE t(a)");
    other.catch_up();
    thread::scope(|scope| {
        let writes = begin(scope, &world, &one, 3);
        one.connection.cut(true);
        let error = writes.join().unwrap().unwrap_err();
        let codes = ["RESQLITE_NO_QUORUM", "RESQLITE_OUTCOME_UNKNOWN"];
        assert!(codes.contains(&error.code()), "{error}");
    });
    one.close();
    let small = other
        .cluster
        .database()
        .execute("INSERT INTO t VALUES (zeroblob(1))", ());
    assert_eq!(block_on(small).unwrap().commit.0, 2);
    let new = world.open("c");
    assert_eq!(assert_equal(&[other, new], LENGTHS), [1]);
    assert_eq!(world.log.parts(), 3);
    block_on(world.log.connect().purge(Position(2))).unwrap();
    assert_eq!(world.log.parts(), 0);
}

// G339
#[test]
fn a_new_node_is_not_opened_where_parts_of_an_entry_are_missing() {
    let world = World::new();
    let one = world.open("a");
    one.run("CREATE TABLE t(a)");
    one.run(LARGE);
    world.log.forget_parts();
    let error = world.open_with("b", |_| ()).map(drop).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED");
    assert!(error.to_string().contains("parts"), "{error}");
}

#[test]
fn a_log_whose_first_entry_is_large_is_a_beginning_like_any_other() {
    let (world, nodes) = World::of_three("CREATE TABLE t AS SELECT randomblob(3000000) AS a");
    let [one, other, _third] = nodes;
    assert_eq!(
        assert_equal(&[world.open("new"), one, other], LENGTHS),
        [3_000_000]
    );
}
