//! Connections that move from thread to thread.
#![allow(unsafe_code)]

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use resqlite_sqlite::{Access, Confined, Connection, Parcel, Statement, ValueRef, codes};

use crate::{integers, prepare};

/// A connection with a statement that stands on a row, and with whatever else a test has opened on it.
struct Standing {
    // In this order: the statement ends first.
    statement: Option<Statement>,
    connection: Connection,
}

// SAFETY: the tests keep no reference to the connection or the statement elsewhere.
unsafe impl Confined for Standing {}

type Step = fn(&mut Standing);
type Job = (Parcel<Standing>, Step);

/// Runs each step on the next of four threads, all of which live on to the end.
fn on_threads_in_turn(path: &str, vfs: Option<&str>, steps: &[Step]) {
    let (give_back, given_back) = channel();
    let threads = [(); 4].map(|()| {
        let (jobs, to_do): (Sender<Job>, Receiver<Job>) = channel();
        let give_back = give_back.clone();
        let thread = thread::spawn(move || {
            for (mut standing, step) in to_do {
                step(&mut standing);
                give_back.send(standing).unwrap();
            }
        });
        (jobs, thread)
    });
    let connection = Connection::open(path, Access::ReadWriteCreate, vfs).unwrap();
    let mut standing = Parcel::new(Standing {
        statement: None,
        connection,
    });
    for (step, (jobs, _)) in steps.iter().zip(threads.iter().cycle()) {
        jobs.send((standing, *step)).unwrap();
        standing = given_back.recv().expect("the step succeeds");
    }
    drop(standing);
    for (jobs, thread) in threads {
        drop(jobs);
        thread.join().unwrap();
    }
}

fn runs(standing: &Standing, sql: &str) {
    standing.connection.execute_script(sql).unwrap();
}

fn is_at(standing: &mut Standing, value: i64) {
    let statement = standing.statement.as_mut().expect("it was prepared");
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(0), ValueRef::Integer(value));
}

/// Everything that lasts longer than a call: a transaction, a read, a statement on a row, a temporary table, a hook, a lock.
const STEPS: [Step; 14] = [
    |here| {
        runs(
            here,
            "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)",
        )
    },
    |here| here.statement = Some(prepare(&here.connection, "SELECT a FROM t ORDER BY rowid")),
    |here| is_at(here, 1),
    |here| is_at(here, 2),
    |here| runs(here, "CREATE TEMP TABLE kept AS SELECT 7 AS a"),
    |here| is_at(here, 3),
    |here| here.statement = None,
    |here| runs(here, "BEGIN IMMEDIATE; INSERT INTO t VALUES (4)"),
    |here| runs(here, "SAVEPOINT inside; INSERT INTO t VALUES (5)"),
    |here| runs(here, "ROLLBACK TO inside"),
    |here| runs(here, "COMMIT"),
    |here| assert_eq!(integers(&here.connection, "SELECT a FROM t"), [1, 2, 3, 4]),
    |here| assert_eq!(integers(&here.connection, "SELECT a FROM kept"), [7]),
    |here| {
        runs(
            here,
            "ATTACH ':memory:' AS other; CREATE TABLE other.o(a); DETACH other",
        )
    },
];

#[test]
fn a_connection_goes_on_from_thread_to_thread_with_all_that_is_open_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moves.db");
    on_threads_in_turn(path.to_str().unwrap(), None, &STEPS);
    on_threads_in_turn(":memory:", None, &STEPS);
}

/// Runs a script on a new thread.
fn elsewhere(standing: Parcel<Standing>, sql: &'static str) -> Parcel<Standing> {
    let runs = move || {
        runs(&standing, sql);
        standing
    };
    thread::spawn(runs).join().unwrap()
}

#[test]
fn a_lock_that_one_thread_took_holds_off_others_until_another_thread_gives_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moves.db");
    let open = || Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap();
    let standing = Parcel::new(Standing {
        statement: None,
        connection: open(),
    });
    let standing = elsewhere(
        standing,
        "PRAGMA journal_mode = WAL; CREATE TABLE t(a); BEGIN IMMEDIATE",
    );
    let other = open();
    let refused = other.execute_script("BEGIN IMMEDIATE").unwrap_err();
    assert_eq!(refused.primary(), codes::BUSY);
    let standing = elsewhere(standing, "INSERT INTO t VALUES (1); COMMIT");
    other.execute_script("BEGIN IMMEDIATE").unwrap();
    assert_eq!(integers(&other, "SELECT a FROM t"), [1]);
    drop(standing);
}
