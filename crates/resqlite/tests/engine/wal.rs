//! The write-ahead log stays bounded.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use resqlite::{Database, Options, limits};

use resqlite_sqlite::Checkpoint;

use crate::support::{Fixture, ask, block_on};

/// Looks into the log first, and then takes about as long as some hundred writes.
const LONG_READ: &str =
    "WITH RECURSIVE n(i) AS (SELECT count(*) FROM t UNION ALL SELECT i + 1 FROM n LIMIT 20000)
                         SELECT max(i) FROM n";

/// Reads until `stop`; before a read ends, the next one is asked for already.
fn read_without_rest(db: &Database, stop: &AtomicBool) {
    let mut running = ask(db.select(LONG_READ, ()));
    while !stop.load(Ordering::Relaxed) {
        let next = ask(db.select(LONG_READ, ()));
        running.wait().unwrap();
        running = next;
    }
    running.wait().unwrap();
}

// G101
#[test]
fn the_log_stays_bounded_under_readers_that_never_all_rest() {
    let fixture = Fixture::with(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)",
        Options {
            readers: Some(2),
            ..Options::default()
        },
    );
    let (db, stop) = (&fixture.db, &AtomicBool::new(false));
    thread::scope(|scope| {
        (0..2).for_each(|_| drop(scope.spawn(|| read_without_rest(db, stop))));
        write_until_the_log_starts_anew(db, 1);
        stop.store(true, Ordering::Relaxed);
    });
}

/// Writes until the log has started anew so often. Without that, it grows to a size that nothing else explains.
fn write_until_the_log_starts_anew(db: &Database, times: u64) {
    while db.diagnostics().wal_reset_pauses < times {
        block_on(db.execute("UPDATE t SET a = randomblob(200000) WHERE id = 1", ())).unwrap();
        assert!(
            db.diagnostics().wal_pages < 32 * limits::WAL_RESTART_PAGES,
            "{:?}",
            db.diagnostics()
        );
    }
}

fn with_a_row() -> Fixture {
    Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1), (2, 2)")
}

// G101
#[test]
fn the_log_starts_anew_beside_snapshots_of_which_one_is_always_open() {
    let fixture = with_a_row();
    let (db, stop) = (&fixture.db, &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut open = block_on(db.snapshot()).unwrap();
            while !stop.load(Ordering::Relaxed) {
                // It is asked for before the other one ends.
                let next = ask(db.snapshot());
                block_on(open.select("SELECT id FROM t", ())).unwrap();
                drop(open);
                open = next.wait().unwrap();
            }
        });
        write_until_the_log_starts_anew(db, 2);
        stop.store(true, Ordering::Relaxed);
    });
}

// G101
#[test]
fn the_log_starts_anew_beside_snapshots_in_which_others_are_opened() {
    let fixture = with_a_row();
    let (db, stop) = (&fixture.db, &AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let outer = block_on(db.snapshot()).unwrap();
                    let mut inner = block_on(db.iterate("SELECT id FROM t", (), 1)).unwrap();
                    block_on(inner.next_batch()).unwrap();
                    drop(inner);
                    block_on(outer.select("SELECT id FROM t", ())).unwrap();
                }
            });
        }
        write_until_the_log_starts_anew(db, 1);
        stop.store(true, Ordering::Relaxed);
    });
}

// G101
#[test]
fn checkpoints_copy_the_log_while_nobody_reads() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for _ in 0..40 {
        fixture.run("INSERT INTO t VALUES (zeroblob(200000))");
    }
    let diagnostics = fixture.db.diagnostics();
    assert!(diagnostics.checkpoints >= 1, "{diagnostics:?}");
    assert!(diagnostics.file_bytes > 1_000_000, "{diagnostics:?}");
}

// G101
#[test]
fn others_can_reset_the_log_as_soon_as_the_writer_has_nothing_to_do() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let stranger = fixture.stranger();
    // Longer than a writer can be busy, and shorter than a test may last. Without a read it does not know of the log.
    stranger
        .execute_script("PRAGMA busy_timeout = 10000; SELECT * FROM t")
        .unwrap();
    for n in 0..20 {
        fixture.run("INSERT INTO t VALUES (1)");
        let done = stranger.checkpoint("main", Checkpoint::Truncate).unwrap();
        assert!(!done.busy, "after write {n}");
    }
}

// G79
#[test]
fn closing_leaves_one_file_and_no_log() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture.select("SELECT * FROM t");
    let Fixture { db, folder } = fixture;
    block_on(db.close()).unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["test.db"]);
}

// G101
#[test]
fn an_open_cursor_holds_up_no_write_and_the_log_shrinks_after_it() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture.run("INSERT INTO t VALUES (1), (2), (3)");
    let mut cursor = block_on(fixture.db.iterate("SELECT a FROM t", (), 1)).unwrap();
    block_on(cursor.next_batch()).unwrap();
    for _ in 0..250 {
        fixture.run("INSERT INTO t VALUES (zeroblob(150000))");
    }
    let diagnostics = fixture.db.diagnostics();
    assert!(diagnostics.wal_pages > limits::WAL_RESTART_PAGES);
    assert_eq!(
        diagnostics.lease_holders[0].sql.as_deref(),
        Some("SELECT a FROM t")
    );
    drop(cursor);
    for _ in 0..250 {
        fixture.run("UPDATE t SET a = randomblob(150000) WHERE rowid = 5");
        if fixture.db.diagnostics().wal_pages < limits::WAL_RESTART_PAGES {
            return;
        }
    }
    panic!("{:?}", fixture.db.diagnostics());
}
