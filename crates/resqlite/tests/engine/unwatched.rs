//! Commits before anybody wants to know what they change: each says "everything". Afterwards each says what it has changed.

use std::sync::mpsc;

use resqlite::CommitId;

use crate::support::{
    Fixture, block_on, images, later, next_integers, record, summary_of, table, tell, write,
};

/// Whether the commit says "everything".
fn says_everything(fixture: &Fixture, id: CommitId) -> bool {
    summary_of(&fixture.db, id).everything_changed()
}

// G258
#[test]
fn a_commit_says_everything_until_somebody_listens() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let before = fixture.run("INSERT INTO t VALUES (1)").commit;
    let listener = fixture.db.engine().listen_to_commits(None);
    let listened = fixture.run("INSERT INTO t VALUES (2)").commit;
    drop(listener);
    let later = fixture.run("INSERT INTO t VALUES (3)").commit;
    let everything = [before, listened, later].map(|number| says_everything(&fixture, number));
    assert_eq!(everything, [true, false, false]);
}

// G258
#[test]
fn a_live_query_is_enough() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let mut live = fixture.db.stream("SELECT count(*) FROM t", ());
    assert_eq!(next_integers(&mut live), [0]);
    let number = fixture.run("INSERT INTO t VALUES (1)").commit;
    assert!(!says_everything(&fixture, number));
}

// G258
#[test]
fn a_transaction_that_was_open_when_the_first_listener_began_says_everything() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    let listener = fixture.db.engine().listen_to_commits(None);
    block_on(transaction.execute("INSERT INTO t VALUES (2)", ())).unwrap();
    block_on(transaction.commit()).unwrap();
    let (tell, told) = mpsc::channel();
    listener.next(move |event| tell.send(event.unwrap()).unwrap());
    assert_eq!(told.recv().unwrap().tables, None);
}

// G258
#[test]
fn a_live_query_that_begins_during_the_first_transaction_shows_its_commit() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    let mut live = fixture.db.stream("SELECT a FROM t", ());
    assert!(next_integers(&mut live).is_empty());
    block_on(transaction.commit()).unwrap();
    assert_eq!(next_integers(&mut live), [1]);
}

// G258
#[test]
fn a_statement_that_has_emptied_a_table_before_tells_each_row_afterwards() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)");
    let empty = "DELETE FROM t";
    assert_eq!(fixture.run(empty).changes, 2);
    fixture.run("INSERT INTO t VALUES (1), (2), (3)");
    let recorded = record(&fixture.db, &[], || {
        assert_eq!(fixture.run(empty).changes, 3);
    });
    assert_eq!(recorded.operations("t"), (0, 0, 3));
}

// G258
#[test]
fn so_does_a_virtual_table_with_the_statements_that_it_keeps() {
    let fixture = Fixture::new("CREATE VIRTUAL TABLE f USING fts3(a); INSERT INTO f VALUES ('word')");
    let empty = "DELETE FROM f WHERE rowid = 1";
    fixture.run(empty);
    fixture.run("INSERT INTO f(rowid, a) VALUES (1, 'word')");
    let recorded = record(&fixture.db, &[], || drop(fixture.run(empty)));
    assert!(recorded.commit().table(&table("f")).is_some());
    assert!(!recorded.commit().everything_changed());
}

// G258
#[test]
fn a_write_to_a_temporary_table_has_a_number_of_its_own() {
    let fixture = Fixture::new("CREATE TEMP TABLE t(a)");
    let number = fixture.run("INSERT INTO t VALUES (1)").commit;
    assert_eq!(fixture.run("INSERT INTO t VALUES (2)").commit, later(number, 1));
    assert_eq!(fixture.run("DELETE FROM t").commit, later(number, 2));
    assert_eq!(
        fixture.run("DELETE FROM t").commit,
        later(number, 2),
        "nothing was there"
    );
}

// G258
#[test]
fn so_has_a_write_to_an_attached_database() {
    let fixture = Fixture::new("");
    let other = fixture.file("other.db");
    fixture.exec(&format!("ATTACH '{other}' AS other; CREATE TABLE other.t(a)"));
    let number = fixture.run("INSERT INTO other.t VALUES (1)").commit;
    assert_eq!(
        fixture.run("INSERT INTO other.t VALUES (2)").commit,
        later(number, 1)
    );
    assert!(says_everything(&fixture, later(number, 1)));
}

// G258
#[test]
fn after_a_rollback_of_ddl_columns_are_told_right_to_whoever_asks_first() {
    let fixture = Fixture::new("CREATE TABLE t(a, b)");
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("ALTER TABLE t DROP COLUMN a", ())).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (0)", ())).unwrap();
    block_on(transaction.rollback()).unwrap();
    let recorded = record(&fixture.db, &[images("t", &[0, 1])], || {
        drop(fixture.run("INSERT INTO t VALUES (1, 2)"));
    });
    assert_eq!(recorded.rows("t"), ["insert 1 2"]);
}

// G258
#[test]
fn a_writer_that_replaces_another_goes_on_recording() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    drop(fixture.db.engine().listen_to_commits(None));
    fixture.run("INSERT INTO t VALUES (1)");
    let (ending, is_ending) = mpsc::channel();
    let panics = tell(move |_| {
        ending.send(()).unwrap();
        panic!("on purpose");
    });
    fixture
        .db
        .engine()
        .write(write("INSERT INTO t VALUES (2)", false), panics);
    is_ending.recv().unwrap();
    let number = fixture.run("INSERT INTO t VALUES (3)").commit;
    assert!(!says_everything(&fixture, number));
}
