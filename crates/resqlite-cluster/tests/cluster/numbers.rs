//! The number of a commit is its position in the log, on every node.

use std::sync::mpsc;

use pollster::block_on;
use resqlite::{CommitId, LiveQuery, log::Position};

use crate::support::{Node, World};

fn count(node: &Node) -> LiveQuery {
    node.cluster.database().stream("SELECT count(*) FROM t", ())
}

/// The number with the emission that shows so many rows.
fn shown(live: &mut LiveQuery, rows: i64) -> Position {
    loop {
        let emitted = block_on(live.next()).unwrap().unwrap();
        if emitted.rows().iter().next().unwrap().values() == [rows.into()] {
            return Position(emitted.commit.0);
        }
    }
}

fn last_commit(node: &Node) -> Position {
    Position(node.cluster.database().diagnostics().last_commit.0)
}

// G340
#[test]
fn a_commit_has_the_same_number_in_results_live_queries_and_commit_events_of_all_nodes() {
    let (_world, nodes) = World::of_three("CREATE TABLE t(a)");
    let mut live = nodes.each_ref().map(count);
    live.iter_mut()
        .for_each(|live| assert_eq!(shown(live, 0), Position(1)));
    for rows in 1..=6 {
        let listeners = nodes
            .each_ref()
            .map(|node| node.cluster.database().engine().listen_to_commits(None));
        nodes.iter().for_each(Node::wait_until_quiet);
        let written = nodes[rows % 3].run("INSERT INTO t VALUES (1)");
        for (live, listener) in live.iter_mut().zip(&listeners) {
            assert_eq!(shown(live, rows as i64), written.position);
            let (tell, told) = mpsc::channel();
            listener.next(move |event| tell.send(event.unwrap()).unwrap());
            assert_eq!(told.recv().unwrap().last, written.position.into());
        }
        nodes
            .iter()
            .for_each(|node| assert_eq!(last_commit(node), written.position));
    }
    let here = block_on(
        nodes[0]
            .cluster
            .database()
            .execute("INSERT INTO t VALUES (1)", ()),
    )
    .unwrap();
    assert_eq!(here.commit, nodes[0].cluster.status().applied.into());
    assert_eq!(here.commit, shown(&mut live[1], 7).into());
}

// G340
#[test]
fn numbers_go_on_after_a_restart_and_from_a_snapshot() {
    let (world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    (0..5).for_each(|_| drop(one.run("INSERT INTO t VALUES (1)")));
    let position = block_on(one.cluster.snapshot()).unwrap();
    block_on(resqlite_cluster::Log::purge(&one.connection, position)).unwrap();
    one.close();
    let (one, new) = (world.open("a"), world.open("new"));
    for node in [&one, &new] {
        assert_eq!(last_commit(node), position);
        assert_eq!(shown(&mut count(node), 5), position);
    }
    let mut live = [count(&one), count(&new)];
    for live in &mut live {
        shown(live, 5);
    }
    [&one, &new].into_iter().for_each(Node::wait_until_quiet);
    let written = other.run("INSERT INTO t VALUES (1)");
    // The node that was the writer may take the writing over meanwhile, by an entry that changes no row. A run for that entry may
    // show the row already, and says only that it includes the entry.
    live.iter_mut()
        .for_each(|live| assert!(shown(live, 6) >= position));
    for node in [&one, &new] {
        node.wait_until_quiet();
        assert!(last_commit(node) >= written.position);
    }
}

// G340
#[test]
fn a_transaction_has_the_position_of_its_entry() {
    let (_world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    let mut live = count(&other);
    assert_eq!(shown(&mut live, 0), Position(1));
    let begun = block_on(one.cluster.database().begin(None)).unwrap();
    block_on(begun.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    let commit = block_on(begun.commit()).unwrap();
    assert_eq!(shown(&mut live, 1), Position(2));
    assert_eq!(commit, CommitId(2));
}
