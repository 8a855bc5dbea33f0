//! Where a database is in its log of entries, and what its first entry follows.

use std::sync::mpsc;

use resqlite::log::{Entry, EntryBase, EntryGate, Hash, Head, Position, Verdict};

use crate::support::{Fixture, block_on, open};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
}

#[test]
fn the_position_is_that_of_the_last_entry() {
    let fixture = fixture();
    assert_eq!(block_on(fixture.db.entry_position()).unwrap(), Head::default());
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (2)");
    let last = Head::of(&feed.one());
    assert_eq!(block_on(fixture.db.entry_position()).unwrap(), last);
}

// G309
#[test]
fn the_first_entry_follows_the_base_and_fits_only_a_database_with_the_same() {
    let (one, other) = (fixture(), fixture());
    let base = block_on(one.db.set_entry_base(EntryBase::Own)).unwrap();
    assert_eq!(base.position, Position(0));
    let path = one.file("copy");
    block_on(one.db.backup(&path, resqlite::BackupOptions::default())).unwrap();
    let feed = one.entries();
    one.run("INSERT INTO t VALUES (2)");
    let first = feed.one();
    assert_eq!(first.previous(), base.hash);
    let error = block_on(other.db.apply(first.clone())).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENTRY_CHAIN");
    assert_eq!(other.integers("SELECT a FROM t"), [1]);
    let copy = open(&path).unwrap();
    block_on(copy.apply(first)).unwrap();
}

// G309
#[test]
fn two_databases_never_have_the_same_base_and_one_keeps_what_it_has() {
    let (one, other) = (fixture(), fixture());
    let own = |fixture: &Fixture| block_on(fixture.db.set_entry_base(EntryBase::Own)).unwrap();
    assert_ne!(own(&one), own(&other));
    assert_eq!(own(&one), own(&one));
    let back = block_on(one.db.set_entry_base(EntryBase::Empty)).unwrap();
    assert_eq!(back.hash, Hash::default());
}

// G309
#[test]
fn where_there_are_entries_the_base_stays() {
    let fixture = fixture();
    let _feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (2)");
    let before = block_on(fixture.db.entry_position()).unwrap();
    let error = block_on(fixture.db.set_entry_base(EntryBase::Own)).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENTRY_POSITION");
    assert_eq!(block_on(fixture.db.entry_position()).unwrap(), before);
}

/// Fails where the writer is, once, and when it is told that the writer was lost.
struct Fails {
    /// Before COMMIT, when the verdict is given; otherwise after COMMIT.
    before: bool,
    has_failed: bool,
    lost: mpsc::Sender<()>,
}

impl Fails {
    fn fail(&mut self) {
        if !std::mem::replace(&mut self.has_failed, true) {
            panic!("the gate fails");
        }
    }
}

impl EntryGate for Fails {
    fn before_commit(&mut self, _: &Entry, verdict: Verdict) {
        verdict.pass();
        if self.before {
            self.fail();
        }
    }

    fn committed(&mut self, _: &Entry) {
        if !self.before {
            self.fail();
        }
    }

    fn writer_lost(&mut self) {
        self.lost.send(()).unwrap();
        panic!("the gate fails again");
    }
}

// G309
#[test]
fn the_gate_is_told_that_the_writer_was_lost_and_the_position_says_what_is_committed() {
    for (before, position) in [(true, 0), (false, 1)] {
        let fixture = fixture();
        let (lost, was_lost) = mpsc::channel();
        let gate = Fails {
            before,
            has_failed: false,
            lost,
        };
        block_on(fixture.db.set_entry_gate(Some(Box::new(gate)))).unwrap();
        let error = fixture.fails("INSERT INTO t VALUES (2)");
        assert_eq!(error.code(), "RESQLITE_WORKER");
        was_lost.recv().unwrap();
        let now = block_on(fixture.db.entry_position()).unwrap();
        assert_eq!(now.position, Position(position));
        fixture.run("INSERT INTO t VALUES (3)");
        let now = block_on(fixture.db.entry_position()).unwrap();
        assert_eq!(now.position, Position(position + 1));
    }
}
