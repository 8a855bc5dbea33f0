//! Reads: their order, their snapshots, what they refuse.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use dice::Rng;
use resqlite::{
    Options, Value,
    binding::{Format, Query, Token},
};

use crate::support::{Fixture, ask, block_on, hold_reader, integers, query, readers, tell};

fn counting(rows: i64) -> String {
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n"
    )
}

// G31
#[test]
fn reads_are_served_in_the_order_they_were_asked_for() {
    let fixture = Fixture::with("", readers(1));
    let held = hold_reader(&fixture.db);
    let order = Arc::new(Mutex::new(Vec::new()));
    let (done, all_done) = mpsc::channel();
    for n in 0..300 {
        let (order, done) = (Arc::clone(&order), done.clone());
        let sql = if n % 3 == 0 { "SELECT wrong" } else { "SELECT 1" };
        let reply = tell(move |_| {
            order.lock().unwrap().push(n);
            done.send(()).unwrap();
        });
        fixture.db.engine().select(query(sql, Token::default()), reply);
    }
    held.release().unwrap();
    (0..300).for_each(|_| all_done.recv().unwrap());
    assert_eq!(*order.lock().unwrap(), (0..300).collect::<Vec<_>>());
}

// G102
#[test]
fn readers_are_opened_when_they_are_needed_and_not_before() {
    let fixture = Fixture::with("", readers(3));
    assert_eq!(fixture.db.diagnostics().readers, 0);
    fixture.select("SELECT 1");
    assert_eq!(fixture.db.diagnostics().readers, 1);
    let held = [
        hold_reader(&fixture.db),
        hold_reader(&fixture.db),
        hold_reader(&fixture.db),
    ];
    let (done, answered) = mpsc::channel();
    let reply = tell(move |_| done.send(()).unwrap());
    fixture
        .db
        .engine()
        .select(query("SELECT 1", Token::default()), reply);
    let diagnostics = fixture.db.diagnostics();
    assert_eq!((diagnostics.readers, diagnostics.readers_busy), (3, 3));
    assert!(answered.try_recv().is_err(), "a fourth read waits");
    held.into_iter().for_each(|held| held.release().unwrap());
    answered.recv().unwrap();
}

// G31
#[test]
fn a_read_does_not_wait_behind_a_long_one_while_a_reader_is_free() {
    let fixture = Fixture::with("", readers(2));
    let held = hold_reader(&fixture.db);
    assert_eq!(fixture.integers("SELECT 1"), [1]);
    held.release().unwrap();
}

// G71
#[test]
fn snapshots_and_cursors_take_no_reader_away_from_select() {
    let fixture = Fixture::with("CREATE TABLE t(a); INSERT INTO t VALUES (1)", readers(1));
    let snapshots: Vec<_> = (0..5).map(|_| block_on(fixture.db.snapshot()).unwrap()).collect();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    assert_eq!(fixture.db.diagnostics().leases, 5);
    drop(snapshots);
}

// G30
#[test]
fn after_an_acknowledged_write_every_read_that_is_asked_for_sees_it() {
    const THREADS: u64 = 4;
    let fixture = Fixture::with("CREATE TABLE t(k INTEGER PRIMARY KEY, n)", readers(2));
    let sets: Vec<_> = (0..THREADS).map(|k| vec![(k as i64).into(), 0.into()]).collect();
    block_on(fixture.db.execute_batch("INSERT INTO t VALUES (?, ?)", &sets)).unwrap();
    thread::scope(|scope| {
        for k in 0..THREADS {
            let db = &fixture.db;
            scope.spawn(move || {
                let mut random = Rng(0x5eed + k);
                for n in 1..=200i64 {
                    block_on(db.execute(
                        "UPDATE t SET n = ? WHERE k = ?",
                        vec![n.into(), (k as i64).into()],
                    ))
                    .unwrap();
                    // Several at once, so that reads share snapshots.
                    let reads: Vec<_> = (0..1 + random.below(6))
                        .map(|_| ask(db.select("SELECT n FROM t WHERE k = ?", vec![(k as i64).into()])))
                        .collect();
                    for read in reads {
                        assert_eq!(integers(&read.wait().unwrap()), [n], "thread {k}");
                    }
                }
            });
        }
    });
}

// G30
#[test]
fn a_read_asked_for_after_a_write_never_joins_an_older_snapshot() {
    let fixture = Fixture::with("CREATE TABLE t(n); INSERT INTO t VALUES (0)", readers(1));
    for n in 1..=100i64 {
        let held = hold_reader(&fixture.db);
        let before: Vec<_> = (0..3)
            .map(|_| ask(fixture.db.select("SELECT n FROM t", ())))
            .collect();
        block_on(fixture.db.execute("UPDATE t SET n = ?", vec![n.into()])).unwrap();
        let after = ask(fixture.db.select("SELECT n FROM t", ()));
        held.release().unwrap();
        assert_eq!(integers(&after.wait().unwrap()), [n]);
        for before in before {
            assert!((n - 1..=n).contains(&integers(&before.wait().unwrap())[0]));
        }
    }
}

// G63
#[test]
fn a_snapshot_shows_one_state_whatever_is_written() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    for _ in 0..3 {
        fixture.run("INSERT INTO t VALUES (2)");
        assert_eq!(
            integers(&block_on(snapshot.select("SELECT count(*) FROM t", ())).unwrap()),
            [1]
        );
    }
    drop(snapshot);
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [4]);
}

// G63
#[test]
fn a_snapshot_begins_when_it_is_opened_not_when_it_is_first_read() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    fixture.run("INSERT INTO t VALUES (1)");
    assert_eq!(
        integers(&block_on(snapshot.select("SELECT count(*) FROM t", ())).unwrap()),
        [0]
    );
}

#[test]
fn a_snapshot_goes_on_after_a_query_that_failed() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    assert_eq!(
        block_on(snapshot.select("SELECT wrong", ())).unwrap_err().code(),
        "SQLITE_ERROR"
    );
    fixture.run("INSERT INTO t VALUES (1)");
    assert_eq!(
        integers(&block_on(snapshot.select("SELECT count(*) FROM t", ())).unwrap()),
        [0]
    );
}

// G66
#[test]
fn a_cursor_keeps_its_snapshot_while_writes_go_on() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i FROM n");
    let mut cursor = block_on(fixture.db.iterate("SELECT a FROM t", (), 100)).unwrap();
    let mut seen = Vec::new();
    while let Some(batch) = block_on(cursor.next_batch()).unwrap() {
        seen.extend(integers(&batch));
        fixture.run("DELETE FROM t WHERE a % 2");
        fixture.run("INSERT INTO t VALUES (-1)");
    }
    assert_eq!(seen, (1..=1000).collect::<Vec<_>>());
}

#[test]
fn a_cursor_ends_well_whether_or_not_the_last_batch_is_full() {
    let fixture = Fixture::new("");
    for rows in [0, 1, 9, 10, 11, 20, 2500] {
        for batch in [1, 10, 1024, 5000] {
            let sql = format!("SELECT i FROM ({}) LIMIT {rows}", counting(2500));
            let mut cursor = block_on(fixture.db.iterate(&sql, (), batch)).unwrap();
            let mut seen = 0;
            while let Some(rows) = block_on(cursor.next_batch()).unwrap() {
                assert!((1..=batch).contains(&rows.len()));
                seen += rows.len();
            }
            assert_eq!((rows, batch, seen), (rows, batch, rows));
            assert!(block_on(cursor.next_batch()).unwrap().is_none());
        }
    }
}

// G71
#[test]
fn a_cursor_that_is_dropped_early_lets_its_connection_go() {
    let fixture = Fixture::new("");
    for _ in 0..100 {
        let mut cursor = block_on(fixture.db.iterate(&counting(1_000_000_000), (), 10)).unwrap();
        block_on(cursor.next_batch()).unwrap();
        drop(cursor);
    }
    while fixture.db.diagnostics().leases > 0 {
        thread::yield_now();
    }
}

#[test]
fn a_cursor_reports_an_error_in_the_middle() {
    let fixture = Fixture::new("");
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
               SELECT abs(CASE WHEN i = 50 THEN -9223372036854775807 - 1 ELSE i END) FROM n";
    let mut cursor = block_on(fixture.db.iterate(sql, (), 20)).unwrap();
    block_on(cursor.next_batch()).unwrap();
    block_on(cursor.next_batch()).unwrap();
    assert_eq!(block_on(cursor.next_batch()).unwrap_err().code(), "SQLITE_ERROR");
}

// G36
#[test]
fn every_reader_sees_columns_that_were_added_after_it_prepared_the_statement() {
    let fixture = Fixture::with("CREATE TABLE t(a); INSERT INTO t VALUES (1)", readers(3));
    // A read that stays on each of the three readers, so that each has the statement in its cache.
    let sql = "SELECT * FROM t, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n)";
    let on_every_reader = |db: &resqlite::Database| {
        let held = [(); 3].map(|()| crate::support::hold_reader_with(db, sql));
        held.into_iter().for_each(|held| held.release().unwrap());
    };
    on_every_reader(&fixture.db);
    fixture.exec("ALTER TABLE t ADD COLUMN b DEFAULT 2");
    let reads: Vec<_> = (0..30)
        .map(|_| ask(fixture.db.select("SELECT * FROM t", ())))
        .collect();
    for read in reads {
        assert_eq!(read.wait().unwrap().columns(), ["a", "b"]);
    }
    on_every_reader(&fixture.db);
    let rows = fixture.select(sql);
    assert_eq!(rows.columns(), ["a", "b", "i"]);
    assert_eq!(rows.first().unwrap().get("b"), Some(&Value::Integer(2)));
}

// G36
#[test]
fn a_statement_in_the_cache_survives_changes_of_the_schema() {
    let fixture = Fixture::with("CREATE TABLE t(a); INSERT INTO t VALUES (1)", readers(1));
    let columns = |expected: &[&str]| assert_eq!(fixture.select("SELECT * FROM t").columns(), expected);
    columns(&["a"]);
    fixture.exec("ALTER TABLE t ADD COLUMN b");
    columns(&["a", "b"]);
    fixture.exec("ALTER TABLE t RENAME COLUMN a TO z");
    columns(&["z", "b"]);
    fixture.exec("ALTER TABLE t DROP COLUMN z");
    columns(&["b"]);
    fixture.exec("DROP TABLE t");
    assert_eq!(
        block_on(fixture.db.select("SELECT * FROM t", ()))
            .unwrap_err()
            .code(),
        "SQLITE_ERROR"
    );
    fixture.exec("CREATE TABLE t(x, y, z); INSERT INTO t VALUES (1, 'two', x'03')");
    columns(&["x", "y", "z"]);
}

#[test]
fn returning_star_gives_the_new_columns_after_the_schema_changed() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let sql = "INSERT INTO t(a) VALUES (1) RETURNING *";
    assert_eq!(fixture.run(sql).rows.columns(), ["a"]);
    fixture.exec("ALTER TABLE t ADD COLUMN b DEFAULT 'x'");
    let rows = fixture.run(sql).rows;
    assert_eq!(
        (rows.columns(), rows.first().unwrap().get("b")),
        (&["a".to_owned(), "b".to_owned()][..], Some(&"x".into()))
    );
}

// G104
#[test]
fn more_statements_than_the_cache_holds_all_work() {
    let fixture = Fixture::with(
        "",
        Options {
            statement_cache_size: Some(2),
            ..readers(1)
        },
    );
    for round in 0..3 {
        for n in 0..10 {
            assert_eq!(fixture.integers(&format!("SELECT {n} + 0")), [n], "round {round}");
        }
    }
}

// G35, G212, S2
#[test]
fn select_refuses_what_does_not_only_read() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    for (sql, code) in [
        ("INSERT INTO t VALUES (2)", "RESQLITE_READ_ONLY"),
        ("DELETE FROM t", "RESQLITE_READ_ONLY"),
        ("UPDATE t SET a = 1 RETURNING a", "RESQLITE_READ_ONLY"),
        (
            "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
            "RESQLITE_READ_ONLY",
        ),
        ("CREATE TABLE u(a)", "RESQLITE_READ_ONLY"),
        ("DROP TABLE t", "RESQLITE_READ_ONLY"),
        ("BEGIN", "RESQLITE_READ_ONLY"),
        ("COMMIT", "RESQLITE_READ_ONLY"),
        ("SAVEPOINT a", "RESQLITE_READ_ONLY"),
        ("ATTACH ':memory:' AS x", "RESQLITE_READ_ONLY"),
        ("DETACH x", "RESQLITE_READ_ONLY"),
        ("PRAGMA cache_size = 10", "RESQLITE_READ_ONLY"),
        ("PRAGMA query_only(0)", "RESQLITE_READ_ONLY"),
        ("PRAGMA user_versoin = 1", "RESQLITE_STATEMENT"),
        ("SELECT 1; SELECT 2", "RESQLITE_STATEMENT"),
        ("", "RESQLITE_STATEMENT"),
        ("-- nothing", "RESQLITE_STATEMENT"),
        ("SELECT 1\0", "RESQLITE_STATEMENT"),
        ("SELECT", "SQLITE_ERROR"),
    ] {
        let error = block_on(fixture.db.select(sql, ())).expect_err(sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        let cursor = block_on(fixture.db.iterate(sql, (), 10)).err().expect(sql);
        assert_eq!(cursor.code(), code, "iterate {sql}: {cursor}");
    }
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

// G35
#[test]
fn select_takes_what_only_reads() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    for sql in [
        "SELECT a FROM t;",
        "SELECT a FROM t -- comment",
        "VALUES (1)",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "EXPLAIN QUERY PLAN SELECT * FROM t",
        "EXPLAIN DELETE FROM t",
        "PRAGMA user_version",
        "PRAGMA table_info(t)",
        "SELECT * FROM pragma_table_info('t')",
    ] {
        assert!(!fixture.select(sql).is_empty(), "{sql}");
    }
}

#[test]
fn a_query_without_rows_has_its_columns_all_the_same() {
    let fixture = Fixture::new("CREATE TABLE t(a, b)");
    let rows = fixture.select("SELECT a, b AS c FROM t");
    assert_eq!(
        (rows.len(), rows.columns()),
        (0, &["a".to_owned(), "c".to_owned()][..])
    );
}

#[test]
fn of_columns_with_one_name_the_last_is_found_by_it() {
    let fixture = Fixture::new("");
    let rows = fixture.select("SELECT 1 AS a, 2 AS a");
    assert_eq!(rows.first().unwrap().get("a"), Some(&Value::Integer(2)));
    assert_eq!(
        block_on(fixture.db.select_json("SELECT 1 AS a, 2 AS a", ())).unwrap(),
        r#"[{"a":2}]"#
    );
}

#[test]
fn what_was_asked_for_before_closing_is_still_answered() {
    let fixture = Fixture::with("CREATE TABLE t(a)", readers(1));
    let Fixture { db, folder } = fixture;
    let engine = Arc::clone(db.engine());
    let held = hold_reader(&db);
    let (done, all_done) = mpsc::channel();
    for _ in 0..50 {
        let done = done.clone();
        engine.select(
            query("SELECT count(*) FROM t", Token::default()),
            tell(move |told| done.send(told).unwrap()),
        );
    }
    let closing = thread::spawn(move || block_on(db.close()));
    held.release().unwrap();
    (0..50).for_each(|_| all_done.recv().unwrap().unwrap());
    closing.join().unwrap().unwrap();
    let (refused, is_refused) = mpsc::channel();
    engine.select(
        query("SELECT 1", Token::default()),
        tell(move |told| refused.send(told).unwrap()),
    );
    assert_eq!(is_refused.recv().unwrap(), Err(resqlite::Error::Closed));
    drop(folder);
}

#[test]
fn a_query_for_the_first_row_stops_there() {
    let fixture = Fixture::new("");
    let (done, is_done) = mpsc::channel();
    let first = Query {
        format: Format::FirstRow,
        ..query(&counting(i64::MAX), Token::default())
    };
    fixture
        .db
        .engine()
        .select(first, tell(move |told| done.send(told).unwrap()));
    assert_eq!(is_done.recv().unwrap(), Ok(()));
}
