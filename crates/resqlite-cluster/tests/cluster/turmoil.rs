//! Everything at once: nodes that write, and are closed, opened, cut off and left without answers meanwhile.

use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use pollster::block_on;
use resqlite_cluster::{MemoryConnection, Options};

use crate::support::{Node, World, assert_equal};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn hurry(options: &mut Options) {
    options.write_timeout = Duration::from_millis(500);
    options.forward_timeout = Duration::from_millis(60);
    options.tail_timeout = Duration::from_millis(60);
    options.snapshot_every = Some(100);
}

/// What clients know: done, not done, or neither.
#[derive(Default)]
struct Known {
    done: Mutex<HashSet<i64>>,
    not_done: Mutex<HashSet<i64>>,
    next: AtomicI64,
}

/// Tries so many writes.
fn write(node: &Node, known: &Known, tries: usize) {
    for _ in 0..tries {
        let value = known.next.fetch_add(1, Ordering::SeqCst);
        let insert = node.cluster.execute("INSERT INTO t VALUES (?)", [value.into()]);
        match block_on(insert) {
            Ok(_) => {
                assert_eq!(
                    node.integers(&format!("SELECT count(*) FROM t WHERE a = {value}")),
                    [1]
                );
                known.done.lock().unwrap().insert(value);
            }
            Err(error) => match error.code() {
                "RESQLITE_NO_QUORUM" | "RESQLITE_ENTRY_OVERTAKEN" => {
                    known.not_done.lock().unwrap().insert(value);
                }
                "RESQLITE_ANSWER_LOST" => drop(known.done.lock().unwrap().insert(value)),
                "RESQLITE_OUTCOME_UNKNOWN" => {}
                code => panic!("{code}: {error}"),
            },
        }
    }
}

fn disturb(connection: &MemoryConnection, turn: usize) {
    match turn % 4 {
        0 => connection.lose_answers(2),
        1 => connection.cut(true),
        _ => connection.cut(false),
    }
}

/// Opens a node again and again, which is disturbed otherwise each time.
fn live(world: &World, name: &str, known: &Known) {
    for turn in 0..12 {
        let node = world.open_with(name, hurry).unwrap();
        disturb(&node.connection, turn);
        let tries = if turn % 4 == 1 { 2 } else { 15 + turn };
        write(&node, known, tries);
        node.close();
    }
}

// G321, G341
#[test]
fn in_turmoil_what_is_acknowledged_is_there_once_and_what_failed_is_not() {
    let (world, nodes) = World::of_three("CREATE TABLE t(a)");
    nodes.into_iter().for_each(Node::close);
    let known = Known::default();
    std::thread::scope(|scope| {
        for name in NAMES {
            let (world, known) = (&world, &known);
            scope.spawn(move || live(world, name, known));
        }
    });
    let nodes = NAMES.map(|name| world.open(name));
    let there = assert_equal(&nodes, "SELECT a FROM t ORDER BY rowid");
    let once: HashSet<_> = there.iter().copied().collect();
    assert_eq!(once.len(), there.len(), "each once");
    let (done, not_done) = (known.done.lock().unwrap(), known.not_done.lock().unwrap());
    assert!(done.is_subset(&once), "nothing is lost");
    assert!(not_done.is_disjoint(&once), "nothing that failed is there");
    assert!(
        !done.is_empty(),
        "nothing was acknowledged, {} failed",
        not_done.len()
    );
}
