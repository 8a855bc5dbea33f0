//! Scripts: all or nothing, unless they manage transactions themselves.

use std::{sync::mpsc, thread};

use crate::support::{Fixture, block_on};

fn error(fixture: &Fixture, script: &str) -> resqlite::Error {
    block_on(fixture.db.exec(script)).unwrap_err()
}

// G43
#[test]
fn a_script_that_fails_at_its_end_leaves_nothing() {
    let fixture = Fixture::new("");
    let script = "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)";
    assert_eq!(error(&fixture, script).code(), "SQLITE_CONSTRAINT_UNIQUE");
    assert_eq!(fixture.integers("SELECT count(*) FROM sqlite_schema"), [0]);
}

#[test]
fn a_script_in_a_transaction_that_fails_leaves_what_was_before_it() {
    let fixture = Fixture::new("CREATE TABLE t(a UNIQUE)");
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (1)", ()).await?;
        tx.exec("INSERT INTO t VALUES (2); INSERT INTO t VALUES (1)")
            .await
            .unwrap_err();
        Ok(())
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

#[test]
fn a_syntax_error_is_located_in_the_whole_script() {
    let fixture = Fixture::new("");
    let script = "CREATE TABLE t(a);\n INSRT INTO t VALUES (1)";
    let error = error(&fixture, script);
    assert_eq!(error.sqlite().unwrap().offset(), script.find("INSRT"));
}

// G43
#[test]
fn a_script_that_manages_its_transactions_runs_as_it_is_written() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture
        .exec("BEGIN; INSERT INTO t VALUES (1); COMMIT; BEGIN; INSERT INTO t VALUES (2); ROLLBACK; VACUUM");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

// G92
#[test]
fn a_transaction_of_a_script_waits_for_a_foreign_lock_beside_a_live_query_too() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let mut live = fixture.db.stream("SELECT a FROM t", ());
    block_on(live.next()).unwrap().unwrap();
    let script = "BEGIN; INSERT INTO t VALUES (1); COMMIT";
    fixture.exec(script);
    let stranger = fixture.stranger();
    stranger.execute_script("BEGIN IMMEDIATE").unwrap();
    let (tell, hear) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| tell.send(block_on(fixture.db.exec(script))).unwrap());
        while fixture.db.diagnostics().waiting_for_lock.is_none() {
            assert!(hear.try_recv().is_err(), "it did not wait");
        }
        stranger.execute_script("COMMIT").unwrap();
        hear.recv().unwrap().unwrap();
    });
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 1]);
}

// G43
#[test]
fn a_transaction_left_open_by_a_script_is_rolled_back_with_an_error() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let error = error(&fixture, "BEGIN; INSERT INTO t VALUES (1)");
    assert_eq!(error.code(), "RESQLITE_TRANSACTION");
    assert!(error.to_string().contains("left a transaction open"), "{error}");
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [0]);
    fixture.run("INSERT INTO t VALUES (2)");
}

#[test]
fn a_bare_begin_is_rolled_back_with_an_error() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for sql in ["BEGIN", "SAVEPOINT a", "BEGIN EXCLUSIVE"] {
        assert_eq!(fixture.fails(sql).code(), "RESQLITE_TRANSACTION", "{sql}");
        fixture.run("INSERT INTO t VALUES (1)");
    }
}

#[test]
fn a_bare_commit_says_that_there_is_no_transaction() {
    let fixture = Fixture::new("");
    assert_eq!(fixture.fails("COMMIT").code(), "SQLITE_ERROR");
}

// G62
#[test]
fn begin_inside_a_transaction_is_refused_and_the_transaction_goes_on() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    block_on(fixture.db.transaction(async |tx| {
        for sql in ["BEGIN", "COMMIT", "ROLLBACK", "ATTACH ':memory:' AS x"] {
            assert_eq!(
                tx.execute(sql, ()).await.unwrap_err().code(),
                "RESQLITE_STATEMENT",
                "{sql}"
            );
        }
        tx.execute("INSERT INTO t VALUES (1)", ()).await
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

#[test]
fn a_script_with_a_nul_character_is_refused() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for script in [
        "INSERT INTO t VALUES (1); \0 INSERT INTO t VALUES (2)",
        "\0",
        "PRAGMA user_version;\0",
    ] {
        assert_eq!(error(&fixture, script).code(), "RESQLITE_STATEMENT");
    }
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [0]);
}

#[test]
fn a_script_of_nothing_does_nothing() {
    let fixture = Fixture::new("");
    for script in ["", "  \n", "-- only this", ";;;", "/* open"] {
        fixture.exec(script);
    }
}

#[test]
fn triggers_with_semicolons_in_their_bodies_are_one_statement_of_a_script() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a); CREATE TABLE u(a);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN
             INSERT INTO u VALUES (CASE WHEN new.a THEN 1 ELSE 0 END); DELETE FROM u WHERE a = 0;
         END;
         INSERT INTO t VALUES (1), (0)",
    );
    assert_eq!(fixture.integers("SELECT a FROM u"), [1]);
}

// G44, S3
#[test]
fn execute_refuses_more_than_one_statement_and_none() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for sql in [
        "INSERT INTO t VALUES (1); DELETE FROM t",
        "",
        "-- nothing",
        "DELETE FROM t; x",
    ] {
        assert_eq!(fixture.fails(sql).code(), "RESQLITE_STATEMENT", "{sql}");
    }
    fixture.run("DELETE FROM t; -- and a comment\n ;");
}

#[test]
fn a_script_with_parameters_is_refused_and_binds_nothing() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let refused = block_on(
        fixture
            .db
            .exec("INSERT INTO t VALUES (1); INSERT INTO t VALUES (?)"),
    )
    .unwrap_err();
    assert_eq!(refused.code(), "RESQLITE_PARAMETER");
    assert!(fixture.integers("SELECT a FROM t").is_empty());
}

#[test]
fn the_savepoints_that_keep_writes_apart_are_out_of_reach() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let tx = block_on(fixture.db.begin(None)).unwrap();
    for sql in [
        "RELEASE resqlite_1",
        "ROLLBACK TO resqlite_unit",
        "ROLLBACK TO \"RESQLITE_1\"",
        "SAVEPOINT Resqlite_1",
    ] {
        let refused = [
            block_on(tx.exec(sql)).unwrap_err(),
            block_on(tx.execute(sql, ())).unwrap_err(),
            block_on(tx.query(sql, ())).unwrap_err(),
        ];
        for refused in refused {
            assert_eq!(refused.code(), "RESQLITE_STATEMENT", "{sql}");
        }
    }
    block_on(tx.exec("SAVEPOINT mine; INSERT INTO t VALUES (1); RELEASE mine")).unwrap();
    block_on(tx.commit()).unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}
