//! Nothing is acknowledged that is written to a file which somebody has deleted or replaced. Windows lets nobody delete or
//! replace a file that SQLite has open.
#![cfg(unix)]

use std::{
    fs,
    sync::mpsc,
    time::{Duration, Instant},
};

use resqlite::{Database, Durability, Error, Options};

use crate::support::{Fixture, ask, block_on, hold_reader, integers, open, open_with, tell, write};

/// A database of one row, which stands in the database file, and an open log. With full durability the log is looked at
/// before each answer.
fn fixture() -> Fixture {
    let fixture = Fixture::new("CREATE TABLE t(x); INSERT INTO t VALUES (0)");
    let Fixture { db, folder } = fixture;
    let path = folder.path().join("test.db");
    block_on(db.close()).unwrap();
    let full = Options {
        durability: Durability::Full,
        ..Options::default()
    };
    let db = open_with(path.to_str().unwrap(), full).unwrap();
    Fixture { db, folder }
}

fn delete_log(fixture: &Fixture, database: &str) {
    fs::remove_file(fixture.folder.path().join(format!("{database}-wal"))).unwrap();
}

fn is_lost<T: std::fmt::Debug>(done: Result<T, Error>) -> bool {
    let error = done.unwrap_err();
    error.code() == "RESQLITE_FILES_LOST" && error.to_string().contains("test.db")
}

fn insert(db: &Database) -> Result<resqlite::WriteResult, Error> {
    block_on(db.execute("INSERT INTO t VALUES (1)", ()))
}

// G189
#[test]
fn from_the_write_that_finds_the_log_deleted_on_every_write_fails() {
    let fixture = fixture();
    insert(&fixture.db).unwrap();
    delete_log(&fixture, "test.db");
    assert!(is_lost(insert(&fixture.db)));
    assert!(is_lost(insert(&fixture.db)));
    assert!(is_lost(block_on(
        fixture
            .db
            .execute_batch("INSERT INTO t VALUES (?)", &[vec![1.into()]])
    )));
    assert!(is_lost(block_on(fixture.db.exec("CREATE TABLE u(x)"))));
    assert!(is_lost(block_on(fixture.db.exec("PRAGMA user_version = 1"))));
    assert!(is_lost(block_on(fixture.db.begin(None)).map(drop)));
}

// G189
#[test]
fn writes_that_wait_together_all_hear_of_it() {
    let fixture = fixture();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked = [1, 2, 3].map(|_| ask(fixture.db.execute("INSERT INTO t VALUES (1)", ())));
    delete_log(&fixture, "test.db");
    drop(holds_the_writer);
    assert!(asked.into_iter().all(|asked| is_lost(asked.wait())));
}

// G189
#[test]
fn a_transaction_hears_of_it_when_it_commits() {
    let fixture = fixture();
    let tx = block_on(fixture.db.begin(None)).unwrap();
    block_on(tx.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    delete_log(&fixture, "test.db");
    assert!(is_lost(block_on(tx.commit())));
}

// G189
#[test]
fn a_script_that_commits_by_itself_hears_of_it() {
    let fixture = fixture();
    delete_log(&fixture, "test.db");
    assert!(is_lost(block_on(
        fixture.db.exec("BEGIN; INSERT INTO t VALUES (1); COMMIT")
    )));
}

// G189
#[test]
fn closing_and_opening_again_works_and_brings_nothing_back_that_was_refused() {
    let fixture = fixture();
    delete_log(&fixture, "test.db");
    assert!(is_lost(insert(&fixture.db)));
    let path = fixture.path();
    block_on(fixture.db.close()).unwrap();
    let again = open(path.to_str().unwrap()).unwrap();
    assert_eq!(
        integers(&block_on(again.select("SELECT x FROM t", ())).unwrap()),
        [0]
    );
    insert(&again).unwrap();
}

// G189
#[test]
fn the_log_of_an_attached_database_counts_too() {
    let fixture = fixture();
    let other = open(&fixture.file("other.db")).unwrap();
    block_on(other.exec("CREATE TABLE o(x)")).unwrap();
    block_on(other.close()).unwrap();
    fixture.exec(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.run("INSERT INTO other.o VALUES (1)");
    delete_log(&fixture, "other.db");
    assert!(is_lost(block_on(
        fixture.db.execute("INSERT INTO other.o VALUES (2)", ())
    )));
}

#[test]
fn a_detached_database_may_lose_its_log() {
    let fixture = fixture();
    let other = open(&fixture.file("other.db")).unwrap();
    block_on(other.exec("CREATE TABLE o(x)")).unwrap();
    block_on(other.close()).unwrap();
    fixture.exec(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("DETACH other");
    insert(&fixture.db).unwrap();
}

// G189
#[test]
fn what_was_refused_is_not_shown_either() {
    let fixture = fixture();
    let mut live = fixture.db.stream("SELECT x FROM t", ());
    assert!(block_on(live.next()).unwrap().is_ok());
    delete_log(&fixture, "test.db");
    assert!(is_lost(insert(&fixture.db)));
    assert!(is_lost(block_on(fixture.db.select("SELECT x FROM t", ()))));
    assert!(is_lost(block_on(fixture.db.snapshot()).map(drop)));
    assert!(is_lost(block_on(live.next()).unwrap().map(drop)));
}

// G189
#[test]
fn a_reader_that_opens_the_file_later_says_the_same() {
    let fixture = fixture();
    insert(&fixture.db).unwrap();
    let holds_the_first = hold_reader(&fixture.db);
    delete_log(&fixture, "test.db");
    assert!(is_lost(block_on(fixture.db.select("SELECT x FROM t", ()))));
    assert!(is_lost(insert(&fixture.db)));
    holds_the_first.release().unwrap();
}

/// Inserts until an insert fails, for half a minute at most.
fn insert_until_refused(db: &Database) -> Error {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < end, "nothing was refused");
        if let Err(error) = insert(db) {
            return error;
        }
    }
}

// G189
#[test]
fn with_normal_durability_a_deleted_log_is_noticed_within_moments() {
    let fixture = Fixture::new("CREATE TABLE t(x)");
    insert(&fixture.db).unwrap();
    delete_log(&fixture, "test.db");
    assert!(is_lost::<()>(Err(insert_until_refused(&fixture.db))));
}

// G189
#[test]
fn files_that_are_replaced_or_renamed_are_noticed_within_moments() {
    for name in ["test.db", "test.db-wal", "test.db-shm"] {
        let fixture = fixture();
        let file = |name| fixture.folder.path().join(name);
        fs::rename(file(name), file("elsewhere")).unwrap();
        fs::write(file(name), "").unwrap();
        assert!(is_lost::<()>(Err(insert_until_refused(&fixture.db))), "{name}");
    }
}

// G189
#[test]
fn a_writer_that_is_replaced_knows_of_it() {
    let fixture = fixture();
    insert(&fixture.db).unwrap();
    delete_log(&fixture, "test.db");
    let (ending, is_ending) = mpsc::channel();
    let reply = tell(move |told| {
        ending.send(told).unwrap();
        panic!("on purpose");
    });
    let finds_out = write("INSERT INTO t VALUES (1)", true);
    fixture.db.engine().write(finds_out, reply);
    assert!(is_lost(is_ending.recv().unwrap()));
    assert!(is_lost(insert(&fixture.db)));
}
