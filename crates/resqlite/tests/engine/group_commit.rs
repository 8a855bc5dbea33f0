//! Writes that wait together are committed together, and still each stands for itself.

use std::sync::{Arc, Mutex, mpsc};

use resqlite::{Database, Error, Options, Result, WriteResult};

use crate::support::{Asked, Fixture, ask, block_on, later, tell, write};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, u UNIQUE)")
}

/// Queues the statements behind a transaction that holds the writer, so that they form one group.
fn together(db: &Database, statements: &[&str]) -> Vec<Result<WriteResult>> {
    let holds_the_writer = block_on(db.begin(None)).unwrap();
    let asked: Vec<Asked<'_, _>> = statements.iter().map(|sql| ask(db.execute(sql, ()))).collect();
    drop(holds_the_writer);
    asked.into_iter().map(Asked::wait).collect()
}

fn code<T>(result: &Result<T>) -> &'static str {
    result.as_ref().map_or_else(Error::code, |_| "ok")
}

// G47
#[test]
fn of_a_thousand_concurrent_writes_exactly_those_fail_that_violate_a_constraint() {
    let fixture = fixture();
    fixture.run("INSERT INTO t VALUES (-1, 'taken')");
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked: Vec<_> = (0..1000)
        .map(|n: i64| {
            let unique = if n % 10 == 9 { "taken".into() } else { n.into() };
            ask(fixture
                .db
                .execute("INSERT INTO t VALUES (?, ?)", vec![n.into(), unique]))
        })
        .collect();
    drop(holds_the_writer);
    for (n, asked) in asked.into_iter().enumerate() {
        match asked.wait() {
            Ok(done) => {
                assert_ne!(n % 10, 9);
                assert_eq!((done.changes, done.last_insert_rowid), (1, n as i64));
            }
            Err(error) => assert_eq!((n % 10, error.code()), (9, "SQLITE_CONSTRAINT_UNIQUE")),
        }
    }
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [901]);
    assert!(fixture.db.diagnostics().largest_group > 1);
}

// G47
#[test]
fn a_group_is_one_commit() {
    let fixture = fixture();
    let before = fixture.db.engine().last_commit();
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "INSERT INTO t VALUES (2, 2)",
            "INSERT INTO t VALUES (3, 3)",
        ],
    );
    let commits: Vec<_> = done.into_iter().map(|done| done.unwrap().commit).collect();
    assert_eq!(commits, [later(before, 1); 3]);
    assert_eq!(fixture.db.diagnostics().largest_group, 3);
}

// G48
#[test]
fn replies_come_in_the_order_of_the_calls() {
    let fixture = fixture();
    fixture.run("INSERT INTO t VALUES (-1, 'taken')");
    let order = Arc::new(Mutex::new(Vec::new()));
    let (done, all_done) = mpsc::channel();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    for n in 0..200 {
        let sql = match n % 4 {
            0 => "INSERT INTO t(u) VALUES ('taken')".to_owned(),
            1 => "PRAGMA user_version = 1".to_owned(),
            _ => format!("INSERT INTO t(u) VALUES ({n})"),
        };
        let (order, done) = (Arc::clone(&order), done.clone());
        let reply = tell(move |_| {
            order.lock().unwrap().push(n);
            if n == 199 {
                done.send(()).unwrap();
            }
        });
        fixture.db.engine().write(write(&sql, false), reply);
    }
    drop(holds_the_writer);
    all_done.recv().unwrap();
    assert_eq!(*order.lock().unwrap(), (0..200).collect::<Vec<_>>());
}

// G49
#[test]
fn a_deferred_foreign_key_that_fails_at_commit_fails_only_its_own_write() {
    let fixture = Fixture::new(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY);
         CREATE TABLE child(p REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
    );
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO parent VALUES (1)",
            "INSERT INTO child VALUES (7)",
            "INSERT INTO child VALUES (1)",
        ],
    );
    let codes: Vec<_> = done.iter().map(code).collect();
    assert_eq!(codes, ["ok", "SQLITE_CONSTRAINT_FOREIGNKEY", "ok"]);
    assert_eq!(fixture.integers("SELECT p FROM child"), [1]);
    assert_eq!(fixture.db.diagnostics().groups_retried_singly, 1);
}

// G49
#[test]
fn or_rollback_in_a_group_hurts_only_its_own_write() {
    let fixture = fixture();
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "INSERT OR ROLLBACK INTO t VALUES (2, 2), (3, 1)",
            "INSERT INTO t VALUES (4, 4)",
        ],
    );
    assert_eq!(
        done.iter().map(code).collect::<Vec<_>>(),
        ["ok", "SQLITE_CONSTRAINT_UNIQUE", "ok"]
    );
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 4]);
}

// G49
#[test]
fn raise_rollback_in_a_group_hurts_only_its_own_write() {
    let fixture = fixture();
    fixture.exec(
        "CREATE TRIGGER r BEFORE INSERT ON t WHEN new.u = 'bad' BEGIN SELECT RAISE(ROLLBACK, 'refused'); END",
    );
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "INSERT INTO t VALUES (2, 'bad')",
            "INSERT INTO t VALUES (3, 3)",
        ],
    );
    assert_eq!(
        done.iter().map(code).collect::<Vec<_>>(),
        ["ok", "SQLITE_CONSTRAINT_TRIGGER", "ok"]
    );
    assert_eq!(done[1].as_ref().unwrap_err().to_string(), "refused");
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 3]);
}

// G49
#[test]
fn or_fail_in_a_group_leaves_nothing_of_the_write_that_failed() {
    let fixture = fixture();
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "INSERT OR FAIL INTO t VALUES (2, 2), (3, 1)",
            "INSERT INTO t VALUES (4, 4)",
        ],
    );
    assert_eq!(
        done.iter().map(code).collect::<Vec<_>>(),
        ["ok", "SQLITE_CONSTRAINT_UNIQUE", "ok"]
    );
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 4]);
}

// G49
#[test]
fn a_trigger_that_writes_and_then_fails_leaves_nothing_in_a_group() {
    let fixture = fixture();
    fixture.exec(
        "CREATE TABLE log(x);
         CREATE TRIGGER r BEFORE INSERT ON t WHEN new.u = 'bad' BEGIN
             INSERT INTO log VALUES (1); SELECT RAISE(FAIL, 'refused'); END",
    );
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "INSERT INTO t VALUES (2, 'bad')",
            "INSERT INTO t VALUES (3, 3)",
        ],
    );
    assert_eq!(
        done.iter().map(code).collect::<Vec<_>>(),
        ["ok", "SQLITE_CONSTRAINT_TRIGGER", "ok"]
    );
    assert_eq!(fixture.integers("SELECT count(*) FROM log"), [0]);
}

// G50
#[test]
fn each_write_of_a_group_has_its_own_rowid_and_changes() {
    let fixture = fixture();
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (41, 1)",
            "UPDATE t SET u = u + 100",
            "INSERT INTO t VALUES (7, 7), (8, 8)",
            "DELETE FROM t",
            "CREATE TABLE other(a)",
            "SELECT 1",
        ],
    );
    let numbers: Vec<_> = done
        .iter()
        .map(|done| done.as_ref().unwrap())
        .map(|done| (done.changes, done.last_insert_rowid))
        .collect();
    assert_eq!(numbers, [(1, 41), (1, 0), (2, 8), (3, 0), (0, 0), (0, 0)]);
}

// G50
#[test]
fn each_write_of_a_group_gets_the_rows_of_its_own_returning() {
    let fixture = fixture();
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 5) RETURNING u",
            "INSERT INTO t VALUES (2, 6), (3, 7) RETURNING u",
            "DELETE FROM t",
        ],
    );
    let rows: Vec<_> = done
        .iter()
        .map(|done| crate::support::integers(&done.as_ref().unwrap().rows))
        .collect();
    assert_eq!(rows, [vec![5], vec![6, 7], vec![]]);
}

// G48
#[test]
fn a_write_sees_the_writes_before_it_in_its_group() {
    let fixture = fixture();
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "UPDATE t SET u = 2",
            "UPDATE t SET u = 3 WHERE u = 2",
        ],
    );
    assert_eq!(done[2].as_ref().unwrap().changes, 1);
}

// G51
#[test]
fn a_statement_that_does_not_compile_fails_only_itself() {
    let fixture = fixture();
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "INSRT",
            "INSERT INTO nowhere VALUES (1)",
            "INSERT INTO t VALUES (2, 2)",
        ],
    );
    assert_eq!(
        done.iter().map(code).collect::<Vec<_>>(),
        ["ok", "SQLITE_ERROR", "SQLITE_ERROR", "ok"]
    );
}

#[test]
fn a_write_behind_one_that_changed_the_schema_uses_the_new_schema() {
    let fixture = fixture();
    fixture.run("INSERT INTO t VALUES (1, 1)");
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (2, 2)",
            "ALTER TABLE t ADD COLUMN c DEFAULT 5",
            "INSERT INTO t VALUES (3, 3, 3)",
            "INSERT INTO t VALUES (2, 2)",
        ],
    );
    assert_eq!(
        done.iter().map(code).collect::<Vec<_>>(),
        ["ok", "ok", "ok", "SQLITE_ERROR"]
    );
    assert_eq!(fixture.integers("SELECT c FROM t"), [5, 5, 3]);
}

// G51
#[test]
fn statements_that_cannot_share_a_transaction_run_between_the_others() {
    let fixture = fixture();
    let attach = format!("ATTACH '{}' AS other", fixture.file("other.db"));
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 1)",
            "VACUUM",
            "INSERT INTO t VALUES (2, 2)",
            "PRAGMA user_version = 77",
            &attach,
            "CREATE TABLE other.u(a)",
            "INSERT INTO other.u VALUES (1)",
            "DETACH other",
            "INSERT INTO t VALUES (3, 3)",
        ],
    );
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2, 3]);
    assert_eq!(fixture.integers("PRAGMA user_version"), [77]);
}

#[test]
fn a_pragma_gives_its_rows() {
    let fixture = fixture();
    assert_eq!(
        crate::support::integers(&fixture.run("PRAGMA user_version").rows),
        [0]
    );
}

// G53
#[test]
fn a_write_never_joins_an_open_transaction() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1, 1)", ())).unwrap();
    let asked = ask(fixture.db.execute("INSERT INTO t VALUES (2, 2)", ()));
    block_on(transaction.execute("INSERT INTO t VALUES (3, 3)", ())).unwrap();
    drop(transaction);
    asked.wait().unwrap();
    assert_eq!(fixture.integers("SELECT id FROM t"), [2]);
}

// G48
#[test]
fn writes_around_a_transaction_keep_their_order() {
    let fixture = fixture();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let before = ask(fixture.db.execute("INSERT INTO t VALUES (1, 1)", ()));
    let begun = ask(fixture.db.begin(None));
    let after = ask(fixture.db.execute("INSERT INTO t SELECT 3, max(u) FROM t", ()));
    drop(holds_the_writer);
    let transaction = begun.wait().unwrap();
    block_on(transaction.execute("UPDATE t SET u = 10 WHERE id = 1", ())).unwrap();
    // What waits behind the transaction sees its row, and so violates the constraint.
    block_on(transaction.commit()).unwrap();
    before.wait().unwrap();
    assert_eq!(after.wait().unwrap_err().code(), "SQLITE_CONSTRAINT_UNIQUE");
}

// G49
#[test]
fn a_full_disk_fails_only_the_writes_that_do_not_fit() {
    let options = Options {
        pragmas: vec![("max_page_count".into(), "22".into())],
        ..Options::default()
    };
    let fixture = Fixture::with("CREATE TABLE t(id INTEGER PRIMARY KEY, b)", options);
    let done = together(
        &fixture.db,
        &[
            "INSERT INTO t VALUES (1, 'small')",
            "INSERT INTO t VALUES (2, zeroblob(10000000))",
            "INSERT INTO t VALUES (3, 'small')",
        ],
    );
    assert_eq!(
        done.iter().map(code).collect::<Vec<_>>(),
        ["ok", "SQLITE_FULL", "ok"]
    );
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 3]);
}

// G41
#[test]
fn a_batch_is_done_completely_or_not_at_all() {
    let fixture = fixture();
    let sets = |ids: &[i64]| {
        ids.iter()
            .map(|&id| vec![id.into(), id.into()])
            .collect::<Vec<_>>()
    };
    let sql = "INSERT INTO t VALUES (?, ?)";
    let done = block_on(fixture.db.execute_batch(sql, &sets(&[1, 2, 3]))).unwrap();
    assert_eq!((done.changes, done.last_insert_rowid), (3, 3));
    let error = block_on(fixture.db.execute_batch(sql, &sets(&[4, 5, 1]))).unwrap_err();
    assert_eq!(error.code(), "SQLITE_CONSTRAINT_PRIMARYKEY");
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2, 3]);
}

// G51
#[test]
fn a_batch_in_a_group_fails_alone() {
    let fixture = fixture();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let sets = [vec![10.into()], vec![11.into()], vec![10.into()]];
    let first = ask(fixture.db.execute("INSERT INTO t VALUES (1, 1)", ()));
    let batch = ask(fixture.db.execute_batch("INSERT INTO t(id) VALUES (?)", &sets));
    let last = ask(fixture.db.execute("INSERT INTO t VALUES (2, 2)", ()));
    drop(holds_the_writer);
    assert_eq!(
        [code(&first.wait()), code(&batch.wait()), code(&last.wait())],
        ["ok", "SQLITE_CONSTRAINT_PRIMARYKEY", "ok"]
    );
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2]);
}

#[test]
fn a_batch_of_no_sets_changes_nothing() {
    let fixture = fixture();
    let done = block_on(fixture.db.execute_batch("INSERT INTO t VALUES (?, ?)", &[])).unwrap();
    assert_eq!((done.changes, fixture.select("SELECT * FROM t").len()), (0, 0));
}

// G88
#[test]
fn full_durability_of_one_write_counts_for_its_whole_group_and_for_no_later_one() {
    let fixture = fixture();
    let (done, all_done) = mpsc::channel();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    for (id, full) in [(1, false), (2, true), (3, false)] {
        let done = done.clone();
        let sql = format!("INSERT INTO t VALUES ({id}, {id})");
        fixture
            .db
            .engine()
            .write(write(&sql, full), tell(move |told| done.send(told).unwrap()));
    }
    drop(holds_the_writer);
    (0..3).for_each(|_| all_done.recv().unwrap().unwrap());
    assert_eq!(fixture.integers("SELECT id FROM t"), [1, 2, 3]);
    assert_eq!(
        crate::support::integers(&fixture.run("PRAGMA synchronous").rows),
        [1]
    );
}

// G88
#[test]
fn a_database_of_full_durability_writes_with_synchronous_full() {
    let options = resqlite::Options {
        durability: resqlite::Durability::Full,
        ..Default::default()
    };
    let fixture = Fixture::with("CREATE TABLE t(a)", options);
    assert_eq!(
        crate::support::integers(&fixture.run("PRAGMA synchronous").rows),
        [2]
    );
    let level = block_on(
        fixture
            .db
            .transaction(async |tx| tx.select("PRAGMA synchronous", ()).await),
    )
    .unwrap();
    assert_eq!(crate::support::integers(&level), [2]);
}
