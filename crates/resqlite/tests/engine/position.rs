//! The position of a database in a log of entries: forgotten where the log is.

use resqlite::{FeedOptions, Position};

use crate::support::{Fixture, block_on};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(a)")
}

#[test]
fn a_forgotten_position_leaves_the_content_and_the_next_entry_is_the_first() {
    let fixture = fixture();
    let before = fixture.entries();
    fixture.run("INSERT INTO t VALUES (1)");
    fixture.run("INSERT INTO t VALUES (2)");
    block_on(fixture.db.set_entry_gate(None)).unwrap();
    drop(before);

    assert_eq!(block_on(fixture.db.forget_position()).unwrap(), 2);
    assert_eq!(
        block_on(fixture.db.set_entry_gate(None)).unwrap(),
        Position::default()
    );
    let after = fixture.entries();
    fixture.run("INSERT INTO t VALUES (3)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3]);
    let entry = after.one();
    assert_eq!(
        (entry.position(), entry.previous()),
        (1, Position::default().hash)
    );
}

#[test]
fn a_position_is_not_forgotten_while_a_gate_or_a_feed_counts_by_it() {
    let fixture = fixture();
    assert_eq!(
        block_on(fixture.db.forget_position()).unwrap(),
        0,
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
    assert!(block_on(fixture.db.forget_position()).unwrap() >= 1);
}
