//! A caller's code that panics on an engine thread: whoever waits is told, and the thread goes on.

use std::sync::{Arc, mpsc};

use resqlite::{
    Database, Durability, Error, Result,
    binding::{ColumnLayout, Outcome, Reply, RowBatch, Token},
};

use crate::support::{Fixture, Told, ask, block_on, query, readers, tell, write};

/// Tells how it was finished, and panics when it is given rows.
struct PanicsAtRows(mpsc::Sender<Told>);

impl Reply for PanicsAtRows {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        panic!("on purpose");
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        self.0.send(outcome.map(drop)).unwrap();
    }
}

const MANY_ROWS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n";

fn fixture() -> Fixture {
    Fixture::with("CREATE TABLE t(a)", readers(1))
}

// G29
#[test]
fn a_read_whose_reply_panics_is_told_so_and_the_reader_is_replaced() {
    let fixture = fixture();
    for _ in 0..3 {
        let (done, is_done) = mpsc::channel();
        fixture
            .db
            .engine()
            .select(query(MANY_ROWS, Token::default()), Box::new(PanicsAtRows(done)));
        assert_eq!(is_done.recv().unwrap(), Err(Error::WorkerDied));
        assert_eq!(fixture.integers("SELECT 1"), [1]);
    }
    assert_eq!(fixture.db.diagnostics().readers, 1);
}

// G29
#[test]
fn reads_that_wait_behind_a_panic_are_answered() {
    let fixture = fixture();
    let held = crate::support::hold_reader(&fixture.db);
    let (done, is_done) = mpsc::channel();
    let before = ask(fixture.db.select("SELECT 1", ()));
    fixture
        .db
        .engine()
        .select(query(MANY_ROWS, Token::default()), Box::new(PanicsAtRows(done)));
    let after: Vec<_> = (0..10).map(|_| ask(fixture.db.select("SELECT 1", ()))).collect();
    held.release().unwrap();
    before.wait().unwrap();
    assert_eq!(is_done.recv().unwrap(), Err(Error::WorkerDied));
    after.into_iter().for_each(|read| drop(read.wait().unwrap()));
}

fn panics_at_the_end() -> Box<dyn Reply> {
    tell(|_| panic!("on purpose"))
}

#[test]
fn a_read_whose_end_panics_leaves_the_reader_able() {
    let fixture = fixture();
    fixture
        .db
        .engine()
        .select(query("SELECT 1", Token::default()), panics_at_the_end());
    assert_eq!(fixture.integers("SELECT 1"), [1]);
}

#[test]
fn a_write_whose_end_panics_leaves_the_writer_able_and_the_log_claiming_everything() {
    let fixture = fixture();
    let _listening = fixture.db.engine().listen_to_commits(None);
    let before = fixture.db.engine().last_commit();
    let (ending, is_ending) = mpsc::channel();
    let reply = tell(move |_| {
        ending.send(()).unwrap();
        panic!("on purpose");
    });
    fixture
        .db
        .engine()
        .write(write("INSERT INTO t VALUES (1)", false), reply);
    is_ending.recv().unwrap();
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2]);
    let commits = fixture.db.engine().commits_since(before).unwrap();
    assert!(commits.iter().any(|(_, summary)| summary.everything_changed()));
}

// G29
#[test]
fn writes_in_a_group_behind_one_whose_end_panics_are_all_answered() {
    let fixture = fixture();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let first = ask(fixture.db.execute("INSERT INTO t VALUES (1)", ()));
    fixture
        .db
        .engine()
        .write(write("INSERT INTO t VALUES (2)", false), panics_at_the_end());
    let last = ask(fixture.db.execute("INSERT INTO t VALUES (3)", ()));
    drop(holds_the_writer);
    first.wait().unwrap();
    assert_eq!(last.wait().unwrap_err().code(), "RESQLITE_WORKER");
    fixture.run("INSERT INTO t VALUES (4)");
}

fn told_of(session_step: impl FnOnce(Box<dyn Reply>)) -> Told {
    let (done, is_done) = mpsc::channel();
    session_step(tell(move |told| done.send(told).unwrap()));
    is_done.recv().unwrap()
}

fn after_a_panic(db: &Database, session: &resqlite::binding::Session) {
    let (done, is_done) = mpsc::channel();
    session.select(query(MANY_ROWS, Token::default()), Box::new(PanicsAtRows(done)));
    assert_eq!(is_done.recv().unwrap(), Err(Error::WorkerDied));
    let next = told_of(|reply| session.select(query("SELECT 1", Token::default()), reply));
    assert_eq!(next, Err(Error::WorkerDied));
    assert_eq!(block_on(db.select("SELECT 1", ())).unwrap().len(), 1);
}

// G29
#[test]
fn a_transaction_in_which_a_reply_panics_is_rolled_back_and_ended() {
    let fixture = fixture();
    let session = fixture.db.engine().begin(None, Durability::Normal, tell(|_| ()));
    told_of(|reply| session.write(write("INSERT INTO t VALUES (1)", false), reply)).unwrap();
    after_a_panic(&fixture.db, &session);
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [2]);
}

#[test]
fn a_snapshot_in_which_a_reply_panics_is_ended() {
    let fixture = fixture();
    let session = fixture.db.engine().snapshot(tell(|_| ()));
    after_a_panic(&fixture.db, &session);
}

// G194
#[test]
fn a_writer_that_is_replaced_has_the_attached_databases() {
    let fixture = fixture();
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("CREATE TABLE other.u(a)");
    let (ending, is_ending) = mpsc::channel();
    let reply = tell(move |_| {
        ending.send(()).unwrap();
        panic!("on purpose");
    });
    let write = write("INSERT INTO t VALUES (1)", false);
    fixture.db.engine().write(write, reply);
    is_ending.recv().unwrap();
    fixture.run("INSERT INTO other.u VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM other.u"), [2]);
}
