//! Servers of the log whose disks are damaged: what they give is read from the others, or nothing is.

use std::path::Path;

use dice::Rng;
use pollster::block_on;
use resqlite_cluster::{MemoryLog, Role};

use crate::support::{Node, World, wait_until};

/// A kind of damage: what it makes of bytes, of those of something else, and of chance.
type Kind = fn(Vec<u8>, &[u8], u64) -> Option<Vec<u8>>;

const KINDS: [Kind; 5] = [
    |mut bytes, _, random| {
        let bit = random as usize % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        Some(bytes)
    },
    |mut bytes, _, random| {
        bytes.truncate(random as usize % bytes.len());
        Some(bytes)
    },
    |_, other, _| Some(other.to_vec()),
    |bytes, _, _| Some(vec![0; bytes.len()]),
    |_, _, _| None,
];

/// The bytes that were put there.
fn bytes_of(log: &MemoryLog, name: &str) -> Vec<u8> {
    let mut found = Vec::new();
    log.damage(2, name, |bytes| {
        found.clone_from(&bytes);
        Some(bytes)
    });
    found
}

/// A log with a snapshot of three pieces, and entries after it.
fn world_with_a_snapshot() -> (World, Node) {
    let world = World::new();
    let one = world
        .open_with("a", |options| options.snapshot_every = None)
        .unwrap();
    one.run("CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
    one.run("INSERT INTO t VALUES (1, randomblob(1200000))");
    let position = block_on(one.cluster.snapshot()).unwrap();
    block_on(resqlite_cluster::Log::purge(&one.connection, position)).unwrap();
    for value in 2..6 {
        one.run(&format!("INSERT INTO t VALUES ({value}, randomblob(100))"));
    }
    (world, one)
}

fn content(node: &Node) -> String {
    format!("{:?}", node.select("SELECT a, hex(b) FROM t ORDER BY a"))
}

fn damage_on_all_servers(log: &MemoryLog, name: &str) {
    for server in 0..MemoryLog::SERVERS {
        log.damage(server, name, |bytes| KINDS[0](bytes, &[], 77));
    }
}

// G351
#[test]
fn a_node_that_joins_has_what_the_others_have_whatever_is_damaged_on_one_server() {
    let first = dice::first_seed();
    let (world, one) = world_with_a_snapshot();
    let right = content(&one);
    let names = world.log.names();
    assert!(
        names.len() >= 8,
        "a manifest, three pieces, four entries: {names:?}"
    );
    for seed in first..first + dice::throws(300) {
        let mut rng = Rng(seed);
        let (name, other) = (rng.pick(&names), rng.pick(&names));
        let server = rng.below(2);
        let beside = bytes_of(&world.log, other);
        let right_bytes = bytes_of(&world.log, name);
        let damaged = rng.pick(&KINDS)(right_bytes.clone(), &beside, rng.any());
        let is_damaged = damaged.as_ref() != Some(&right_bytes);
        world.log.damage(server, name, |_| damaged);
        let new = world.open(&format!("new-{seed}"));
        assert_eq!(content(&new), right, "seed {seed}: {name}");
        let named = new.cluster.status().damaged;
        match server {
            0 if is_damaged => assert!(named[0].starts_with("server 1: "), "seed {seed}: {named:?}"),
            _ => assert!(named.is_empty(), "seed {seed}: {named:?}"),
        }
        new.close();
        world.log.damage(server, name, Some);
    }
}

// G351
#[test]
fn a_snapshot_that_is_damaged_on_all_servers_is_not_begun_from_and_the_error_says_what_to_do() {
    for part in ["manifest", "00000001"] {
        let (world, one) = world_with_a_snapshot();
        let names = world.log.names();
        let name = names
            .iter()
            .find(|name| name.starts_with("snapshots/") && name.ends_with(part));
        damage_on_all_servers(&world.log, name.unwrap());
        let error = world.open_with("new", |_| ()).map(drop).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_LOG");
        let message = error.to_string();
        for said in [
            "of the snapshot at position 2",
            "server 1, server 2, server 3",
            "clusterSnapshot",
        ] {
            assert!(message.contains(said), "{message}");
        }
        assert!(!Path::new(&world.path("new")).exists());
        block_on(one.cluster.snapshot()).unwrap();
        assert_eq!(content(&world.open("new")), content(&one));
    }
}

// G351
#[test]
fn a_node_reads_an_entry_from_another_server_and_goes_on() {
    let (world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    other.connection.cut(true);
    let position = one.run("INSERT INTO t VALUES (1)").position;
    let name = format!("entries/{position:020}");
    world.log.damage(0, &name, |bytes| KINDS[0](bytes, &[], 1234));
    other.connection.cut(false);
    other.catch_up();
    assert_eq!(other.integers("SELECT a FROM t"), [1]);
    assert_eq!(
        other.cluster.status().damaged,
        [format!("server 1: the entry at position {position} is damaged")]
    );
}

// G351
#[test]
fn a_node_stops_at_an_entry_that_is_damaged_on_all_servers_and_names_them() {
    let (world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    other.connection.cut(true);
    let position = one.run("INSERT INTO t VALUES (1)").position;
    damage_on_all_servers(&world.log, &format!("entries/{position:020}"));
    other.connection.cut(false);
    let error = block_on(other.cluster.after(position)).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED");
    let message = error.to_string();
    for said in [
        format!("position {position}"),
        "server 1, server 2, server 3".into(),
        "clusterSnapshot".into(),
    ] {
        assert!(message.contains(&said), "{message}");
    }
    assert_eq!(other.cluster.status().role, Role::Stopped);
    assert_eq!(one.cluster.status().role, Role::Writer, "it has the entry");
    one.run("INSERT INTO t VALUES (2)");
}

// G351
#[test]
fn what_a_node_has_applied_may_be_damaged_on_all_servers() {
    let (world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
    one.run("INSERT INTO t VALUES (1)");
    other.catch_up();
    other.close();
    world
        .log
        .names()
        .iter()
        .for_each(|name| damage_on_all_servers(&world.log, name));
    let other = world.open("b");
    let position = one.run("INSERT INTO t VALUES (2)").position;
    wait_until(|| other.cluster.status().applied == position);
    assert_eq!(other.integers("SELECT a FROM t"), [1, 2]);
}
