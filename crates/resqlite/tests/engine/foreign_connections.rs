//! Other connections to the same file, as other processes have them.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, SystemTime},
};

use resqlite::{LockWait, Options, TransactionOptions};

use crate::support::{Fixture, block_on, connect, images, record, table};

fn patient(busy_timeout: Duration) -> Options {
    Options {
        busy_timeout: Some(busy_timeout),
        ..Options::default()
    }
}

// G92
#[test]
fn a_foreign_lock_held_longer_than_busy_timeout_is_sqlite_busy() {
    let fixture = Fixture::with("CREATE TABLE t(a)", patient(Duration::from_millis(20)));
    let stranger = fixture.stranger();
    stranger.execute_script("BEGIN IMMEDIATE").unwrap();
    let error = fixture.fails("INSERT INTO t VALUES (1)");
    assert_eq!(error.code(), "SQLITE_BUSY");
    assert!(error.to_string().contains("busy timeout"), "{error}");
    let error = block_on(fixture.db.begin(None)).err().unwrap();
    assert_eq!(error.code(), "SQLITE_BUSY");
    stranger.execute_script("COMMIT").unwrap();
    fixture.run("INSERT INTO t VALUES (1)");
}

#[test]
fn no_time_to_wait_is_sqlite_busy_at_once() {
    let fixture = Fixture::with("CREATE TABLE t(a)", patient(Duration::ZERO));
    let stranger = fixture.stranger();
    stranger.execute_script("BEGIN IMMEDIATE").unwrap();
    assert_eq!(fixture.fails("INSERT INTO t VALUES (1)").code(), "SQLITE_BUSY");
}

#[test]
fn a_foreign_lock_that_is_released_in_time_is_waited_for() {
    let fixture = Fixture::with("CREATE TABLE t(a)", patient(Duration::from_secs(60)));
    let (locked, is_locked) = mpsc::channel();
    let (release, may_release) = mpsc::channel::<()>();
    let path = fixture.path();
    let holder = thread::spawn(move || {
        let stranger = connect(path.to_str().unwrap()).unwrap();
        stranger
            .execute_script("BEGIN IMMEDIATE; INSERT INTO t VALUES (0)")
            .unwrap();
        locked.send(()).unwrap();
        may_release.recv().unwrap();
        stranger.execute_script("COMMIT").unwrap();
    });
    is_locked.recv().unwrap();
    let waiting = crate::support::ask(fixture.db.execute("INSERT INTO t VALUES (1)", ()));
    release.send(()).unwrap();
    waiting.wait().unwrap();
    holder.join().unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [0, 1]);
}

// G32
#[test]
fn reads_do_not_wait_for_a_foreign_writer() {
    let fixture = Fixture::with(
        "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
        patient(Duration::ZERO),
    );
    let stranger = fixture.stranger();
    stranger
        .execute_script("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
        .unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    stranger.execute_script("COMMIT").unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2]);
}

// G93
#[test]
fn a_foreign_commit_between_two_writes_is_no_error() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let stranger = fixture.stranger();
    for n in 0..20 {
        fixture.run(&format!("INSERT INTO t VALUES ({})", 2 * n));
        stranger
            .execute_script(&format!("INSERT INTO t VALUES ({})", 2 * n + 1))
            .unwrap();
    }
    assert_eq!(
        fixture.integers("SELECT a FROM t ORDER BY rowid"),
        (0..40).collect::<Vec<_>>()
    );
}

// G93
#[test]
fn writes_without_rest_and_those_of_a_stranger_wait_for_each_other() {
    const EACH: i64 = 300;
    const CALLERS: i64 = 3;
    let fixture = Fixture::with("CREATE TABLE t(a)", patient(Duration::from_secs(60)));
    let path = fixture.path();
    thread::scope(|scope| {
        scope.spawn(|| {
            let stranger = connect(path.to_str().unwrap()).unwrap();
            stranger.execute_script("PRAGMA busy_timeout = 60000").unwrap();
            (0..EACH).for_each(|_| stranger.execute_script("INSERT INTO t VALUES (1)").unwrap());
        });
        for _ in 0..CALLERS {
            scope.spawn(|| {
                (0..EACH).for_each(|_| drop(fixture.run("INSERT INTO t VALUES (2)")));
            });
        }
    });
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [(1 + CALLERS) * EACH]);
}

#[test]
fn a_column_that_a_stranger_added_is_there_for_every_statement() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    fixture.select("SELECT * FROM t");
    fixture
        .stranger()
        .execute_script("ALTER TABLE t ADD COLUMN b DEFAULT 5")
        .unwrap();
    assert_eq!(fixture.select("SELECT * FROM t").columns(), ["a", "b"]);
    fixture.run("INSERT INTO t VALUES (2, 3)");
}

/// A table whose columns stand elsewhere, and whose key has another form, than when its rows were last written.
fn redefined() -> Fixture {
    let fixture = Fixture::new("CREATE TABLE t(a, k PRIMARY KEY); CREATE TABLE u(x)");
    fixture.run("INSERT INTO t VALUES (0, 1)");
    fixture
        .stranger()
        .execute_script("DROP TABLE t; CREATE TABLE t(k PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO t VALUES (4, 4), (5, 5)")
        .unwrap();
    fixture
}

/// Whether the log names a row of `t` with this in its first column, or any row.
fn claims(recorded: &crate::support::Recorded, wanted: i64) -> bool {
    use resqlite::live::{Rows, Value};
    let wanted = [Value::Integer(wanted)];
    recorded
        .commits()
        .iter()
        .filter_map(|commit| commit.table(&table("t")))
        .any(|change| match &change.rows {
            Rows::Any => true,
            Rows::Only(rows) => rows
                .iter()
                .flat_map(|row| row.before().into_iter().chain(row.after()))
                .any(|image| **image == wanted),
        })
}

// G99
#[test]
fn a_cached_statement_on_a_table_that_a_stranger_defined_anew_claims_its_rows() {
    let fixture = redefined();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("INSERT INTO t VALUES (1, 1)"))
    });
    assert!(claims(&seen, 1), "{:?}", seen.commits());
}

#[test]
fn a_new_statement_on_a_table_that_a_stranger_defined_anew_claims_its_rows() {
    let fixture = redefined();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("UPDATE t SET a = 0 WHERE k = 4"))
    });
    assert!(claims(&seen, 4), "{:?}", seen.commits());
}

#[test]
fn a_write_after_a_read_that_noticed_foreign_definitions_claims_its_rows() {
    let fixture = redefined();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.select("SELECT * FROM t", ()).await?;
            tx.execute("UPDATE t SET a = 0 WHERE k = 4", ()).await
        }))
        .unwrap();
    });
    assert!(claims(&seen, 4), "{:?}", seen.commits());
}

#[test]
fn a_write_after_another_that_noticed_foreign_definitions_claims_its_rows() {
    let fixture = redefined();
    for (n, first) in [
        "INSERT INTO u VALUES (1)",
        "SELECT count(*) FROM t",
        "DELETE FROM u WHERE 0",
    ]
    .iter()
    .enumerate()
    {
        let wanted = 4 + n as i64;
        let seen = record(&fixture.db, &[images("t", &[0])], || {
            fixture.run(first);
            fixture.run(&format!("INSERT OR REPLACE INTO t VALUES ({wanted}, {wanted})"));
        });
        assert!(claims(&seen, wanted), "{first}: {:?}", seen.commits());
    }
}

#[test]
fn a_new_table_of_a_stranger_is_claimed_whatever_its_columns() {
    let fixture = Fixture::new("CREATE TABLE u(x)");
    fixture.run("INSERT INTO u VALUES (1)");
    fixture
        .stranger()
        .execute_script("CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID")
        .unwrap();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("INSERT INTO t VALUES (3)"))
    });
    assert!(claims(&seen, 3));
}

/// Waits until diagnostics tell that the writer waits for a lock, or that it does not.
fn lock_wait(fixture: &Fixture, waits: bool) -> Option<LockWait> {
    loop {
        let wait = fixture.db.diagnostics().waiting_for_lock;
        if wait.is_some() == waits {
            return wait;
        }
        thread::yield_now();
    }
}

// G188
#[test]
fn diagnostics_tell_that_a_write_waits_for_a_foreign_lock() {
    let fixture = Fixture::with("CREATE TABLE t(a)", patient(Duration::from_secs(600)));
    let stranger = fixture.stranger();
    for sql in ["INSERT INTO t VALUES (1)", "VACUUM"] {
        assert_eq!(fixture.db.diagnostics().waiting_for_lock, None);
        stranger.execute_script("BEGIN IMMEDIATE").unwrap();
        thread::scope(|scope| {
            let before = SystemTime::now();
            scope.spawn(|| fixture.run(sql));
            let wait = lock_wait(&fixture, true).unwrap();
            assert_eq!(wait.sql.as_deref(), Some(sql));
            assert!(wait.since >= before);
            stranger.execute_script("ROLLBACK").unwrap();
        });
    }
    assert_eq!(fixture.db.diagnostics().waiting_for_lock, None);
}

// G188
#[test]
fn a_transaction_that_has_its_lock_does_not_wait_for_it() {
    let fixture = Fixture::with("CREATE TABLE t(a)", patient(Duration::from_secs(600)));
    let stranger = fixture.stranger();
    stranger.execute_script("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let begun = scope.spawn(|| block_on(fixture.db.begin(TransactionOptions::default())).unwrap());
        assert_eq!(lock_wait(&fixture, true).unwrap().sql, None);
        stranger.execute_script("ROLLBACK").unwrap();
        let transaction = begun.join().unwrap();
        assert_eq!(fixture.db.diagnostics().waiting_for_lock, None);
        block_on(transaction.rollback()).unwrap();
    });
}

// G188
#[test]
fn a_write_that_gives_up_does_not_wait_any_more() {
    let fixture = Fixture::with("CREATE TABLE t(a)", patient(Duration::from_millis(1)));
    let stranger = fixture.stranger();
    stranger.execute_script("BEGIN IMMEDIATE").unwrap();
    assert_eq!(fixture.fails("INSERT INTO t VALUES (1)").code(), "SQLITE_BUSY");
    assert_eq!(fixture.db.diagnostics().waiting_for_lock, None);
}
