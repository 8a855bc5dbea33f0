//! Connections on several threads.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use resqlite_sqlite_sys as ffi;

use super::{
    super::*,
    harness::{Connection, is_sound},
};

const ACCOUNTS: u64 = 50;
const TRANSFERS: u64 = 2_000;
const TOTAL: i64 = 50 * 100;

/// Moves money between two random accounts.
fn transfer(writer: &Connection, random: &mut u64) {
    let mut next = || {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*random >> 33) % ACCOUNTS
    };
    let (from, to) = (next(), next());
    writer.run(&format!(
        "BEGIN IMMEDIATE;
         UPDATE account SET balance = balance - 7 WHERE id = {from};
         UPDATE account SET balance = balance + 7 WHERE id = {to};
         UPDATE transfers SET done = done + 1;
         COMMIT"
    ));
}

/// Adds up the accounts in two statements; returns the sum and the number of transfers that are visible.
fn audit(reader: &Connection) -> (i64, i64) {
    reader.run("BEGIN");
    let done = reader.number("SELECT done FROM transfers");
    let low = reader.number("SELECT sum(balance) FROM account WHERE id < 25");
    let high = reader.number("SELECT sum(balance) FROM account WHERE id >= 25");
    reader.run("COMMIT");
    (low + high, done)
}

fn audit_until_finished(name: &str, start: &Barrier, finished: &AtomicBool) {
    let reader = Connection::open(name, ffi::SQLITE_OPEN_READONLY).unwrap();
    reader.wait_for_locks();
    start.wait();
    let mut seen = 0;
    loop {
        let last = finished.load(Ordering::Acquire);
        let (sum, done) = audit(&reader);
        assert_eq!(sum, TOTAL);
        assert!(done >= seen, "went back from {seen} to {done}");
        seen = done;
        if last {
            assert_eq!(seen, TRANSFERS as i64);
            return;
        }
    }
}

// G8
#[test]
fn readers_on_four_threads_always_see_a_state_between_two_transfers() {
    let file = MemoryFile::create();
    let writer = Connection::wal(&file);
    writer.run("CREATE TABLE transfers(done); INSERT INTO transfers VALUES (0)");
    writer.run("CREATE TABLE account(id INTEGER PRIMARY KEY, balance)");
    (0..ACCOUNTS).for_each(|id| writer.run(&format!("INSERT INTO account VALUES ({id}, 100)")));
    // Small, so that checkpoints and resets of the log happen while the others read.
    writer.run("PRAGMA wal_autocheckpoint = 50");
    let (start, finished) = (Barrier::new(5), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| audit_until_finished(file.name(), &start, &finished));
        }
        start.wait();
        let mut random = 20_240_607;
        (0..TRANSFERS).for_each(|_| transfer(&writer, &mut random));
        finished.store(true, Ordering::Release);
    });
    assert_eq!(audit(&writer), (TOTAL, TRANSFERS as i64));
    assert!(is_sound(&writer));
}

#[test]
fn two_writers_on_two_threads_lose_no_update() {
    for mode in ["WAL", "DELETE"] {
        let file = MemoryFile::create();
        let keeper = Connection::to(&file);
        keeper.run(&format!(
            "PRAGMA journal_mode = {mode}; CREATE TABLE t(n); INSERT INTO t VALUES (0)"
        ));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let writer = Connection::to(&file);
                    writer.wait_for_locks();
                    (0..200).for_each(|_| writer.run("BEGIN IMMEDIATE; UPDATE t SET n = n + 1; COMMIT"));
                });
            }
        });
        assert_eq!(keeper.number("SELECT n FROM t"), 400, "{mode}");
        assert!(is_sound(&keeper), "{mode}");
    }
}

#[test]
fn connections_may_be_opened_and_closed_on_many_threads() {
    let file = MemoryFile::create();
    Connection::wal(&file).run("CREATE TABLE t(x)");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let connection = Connection::to(&file);
                    connection.wait_for_locks();
                    connection.run("INSERT INTO t VALUES (1)");
                }
            });
        }
    });
    let connection = Connection::to(&file);
    assert_eq!(connection.number("SELECT count(*) FROM t"), 200);
    assert!(is_sound(&connection));
}
