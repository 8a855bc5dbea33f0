//! One statement of any kind goes where it can run.

use resqlite::{Durability, Options, Params, QueryLimits, QueryResult, Result, Value, binding::Token};

use crate::support::{Fixture, ask, block_on, hold_reader, integers, open_with, query, readers, tell};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
}

fn run(fixture: &Fixture, sql: &str) -> QueryResult {
    block_on(fixture.db.query(sql, ())).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn code<T>(result: Result<T>) -> &'static str {
    result.err().expect("an error").code()
}

fn names(result: &QueryResult) -> Vec<&str> {
    result.columns.iter().map(|column| column.name.as_str()).collect()
}

// G206
#[test]
fn a_statement_that_reads_takes_no_turn_of_the_writer() {
    let fixture = fixture();
    let _holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    for (sql, rows) in [
        ("SELECT * FROM t", 2),
        ("-- first\n /* then */ ; SELECT * FROM t", 2),
        ("VALUES (1), (2), (3)", 3),
        ("WITH x AS (SELECT id FROM t) SELECT * FROM x", 2),
        ("PRAGMA user_version", 1),
        ("PRAGMA table_info(t)", 2),
    ] {
        assert_eq!(run(&fixture, sql).rows.len(), rows, "{sql}");
    }
    assert!(!run(&fixture, "EXPLAIN DELETE FROM t").rows.is_empty());
}

// G206
#[test]
fn a_statement_that_writes_is_committed_when_it_is_acknowledged() {
    let fixture = fixture();
    for (sql, changes, rows) in [
        ("INSERT INTO t(name) VALUES ('c')", 1, 0),
        ("UPDATE t SET name = 'd' WHERE id < 3 RETURNING id", 2, 2),
        ("WITH x AS (SELECT 9) INSERT INTO t(id) SELECT * FROM x", 1, 0),
        ("REPLACE INTO t VALUES (9, 'e')", 1, 0),
        ("DELETE FROM t WHERE id = 9", 1, 0),
        ("CREATE TABLE u(a)", 0, 0),
        ("PRAGMA user_version = 7", 0, 0),
    ] {
        let done = run(&fixture, sql);
        assert_eq!((done.changes, done.rows.len()), (changes, rows), "{sql}");
        assert_eq!(done.commit, fixture.db.engine().last_commit(), "{sql}");
    }
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2, 3]);
    assert_eq!(fixture.integers("PRAGMA user_version"), [7]);
}

// G206
#[test]
fn what_cannot_run_in_a_transaction_runs_alone() {
    let fixture = fixture();
    run(&fixture, "VACUUM");
    run(
        &fixture,
        &format!("ATTACH '{}' AS other", fixture.file("other.db")),
    );
    run(&fixture, "CREATE TABLE other.o(a)");
    assert_eq!(run(&fixture, "SELECT * FROM other.o").rows.len(), 0);
    assert_eq!(run(&fixture, "PRAGMA wal_checkpoint").rows.len(), 1);
}

/// A byte order mark hides the keyword from a guess, not from SQLite.
// G206
#[test]
fn a_statement_that_does_not_look_like_a_write_is_handed_over_to_the_writer() {
    let fixture = fixture();
    let done = run(&fixture, "\u{feff}INSERT INTO t(name) VALUES ('c') RETURNING id");
    assert_eq!((done.changes, done.last_insert_rowid), (1, 3));
    assert_eq!((integers(&done.rows), names(&done)), (vec![3], vec!["id"]));
}

// G206
#[test]
fn a_statement_that_looks_like_a_write_and_reads_gives_its_rows() {
    let done = run(
        &fixture(),
        "WITH replace AS (SELECT 5 AS five) SELECT * FROM replace",
    );
    assert_eq!((integers(&done.rows), names(&done)), (vec![5], vec!["five"]));
    assert_eq!((done.changes, done.last_insert_rowid), (0, 0));
}

// G208
#[test]
fn the_columns_are_there_without_rows_and_follow_the_schema() {
    let fixture = fixture();
    let sql = "SELECT *, 1 AS one FROM t WHERE id > 9";
    let before = run(&fixture, sql);
    assert_eq!(names(&before), ["id", "name", "one"]);
    assert_eq!(before.columns[1].declared_type.as_deref(), Some("TEXT"));
    assert_eq!(before.columns[2].table, None);
    fixture.exec("ALTER TABLE t ADD COLUMN born DATE");
    let after = run(&fixture, sql);
    assert_eq!(names(&after), ["id", "name", "born", "one"]);
    assert_eq!(after.columns[2].declared_type.as_deref(), Some("DATE"));
    let returned = run(&fixture, "DELETE FROM t WHERE id > 9 RETURNING name AS gone");
    assert_eq!(names(&returned), ["gone"]);
    assert_eq!(returned.columns[0].column.as_deref(), Some("name"));
    assert_eq!(names(&run(&fixture, "DELETE FROM t WHERE id > 9")), [""; 0]);
}

#[test]
fn rows_of_many_batches_arrive_in_order() {
    let sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n";
    let done = run(&fixture(), sql);
    assert_eq!(integers(&done.rows), (1..=3000).collect::<Vec<_>>());
}

// G209
#[test]
fn a_read_names_a_commit_that_it_saw() {
    let fixture = fixture();
    let written = fixture.run("INSERT INTO t(name) VALUES ('c')").commit;
    let read = run(&fixture, "SELECT * FROM t");
    assert_eq!((read.commit, read.rows.len()), (written, 3));
}

// G209
#[test]
fn a_read_that_shares_a_transaction_names_the_commit_of_that_transaction() {
    let fixture = Fixture::with("CREATE TABLE t(a)", readers(1));
    let written = fixture.run("INSERT INTO t VALUES (1)").commit;
    let held = hold_reader(&fixture.db);
    let reads = [0; 3].map(|_| ask(fixture.db.query("SELECT * FROM t", ())));
    held.release().unwrap();
    for read in reads {
        assert_eq!(read.wait().unwrap().commit, written);
    }
}

#[test]
fn errors_are_those_of_the_other_calls() {
    let fixture = fixture();
    for (sql, expected) in [
        ("", "RESQLITE_STATEMENT"),
        ("SELECT 1; SELECT 2", "RESQLITE_STATEMENT"),
        ("INSERT INTO t(name) VALUES ('x'); SELECT 2", "RESQLITE_STATEMENT"),
        ("PRAGMA no_such", "RESQLITE_STATEMENT"),
        ("PRAGMA cache_size = 10", "RESQLITE_STATEMENT"),
        ("PRAGMA foreign_keys = OFF", "RESQLITE_STATEMENT"),
        ("SELECT ?", "RESQLITE_PARAMETER"),
        ("INSERT INTO t(name) VALUES (?)", "RESQLITE_PARAMETER"),
        ("SELECT * FROM missing", "SQLITE_ERROR"),
        ("nonsense", "SQLITE_ERROR"),
        (
            "INSERT INTO t VALUES (1, 'again')",
            "SQLITE_CONSTRAINT_PRIMARYKEY",
        ),
        ("BEGIN", "RESQLITE_TRANSACTION"),
        ("COMMIT", "SQLITE_ERROR"),
    ] {
        assert_eq!(code(block_on(fixture.db.query(sql, ()))), expected, "{sql}");
    }
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2]);
}

// G206
#[test]
fn a_refusal_after_the_first_row_is_final() {
    let sql = "SELECT id FROM t UNION ALL SELECT 1 FROM pragma_optimize(1)";
    assert_eq!(code(block_on(fixture().db.query(sql, ()))), "RESQLITE_READ_ONLY");
}

#[test]
fn a_database_that_is_open_for_reading_only_reads_and_refuses_to_write() {
    let fixture = fixture();
    let options = Options {
        read_only: true,
        ..Options::default()
    };
    let db = open_with(fixture.path().to_str().unwrap(), options).unwrap();
    assert_eq!(block_on(db.query("SELECT * FROM t", ())).unwrap().rows.len(), 2);
    for sql in [
        "DELETE FROM t",
        "\u{feff}DELETE FROM t",
        "PRAGMA user_version = 1",
    ] {
        let error = block_on(db.query(sql, ())).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_READ_ONLY", "{sql}");
        assert!(error.to_string().contains("open for reading only"), "{error}");
    }
}

#[test]
fn inside_a_transaction_everything_runs_in_it() {
    let fixture = fixture();
    let before = fixture.db.engine().last_commit();
    block_on(fixture.db.transaction(async |tx| {
        let inserted = tx
            .query("INSERT INTO t(name) VALUES (?) RETURNING id", ["c".into()])
            .await?;
        assert_eq!((inserted.changes, integers(&inserted.rows)), (1, vec![3]));
        let read = tx.query("SELECT count(*) FROM t", ()).await?;
        assert_eq!((integers(&read.rows), read.commit), (vec![3], before));
        assert_eq!(fixture.integers("SELECT count(*) FROM t"), [2]);
        let failed = tx.query("INSERT INTO t VALUES (1, 'again')", ()).await;
        assert_eq!(code(failed), "SQLITE_CONSTRAINT_PRIMARYKEY");
        assert_eq!(
            code(tx.query("ATTACH ':memory:' AS x", ()).await),
            "RESQLITE_STATEMENT"
        );
        Ok(())
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [3]);
}

#[test]
fn a_snapshot_reads_its_state_and_refuses_to_write() {
    let fixture = fixture();
    let at = fixture.db.engine().last_commit();
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    fixture.run("DELETE FROM t");
    let read = block_on(snapshot.query("WITH x AS (SELECT * FROM t) SELECT * FROM x", ())).unwrap();
    assert_eq!(
        (read.rows.len(), read.commit, names(&read)),
        (2, at, vec!["id", "name"])
    );
    for sql in [
        "DELETE FROM t",
        "PRAGMA user_version = 1",
        "ATTACH ':memory:' AS x",
    ] {
        assert_eq!(
            code(block_on(snapshot.query(sql, ()))),
            "RESQLITE_READ_ONLY",
            "{sql}"
        );
    }
}

// G207
#[test]
fn writes_that_nobody_awaits_keep_their_order() {
    let fixture = Fixture::new("CREATE TABLE log(n INTEGER)");
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked: Vec<_> = (0..200_i64)
        .map(|n| {
            let params = Params::from([Value::from(n)]);
            match n % 3 {
                0 => ask(fixture.db.query("INSERT INTO log VALUES (?)", params)),
                1 => ask(fixture.db.query(
                    "WITH x(n) AS (VALUES (?)) INSERT INTO log SELECT n FROM x",
                    params,
                )),
                _ => ask(fixture.db.query("/* third */ INSERT INTO log VALUES (?)", params)),
            }
        })
        .collect();
    drop(holds_the_writer);
    for asked in asked {
        asked.wait().unwrap();
    }
    assert_eq!(
        fixture.integers("SELECT n FROM log ORDER BY rowid"),
        (0..200).collect::<Vec<_>>()
    );
}

/// The statement is classified on a reader, and runs on the writer, while the table comes and goes.
// G206
#[test]
fn a_statement_that_is_handed_over_while_the_schema_changes_runs_once_or_not_at_all() {
    let fixture = Fixture::new("CREATE TABLE t(n INTEGER); CREATE TABLE kept(n INTEGER)");
    let mut asked = Vec::new();
    for n in 0..100_i64 {
        let insert = "\u{feff}INSERT INTO t VALUES (?) RETURNING n";
        asked.push(ask(fixture.db.query(insert, [n.into()])));
        asked.push(ask(fixture.db.query("INSERT INTO kept SELECT n FROM t", ())));
        asked.push(ask(fixture.db.query("DROP TABLE t", ())));
        let again = [
            "CREATE TABLE t(n INTEGER)",
            "CREATE TABLE t(m TEXT, n INTEGER DEFAULT 7)",
        ];
        asked.push(ask(fixture.db.query(again[usize::from(n % 4 == 0)], ())));
    }
    let mut inserted = 0;
    for (at, asked) in asked.into_iter().enumerate() {
        match (at % 4, asked.wait()) {
            (0, Ok(done)) => {
                assert_eq!((done.changes, done.rows.len(), names(&done)), (1, 1, vec!["n"]));
                inserted += 1;
            }
            (0, Err(error)) => assert_eq!(error.code(), "SQLITE_ERROR", "{error}"),
            (_, done) => drop(done.unwrap()),
        }
    }
    // Each row was in the table when it was copied, or went with the table that it was inserted into.
    assert!(fixture.integers("SELECT count(*) FROM kept")[0] <= inserted);
}

// G211
#[test]
fn closing_waits_for_a_statement_that_is_handed_over() {
    let fixture = Fixture::with("CREATE TABLE t(a)", readers(1));
    let held = hold_reader(&fixture.db);
    let path = fixture.path();
    let (done, is_done) = std::sync::mpsc::channel();
    let reply = tell(move |told| done.send(told).unwrap());
    let insert = query("\u{feff}INSERT INTO t VALUES (1)", Token::default());
    fixture.db.engine().query(insert, Durability::Normal, reply);
    let Fixture { db, folder } = fixture;
    let closing = std::thread::spawn(move || block_on(db.close()).unwrap());
    held.release().unwrap();
    closing.join().unwrap();
    is_done.recv().unwrap().unwrap();
    let again = open_with(path.to_str().unwrap(), Options::default()).unwrap();
    assert_eq!(
        integers(&block_on(again.select("SELECT a FROM t", ())).unwrap()),
        [1]
    );
    drop(folder);
}

// G210
#[test]
fn limits_hold_for_statements_that_read_and_for_those_that_write() {
    let fixture = fixture();
    const MANY: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)";
    for sql in [
        format!("{MANY} SELECT count(*) FROM n"),
        format!("{MANY} INSERT INTO t(name) SELECT i FROM n"),
        format!("\u{feff}{MANY} DELETE FROM t WHERE name IN (SELECT i FROM n)"),
    ] {
        let mut query = query(&sql, Token::default());
        query.limits = Some(Box::new(QueryLimits {
            steps: Some(100_000),
            ..QueryLimits::default()
        }));
        let (told, is_told) = std::sync::mpsc::channel();
        let reply = tell(move |outcome| told.send(outcome).unwrap());
        fixture.db.engine().query(query, Durability::Normal, reply);
        assert_eq!(code(is_told.recv().unwrap()), "RESQLITE_LIMIT", "{sql}");
    }
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2]);
}

#[test]
fn a_cancelled_statement_does_not_run() {
    let fixture = Fixture::with("CREATE TABLE t(a)", readers(1));
    let held = hold_reader(&fixture.db);
    let token = Token::default();
    let (told, is_told) = std::sync::mpsc::channel();
    for sql in ["SELECT * FROM t", "\u{feff}INSERT INTO t VALUES (1)"] {
        let told = told.clone();
        let reply = tell(move |outcome| told.send(outcome).unwrap());
        fixture
            .db
            .engine()
            .query(query(sql, token.clone()), Durability::Normal, reply);
    }
    token.cancel();
    fixture.db.engine().drop_cancelled();
    for _ in 0..2 {
        assert_eq!(code(is_told.recv().unwrap()), "RESQLITE_ABORTED");
    }
    held.release().unwrap();
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [0]);
}
