//! Commit numbers: what an acknowledged write was given is what the log has.

use crate::support::{Fixture, block_on, later, record, summary_of, table};

// G95
#[test]
fn commit_numbers_grow_by_one_with_each_write() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let first = fixture.run("INSERT INTO t VALUES (1)").commit;
    let numbers: Vec<_> = (0..5)
        .map(|_| fixture.run("INSERT INTO t VALUES (1)").commit)
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5].map(|more| later(first, more)));
    assert_eq!(fixture.db.engine().last_commit(), later(first, 5));
}

// G95
#[test]
fn the_log_has_a_commit_under_the_number_that_its_write_was_given() {
    let fixture = Fixture::new("CREATE TABLE a(x); CREATE TABLE b(x)");
    for name in ["a", "b", "a"] {
        let number = fixture.run(&format!("INSERT INTO {name} VALUES (1)")).commit;
        assert!(summary_of(&fixture.db, number).table(&table(name)).is_some());
        assert!(fixture.db.engine().commits_since(number).unwrap().is_empty());
    }
}

// G95
#[test]
fn a_write_that_changes_nothing_has_the_number_of_the_commit_before_it() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let number = fixture.run("INSERT INTO t VALUES (1)").commit;
    assert_eq!(fixture.run("DELETE FROM t WHERE a = 2").commit, number);
}

// G95
#[test]
fn a_transaction_has_one_number_that_commit_gives() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let before = fixture.db.engine().last_commit();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    for _ in 0..3 {
        let inside = block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
        assert_eq!(inside.commit, before);
    }
    assert_eq!(block_on(transaction.commit()).unwrap(), later(before, 1));
}

// G95
#[test]
fn a_failed_write_takes_no_number() {
    let fixture = Fixture::new("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)");
    let seen = record(&fixture.db, &[], || {
        drop(fixture.fails("INSERT INTO t VALUES (1)"))
    });
    assert!(seen.is_empty());
}

// G100
#[test]
fn a_log_that_no_longer_reaches_back_says_so() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let start = fixture.db.engine().last_commit();
    let most = resqlite::live::limits::LOG_COMMITS as u64;
    // Each script that manages its own transactions is one commit in the log, but so is each of these.
    let asked: Vec<_> = (0..most + 1)
        .map(|_| crate::support::ask(fixture.db.execute("PRAGMA user_version = 1", ())))
        .collect();
    asked.into_iter().for_each(|asked| drop(asked.wait().unwrap()));
    assert!(fixture.db.engine().commits_since(start).is_err());
    assert_eq!(
        fixture.db.engine().commits_since(later(start, 1)).unwrap().len() as u64,
        most
    );
}
