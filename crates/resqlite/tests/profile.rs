//! The counters of a profile build, on work whose numbers are known.
//!
//! They belong to the process, so these tests run one after another; and a database is closed before they are read,
//! because its threads count what they did after they have answered.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    task::{Context, Waker},
};

use resqlite::{
    Database, Error, Options, Params, Result,
    binding::{ColumnLayout, Format, Integers, Outcome, Query, Reply, RowBatch, Token},
    profile::{self, Counters},
};

static COUNTERS: Mutex<()> = Mutex::new(());

/// The counters for one test, all at 0.
fn from_zero() -> MutexGuard<'static, ()> {
    let alone = COUNTERS.lock().unwrap_or_else(PoisonError::into_inner);
    profile::reset();
    alone
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    pollster::block_on(future)
}

fn open(readers: usize) -> Database {
    let options = Options {
        readers: Some(readers),
        ..Options::default()
    };
    block_on(Database::open(":memory:", options)).unwrap()
}

/// Rows are recorded once somebody has asked for commits.
fn record_rows(db: &Database) {
    drop(db.engine().listen_to_commits(None));
}

/// What was counted until all threads of the database had ended.
fn closed(db: Database) -> Counters {
    block_on(db.close()).unwrap();
    profile::snapshot()
}

type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + 'a>>;

/// Queues what a future asks for.
fn ask<'a, T>(future: impl Future<Output = Result<T>> + 'a) -> Asked<'a, T> {
    let mut future: Asked<'a, T> = Box::pin(future);
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    future
}

// G182
#[test]
fn a_write_is_one_request_one_run_one_commit_and_one_answer() {
    let _alone = from_zero();
    let db = open(1);
    record_rows(&db);
    block_on(db.exec("CREATE TABLE t(a, b)")).unwrap();
    for n in 0..5_i64 {
        block_on(db.execute("INSERT INTO t VALUES (?, 1), (?, 2)", [n.into(), n.into()])).unwrap();
    }
    let counted = closed(db);
    assert_eq!(counted.writer_request_count, 6);
    assert_eq!((counted.writer_begin_count, counted.writer_commit_count), (6, 6));
    assert_eq!(counted.writer_sqlite_count, 6);
    assert_eq!(counted.writer_reply_count, 6);
    assert_eq!((counted.writer_dirty_count, counted.writer_dirty_rows), (6, 10));
    assert_eq!(
        counted.writer_control_count, 0,
        "a write alone needs no savepoint"
    );
}

#[test]
fn a_script_in_a_transaction_has_a_savepoint() {
    let _alone = from_zero();
    let db = open(1);
    block_on(db.transaction(async |tx| tx.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)").await))
        .unwrap();
    assert_eq!(closed(db).writer_control_count, 2);
}

#[test]
fn the_parts_of_a_writes_time_are_less_than_the_whole() {
    let _alone = from_zero();
    let db = open(1);
    block_on(db.transaction(async |tx| tx.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)").await))
        .unwrap();
    let counted = closed(db);
    let parts = [
        counted.writer_begin_us,
        counted.writer_sqlite_us,
        counted.writer_commit_us,
        counted.writer_control_us,
        counted.writer_dirty_us,
        counted.writer_reply_us,
    ];
    assert!(parts.iter().all(|&micros| micros > 0.0), "{counted:?}");
    assert!(
        parts.iter().sum::<f64>() < counted.writer_request_us,
        "{counted:?}"
    );
}

#[test]
fn a_batch_is_one_request_with_a_run_per_set() {
    let _alone = from_zero();
    let db = open(1);
    record_rows(&db);
    block_on(db.exec("CREATE TABLE t(a)")).unwrap();
    let sets: Vec<_> = (0..30_i64).map(|n| vec![n.into()]).collect();
    block_on(db.execute_batch("INSERT INTO t VALUES (?)", &sets)).unwrap();
    let counted = closed(db);
    assert_eq!(counted.writer_request_count, 2);
    assert_eq!(counted.writer_sqlite_count, 1 + 30);
    assert_eq!(counted.writer_dirty_rows, 30);
    assert_eq!(counted.writer_commit_count, 2);
}

#[test]
fn each_step_of_a_transaction_is_a_request() {
    let _alone = from_zero();
    let db = open(1);
    block_on(db.transaction(async |tx| {
        tx.execute("CREATE TABLE t(a)", ()).await?;
        tx.execute("INSERT INTO t VALUES (1)", ()).await
    }))
    .unwrap();
    let counted = closed(db);
    assert_eq!(counted.writer_request_count, 4, "begin, two writes, commit");
    assert_eq!(counted.writer_reply_count, 4);
    assert_eq!((counted.writer_begin_count, counted.writer_commit_count), (1, 1));
}

#[test]
fn the_longest_the_writers_queue_ever_was_is_kept() {
    let _alone = from_zero();
    let db = open(1);
    let transaction = block_on(db.begin(None)).unwrap();
    let waiting: Vec<_> = (0..4).map(|_| ask(db.execute("SELECT 1 WHERE 0", ()))).collect();
    block_on(transaction.commit()).unwrap();
    for waits in waiting {
        block_on(waits).unwrap();
    }
    let counted = closed(db);
    assert_eq!(counted.writer_queue_max, 4);
    assert_eq!(counted.writer_request_count, 2 + 4);
    assert_eq!(counted.writer_begin_count, 2, "those that waited went together");
}

// G182
#[test]
fn rows_and_cells_that_are_handed_over_are_counted() {
    let _alone = from_zero();
    let db = open(1);
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, -i, 'x' FROM n";
    assert_eq!(block_on(db.select(sql, ())).unwrap().len(), 3000);
    block_on(db.exec("CREATE TABLE t(a)")).unwrap();
    block_on(db.execute("INSERT INTO t VALUES (1), (2) RETURNING a", ())).unwrap();
    block_on(db.select_json("SELECT 1", ())).unwrap();
    let counted = closed(db);
    assert_eq!((counted.rows_decoded, counted.cells_decoded), (3002, 9002));
}

/// Stands still at the first slice of a read until it is let go.
struct Hold {
    reached: mpsc::Sender<()>,
    go: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Reply for Hold {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        let _ = self.reached.send(());
        // Ends with an error once the other side is dropped.
        let _ = self.go.lock().unwrap().recv();
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        assert!(outcome.is_ok());
    }
}

/// Occupies a reader until what this gives is dropped.
fn hold_reader(db: &Database) -> mpsc::Sender<()> {
    let ((reached, has_reached), (go, may_go)) = (mpsc::channel(), mpsc::channel());
    let sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n";
    let query = Query {
        sql: sql.into(),
        params: Params::default(),
        format: Format::Rows,
        integers: Integers::Auto,
        token: Token::default(),
        limits: None,
    };
    let go_receiver = Arc::new(Mutex::new(may_go));
    let hold = Hold {
        reached,
        go: go_receiver,
    };
    db.engine().select(query, Box::new(hold));
    has_reached.recv().unwrap();
    go
}

#[test]
fn reads_that_find_no_free_reader_are_parked() {
    let _alone = from_zero();
    let db = open(1);
    let held = hold_reader(&db);
    let waiting: Vec<_> = (0..5).map(|_| ask(db.select("SELECT 1", ()))).collect();
    let counted = profile::snapshot();
    assert_eq!(counted.dispatcher_parked_total, 5);
    assert_eq!(counted.dispatcher_max_parked_concurrent, 5);
    assert_eq!(counted.reader_queue_max, 5);
    drop(held);
    for waits in waiting {
        block_on(waits).unwrap();
    }
    let counted = closed(db);
    assert_eq!(counted.dispatcher_parked_total, 5);
}

#[test]
fn reads_that_find_a_free_reader_are_not_parked() {
    let _alone = from_zero();
    let db = open(3);
    let held = hold_reader(&db);
    // Not more than there are left: each may be still on its way back from its last read.
    for _ in 0..2 {
        block_on(db.select("SELECT 1", ())).unwrap();
    }
    drop(held);
    let counted = closed(db);
    assert_eq!(counted.dispatcher_parked_total, 0);
    assert_eq!(counted.dispatcher_max_parked_concurrent, 0);
    assert_eq!(counted.reader_queue_max, 1);
}

// G182
#[test]
fn a_commit_is_looked_up_once_for_all_live_queries() {
    let _alone = from_zero();
    let db = open(2);
    block_on(db.exec("CREATE TABLE t(a, b); CREATE TABLE u(a)")).unwrap();
    let without_streams = profile::snapshot();
    let mut streams = [
        db.stream("SELECT a FROM t", ()),
        db.stream("SELECT a, b FROM t", ()),
    ];
    for stream in &mut streams {
        block_on(stream.next()).unwrap().unwrap();
    }
    // Until then they may not be registered yet.
    let (quiet, is_quiet) = mpsc::channel();
    db.engine().when_quiet(Box::new(move || quiet.send(()).unwrap()));
    is_quiet.recv().unwrap();
    block_on(db.execute("INSERT INTO u VALUES (1)", ())).unwrap();
    block_on(db.execute("INSERT INTO t VALUES (1, 2)", ())).unwrap();
    for stream in &mut streams {
        assert_eq!(block_on(stream.next()).unwrap().unwrap().rows().len(), 1);
    }
    drop(streams);
    let counted = closed(db);
    assert_eq!(without_streams.invalidate_count, 0, "nobody watches");
    assert_eq!(counted.intersection_count, 2);
    assert_eq!(counted.invalidate_count, 2);
    assert_eq!(
        counted.intersection_entries, 4,
        "two groups of streams, and their members"
    );
    assert!(counted.intersection_us > 0.0 && counted.intersection_us < counted.invalidate_us);
    assert_eq!(
        (counted.rows_decoded, counted.cells_decoded),
        (2, 3),
        "only rows that are new"
    );
    assert!(counted.rerun_queue_max >= 1);
}

#[test]
fn since_takes_the_difference_and_keeps_the_highest_values() {
    let _alone = from_zero();
    let db = open(1);
    let held = hold_reader(&db);
    let early = [ask(db.select("SELECT 1", ())), ask(db.select("SELECT 2", ()))];
    let before = profile::snapshot();
    let late = ask(db.select("SELECT 3", ()));
    let counted = profile::snapshot().since(&before);
    assert_eq!(counted.dispatcher_parked_total, 1);
    assert_eq!(counted.dispatcher_max_parked_concurrent, 3);
    drop(held);
    for waits in early.into_iter().chain([late]) {
        block_on(waits).unwrap();
    }
    closed(db);
}

#[test]
fn after_a_reset_everything_is_zero_and_differences_are_not_negative() {
    let _alone = from_zero();
    let db = open(1);
    block_on(db.exec("CREATE TABLE t(a)")).unwrap();
    let before = closed(db);
    assert!(before.writer_request_count > 0);
    profile::reset();
    let after = profile::snapshot();
    assert_eq!(after, Counters::default());
    assert_eq!(after.since(&before), Counters::default());
}

#[test]
fn all_counters_can_be_had_by_name() {
    let _alone = from_zero();
    let db = open(1);
    let failed = block_on(db.execute("INSERT INTO missing VALUES (1)", ()));
    assert!(matches!(failed, Err(Error::Sqlite(_))));
    let counted = closed(db);
    let named = |name: &str| counted.iter().find(|(other, _)| *other == name).unwrap().1;
    assert_eq!(named("writer_request_count"), 1.0);
    assert_eq!(named("writer_request_us"), counted.writer_request_us);
    assert_eq!(named("writer_queue_max"), 1.0);
}
