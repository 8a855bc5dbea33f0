//! A log that is not reached, does not answer, or forgets.

use std::{sync::Arc, time::Duration};

use pollster::block_on;
use resqlite::log::Position;
use resqlite_cluster::{Cluster, Error, Log, NodeName, Options, Role};
use resqlite_sqlite::{Access, Connection};

use crate::support::{World, assert_equal};

fn hurry(options: &mut Options) {
    options.write_timeout = Duration::from_secs(1);
    takes_over_soon(options);
}

fn takes_over_soon(options: &mut Options) {
    options.forward_timeout = Duration::from_millis(50);
    options.tail_timeout = Duration::from_millis(50);
}

/// A node that waits for the answer of another as long as that takes.
fn waits_for_answers(options: &mut Options) {
    hurry(options);
    options.forward_timeout = Duration::from_secs(60);
}

// G325
#[test]
fn a_node_that_is_cut_off_reads_and_cannot_write_while_the_others_go_on() {
    let world = World::new();
    let one = world.open_with("a", hurry).unwrap();
    let other = world.open_with("b", takes_over_soon).unwrap();
    one.run("CREATE TABLE t(a)");
    other.catch_up();
    one.connection.cut(true);
    assert_eq!(one.fails("INSERT INTO t VALUES (1)").code(), "RESQLITE_NO_QUORUM");
    assert_eq!(
        block_on(one.cluster.fresh()).unwrap_err().code(),
        "RESQLITE_NO_QUORUM"
    );
    assert_eq!(one.integers("SELECT count(*) FROM t"), [0]);
    other.run("INSERT INTO t VALUES (2)");
    one.connection.cut(false);
    one.run("INSERT INTO t VALUES (3)");
    assert_eq!(assert_equal(&[one, other], "SELECT a FROM t"), [2, 3]);
}

// G322
#[test]
fn a_write_is_not_answered_from_an_old_state() {
    let world = World::new();
    let one = world.open("a");
    let other = world.open("b");
    one.run("CREATE TABLE t(a UNIQUE, b)");
    other.run("INSERT INTO t VALUES (1, 'x')");
    one.catch_up();
    other.connection.cut(true);
    one.run("DELETE FROM t WHERE a = 1");
    one.run("INSERT INTO t VALUES (2, 'x')");
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| {
            let written = other.run("UPDATE t SET b = 'y' WHERE a = 2");
            other.run("INSERT INTO t VALUES (1, 'z')");
            written.changes
        });
        other.connection.cut(false);
        assert_eq!(writes.join().unwrap(), 1);
    });
    assert_eq!(assert_equal(&[one, other], "SELECT a FROM t ORDER BY a"), [1, 2]);
}

// G322
#[test]
fn a_node_that_is_cut_off_does_not_say_that_a_write_changes_nothing_or_fails() {
    let world = World::new();
    let one = world.open_with("a", hurry).unwrap();
    one.run("CREATE TABLE t(a UNIQUE)");
    one.run("INSERT INTO t VALUES (1)");
    one.connection.cut(true);
    for sql in [
        "DELETE FROM t WHERE a = 2",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO u VALUES (1)",
    ] {
        assert_eq!(one.fails(sql).code(), "RESQLITE_NO_QUORUM", "{sql}");
    }
}

// G326
#[test]
fn a_read_of_what_is_newest_fails_where_the_log_has_lost_entries() {
    let world = World::new();
    let one = world.open("a");
    one.run("CREATE TABLE t(a)");
    one.run("INSERT INTO t VALUES (1)");
    world.log.forget(2);
    for _ in 0..2 {
        let error = block_on(one.cluster.fresh()).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED");
    }
}

// G326
#[test]
fn without_the_log_a_new_node_is_not_opened_and_a_file_with_entries_can_be_read() {
    let world = World::new();
    let one = world.open("a");
    one.run("CREATE TABLE t(a)");
    one.run("INSERT INTO t VALUES (1)");
    let cut_off = || {
        let connection = world.log.connect();
        connection.cut(true);
        connection
    };
    let error = world.open_on(cut_off(), "new", hurry).map(drop).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_NO_QUORUM");
    one.close();
    let one = world.open_on(cut_off(), "a", hurry).unwrap();
    assert_eq!(one.integers("SELECT a FROM t"), [1]);
}

// G326
#[test]
fn a_node_stops_for_good_where_another_program_has_written_to_its_file() {
    for is_writing in [false, true] {
        let (world, [one, other, _third]) = World::of_three("CREATE TABLE t(a)");
        let path = world.path("a");
        let stranger = Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap();
        stranger.execute_script("INSERT INTO t VALUES (7)").unwrap();
        if is_writing {
            let insert = async |tx: &resqlite::Transaction| tx.execute("INSERT INTO t VALUES (1)", ()).await;
            block_on(one.cluster.transaction(0, insert)).unwrap_err();
        } else {
            let position = other.run("INSERT INTO t VALUES (1)").position;
            block_on(one.cluster.after(position)).unwrap_err();
        }
        assert_eq!(one.cluster.status().role, Role::Stopped);
        one.close();
        let error = world.open("a").fails("INSERT INTO t VALUES (2)");
        assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED");
    }
}

#[test]
fn a_snapshot_that_the_log_does_not_take_in_time_and_a_folder_that_is_missing_have_codes_of_their_own() {
    let world = World::new();
    let one = world.open_with("a", hurry).unwrap();
    one.run("CREATE TABLE t(a)");
    one.connection.cut(true);
    let error = block_on(one.cluster.snapshot()).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_NO_QUORUM");
    let path = world.folder.path().join("missing/b.db");
    let options = Options::new(NodeName::new("b").unwrap());
    let opened = Cluster::open(path.to_str().unwrap(), options, Arc::new(world.log.connect()));
    let error = block_on(opened).map(drop).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_CLUSTER_FILE");
}

// G321
#[test]
fn an_append_whose_answer_is_lost_is_settled_and_done_once() {
    let (world, nodes) = World::of_three("CREATE TABLE t(a)");
    for value in 0..5 {
        nodes[0].connection.lose_answers(3);
        nodes[0].run(&format!("INSERT INTO t VALUES ({value})"));
    }
    assert_eq!(assert_equal(&nodes, "SELECT a FROM t"), [0, 1, 2, 3, 4]);
    assert_eq!(world.log.entries().len(), 6);
}

// G326
#[test]
fn a_node_stops_where_the_log_has_forgotten_what_it_has() {
    let world = World::new();
    let one = world.open("a");
    one.run("CREATE TABLE t(a)");
    one.run("INSERT INTO t VALUES (1)");
    world.log.forget(1);
    assert_eq!(
        one.fails("INSERT INTO t VALUES (2)").code(),
        "RESQLITE_LOG_DIVERGED"
    );
    assert_eq!(one.cluster.status().role, Role::Stopped);
    assert_eq!(one.integers("SELECT a FROM t"), [1], "it can still be read");
    let error = block_on(one.cluster.snapshot()).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED", "nobody begins from it");
    let error = block_on(one.cluster.after(Position(100))).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED");
}

// G327
#[test]
fn what_the_log_has_and_the_file_has_not_is_applied_at_the_next_start() {
    let world = World::new();
    let one = world.open_with("a", hurry).unwrap();
    one.run("CREATE TABLE t(a)");
    let old = world.folder.path().join("old");
    let backup = resqlite::BackupOptions::default();
    block_on(one.cluster.database().backup(old.to_str().unwrap(), backup)).unwrap();
    one.run("INSERT INTO t VALUES (1)");
    one.close();
    std::fs::rename(old, world.path("a")).unwrap();
    let one = world.open_with("a", hurry).unwrap();
    assert_eq!(one.integers("SELECT a FROM t"), [1]);
    one.run("INSERT INTO t VALUES (2)");
    assert_eq!(one.integers("SELECT a FROM t"), [1, 2]);
}

// G321
#[test]
fn a_write_that_another_node_has_done_is_known_to_have_happened_where_the_asking_node_stops() {
    let world = World::new();
    let one = world.open_with("a", hurry).unwrap();
    let patient = |options: &mut Options| {
        waits_for_answers(options);
        options.write_timeout = Duration::from_secs(60);
    };
    let other = world.open_with("b", patient).unwrap();
    one.run("CREATE TABLE t(a, b)");
    other.catch_up();
    let holds_the_writer = block_on(other.cluster.database().begin(None)).unwrap();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| block_on(other.cluster.execute("INSERT INTO t VALUES (1, NULL)", ())));
        while one.integers("SELECT count(*) FROM t") != [1] {
            std::thread::yield_now();
        }
        // More bytes than a node reads ahead of its database.
        for _ in 0..500 {
            one.run("UPDATE t SET a = a + 1, b = zeroblob(40000)");
        }
        let last = one.cluster.status().applied;
        block_on(one.connection.purge(last)).unwrap();
        let error = asks.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::AnswerLost { .. }), "{error}");
    });
    assert_eq!(other.cluster.status().role, Role::Stopped);
    drop(holds_the_writer);
    assert_eq!(one.integers("SELECT a FROM t"), [501]);
}

// G333
#[test]
fn a_write_that_was_done_elsewhere_and_is_not_seen_here_in_time_fails_with_its_position() {
    let world = World::new();
    let one = world.open_with("a", hurry).unwrap();
    let other = world.open_with("b", waits_for_answers).unwrap();
    one.run("CREATE TABLE t(a)");
    other.catch_up();
    let holds_the_writer = block_on(other.cluster.database().begin(None)).unwrap();
    assert_eq!(
        other.fails("INSERT INTO t VALUES (1)"),
        Error::AnswerLost {
            position: Position(2)
        }
    );
    let error = block_on(other.cluster.fresh()).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_NO_QUORUM", "{error}");
    block_on(holds_the_writer.rollback()).unwrap();
    assert_eq!(assert_equal(&[one, other], "SELECT a FROM t"), [1]);
}

/// Writes to a file while no node has it open, which no node can notice.
fn write_secretly(world: &World, name: &str, script: &str) {
    let path = world.path(name);
    let stranger = Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap();
    stranger.execute_script(script).unwrap();
}

// G326
#[test]
fn a_node_stops_where_an_entry_can_never_be_applied_and_says_which_and_why() {
    let (world, [writer, other, _third]) = World::of_three("CREATE TABLE t(a); CREATE INDEX i ON t(a)");
    other.close();
    write_secretly(&world, "b", "DROP INDEX i");
    let position = writer.run("DROP INDEX i").position;
    let other = world.open("b");
    let error = block_on(other.cluster.after(position)).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED");
    let message = error.to_string();
    assert!(message.contains(&format!("position {position}")), "{message}");
    assert!(message.contains("SQLITE_ERROR: no such index: i"), "{message}");
    assert_eq!(other.cluster.status().role, Role::Stopped);
}

// G326
#[test]
fn a_new_node_is_not_opened_where_an_entry_can_never_be_applied_and_says_why() {
    let (world, [writer, ..]) = World::of_three("CREATE TABLE t(a)");
    writer.close();
    write_secretly(&world, "a", "CREATE INDEX i ON t(a)");
    world.open("a").run("DROP INDEX i");
    let error = world.open_with("new", |_| ()).map(drop).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_LOG_DIVERGED");
    assert!(error.to_string().contains("no such index: i"), "{error}");
}
