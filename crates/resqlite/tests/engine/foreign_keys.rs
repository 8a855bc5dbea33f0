//! Transactions without foreign keys: what they keep, what their COMMIT checks, and that they leave nothing behind.

use std::{sync::mpsc, time::Duration};

use resqlite::{
    CommitId, Database, Durability, Error, Options, Result, Transaction, TransactionOptions, Value,
};

use crate::support::{Fixture, block_on, single, tell, write};

const SCHEMA: &str = "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, user REFERENCES users ON DELETE CASCADE);
    INSERT INTO users VALUES (1, 'Ada');
    INSERT INTO orders VALUES (10, 1), (11, 1);";

const REBUILD: &str = "CREATE TABLE new_users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT);
    INSERT INTO new_users(id, name) SELECT id, name FROM users;
    DROP TABLE users;
    ALTER TABLE new_users RENAME TO users;";

/// An order of nobody.
const ORPHAN: &str = "INSERT INTO orders VALUES (12, 7)";

const OFF: TransactionOptions = TransactionOptions {
    timeout: None,
    foreign_keys_off: true,
    without_body: false,
    again: false,
};

fn without(db: &Database, body: impl AsyncFnOnce(&Transaction) -> Result<()>) -> Result<CommitId> {
    block_on(async {
        let transaction = db.begin(OFF).await?;
        body(&transaction).await?;
        transaction.commit().await
    })
}

fn enforced(fixture: &Fixture) -> bool {
    assert_eq!(
        single(&fixture.run("PRAGMA foreign_keys").rows),
        Value::Integer(1)
    );
    fixture.fails(ORPHAN).code() == "SQLITE_CONSTRAINT_FOREIGNKEY"
}

// G216
#[test]
fn a_table_that_others_refer_to_is_rebuilt_and_their_rows_stay() {
    let with_keys = Fixture::new(SCHEMA);
    with_keys.exec(REBUILD);
    assert_eq!(
        with_keys.integers("SELECT count(*) FROM orders"),
        [0],
        "by the cascade"
    );

    let fixture = Fixture::new(SCHEMA);
    without(&fixture.db, async |tx| tx.exec(REBUILD).await).unwrap();
    assert_eq!(fixture.integers("SELECT id FROM orders"), [10, 11]);
    assert_eq!(
        fixture.integers("SELECT count(*) FROM users WHERE email IS NULL"),
        [1]
    );
    assert!(enforced(&fixture));
    fixture.run("DELETE FROM users");
    assert_eq!(
        fixture.integers("SELECT count(*) FROM orders"),
        [0],
        "orders refer to the new table"
    );
}

// G216
#[test]
fn a_violation_fails_the_commit_names_the_rows_and_rolls_back() {
    let fixture = Fixture::new(SCHEMA);
    let failed = without(&fixture.db, async |tx| {
        tx.exec("INSERT INTO orders VALUES (20, 5), (21, 6), (22, 1), (23, 7), (24, 8), (25, 9)")
            .await
    });
    let error = failed.unwrap_err();
    assert_eq!(error.code(), "SQLITE_CONSTRAINT_FOREIGNKEY");
    assert_eq!(
        error.to_string(),
        "FOREIGN KEY constraint failed: row 20 of orders refers to a row of users that is not there; row 21 of orders \
         refers to a row of users that is not there; row 23 of orders refers to a row of users that is not there; and more"
    );
    assert_eq!(fixture.integers("SELECT id FROM orders"), [10, 11]);
    assert!(enforced(&fixture));
}

// G216
#[test]
fn rows_of_a_table_that_was_dropped_without_replacement_are_violations() {
    let fixture = Fixture::new(SCHEMA);
    let failed = without(&fixture.db, async |tx| tx.exec("DROP TABLE users").await);
    assert_eq!(failed.unwrap_err().code(), "SQLITE_CONSTRAINT_FOREIGNKEY");
    assert_eq!(fixture.integers("SELECT count(*) FROM users"), [1]);
}

// G216
#[test]
fn violations_in_attached_databases_and_of_rows_without_rowid_are_found() {
    let fixture = Fixture::new(SCHEMA);
    fixture.run(&format!("ATTACH '{}' AS \"other one\"", fixture.file("other.db")));
    fixture.exec(
        "CREATE TABLE \"other one\".p(id INTEGER PRIMARY KEY);
         CREATE TABLE \"other one\".c(a PRIMARY KEY, p REFERENCES p) WITHOUT ROWID",
    );
    let failed = without(&fixture.db, async |tx| {
        tx.execute("INSERT INTO \"other one\".c VALUES (1, 2)", ())
            .await
            .map(drop)
    });
    assert_eq!(
        failed.unwrap_err().to_string(),
        "FOREIGN KEY constraint failed: a row of other one.c refers to a row of other one.p that is not there"
    );
}

// G216
#[test]
fn a_statement_that_ran_without_foreign_keys_is_checked_when_it_runs_again() {
    let fixture = Fixture::new(SCHEMA);
    for _ in 0..3 {
        without(&fixture.db, async |tx| {
            tx.execute(ORPHAN, ()).await?;
            tx.execute("DELETE FROM orders WHERE id = 12", ()).await.map(drop)
        })
        .unwrap();
        assert!(enforced(&fixture));
        fixture.run("DELETE FROM orders WHERE id = 12");
    }
}

// G216
#[test]
fn foreign_keys_are_on_again_after_a_rollback_a_timeout_and_a_caller_who_went_away() {
    let fixture = Fixture::new(SCHEMA);
    let begin = |options: TransactionOptions| block_on(fixture.db.begin(options)).unwrap();
    let rolled_back = begin(OFF);
    block_on(rolled_back.execute(ORPHAN, ())).unwrap();
    block_on(rolled_back.rollback()).unwrap();
    assert!(enforced(&fixture));
    drop(begin(OFF));
    assert!(enforced(&fixture));
    let late = begin(TransactionOptions {
        timeout: Some(Duration::from_millis(1)),
        ..OFF
    });
    assert!(enforced(&fixture), "which waits for the timeout");
    assert_eq!(block_on(late.commit()).unwrap_err(), Error::TimedOut);
}

// G216
#[test]
fn foreign_keys_are_on_again_after_an_error_that_ends_the_transaction() {
    let fixture = Fixture::new(SCHEMA);
    let failed = without(&fixture.db, async |tx| {
        tx.execute("INSERT OR ROLLBACK INTO users VALUES (1, 'again')", ())
            .await
            .map(drop)
    });
    failed.unwrap_err();
    assert!(enforced(&fixture));
}

// G216
#[test]
fn foreign_keys_are_on_again_after_a_panic() {
    let fixture = Fixture::new(SCHEMA);
    let session = fixture.db.engine().begin(OFF, Durability::Normal, tell(|_| ()));
    let (done, is_done) = mpsc::channel();
    let panics = tell(move |_| {
        done.send(()).unwrap();
        panic!("on purpose");
    });
    session.write(write(ORPHAN, false), panics);
    is_done.recv().unwrap();
    assert!(enforced(&fixture));
}

// G216
#[test]
fn a_database_that_has_foreign_keys_off_stays_as_it_is() {
    let options = Options {
        foreign_keys: Some(false),
        ..Options::default()
    };
    let fixture = Fixture::with(SCHEMA, options);
    without(&fixture.db, async |tx| tx.execute(ORPHAN, ()).await.map(drop)).unwrap();
    assert_eq!(
        single(&fixture.run("PRAGMA foreign_keys").rows),
        Value::Integer(0)
    );
}

#[test]
fn the_pragma_is_refused_wherever_it_is_asked_for_and_reading_it_is_not() {
    let fixture = Fixture::new(SCHEMA);
    let refused = |error: Error| {
        assert!(
            ["RESQLITE_STATEMENT", "RESQLITE_READ_ONLY"].contains(&error.code()),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains("transaction that has foreign keys off"),
            "{error}"
        );
    };
    for sql in [
        "PRAGMA foreign_keys = OFF",
        "PRAGMA foreign_keys(0)",
        "/* */ pragma main.FOREIGN_KEYS=1",
        "PRAGMA \"foreign_keys\" = no",
    ] {
        let db = &fixture.db;
        refused(block_on(db.select(sql, ())).unwrap_err());
        refused(block_on(db.execute(sql, ())).unwrap_err());
        for options in [TransactionOptions::default(), OFF] {
            let transaction = block_on(db.begin(options)).unwrap();
            refused(block_on(transaction.select(sql, ())).unwrap_err());
            refused(block_on(transaction.execute(sql, ())).unwrap_err());
            refused(block_on(transaction.exec(sql)).unwrap_err());
        }
    }
    assert_eq!(fixture.integers("PRAGMA foreign_keys"), [1]);
    assert_eq!(
        fixture.integers("SELECT foreign_keys FROM pragma_foreign_keys"),
        [1]
    );
    fixture.exec("PRAGMA foreign_keys");
    assert!(enforced(&fixture));
}
