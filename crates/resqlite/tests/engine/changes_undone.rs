//! What SQLite undoes is not in the commit log; what it keeps is.

use pollster::block_on;

use crate::support::{Fixture, images, record};

/// Runs the statements one by one, in one transaction.
fn in_one_transaction(fixture: &Fixture, statements: &[&str]) {
    block_on(fixture.db.transaction(async |tx| {
        for sql in statements {
            tx.execute(sql, ()).await?;
        }
        Ok(())
    }))
    .unwrap();
}

fn fixture() -> Fixture {
    Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, u UNIQUE); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
    )
}

// G98
#[test]
fn a_transaction_rolled_back_leaves_nothing() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        let transaction = block_on(fixture.db.begin(None)).unwrap();
        block_on(transaction.execute("DELETE FROM t", ())).unwrap();
        drop(transaction);
        fixture.run("UPDATE t SET u = u");
    });
    assert!(seen.is_empty());
}

// G40
#[test]
fn a_failed_statement_of_several_rows_leaves_nothing() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.fails("INSERT INTO t VALUES (10, 10), (11, 11), (12, 1)");
    });
    assert!(seen.is_empty());
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [3]);
}

// G98
#[test]
fn a_failed_statement_leaves_nothing_in_its_transaction() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.execute("INSERT INTO t VALUES (20, 20)", ()).await?;
            tx.execute("INSERT INTO t VALUES (10, 10), (11, 11), (12, 1)", ())
                .await
                .unwrap_err();
            tx.execute("DELETE FROM t WHERE id = 3", ()).await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["insert 20", "delete 3"]);
    assert_eq!(seen.operations("t"), (1, 0, 1));
}

// G98
#[test]
fn savepoints_of_statements_leave_what_was_before_them() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        let statements = [
            "DELETE FROM t WHERE id = 1",
            "SAVEPOINT outer",
            "INSERT INTO t VALUES (10, 10)",
            "SAVEPOINT inner",
            "DELETE FROM t WHERE id = 2",
            "RELEASE Inner",
            "ROLLBACK TO OUTER",
            "INSERT INTO t VALUES (11, 11)",
            "ROLLBACK TO outer",
            "DELETE FROM t WHERE id = 3",
        ];
        in_one_transaction(&fixture, &statements);
    });
    assert_eq!(seen.rows("t"), ["delete 1", "delete 3"]);
    assert_eq!(seen.operations("t"), (0, 0, 2));
}

// G98
#[test]
fn savepoints_of_queries_leave_what_was_before_them() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.query("SAVEPOINT s", ()).await?;
            tx.query("DELETE FROM t WHERE id = 1", ()).await?;
            tx.query("ROLLBACK TO s", ()).await?;
            tx.query("RELEASE s", ()).await?;
            tx.query("DELETE FROM t WHERE id = 2", ()).await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["delete 2"]);
}

#[test]
fn a_select_undoes_nothing() {
    let fixture = fixture();
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("SAVEPOINT s", ()).await?;
        for sql in ["ROLLBACK TO s", "RELEASE s", "SAVEPOINT s"] {
            let refused = tx.select(sql, ()).await.unwrap_err();
            assert_eq!(refused.code(), "RESQLITE_READ_ONLY", "{sql}");
        }
        Ok(())
    }))
    .unwrap();
}

// G98
#[test]
fn to_explain_a_statement_undoes_nothing() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.execute("SAVEPOINT s", ()).await?;
            tx.execute("DELETE FROM t WHERE id = 1", ()).await?;
            tx.execute("EXPLAIN ROLLBACK TO s", ()).await?;
            tx.query("EXPLAIN QUERY PLAN ROLLBACK TO s", ()).await?;
            tx.exec("DELETE FROM t WHERE id = 2; EXPLAIN ROLLBACK TO s").await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["delete 1", "delete 2"]);
}

// G98
#[test]
fn a_savepoint_of_a_statement_ends_with_the_one_around_it() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.execute("SAVEPOINT s", ()).await?;
            tx.execute("DELETE FROM t WHERE id = 1", ()).await?;
            tx.savepoint(1).await?;
            tx.execute("SAVEPOINT s", ()).await?;
            tx.execute("DELETE FROM t WHERE id = 2", ()).await?;
            tx.rollback_to(1).await?;
            tx.execute("DELETE FROM t WHERE id = 3", ()).await?;
            tx.execute("ROLLBACK TO s", ()).await?;
            tx.execute("INSERT INTO t VALUES (10, 10)", ()).await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["insert 10"]);
}

#[test]
fn a_savepoint_of_a_statement_ends_when_the_one_around_it_is_released() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.execute("SAVEPOINT s", ()).await?;
            tx.execute("DELETE FROM t WHERE id = 1", ()).await?;
            tx.savepoint(1).await?;
            tx.execute("SAVEPOINT s", ()).await?;
            tx.release(1).await?;
            tx.execute("DELETE FROM t WHERE id = 2", ()).await?;
            tx.execute("ROLLBACK TO s", ()).await?;
            tx.execute("INSERT INTO t VALUES (10, 10)", ()).await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["insert 10"]);
}

#[test]
fn a_savepoint_that_a_script_leaves_open_ends_with_the_script() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.execute("SAVEPOINT s", ()).await?;
            tx.execute("DELETE FROM t WHERE id = 1", ()).await?;
            tx.exec("SAVEPOINT s; DELETE FROM t WHERE id = 2").await?;
            tx.execute("ROLLBACK TO s", ()).await?;
            tx.execute("INSERT INTO t VALUES (10, 10)", ()).await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["insert 10"]);
}

// G98
#[test]
fn a_table_that_a_statement_brings_back_is_known_again() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        let statements = [
            "SAVEPOINT s",
            "DROP TABLE t",
            "CREATE TABLE other(a)",
            "ROLLBACK TO s",
            "DELETE FROM t WHERE id = 3",
        ];
        in_one_transaction(&fixture, &statements);
    });
    assert_eq!(seen.rows("t"), ["delete 3"]);
}

// G98
#[test]
fn rolling_back_to_a_savepoint_leaves_what_was_before_it() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.execute("DELETE FROM t WHERE id = 1", ()).await?;
            tx.savepoint(1).await?;
            tx.execute("DELETE FROM t WHERE id = 2", ()).await?;
            tx.savepoint(2).await?;
            tx.execute("DELETE FROM t WHERE id = 3", ()).await?;
            tx.release(2).await?;
            tx.rollback_to(1).await?;
            tx.execute("INSERT INTO t VALUES (9, 9)", ()).await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["delete 1", "insert 9"]);
    assert_eq!(seen.operations("t"), (1, 0, 1));
}

// G58
#[test]
fn a_statement_that_sqlite_leaves_half_done_leaves_nothing_in_a_transaction() {
    let fixture = fixture();
    fixture.exec("CREATE TABLE typed(n INT) STRICT");
    let seen = record(&fixture.db, &[images("t", &[0]), images("typed", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            for sql in [
                "INSERT OR FAIL INTO t VALUES (10, 10), (11, 1)",
                "INSERT INTO typed VALUES (1), ('x')",
            ] {
                tx.execute(sql, ()).await.unwrap_err();
            }
            tx.execute("INSERT INTO t VALUES (12, 12)", ()).await
        }))
        .unwrap();
    });
    assert_eq!(seen.rows("t"), ["insert 12"]);
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2, 3, 12]);
    assert!(fixture.select("SELECT * FROM typed").is_empty());
}

#[test]
fn what_a_trigger_wrote_before_it_failed_is_undone_in_a_transaction() {
    let fixture = fixture();
    fixture.exec(
        "CREATE TABLE log(x); CREATE TRIGGER r BEFORE INSERT ON t WHEN new.u = 99 BEGIN
             INSERT INTO log VALUES (new.id); SELECT RAISE(FAIL, 'no'); END",
    );
    let seen = record(&fixture.db, &[images("log", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.execute("INSERT INTO t VALUES (10, 99)", ()).await.unwrap_err();
            Ok(())
        }))
        .unwrap();
    });
    assert!(seen.is_empty());
    assert!(fixture.select("SELECT * FROM log").is_empty());
}

// G40
#[test]
fn or_fail_by_itself_changes_nothing_when_it_fails() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.fails("INSERT OR FAIL INTO t VALUES (10, 10), (11, 1)");
    });
    assert!(seen.is_empty());
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2, 3]);
}

#[test]
fn or_rollback_by_itself_leaves_nothing() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.fails("INSERT OR ROLLBACK INTO t VALUES (10, 10), (11, 1)");
    });
    assert!(seen.is_empty());
}

#[test]
fn or_ignore_logs_only_the_rows_that_came_in() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.run("INSERT OR IGNORE INTO t VALUES (10, 10), (11, 1), (12, 12)");
    });
    assert_eq!(seen.rows("t"), ["insert 10", "insert 12"]);
}

// G98
#[test]
fn a_failed_batch_leaves_nothing() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        let sets: Vec<_> = [10, 11, 1].map(|id: i64| vec![id.into(), id.into()]).into();
        block_on(fixture.db.execute_batch("INSERT INTO t VALUES (?, ?)", &sets)).unwrap_err();
    });
    assert!(seen.is_empty());
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [3]);
}

#[test]
fn a_batch_of_or_fail_that_fails_in_a_transaction_leaves_nothing() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            let sets = [vec![10.into(), 10.into()], vec![11.into(), 1.into()]];
            tx.execute_batch("INSERT OR FAIL INTO t VALUES (?, ?)", &sets)
                .await
                .unwrap_err();
            Ok(())
        }))
        .unwrap();
    });
    assert!(seen.is_empty());
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [3]);
}

#[test]
fn what_the_user_undoes_with_savepoints_of_their_own_is_at_most_claimed_too_much() {
    let fixture = fixture();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        block_on(fixture.db.transaction(async |tx| {
            tx.exec(
                "DELETE FROM t WHERE id = 1; SAVEPOINT mine; DELETE FROM t WHERE id = 2; ROLLBACK TO mine",
            )
            .await
        }))
        .unwrap();
    });
    assert_eq!(fixture.integers("SELECT id FROM t"), [2, 3]);
    assert!(seen.any_row("t") || seen.rows("t").contains(&"delete 1".into()));
}
