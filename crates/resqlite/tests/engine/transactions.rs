//! Transactions: what they see, what they leave, how they end.

use std::time::Duration;

use resqlite::{Durability, Error, HolderKind, Options, binding::Token, limits};

use crate::support::{Fixture, ask, block_on, integers, query, tell};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(a UNIQUE)")
}

// G32
#[test]
fn what_a_transaction_wrote_is_seen_outside_only_after_its_commit() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [0]);
    block_on(transaction.commit()).unwrap();
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [1]);
}

// G54
#[test]
fn reads_inside_a_transaction_see_what_it_wrote() {
    let fixture = fixture();
    let seen = block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (5)", ()).await?;
        tx.select("SELECT a FROM t", ()).await
    }));
    assert_eq!(integers(&seen.unwrap()), [5]);
}

#[test]
fn a_body_that_fails_rolls_back_and_its_error_is_what_the_caller_gets() {
    let fixture = fixture();
    let failed = block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (1)", ()).await?;
        Err::<(), _>(Error::Parameter("mine".into()))
    }));
    assert_eq!(failed.unwrap_err(), Error::Parameter("mine".into()));
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [2]);
}

#[test]
fn dropping_a_transaction_rolls_it_back_and_frees_the_writer() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    drop(transaction);
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [2]);
}

#[test]
fn dropping_the_wish_for_a_transaction_frees_the_writer() {
    let fixture = fixture();
    let first = block_on(fixture.db.begin(None)).unwrap();
    drop(ask(fixture.db.begin(None)));
    drop(first);
    fixture.run("INSERT INTO t VALUES (2)");
}

// G58
#[test]
fn a_failed_statement_leaves_the_transaction_as_it_was_before_it() {
    let fixture = fixture();
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (1)", ()).await?;
        let error = tx.execute("INSERT INTO t VALUES (2), (1)", ()).await.unwrap_err();
        assert_eq!(error.code(), "SQLITE_CONSTRAINT_UNIQUE");
        tx.execute("INSERT INTO t VALUES (3)", ()).await
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 3]);
}

// G57
#[test]
fn nested_savepoints_keep_and_undo_level_by_level() {
    let fixture = fixture();
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (0)", ()).await?;
        for keep in [true, false] {
            tx.savepoint(1).await?;
            tx.execute("INSERT INTO t VALUES (?)", vec![(10 + i64::from(keep)).into()])
                .await?;
            tx.savepoint(2).await?;
            tx.execute("INSERT INTO t VALUES (?)", vec![(20 + i64::from(keep)).into()])
                .await?;
            tx.rollback_to(2).await?;
            if keep {
                tx.release(1).await?
            } else {
                tx.rollback_to(1).await?
            }
        }
        Ok(())
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t ORDER BY a"), [0, 11]);
}

#[test]
fn releasing_a_savepoint_that_is_not_open_is_an_error_and_the_transaction_goes_on() {
    let fixture = fixture();
    block_on(fixture.db.transaction(async |tx| {
        assert_eq!(tx.release(3).await.unwrap_err().code(), "SQLITE_ERROR");
        tx.execute("INSERT INTO t VALUES (1)", ()).await
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

#[test]
fn a_transaction_whose_caller_does_nothing_is_rolled_back_after_its_timeout() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(Some(Duration::from_millis(1)))).unwrap();
    // Waits for the writer, which only the timeout can free.
    fixture.run("INSERT INTO t VALUES (1)");
    let error = block_on(transaction.execute("INSERT INTO t VALUES (2)", ())).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_TIMEOUT");
    assert_eq!(
        block_on(transaction.commit()).unwrap_err().code(),
        "RESQLITE_TIMEOUT"
    );
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

#[test]
fn a_statement_that_runs_past_the_timeout_is_interrupted() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(Some(Duration::from_millis(20)))).unwrap();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT i FROM n";
    assert_eq!(
        block_on(transaction.execute(endless, ())).unwrap_err().code(),
        "RESQLITE_TIMEOUT"
    );
    assert_eq!(
        block_on(transaction.commit()).unwrap_err().code(),
        "RESQLITE_TIMEOUT"
    );
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [0]);
}

#[test]
fn a_timeout_of_nothing_is_over_at_once() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(Some(Duration::ZERO))).unwrap();
    fixture.run("INSERT INTO t VALUES (1)");
    assert_eq!(
        block_on(transaction.commit()).unwrap_err().code(),
        "RESQLITE_TIMEOUT"
    );
}

#[test]
fn whoever_watches_a_transaction_hears_that_it_timed_out() {
    let fixture = fixture();
    let (opened, is_open) = std::sync::mpsc::channel();
    let session = fixture.db.engine().begin(
        Some(Duration::from_millis(1)),
        Durability::Normal,
        tell(move |told| opened.send(told).unwrap()),
    );
    is_open.recv().unwrap().unwrap();
    let (ended, has_ended) = std::sync::mpsc::channel();
    session.ended(tell(move |told| ended.send(told).unwrap()));
    assert_eq!(has_ended.recv().unwrap(), Err(Error::TimedOut));
}

// G60
#[test]
fn or_rollback_ends_the_transaction_and_says_so() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    let error = block_on(transaction.execute("INSERT OR ROLLBACK INTO t VALUES (1)", ())).unwrap_err();
    assert_eq!(error.code(), "SQLITE_CONSTRAINT_UNIQUE");
    let error = block_on(transaction.execute("INSERT INTO t VALUES (2)", ())).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_TRANSACTION");
    assert!(
        error.to_string().contains("rolled the whole transaction back"),
        "{error}"
    );
    assert!(block_on(transaction.commit()).is_err());
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [0]);
}

// G60
#[test]
fn a_full_disk_inside_a_transaction_never_commits_half_of_it() {
    let options = Options {
        pragmas: vec![("max_page_count".into(), "12".into())],
        ..Options::default()
    };
    let fixture = Fixture::with("CREATE TABLE t(a)", options);
    let done = block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (1)", ()).await?;
        tx.execute("INSERT INTO t VALUES (zeroblob(1000000))", ()).await
    }));
    assert_eq!(done.unwrap_err().code(), "SQLITE_FULL");
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [2]);
}

// G60
#[test]
fn a_deferred_foreign_key_fails_the_commit_and_rolls_back() {
    let fixture = Fixture::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY);
         CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    let done = block_on(
        fixture
            .db
            .transaction(async |tx| tx.execute("INSERT INTO c VALUES (1)", ()).await),
    );
    assert_eq!(done.unwrap_err().code(), "SQLITE_CONSTRAINT_FOREIGNKEY");
    assert_eq!(fixture.integers("SELECT count(*) FROM c"), [0]);
}

#[test]
fn a_session_used_after_its_end_says_what_was_asked_of_it() {
    let fixture = fixture();
    let (done, is_done) = std::sync::mpsc::channel();
    let session = fixture.db.engine().begin(None, Durability::Normal, tell(|_| ()));
    session.commit(tell(move |told| done.send(told).unwrap()));
    is_done.recv().unwrap().unwrap();
    // The writer has let go of the session when the next write is done.
    fixture.run("INSERT INTO t VALUES (1)");
    let (refused, is_refused) = std::sync::mpsc::channel();
    session.select(
        query("SELECT 1", Token::default()),
        tell(move |told| refused.send(told).unwrap()),
    );
    match is_refused.recv().unwrap().unwrap_err() {
        Error::Transaction { operation, message } => {
            assert_eq!(operation, "select");
            assert!(message.contains("has ended already"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn cancelling_a_session_interrupts_what_runs_in_it_and_rolls_back() {
    let fixture = fixture();
    let session = fixture.db.engine().begin(None, Durability::Normal, tell(|_| ()));
    let (ended, has_ended) = std::sync::mpsc::channel();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    session.select(
        query(endless, Token::default()),
        tell(move |told| ended.send(told).unwrap()),
    );
    session.cancel();
    assert_eq!(has_ended.recv().unwrap(), Err(Error::Aborted));
    fixture.run("INSERT INTO t VALUES (1)");
}

// G53
#[test]
fn transactions_wait_for_each_other_in_the_order_they_were_asked_for() {
    let fixture = fixture();
    let first = block_on(fixture.db.begin(None)).unwrap();
    let (second, third) = (ask(fixture.db.begin(None)), ask(fixture.db.begin(None)));
    block_on(first.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    block_on(first.commit()).unwrap();
    let second = second.wait().unwrap();
    block_on(second.execute("INSERT INTO t SELECT max(a) + 1 FROM t", ())).unwrap();
    block_on(second.commit()).unwrap();
    let third = third.wait().unwrap();
    block_on(third.execute("INSERT INTO t SELECT max(a) + 1 FROM t", ())).unwrap();
    block_on(third.commit()).unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3]);
}

#[test]
fn steps_queued_without_waiting_run_in_order() {
    let fixture = fixture();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    let inserts: Vec<_> = (0..100)
        .map(|n: i64| {
            ask(transaction.execute(
                "INSERT INTO t SELECT coalesce(max(a), -1) + 1 FROM t RETURNING a = ?",
                vec![n.into()],
            ))
        })
        .collect();
    for insert in inserts {
        assert_eq!(integers(&insert.wait().unwrap().rows), [1]);
    }
    block_on(transaction.commit()).unwrap();
}

// G218
#[test]
fn the_holder_of_the_writer_is_named_by_its_statement_or_the_beginning_of_it() {
    let fixture = fixture();
    let holder = || fixture.db.diagnostics().transaction.unwrap();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    assert_eq!((holder().kind, holder().sql), (HolderKind::Transaction, None));
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    assert_eq!(holder().sql.as_deref(), Some("INSERT INTO t VALUES (1)"));
    block_on(transaction.select("SELECT 1", ())).unwrap();
    assert_eq!(holder().sql.as_deref(), Some("SELECT 1"));
    let long = format!("SELECT 1; -- {}", "é".repeat(limits::HOLDER_SQL_BYTES));
    block_on(transaction.exec(&long)).unwrap();
    let named = holder().sql.unwrap();
    assert!(long.starts_with(&*named) && named.len() >= limits::HOLDER_SQL_BYTES - 1);
}
