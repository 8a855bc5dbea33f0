//! Cursors inside transactions and snapshots.

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use resqlite::{
    Cursor, Error, QueryLimits, Result, Transaction,
    binding::{ColumnLayout, Outcome, Reply, RowBatch, Token},
};

use crate::support::{Fixture, block_on, integers, query, readers};

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
const A: &str = "SELECT a FROM t ORDER BY a";

fn fixture() -> Fixture {
    Fixture::with(
        "CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6)",
        readers(1),
    )
}

fn begin(fixture: &Fixture) -> Transaction {
    block_on(fixture.db.begin(None)).unwrap()
}

fn execute(transaction: &Transaction, sql: &str) {
    block_on(transaction.execute(sql, ())).unwrap();
}

fn next(cursor: &mut Cursor<'_>) -> Option<Vec<i64>> {
    block_on(cursor.next_batch()).unwrap().map(|rows| integers(&rows))
}

// G290
#[test]
fn cursors_of_a_transaction_see_what_it_wrote_and_do_not_disturb_each_other() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    execute(&transaction, "INSERT INTO t VALUES (7)");
    let mut up = block_on(transaction.iterate(A, (), 3)).unwrap();
    let mut down = block_on(transaction.iterate("SELECT a FROM t ORDER BY a DESC", (), 4)).unwrap();
    assert_eq!(next(&mut up), Some(vec![1, 2, 3]));
    assert_eq!(next(&mut down), Some(vec![7, 6, 5, 4]));
    assert_eq!(next(&mut up), Some(vec![4, 5, 6]));
    assert_eq!(next(&mut down), Some(vec![3, 2, 1]));
    assert_eq!(next(&mut up), Some(vec![7]));
    assert_eq!((next(&mut up), next(&mut down)), (None, None));
}

// G290
#[test]
fn cursors_of_the_same_text_each_have_a_statement() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    let mut one = block_on(transaction.iterate(A, (), 4)).unwrap();
    let mut two = block_on(transaction.iterate(A, (), 2)).unwrap();
    assert_eq!(next(&mut one), Some(vec![1, 2, 3, 4]));
    assert_eq!(next(&mut two), Some(vec![1, 2]));
    assert_eq!(integers(&block_on(transaction.select(A, ())).unwrap()).len(), 6);
    assert_eq!(next(&mut one), Some(vec![5, 6]));
    assert_eq!(next(&mut two), Some(vec![3, 4]));
}

// G291
#[test]
fn a_transaction_may_write_what_a_cursor_has_passed() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    let mut cursor = block_on(transaction.iterate(A, (), 1)).unwrap();
    let mut seen = Vec::new();
    while let Some(batch) = next(&mut cursor) {
        execute(&transaction, &format!("DELETE FROM t WHERE a = {}", batch[0]));
        seen.extend(batch);
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
    drop(cursor);
    block_on(transaction.commit()).unwrap();
    assert_eq!(fixture.integers(A), [0; 0]);
}

// G291
#[test]
fn a_cursor_outlives_the_rollback_to_a_savepoint() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    let mut cursor = block_on(transaction.iterate(A, (), 2)).unwrap();
    assert_eq!(next(&mut cursor), Some(vec![1, 2]));
    block_on(transaction.savepoint(1)).unwrap();
    execute(&transaction, "DELETE FROM t");
    block_on(transaction.rollback_to(1)).unwrap();
    assert_eq!(next(&mut cursor), Some(vec![3, 4]));
}

// G291
#[test]
fn where_the_rollback_to_a_savepoint_undoes_a_change_of_the_schema_a_cursor_fails_by_name() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    let mut cursor = block_on(transaction.iterate(A, (), 2)).unwrap();
    assert_eq!(next(&mut cursor), Some(vec![1, 2]));
    block_on(transaction.savepoint(1)).unwrap();
    execute(&transaction, "CREATE TABLE u(b)");
    block_on(transaction.rollback_to(1)).unwrap();
    let error = block_on(cursor.next_batch()).unwrap_err();
    assert_eq!(error.code(), "SQLITE_ABORT_ROLLBACK", "{error}");
    assert_eq!(
        integers(&block_on(transaction.select(A, ())).unwrap()),
        [1, 2, 3, 4, 5, 6]
    );
    execute(&transaction, "INSERT INTO t VALUES (7)");
    drop(cursor);
    block_on(transaction.commit()).unwrap();
    assert_eq!(fixture.integers("SELECT max(a) FROM t"), [7]);
}

// G291
#[test]
fn a_table_that_a_cursor_reads_cannot_be_dropped_until_it_is_closed() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    let mut cursor = block_on(transaction.iterate(A, (), 2)).unwrap();
    assert_eq!(next(&mut cursor), Some(vec![1, 2]));
    let refused = block_on(transaction.execute("DROP TABLE t", ())).unwrap_err();
    assert_eq!(refused.code(), "SQLITE_LOCKED");
    assert_eq!(next(&mut cursor), Some(vec![3, 4]));
    drop(cursor);
    execute(&transaction, "DROP TABLE t");
}

// G291
#[test]
fn a_statement_that_a_cursor_held_during_a_change_of_the_schema_means_the_new_schema_afterwards() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    let mut cursor = block_on(transaction.iterate(A, (), 2)).unwrap();
    assert_eq!(next(&mut cursor), Some(vec![1, 2]));
    execute(&transaction, "CREATE TEMP TABLE t AS SELECT 10 AS a");
    drop(cursor);
    assert_eq!(integers(&block_on(transaction.select(A, ())).unwrap()), [10]);
}

/// Tells how many rows a batch had, and whether it was the last.
struct Heard(mpsc::Sender<Result<(usize, bool)>>);

impl Reply for Heard {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let heard = outcome.map(|outcome| match outcome {
            Outcome::Rows { last, end, .. } => (last.rows(), end),
            _ => (0, true),
        });
        self.0.send(heard).unwrap();
    }
}

/// A session of the engine, as a binding uses it.
struct Raw {
    session: resqlite::binding::Session,
    tell: mpsc::Sender<Result<(usize, bool)>>,
    hear: mpsc::Receiver<Result<(usize, bool)>>,
}

impl Raw {
    fn begin(fixture: &Fixture) -> Self {
        let (tell, hear) = mpsc::channel();
        let engine = fixture.db.engine();
        let reply = Box::new(Heard(tell.clone()));
        let session = engine.begin(None, resqlite::Durability::Normal, reply);
        hear.recv().unwrap().unwrap();
        Self { session, tell, hear }
    }

    fn reply(&self) -> Box<dyn Reply> {
        Box::new(Heard(self.tell.clone()))
    }

    fn hear(&self) -> Result<(usize, bool)> {
        self.hear.recv().unwrap()
    }

    fn open(&self, number: u32, sql: &str, rows: usize) -> Result<(usize, bool)> {
        let query = query(sql, Token::default());
        self.session.open_cursor(number, query, rows, self.reply());
        self.hear()
    }

    fn fetch(&self, number: u32) -> Result<(usize, bool)> {
        self.session.fetch_from(number, Token::default(), self.reply());
        self.hear()
    }
}

// G292
#[test]
fn a_commit_closes_the_cursors_that_are_open() {
    let fixture = fixture();
    let raw = Raw::begin(&fixture);
    assert_eq!(raw.open(1, A, 2), Ok((2, false)));
    raw.session.write(
        crate::support::write("INSERT INTO t VALUES (7)", false),
        raw.reply(),
    );
    raw.hear().unwrap();
    raw.session.commit(raw.reply());
    raw.hear().unwrap();
    assert_eq!(fixture.integers("SELECT max(a) FROM t"), [7]);
    assert!(matches!(raw.fetch(1), Err(Error::Transaction { .. })));
    fixture.run("DROP TABLE t");
}

#[test]
fn the_number_of_a_cursor_is_refused_while_it_is_open_and_unknown_after_its_end() {
    let fixture = fixture();
    let raw = Raw::begin(&fixture);
    assert_eq!(raw.open(1, A, 2), Ok((2, false)));
    assert!(
        raw.open(1, A, 2)
            .unwrap_err()
            .to_string()
            .contains("open already")
    );
    assert_eq!(raw.fetch(1), Ok((2, false)));
    assert_eq!(raw.fetch(1), Ok((2, true)));
    assert!(raw.fetch(1).unwrap_err().to_string().contains("is not open"));
    assert_eq!(raw.open(1, A, 6), Ok((6, true)));
}

// G290
#[test]
fn a_fetch_that_is_cancelled_ends_its_cursor_and_no_other() {
    let fixture = fixture();
    let raw = Raw::begin(&fixture);
    assert_eq!(raw.open(1, A, 2), Ok((2, false)));
    let slow = format!("SELECT i FROM ({ENDLESS}) WHERE i = 1 OR i < 0");
    let token = Token::default();
    raw.session
        .open_cursor(2, query(&slow, token.clone()), 1, raw.reply());
    token.cancel();
    assert_eq!(raw.hear(), Err(Error::Aborted));
    assert!(raw.fetch(2).unwrap_err().to_string().contains("is not open"));
    assert_eq!(raw.fetch(1), Ok((2, false)));
    let token = Token::default();
    raw.session.fetch_from(1, token.clone(), raw.reply());
    token.cancel();
    // The fetch may have been faster. Either way, the transaction goes on.
    let _ = raw.hear();
    raw.session.write(
        crate::support::write("INSERT INTO t VALUES (7)", false),
        raw.reply(),
    );
    raw.hear().unwrap();
}

// G290
#[test]
fn each_cursor_of_a_transaction_has_limits_of_its_own() {
    let fixture = fixture();
    let raw = Raw::begin(&fixture);
    let open = |number, steps| {
        let mut query = query(ENDLESS, Token::default());
        query.limits = Some(Box::new(QueryLimits {
            steps: Some(steps),
            ..QueryLimits::default()
        }));
        raw.session.open_cursor(number, query, 100, raw.reply());
        raw.hear().unwrap();
    };
    open(1, 20_000);
    open(2, 60_000);
    let ends = |number| {
        let mut batches = 0;
        loop {
            match raw.fetch(number) {
                Ok(_) => batches += 1,
                Err(error) => {
                    assert_eq!(error.code(), "RESQLITE_LIMIT", "{error}");
                    return batches;
                }
            }
        }
    };
    for _ in 0..5 {
        raw.fetch(2).unwrap();
    }
    let (one, two) = (ends(1), 5 + ends(2));
    assert!(one > 5 && two > 2 * one, "{one} and {two} batches");
}

// G290
#[test]
fn the_wait_between_two_batches_costs_a_cursor_no_time() {
    let fixture = fixture();
    let raw = Raw::begin(&fixture);
    let mut limited = query(A, Token::default());
    limited.limits = Some(Box::new(QueryLimits {
        time: Some(Duration::from_millis(1000)),
        ..QueryLimits::default()
    }));
    raw.session.open_cursor(1, limited, 2, raw.reply());
    assert_eq!(raw.hear(), Ok((2, false)));
    // Another statement uses up its own time meanwhile, which is longer.
    let mut endless = query(&format!("SELECT max(i) FROM ({ENDLESS})"), Token::default());
    endless.limits = Some(Box::new(QueryLimits {
        time: Some(Duration::from_millis(1100)),
        ..QueryLimits::default()
    }));
    raw.session.select(endless, raw.reply());
    assert_eq!(raw.hear().unwrap_err().code(), "RESQLITE_LIMIT");
    assert_eq!(raw.fetch(1), Ok((2, false)));
}

// G292
#[test]
fn dropping_a_cursor_of_a_transaction_closes_it() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    for _ in 0..100 {
        let mut cursor = block_on(transaction.iterate(ENDLESS, (), 10)).unwrap();
        assert_eq!(next(&mut cursor).unwrap().len(), 10);
    }
    execute(&transaction, "DROP TABLE t");
    block_on(transaction.commit()).unwrap();
}

#[test]
fn a_cursor_of_a_transaction_only_reads() {
    let fixture = fixture();
    let transaction = begin(&fixture);
    let refused = block_on(transaction.iterate("DELETE FROM t RETURNING a", (), 1))
        .err()
        .unwrap();
    assert_eq!(refused.code(), "RESQLITE_READ_ONLY");
    let wrong = block_on(transaction.iterate("SELECT nope", (), 1)).err().unwrap();
    assert_eq!(wrong.code(), "SQLITE_ERROR");
    execute(&transaction, "INSERT INTO t VALUES (7)");
}

// G289
#[test]
fn cursors_of_a_snapshot_read_its_state_whatever_is_written() {
    let fixture = fixture();
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    let mut one = block_on(snapshot.iterate(A, (), 4)).unwrap();
    assert_eq!(next(&mut one), Some(vec![1, 2, 3, 4]));
    fixture.run("DELETE FROM t");
    let mut two = block_on(snapshot.iterate(A, (), 3)).unwrap();
    assert_eq!(next(&mut two), Some(vec![1, 2, 3]));
    assert_eq!(next(&mut one), Some(vec![5, 6]));
    assert_eq!(next(&mut two), Some(vec![4, 5, 6]));
    drop((one, two));
    drop(snapshot);
    let later = block_on(fixture.db.snapshot()).unwrap();
    assert_eq!(integers(&block_on(later.select(A, ())).unwrap()), [0; 0]);
}
