//! Checkpoints that a caller asks for, and who else makes some.

use resqlite::{CheckpointMode, Checkpoints, Error, Options, limits};

use crate::support::{Fixture, block_on, open_with};

fn with(checkpoints: Checkpoints) -> Fixture {
    let options = Options {
        checkpoints: Some(checkpoints),
        ..Options::default()
    };
    Fixture::with("CREATE TABLE t(a)", options)
}

/// Writes a log of more pages than the engine lets it have.
fn write_much(fixture: &Fixture) {
    for _ in 0..100 {
        fixture.run("INSERT INTO t VALUES (zeroblob(400000))");
    }
}

// G240
#[test]
fn without_the_engine_the_log_grows_until_a_checkpoint_is_asked_for() {
    let fixture = with(Checkpoints::Manual);
    write_much(&fixture);
    let before = fixture.db.diagnostics();
    assert_eq!((before.checkpoints, before.wal_reset_pauses), (0, 0));
    let done = block_on(fixture.db.checkpoint(CheckpointMode::Passive)).unwrap();
    assert!(!done.busy && done.log == done.copied, "{done:?}");
    assert!(done.log > Some(limits::WAL_RESTART_PAGES), "{done:?}");
    assert_eq!(fixture.db.diagnostics().wal_bytes, before.wal_bytes);
}

// G240
#[test]
fn a_passive_engine_copies_the_log_and_never_truncates_it() {
    let fixture = with(Checkpoints::Passive);
    let mut cursor = block_on(fixture.db.iterate("SELECT 1 FROM sqlite_schema", (), 1)).unwrap();
    block_on(cursor.next_batch()).unwrap();
    write_much(&fixture);
    drop(cursor);
    let bytes = fixture.db.diagnostics().wal_bytes;
    for _ in 0..20 {
        fixture.run("INSERT INTO t VALUES (zeroblob(400000))");
    }
    let after = fixture.db.diagnostics();
    assert!(after.checkpoints > 0, "{after:?}");
    assert_eq!(
        (
            after.wal_reset_pauses,
            after.wal_bytes >= bytes.min(limits::WAL_FILE_KEPT)
        ),
        (0, true)
    );
}

// G240
#[test]
fn each_mode_goes_one_step_further() {
    for mode in [
        CheckpointMode::Full,
        CheckpointMode::Restart,
        CheckpointMode::Truncate,
    ] {
        let fixture = with(Checkpoints::Manual);
        write_much(&fixture);
        let bytes = fixture.db.diagnostics().wal_bytes;
        let done = block_on(fixture.db.checkpoint(mode)).unwrap();
        assert!(!done.busy && done.log == done.copied, "{mode:?}: {done:?}");
        let left = if mode == CheckpointMode::Truncate {
            0
        } else {
            bytes
        };
        assert_eq!(fixture.db.diagnostics().wal_bytes, left, "{mode:?}");
        // The pages are counted after the reply.
        (0..2).for_each(|_| drop(fixture.run("INSERT INTO t VALUES (1)")));
        assert!(fixture.db.diagnostics().wal_pages < 100, "{mode:?}");
    }
}

// G240
#[test]
fn a_checkpoint_that_a_snapshot_prevents_is_busy() {
    let fixture = with(Checkpoints::Manual);
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    write_much(&fixture);
    for mode in [
        CheckpointMode::Full,
        CheckpointMode::Restart,
        CheckpointMode::Truncate,
    ] {
        let done = block_on(fixture.db.checkpoint(mode)).unwrap();
        assert!(done.busy && done.copied < done.log, "{mode:?}: {done:?}");
    }
    drop(snapshot);
    // The snapshot's thread gives it back a moment later.
    while block_on(fixture.db.checkpoint(CheckpointMode::Truncate))
        .unwrap()
        .busy
    {}
    assert_eq!(fixture.db.diagnostics().wal_bytes, 0);
}

#[test]
fn a_read_only_database_makes_no_checkpoint() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let options = Options {
        read_only: true,
        ..Options::default()
    };
    let reader = open_with(fixture.path().to_str().unwrap(), options).unwrap();
    let refused = block_on(reader.checkpoint(CheckpointMode::Passive)).unwrap_err();
    assert!(matches!(refused, Error::ReadOnly(_)), "{refused:?}");
}

// G240
#[test]
fn closing_leaves_the_log_to_those_who_make_the_checkpoints() {
    let Fixture { db, folder } = with(Checkpoints::Manual);
    block_on(db.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    block_on(db.close()).unwrap();
    let log = std::fs::metadata(folder.path().join("test.db-wal")).unwrap();
    assert!(log.len() > 0);
}

#[test]
fn those_who_share_an_engine_agree_on_its_checkpoints() {
    let fixture = with(Checkpoints::Manual);
    let options = Options {
        checkpoints: Some(Checkpoints::Auto),
        ..Options::default()
    };
    let refused = open_with(fixture.path().to_str().unwrap(), options)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("checkpoints"), "{refused}");
}
