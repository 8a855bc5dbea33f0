//! Several statements as one write; and errors that say which of several failed.

use resqlite::{
    Database, Error, Params, QueryResult, Result, Value,
    binding::{Statements, Token, Write, WriteOp},
};

use crate::support::{Fixture, ask, block_on, integers, later, tell, write};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, u UNIQUE)")
}

fn plain<'a>(statements: &'a [&'a str]) -> impl Iterator<Item = (&'a str, Params)> {
    statements.iter().map(|sql| (*sql, Params::default()))
}

fn batch(db: &Database, statements: &[&str]) -> Result<Vec<QueryResult>> {
    block_on(db.batch(plain(statements)))
}

/// The index that an error names, and its code.
fn failed<T>(result: Result<T>) -> (Option<usize>, &'static str) {
    match result.err().expect("an error") {
        Error::Member { index, error } => (Some(index), error.code()),
        error => (None, error.code()),
    }
}

fn count(fixture: &Fixture) -> i64 {
    fixture.integers("SELECT count(*) FROM t")[0]
}

// G214
#[test]
fn results_come_in_order_and_reads_see_the_writes_before_them() {
    let fixture = fixture();
    let done = batch(
        &fixture.db,
        &[
            "INSERT INTO t(u) VALUES ('a')",
            "SELECT id, u FROM t",
            "INSERT INTO t(u) VALUES ('b'), ('c') RETURNING id",
            "SELECT count(*) AS n FROM t",
            "DELETE FROM t WHERE id > 9",
        ],
    )
    .unwrap();
    let changes: Vec<_> = done
        .iter()
        .map(|one| (one.changes, one.last_insert_rowid))
        .collect();
    assert_eq!(changes, [(1, 1), (0, 0), (2, 3), (0, 0), (0, 3)]);
    assert_eq!(
        (
            done[1].rows.len(),
            integers(&done[2].rows),
            integers(&done[3].rows)
        ),
        (1, vec![2, 3], vec![3])
    );
    let names: Vec<Vec<_>> = done
        .iter()
        .map(|one| one.columns.iter().map(|column| &column.name[..]).collect())
        .collect();
    assert_eq!(names, [vec![], vec!["id", "u"], vec!["id"], vec!["n"], vec![]]);
    assert!(
        done.iter()
            .all(|one| one.commit == fixture.db.engine().last_commit())
    );
}

// G214
#[test]
fn a_batch_is_one_commit() {
    let fixture = fixture();
    let before = fixture.db.engine().last_commit();
    batch(
        &fixture.db,
        &["INSERT INTO t VALUES (1, 1)", "INSERT INTO t VALUES (2, 2)"],
    )
    .unwrap();
    assert_eq!(fixture.db.engine().last_commit(), later(before, 1));
}

#[test]
fn a_batch_of_nothing_does_nothing() {
    let fixture = fixture();
    let before = fixture.db.engine().last_commit();
    assert!(batch(&fixture.db, &[]).unwrap().is_empty());
    assert_eq!(fixture.db.engine().last_commit(), before);
}

// G214
#[test]
fn if_one_statement_fails_nothing_of_the_batch_stays_and_the_error_names_it() {
    let fixture = fixture();
    fixture.run("INSERT INTO t VALUES (1, 'taken')");
    for (bad, code) in [
        ("INSERT INTO t(u) VALUES ('taken')", "SQLITE_CONSTRAINT_UNIQUE"),
        (
            "INSERT OR ROLLBACK INTO t(u) VALUES ('taken')",
            "SQLITE_CONSTRAINT_UNIQUE",
        ),
        (
            "INSERT OR FAIL INTO t(u) VALUES ('new'), ('taken')",
            "SQLITE_CONSTRAINT_UNIQUE",
        ),
        ("INSERT INTO missing VALUES (1)", "SQLITE_ERROR"),
        ("SELECT abs(-9223372036854775808)", "SQLITE_ERROR"),
        ("nonsense", "SQLITE_ERROR"),
        ("", "RESQLITE_STATEMENT"),
        ("SELECT 1; SELECT 2", "RESQLITE_STATEMENT"),
        ("SELECT ?", "RESQLITE_PARAMETER"),
        ("VACUUM", "SQLITE_ERROR"),
        ("BEGIN", "RESQLITE_STATEMENT"),
        ("ATTACH ':memory:' AS x", "RESQLITE_STATEMENT"),
        ("PRAGMA cache_size = 3", "RESQLITE_STATEMENT"),
    ] {
        let statements = [
            "INSERT INTO t(u) VALUES ('a')",
            "SELECT * FROM t",
            bad,
            "INSERT INTO t(u) VALUES ('b')",
        ];
        assert_eq!(failed(batch(&fixture.db, &statements)), (Some(2), code), "{bad}");
        assert_eq!(count(&fixture), 1, "{bad}");
    }
}

#[test]
fn a_failure_at_commit_names_no_statement() {
    let fixture = Fixture::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY);
         CREATE TABLE t(id INTEGER PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    let orphan = batch(&fixture.db, &["INSERT INTO t VALUES (1, 7)", "SELECT 1"]);
    assert_eq!(failed(orphan), (None, "SQLITE_CONSTRAINT_FOREIGNKEY"));
    batch(
        &fixture.db,
        &["INSERT INTO t VALUES (1, 7)", "INSERT INTO p VALUES (7)"],
    )
    .unwrap();
}

#[test]
fn texts_that_repeat_are_packed_once() {
    let insert = |n: i64| {
        (
            "INSERT INTO t VALUES (?, ?)",
            Params::from([Value::from(n), Value::from(-n)]),
        )
    };
    let statements: Statements = (0..1000).map(insert).collect();
    assert_eq!((statements.texts.len(), statements.count), (1, 1000));
    let fixture = fixture();
    let done = block_on(fixture.db.batch((0..1000).map(insert))).unwrap();
    assert_eq!(
        (done.len(), done[999].last_insert_rowid, count(&fixture)),
        (1000, 999, 1000)
    );
}

// G214
#[test]
fn definitions_count_for_the_statements_behind_them() {
    let fixture = fixture();
    let done = batch(
        &fixture.db,
        &[
            "CREATE TABLE n(a)",
            "INSERT INTO n VALUES (1)",
            "SELECT * FROM n",
            "ALTER TABLE n ADD COLUMN b DEFAULT 5",
            "SELECT * FROM n",
            "CREATE TEMP TABLE n(c)",
            "SELECT * FROM n",
        ],
    )
    .unwrap();
    let shape = |at: usize| (done[at].rows.len(), done[at].columns.len());
    assert_eq!([shape(2), shape(4), shape(6)], [(1, 1), (1, 2), (0, 1)]);
}

// G214
#[test]
fn a_batch_shares_a_commit_with_other_writes_and_fails_by_itself() {
    let fixture = fixture();
    let before = fixture.db.engine().last_commit();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let first = ask(fixture.db.execute("INSERT INTO t VALUES (1, 'a')", ()));
    let bad = ask(fixture.db.batch(plain(&[
        "INSERT INTO t VALUES (2, 'b')",
        "INSERT INTO t VALUES (3, 'a')",
    ])));
    let good = ask(fixture.db.batch(plain(&[
        "INSERT INTO t VALUES (4, 'd')",
        "SELECT count(*) FROM t",
    ])));
    let last = ask(fixture.db.query("INSERT INTO t VALUES (5, 'e')", ()));
    drop(holds_the_writer);
    first.wait().unwrap();
    assert_eq!(failed(bad.wait()), (Some(1), "SQLITE_CONSTRAINT_UNIQUE"));
    assert_eq!(integers(&good.wait().unwrap()[1].rows), [2]);
    assert_eq!(last.wait().unwrap().commit, later(before, 1));
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 4, 5]);
}

// G214
#[test]
fn in_a_transaction_a_batch_that_fails_leaves_the_rest() {
    let fixture = fixture();
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (1, 'a')", ()).await?;
        let bad = tx
            .batch(plain(&[
                "INSERT INTO t VALUES (2, 'b')",
                "INSERT INTO t VALUES (1, 'c')",
            ]))
            .await;
        assert_eq!(failed(bad), (Some(1), "SQLITE_CONSTRAINT_PRIMARYKEY"));
        let good = tx
            .batch(plain(&["INSERT INTO t VALUES (3, 'd')", "SELECT id FROM t"]))
            .await?;
        assert_eq!(integers(&good[1].rows), [1, 3]);
        Ok(())
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 3]);
}

// G214
#[test]
fn a_batch_that_is_cancelled_leaves_nothing() {
    let fixture = fixture();
    let token = Token::default();
    let statements: Statements = plain(&[
        "INSERT INTO t VALUES (1, 1)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    ])
    .collect();
    let endless = Write {
        op: WriteOp::Statements(statements),
        token: token.clone(),
        tag: None,
        ..write("", false)
    };
    let (told, is_told) = std::sync::mpsc::channel();
    fixture
        .db
        .engine()
        .write(endless, tell(move |outcome| told.send(outcome).unwrap()));
    token.cancel();
    fixture.db.engine().drop_cancelled();
    assert_eq!(failed(is_told.recv().unwrap()), (None, "RESQLITE_ABORTED"));
    assert_eq!(count(&fixture), 0);
}

// G215
#[test]
fn a_batch_of_parameter_sets_names_the_set_that_failed() {
    let fixture = fixture();
    let insert = "INSERT INTO t VALUES (?, ?)";
    let sets = |last: Vec<Value>| vec![vec![1.into(), 1.into()], vec![2.into(), 2.into()], last];
    let taken = block_on(fixture.db.execute_batch(insert, &sets(vec![3.into(), 2.into()])));
    assert_eq!(failed(taken), (Some(2), "SQLITE_CONSTRAINT_UNIQUE"));
    let short = block_on(fixture.db.execute_batch(insert, &sets(vec![3.into()]))).unwrap_err();
    assert!(short.to_string().starts_with("set at index 2, "), "{short}");
    assert_eq!(failed::<()>(Err(short)), (Some(2), "RESQLITE_PARAMETER"));
    assert_eq!(count(&fixture), 0);
}

// G215
#[test]
fn a_script_names_the_statement_that_failed_and_where_it_is() {
    let fixture = fixture();
    let script = "INSERT INTO t VALUES (1, 1);  -- comment\n INSERT INTO t VALUES (2, 1); SELECT 1";
    let error = block_on(fixture.db.exec(script)).unwrap_err();
    let offset = error.sqlite().unwrap().offset().unwrap();
    assert!(
        script[offset..].starts_with("-- comment\n INSERT INTO t VALUES (2"),
        "{offset}"
    );
    assert_eq!(failed::<()>(Err(error)), (Some(1), "SQLITE_CONSTRAINT_UNIQUE"));
    let error = block_on(fixture.db.exec("SELECT 1; SELECT * FROM t WHERE nowhere")).unwrap_err();
    assert_eq!(
        error.sqlite().unwrap().offset(),
        Some("SELECT 1; SELECT * FROM t WHERE ".len())
    );
    let refused = block_on(fixture.db.exec("SELECT 1; SELECT 2; PRAGMA no_such"));
    assert_eq!(failed(refused), (Some(2), "RESQLITE_STATEMENT"));
}
