//! Writes that travel to the node that writes.

use std::time::Duration;

use pollster::block_on;
use resqlite::log::Position;
use resqlite_cluster::{Error, Role};

use crate::support::{World, assert_equal};

#[test]
fn a_write_runs_on_the_node_that_wrote_last() {
    let (_world, nodes) = World::of_three("CREATE TABLE t(a)");
    nodes[1].run("INSERT INTO t VALUES (1)");
    nodes[2].run("INSERT INTO t VALUES (2)");
    nodes.iter().for_each(|node| node.catch_up());
    let roles = [0, 1, 2].map(|at| nodes[at].cluster.status().role);
    assert_eq!(roles, [Role::Writer, Role::Follower, Role::Follower]);
    assert_equal(&nodes, "SELECT a FROM t");
}

#[test]
fn where_the_writing_node_is_gone_another_takes_over() {
    let (_world, [writer, one, other]) = World::of_three("CREATE TABLE t(a)");
    writer.close();
    one.run("INSERT INTO t VALUES (1)");
    other.run("INSERT INTO t VALUES (2)");
    one.catch_up();
    assert_eq!(one.cluster.status().role, Role::Writer);
    assert_eq!(one.integers("SELECT a FROM t"), [1, 2]);
}

#[test]
fn where_the_writing_node_does_not_answer_another_takes_over_and_the_write_is_done_once() {
    let world = World::new();
    let hurry = |options: &mut resqlite_cluster::Options| options.forward_timeout = Duration::from_millis(50);
    let writer = world.open("a");
    let one = world.open_with("b", hurry).unwrap();
    writer.run("CREATE TABLE t(a)");
    one.catch_up();
    // The transaction holds the writer: the request waits there, and is given up here.
    let open = block_on(writer.cluster.database().begin(None)).unwrap();
    one.run("INSERT INTO t VALUES (1)");
    assert_eq!(one.cluster.status().role, Role::Writer);
    block_on(open.rollback()).unwrap();
    writer.run("INSERT INTO t VALUES (2)");
    assert_eq!(assert_equal(&[writer, one], "SELECT a FROM t"), [1, 2]);
}

// G333
#[test]
fn a_write_whose_rows_are_larger_than_the_log_carries_is_done_once_and_its_error_says_where() {
    let (_world, nodes) = World::of_three("CREATE TABLE t(a, b)");
    let error = nodes[1].fails("INSERT INTO t VALUES (1, zeroblob(2000000)) RETURNING a, b");
    assert_eq!(
        error,
        Error::AnswerTooLarge {
            position: Position(2)
        }
    );
    assert_eq!(error.code(), "RESQLITE_ANSWER_LOST");
    assert_eq!(assert_equal(&nodes, "SELECT a FROM t"), [1]);
    let roles = [0, 1, 2].map(|at| nodes[at].cluster.status().role);
    assert_eq!(
        roles,
        [Role::Writer, Role::Follower, Role::Follower],
        "nobody took the writing over"
    );
}
