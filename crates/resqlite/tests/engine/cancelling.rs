//! Requests that nobody waits for any more.

use std::sync::mpsc;

use resqlite::{
    Durability, Error,
    binding::{Scope, Token, TokenSlot},
};

use crate::support::{Fixture, ask, block_on, hold_reader, query, readers, tell, write};

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
const ENDLESS_ROWS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

fn one_reader() -> Fixture {
    Fixture::with("CREATE TABLE t(a)", readers(1))
}

// G75
#[test]
fn a_running_read_that_is_cancelled_ends_and_the_next_one_is_unharmed() {
    let fixture = one_reader();
    let (slot, scope) = (TokenSlot::default(), Scope::default());
    for generation in 1..20 {
        let (done, is_done) = mpsc::channel();
        let running = query(ENDLESS, slot.token(generation, &scope));
        fixture
            .db
            .engine()
            .select(running, tell(move |told| done.send(told).unwrap()));
        let (next, next_done) = mpsc::channel();
        let after = query("SELECT 1", slot.token(generation + 1000, &scope));
        fixture
            .db
            .engine()
            .select(after, tell(move |told| next.send(told).unwrap()));
        slot.cancel(generation);
        assert_eq!(is_done.recv().unwrap(), Err(Error::Aborted));
        assert_eq!(next_done.recv().unwrap(), Ok(()));
    }
}

#[test]
fn a_read_that_gives_rows_and_rows_is_cancelled_in_the_middle() {
    let fixture = one_reader();
    let token = Token::default();
    let (done, is_done) = mpsc::channel();
    fixture.db.engine().select(
        query(ENDLESS_ROWS, token.clone()),
        tell(move |told| done.send(told).unwrap()),
    );
    token.cancel();
    assert_eq!(is_done.recv().unwrap(), Err(Error::Aborted));
    assert_eq!(fixture.integers("SELECT 1"), [1]);
}

#[test]
fn a_read_that_is_cancelled_while_it_waits_never_runs() {
    let fixture = one_reader();
    let held = hold_reader(&fixture.db);
    let token = Token::default();
    let (done, is_done) = mpsc::channel();
    fixture.db.engine().select(
        query(ENDLESS, token.clone()),
        tell(move |told| done.send(told).unwrap()),
    );
    token.cancel();
    fixture.db.engine().drop_cancelled();
    // Answered although the only reader still stands.
    assert_eq!(is_done.recv().unwrap(), Err(Error::Aborted));
    held.release().unwrap();
}

#[test]
fn dropping_the_future_of_a_running_read_frees_the_reader() {
    let fixture = one_reader();
    for sql in [ENDLESS, ENDLESS_ROWS] {
        drop(ask(fixture.db.select(sql, ())));
        assert_eq!(fixture.integers("SELECT 1"), [1]);
    }
}

#[test]
fn dropping_the_future_of_a_read_that_was_answered_harms_no_other() {
    let fixture = one_reader();
    for _ in 0..100 {
        let first = ask(fixture.db.select("SELECT 1", ()));
        let second = ask(fixture.db.select("SELECT 2", ()));
        drop(first);
        assert_eq!(second.wait().unwrap().len(), 1);
    }
}

// G75
#[test]
fn a_cancelled_read_of_a_shared_snapshot_spoils_it_for_nobody() {
    let fixture = one_reader();
    fixture.run("INSERT INTO t VALUES (7)");
    let held = hold_reader(&fixture.db);
    let token = Token::default();
    let before = ask(fixture.db.select("SELECT a FROM t", ()));
    let (done, is_done) = mpsc::channel();
    fixture.db.engine().select(
        query(ENDLESS, token.clone()),
        tell(move |told| done.send(told).unwrap()),
    );
    let after = ask(fixture.db.select("SELECT a FROM t", ()));
    held.release().unwrap();
    assert_eq!(crate::support::integers(&before.wait().unwrap()), [7]);
    token.cancel();
    assert_eq!(is_done.recv().unwrap(), Err(Error::Aborted));
    assert_eq!(crate::support::integers(&after.wait().unwrap()), [7]);
}

// G76
#[test]
fn a_running_write_that_is_cancelled_changes_nothing_and_hurts_no_other() {
    let fixture = one_reader();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let first = ask(fixture.db.execute("INSERT INTO t VALUES (1)", ()));
    let endless = write(
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        false,
    );
    let token = endless.token.clone();
    let (done, is_done) = mpsc::channel();
    fixture
        .db
        .engine()
        .write(endless, tell(move |told| done.send(told).unwrap()));
    let last = ask(fixture.db.execute("INSERT INTO t VALUES (2)", ()));
    drop(holds_the_writer);
    token.cancel();
    assert_eq!(is_done.recv().unwrap(), Err(Error::Aborted));
    first.wait().unwrap();
    last.wait().unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2]);
}

#[test]
fn a_write_that_is_cancelled_while_it_waits_never_runs() {
    let fixture = one_reader();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let waiting = write("INSERT INTO t VALUES (1)", false);
    let token = waiting.token.clone();
    let (done, is_done) = mpsc::channel();
    fixture
        .db
        .engine()
        .write(waiting, tell(move |told| done.send(told).unwrap()));
    token.cancel();
    fixture.db.engine().drop_cancelled();
    assert_eq!(is_done.recv().unwrap().unwrap_err().code(), "RESQLITE_ABORTED");
    drop(holds_the_writer);
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [2]);
}

#[test]
fn a_write_whose_future_is_dropped_is_done_all_the_same() {
    let fixture = one_reader();
    drop(ask(fixture.db.execute("INSERT INTO t VALUES (1)", ())));
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2]);
}

#[test]
fn closing_interrupts_snapshots_and_transactions() {
    let fixture = one_reader();
    let Fixture { db, folder } = fixture;
    let engine = std::sync::Arc::clone(db.engine());
    let (done, all_done) = mpsc::channel();
    let told = || {
        let done = done.clone();
        tell(move |told| done.send(told).unwrap())
    };
    let snapshot = engine.snapshot(tell(|_| ()));
    snapshot.select(query(ENDLESS, Token::default()), told());
    let transaction = engine.begin(None, Durability::Normal, tell(|_| ()));
    transaction.select(query(ENDLESS, Token::default()), told());
    block_on(db.close()).unwrap();
    for _ in 0..2 {
        let error = all_done.recv().unwrap().unwrap_err();
        assert!(matches!(error, Error::Closed | Error::Aborted), "{error:?}");
    }
    drop(folder);
}

// G221
#[test]
fn a_write_that_is_cancelled_while_it_waits_says_for_whom() {
    let fixture = Fixture::new("CREATE TABLE t(x)");
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    let waits = write("DELETE FROM t", false);
    let token = waits.token.clone();
    let (done, is_done) = mpsc::channel();
    fixture
        .db
        .engine()
        .write(waits, tell(move |told| done.send(told).unwrap()));
    token.cancel();
    fixture.db.engine().drop_cancelled();
    let error = is_done.recv().unwrap().unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ABORTED");
    let message = error.to_string();
    assert!(
        message.contains("while it waited for a transaction that began"),
        "{message}"
    );
    assert!(
        message.ends_with("statement: INSERT INTO t VALUES (1)"),
        "{message}"
    );
}
