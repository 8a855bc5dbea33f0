//! The writer keeps parts of a write while it answers it. The tests hold it in the middle of the turn.

use std::sync::{
    Arc,
    mpsc::{Receiver, Sender, channel},
};

use pollster::block_on;
use resqlite_sqlite::{Access, Checkpoint, Connection};

use super::answers::answer;
use crate::{
    Checkpoints, Database, Durability, Error, Options,
    binding::{ColumnLayout, Engine, Integers, Outcome, Reply, RowBatch, Write, WriteOp},
    core::token::Token,
    feeds::FeedOptions,
    log::EntryGate,
};

/// Holds the thread that answers until it is let go.
struct Hold {
    holds: Sender<()>,
    let_go: Receiver<()>,
}

impl Reply for Hold {
    fn rows(&mut self, _layout: &Arc<ColumnLayout>, _batch: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>, Error>) {
        assert!(outcome.is_ok(), "the write succeeds");
        self.holds.send(()).expect("the test waits");
        self.let_go.recv().expect("the test lets go");
    }
}

/// Runs `work` after a write has been committed, while the writer answers it.
pub(super) fn while_answering(engine: &Arc<Engine>, sql: &str, work: impl FnOnce()) {
    let ((holds, is_held), (go, let_go)) = (channel(), channel());
    let write = Write {
        op: WriteOp::Execute {
            sql: sql.into(),
            params: ().into(),
        },
        durability: Durability::Normal,
        integers: Integers::BigInt,
        token: Token::default(),
        tag: None,
    };
    engine.write(write, Box::new(Hold { holds, let_go }));
    is_held.recv().expect("the writer answers");
    work();
    go.send(()).expect("the writer waits");
}

const INSERT: &str = "INSERT INTO t VALUES (1)";

/// True if a read of the writer goes on after a write: then another process cannot reset the log.
fn reads_on_after(options: Options, sql: &str, before: impl FnOnce(&Database)) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("main.db");
    let path = path.to_str().expect("UTF-8");
    let db = block_on(Database::open(path, options)).expect("the database opens");
    block_on(db.exec("CREATE TABLE t(a)")).expect("the schema is right");
    before(&db);
    let stranger = Connection::open(path, Access::ReadWriteCreate, None).expect("it opens");
    // So that it knows the log.
    stranger
        .execute_script("SELECT count(*) FROM t")
        .expect("it reads");
    let mut busy = false;
    while_answering(db.engine(), sql, || {
        let reset = stranger.checkpoint("main", Checkpoint::Truncate);
        let reset = reset.expect("a checkpoint can be tried");
        assert!(reset.log.is_some(), "it is tried");
        busy = reset.busy;
    });
    block_on(db.close()).expect("it closes");
    busy
}

struct EveryEntry;

impl EntryGate for EveryEntry {}

#[test]
fn the_writer_reads_on_after_a_write() {
    assert!(reads_on_after(Options::default(), INSERT, |_| {}));
}

// G101
#[test]
fn a_program_that_makes_the_checkpoints_can_reset_the_log_after_a_write() {
    let options = Options {
        checkpoints: Some(Checkpoints::Manual),
        ..Options::default()
    };
    assert!(!reads_on_after(options, INSERT, |_| {}));
}

#[test]
fn the_writer_does_not_read_on_after_a_change_of_the_schema() {
    assert!(!reads_on_after(Options::default(), "CREATE TABLE u(a)", |_| {}));
}

#[test]
fn the_writer_does_not_read_on_beside_attached_databases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = folder.path().join("other.db");
    let attach = |db: &Database| {
        let path = other.to_str().expect("UTF-8");
        block_on(db.execute("ATTACH ? AS other", [path.into()])).expect("it is attached");
    };
    assert!(!reads_on_after(Options::default(), INSERT, attach));
}

#[test]
fn the_writer_does_not_read_on_beside_an_entry_gate() {
    let set_gate = |db: &Database| {
        block_on(db.set_entry_gate(Some(Box::new(EveryEntry)))).expect("a gate can be set");
    };
    assert!(!reads_on_after(Options::default(), INSERT, set_gate));
}

#[test]
fn the_writer_does_not_read_on_beside_a_change_feed() {
    let open_feed = |db: &Database| {
        let opened = answer(|done| db.engine().open_feed(FeedOptions::named("feed"), done));
        block_on(opened).expect("a feed can be opened");
    };
    assert!(!reads_on_after(Options::default(), INSERT, open_feed));
}
