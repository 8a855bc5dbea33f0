//! The states that reads show while the writer is at work. The writer is held in the middle of a turn: it has committed, and
//! answers the caller, so the state is unsettled.

use std::{sync::Arc, thread};

use pollster::block_on;
use resqlite_sqlite::{Access, Connection};

use super::answering_tests::while_answering;
use crate::{
    Database, Options,
    binding::Engine,
    reader::{ExactState, Reader},
};

struct World {
    _folder: tempfile::TempDir,
    path: String,
    db: Database,
    engine: Arc<Engine>,
    reader: Reader,
}

/// A database of which one commit has been read, so that the states of the next ones are recorded.
fn world() -> World {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("main.db").to_str().expect("UTF-8").to_owned();
    let db = block_on(Database::open(&path, Options::default())).expect("the database opens");
    block_on(db.exec("CREATE TABLE t(a)")).expect("the schema is right");
    let engine = Arc::clone(db.engine());
    let reader = engine.parts.readers.open_reader().expect("a reader opens");
    let mut world = World {
        _folder: folder,
        path,
        db,
        engine,
        reader,
    };
    world.settle();
    assert!(world.state().is_some(), "a settled state is known");
    world
}

impl World {
    /// The state that a read shows.
    fn state(&mut self) -> Option<ExactState> {
        let mut reading = self.reader.reading();
        let state = reading.in_read(true, |reading, _| Ok(reading.exact_state()));
        state.expect("a read begins")
    }

    fn settle(&self) {
        while self.engine.parts.commits.settled().is_none() {
            thread::yield_now();
        }
    }
}

const INSERT: &str = "INSERT INTO t VALUES (1)";

// G137
#[test]
fn the_state_of_a_commit_is_known_before_it_is_settled() {
    let mut world = world();
    let before = world.state().expect("a settled state is known");
    while_answering(&Arc::clone(&world.engine), INSERT, || {
        let commits = &world.engine.parts.commits;
        assert_eq!(commits.settled(), None, "the writer is at work");
        let last = commits.last();
        let state = world.state().expect("the commit is the last of the log");
        assert_eq!(state.number, last);
        assert!(before.is_followed_by(&state));
    });
    world.settle();
    let settled = world.state().expect("a settled state is known");
    assert!(before.is_followed_by(&settled));
}

// G137
#[test]
fn what_a_stranger_has_committed_meanwhile_is_no_state_of_a_commit() {
    let mut world = world();
    let stranger = Connection::open(&world.path, Access::ReadWriteCreate, None).expect("it opens");
    while_answering(&Arc::clone(&world.engine), INSERT, || {
        stranger.execute_script(INSERT).expect("the stranger writes");
        assert_eq!(world.state(), None);
    });
}

// G137
#[test]
fn the_commit_after_that_of_a_stranger_is_known_to_follow_it() {
    let mut world = world();
    let stranger = Connection::open(&world.path, Access::ReadWriteCreate, None).expect("it opens");
    let before = world.state().expect("a settled state is known");
    stranger.execute_script(INSERT).expect("the stranger writes");
    while_answering(&Arc::clone(&world.engine), INSERT, || {
        let state = world.state().expect("the commit is the last of the log");
        assert!(!before.is_followed_by(&state));
    });
}

// G137
#[test]
fn a_state_is_not_that_of_a_commit_which_reached_a_temporary_table_only() {
    let mut world = world();
    block_on(world.db.exec("CREATE TEMP TABLE own(a)")).expect("the schema is right");
    block_on(world.db.execute(INSERT, ())).expect("a row can be written");
    while_answering(
        &Arc::clone(&world.engine),
        "INSERT INTO temp.own VALUES (1)",
        || {
            let known = world.state().expect("the main database is as it was");
            assert!(known.number < world.engine.parts.commits.last());
        },
    );
}

// G137
#[test]
fn nobody_records_states_once_no_live_query_is_open() {
    let world = world();
    let commits = Arc::clone(&world.engine.parts.commits);
    assert!(commits.states.are_wanted());
    let stream = world.db.stream("SELECT a FROM t", ());
    drop(stream);
    assert!(!commits.states.are_wanted());
}
