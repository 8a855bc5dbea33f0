//! Commit numbers: what an acknowledged write was given is what the log has.

use std::sync::mpsc;

use resqlite::CommitId;

use crate::support::{Fixture, block_on, later, record, summary_of, table};

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

#[test]
fn the_log_has_a_commit_under_the_number_that_its_write_was_given() {
    let fixture = Fixture::new("CREATE TABLE a(x); CREATE TABLE b(x)");
    for name in ["a", "b", "a"] {
        let number = fixture.run(&format!("INSERT INTO {name} VALUES (1)")).commit;
        assert!(summary_of(&fixture.db, number).touches(&table(name)));
        assert!(fixture.db.engine().commits_since(number).unwrap().is_empty());
    }
}

#[test]
fn a_write_that_changes_nothing_has_the_number_of_the_commit_before_it() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let number = fixture.run("INSERT INTO t VALUES (1)").commit;
    assert_eq!(fixture.run("DELETE FROM t WHERE a = 2").commit, number);
}

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

#[test]
fn a_failed_write_takes_no_number() {
    let fixture = Fixture::new("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)");
    let seen = record(&fixture.db, &[], || {
        drop(fixture.fails("INSERT INTO t VALUES (1)"))
    });
    assert!(seen.is_empty());
}

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

/// The ids of the first and the last commit of each event since the last call.
fn events(listener: &resqlite::CommitListener, count: usize) -> Vec<(u64, u64)> {
    let next = |_| {
        let (tell, told) = mpsc::channel();
        listener.next(move |event| tell.send(event.unwrap()).unwrap());
        let event = told.recv().unwrap();
        (event.first.0, event.last.0)
    };
    (0..count).map(next).collect()
}

/// A database that has made other commits before its first entry, and one with more.
fn two() -> [Fixture; 2] {
    let two = ["CREATE TABLE t(a)", "CREATE TABLE t(a)"].map(Fixture::new);
    two[1].exec("INSERT INTO t VALUES (0); DELETE FROM t");
    two[1].exec("VACUUM");
    two
}

#[test]
fn where_a_gate_numbers_commits_they_have_the_positions_of_their_entries() {
    let [one, other] = two();
    let feed = one.numbered();
    drop(other.numbered());
    let mut live = other.db.stream("SELECT count(*) FROM t", ());
    assert_eq!(block_on(live.next()).unwrap().unwrap().commit, CommitId(0));
    let listener = other.db.engine().listen_to_commits(None);
    for position in 1..=3 {
        let id = CommitId(position);
        assert_eq!(one.run("INSERT INTO t VALUES (1)").commit, id);
        assert_eq!(block_on(other.db.apply(feed.one())), Ok(id));
        assert_eq!(block_on(live.next()).unwrap().unwrap().commit, id);
        assert_eq!(events(&listener, 1), [(position, position)]);
        assert_eq!(other.db.diagnostics().last_commit, id);
        assert_eq!(block_on(other.db.query("SELECT 1", ())).unwrap().commit, id);
    }
    let transaction = block_on(one.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    assert_eq!(block_on(transaction.commit()), Ok(CommitId(4)));
    let commits = other.db.engine().commits_since(CommitId(1)).unwrap();
    let ids: Vec<_> = commits.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [CommitId(2), CommitId(3)]);
}

#[test]
fn several_entries_in_one_commit_have_the_number_of_the_last() {
    let [one, other] = two();
    let feed = one.numbered();
    drop(other.numbered());
    let listener = other.db.engine().listen_to_commits(None);
    (0..3).for_each(|_| drop(one.run("INSERT INTO t VALUES (1)")));
    assert_eq!(
        other.apply_together(feed.all()),
        [3, 3, 3].map(|position| Ok(CommitId(position)))
    );
    one.run("INSERT INTO t VALUES (1)");
    other.follow(&feed);
    let mut told = events(&listener, 1);
    if told[0].1 == 3 {
        told.extend(events(&listener, 1));
        assert_eq!(told, [(1, 3), (4, 4)]);
    } else {
        assert_eq!(told, [(1, 4)]);
    }
}

#[test]
fn a_commit_that_no_entry_carries_has_the_number_of_the_one_before_and_is_told() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    drop(fixture.numbered());
    fixture.run("INSERT INTO t VALUES (1)");
    let listener = fixture.db.engine().listen_to_commits(None);
    assert_eq!(fixture.run("CREATE TEMP TABLE x(a)").commit, CommitId(1));
    assert_eq!(events(&listener, 1), [(1, 1)]);
    assert_eq!(fixture.run("INSERT INTO t VALUES (2)").commit, CommitId(2));
    assert_eq!(events(&listener, 1), [(2, 2)]);
}
