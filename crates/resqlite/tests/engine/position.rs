//! The position of a database in a log of entries: as the id of commits, and forgotten where the log is.

use std::sync::mpsc;

use resqlite::{
    CommitId,
    feeds::FeedOptions,
    log::{Head, Position},
};

use crate::support::{Fixture, block_on};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(a)")
}

// G310
#[test]
fn a_forgotten_position_leaves_the_content_and_the_next_entry_is_the_first() {
    let fixture = fixture();
    let before = fixture.entries();
    fixture.run("INSERT INTO t VALUES (1)");
    fixture.run("INSERT INTO t VALUES (2)");
    block_on(fixture.db.set_entry_gate(None)).unwrap();
    drop(before);

    assert_eq!(block_on(fixture.db.forget_position()).unwrap(), Position(2));
    assert_eq!(
        block_on(fixture.db.set_entry_gate(None)).unwrap(),
        Head::default()
    );
    let after = fixture.entries();
    fixture.run("INSERT INTO t VALUES (3)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3]);
    let entry = after.one();
    assert_eq!(
        (entry.position(), entry.previous()),
        (Position(1), Head::default().hash)
    );
}

// G310
#[test]
fn a_position_is_not_forgotten_while_a_gate_or_a_feed_counts_by_it() {
    let fixture = fixture();
    assert_eq!(
        block_on(fixture.db.forget_position()).unwrap(),
        Position(0),
        "there is none"
    );

    let _feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (1)");
    assert_eq!(
        block_on(fixture.db.forget_position()).unwrap_err().code(),
        "RESQLITE_OPTION"
    );
    block_on(fixture.db.set_entry_gate(None)).unwrap();

    drop(block_on(fixture.db.feed(FeedOptions::named("one"))).unwrap());
    assert_eq!(
        block_on(fixture.db.forget_position()).unwrap_err().code(),
        "RESQLITE_OPTION"
    );
    block_on(fixture.db.drop_feed("one")).unwrap();
    assert!(block_on(fixture.db.forget_position()).unwrap() >= Position(1));
}

#[test]
fn a_copy_that_has_applied_entries_forgets_its_position() {
    let fixture = fixture();
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (1)");
    let copy = self::fixture();
    block_on(copy.db.apply(feed.one())).unwrap();
    assert_eq!(block_on(copy.db.forget_position()).unwrap(), Position(1));
}

#[test]
fn a_position_that_another_program_has_spoilt_is_an_error() {
    let fixture = fixture();
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (1)");
    block_on(fixture.db.set_entry_gate(None)).unwrap();
    drop(feed);
    fixture.run("UPDATE _resqlite_position SET position = -1");
    let refused = block_on(fixture.db.entry_position()).unwrap_err();
    assert!(refused.to_string().contains("_resqlite_position"), "{refused}");
}

/// The ids of the first and the last commit of each event since the last call.
fn events(listener: &resqlite::events::CommitListener, count: usize) -> Vec<(CommitId, CommitId)> {
    let next = |_| {
        let (tell, told) = mpsc::channel();
        listener.next(move |event| tell.send(event.unwrap()).unwrap());
        let event = told.recv().unwrap();
        (event.first, event.last)
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

// G311
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
        assert_eq!(events(&listener, 1), [(id, id)]);
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

// G311
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
    let one_to = |last| (CommitId(1), CommitId(last));
    if told == [one_to(3)] {
        told.extend(events(&listener, 1));
        assert_eq!(told, [one_to(3), (CommitId(4), CommitId(4))]);
    } else {
        assert_eq!(told, [one_to(4)]);
    }
}

// G311
#[test]
fn a_commit_that_no_entry_carries_has_the_number_of_the_one_before_and_is_told() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    drop(fixture.numbered());
    fixture.run("INSERT INTO t VALUES (1)");
    let listener = fixture.db.engine().listen_to_commits(None);
    assert_eq!(fixture.run("CREATE TEMP TABLE x(a)").commit, CommitId(1));
    assert_eq!(events(&listener, 1), [(CommitId(1), CommitId(1))]);
    assert_eq!(fixture.run("INSERT INTO t VALUES (2)").commit, CommitId(2));
    assert_eq!(events(&listener, 1), [(CommitId(2), CommitId(2))]);
}
