//! Who runs a live query, and on which connection. The writer has time for all re-runs, however slow the machine is.

use std::{
    backtrace::Backtrace,
    sync::{
        Arc,
        atomic::Ordering::SeqCst,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use resqlite_live::Segment;

use super::jobs::Retry;
use crate::{
    Database, Durability, Error, LiveQuery, Options, Rows, Value,
    binding::{ColumnLayout, Handle, Integers, RowBatch},
    connection::location::Location,
    core::{options::Settings, sync::lock},
    live::{Delivery, Emission, Listener, LiveQueryRequest, Maintenance, Subscription},
    reader::ReaderJob,
};

/// Tells the first value of each result, and who came with it.
struct Witness {
    rows: Rows,
    tell: Sender<(String, Value)>,
}

/// The writer runs a live query from its part of the observer, others run it as a job: the stack tells.
fn who_runs_this() -> &'static str {
    let stack = Backtrace::force_capture().to_string();
    if stack.contains("live::observer::") {
        "the writer"
    } else {
        "others"
    }
}

impl Witness {
    fn of(db: &Database, sql: &str) -> (Subscription, Receiver<(String, Value)>) {
        let (tell, hear) = channel();
        let rows = Rows::default();
        let witness = Box::new(Self { rows, tell });
        (db.engine().subscribe(Self::request(sql), witness), hear)
    }

    fn request(sql: &str) -> LiveQueryRequest {
        Self::request_of(&[sql])
    }

    fn request_of(queries: &[&str]) -> LiveQueryRequest {
        LiveQueryRequest {
            queries: queries.iter().map(|&sql| (sql.into(), ().into())).collect(),
            integers: Integers::BigInt,
            verify: 0.0,
            maintenance: Maintenance::default(),
        }
    }
}

impl Listener for Witness {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.rows = Rows::default();
        self.rows.extend(layout, &batch.to_bytes());
        true
    }

    fn patch(&mut self, _part: usize, _shape: &Arc<ColumnLayout>, _segments: &[Segment]) {}

    fn emit(&mut self, _emission: Emission) -> Delivery {
        let value = self.rows.iter().next().map(|row| row.values()[0].clone());
        let _ = self
            .tell
            .send((who_runs_this().to_owned(), value.unwrap_or(Value::Null)));
        Delivery::Taken
    }

    fn discard(&mut self) {
        self.rows = Rows::default();
    }

    fn fail(&mut self, error: &Error, _ended: bool) -> Delivery {
        let _ = self.tell.send((error.to_string(), Value::Null));
        Delivery::Taken
    }
}

/// Counts to the number in `steps`, which takes longer the larger it is.
const COUNTS: &str =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < (SELECT n FROM steps))
                      SELECT count(*) FROM c";

fn open(path: &str) -> Database {
    let options = Options::default();
    let settings = Settings {
        writer_spare: Duration::MAX..=Duration::MAX,
        ..Settings::decide(&options).unwrap()
    };
    let location = Location::find(path, &options).unwrap();
    Database::on(
        Handle::with(location, settings, &options).unwrap(),
        Durability::Normal,
    )
}

async fn steps() -> Database {
    let db = open(":memory:");
    db.exec("CREATE TABLE steps(n INTEGER); INSERT INTO steps VALUES (1)")
        .await
        .unwrap();
    db
}

async fn count_to(db: &Database, n: i64) {
    db.execute("UPDATE steps SET n = ?", vec![n.into()])
        .await
        .unwrap();
}

/// Commits until the writer has run the query itself: each time that is only likely.
async fn until_the_writer_runs_it(db: &Database, told: &Receiver<(String, Value)>) -> bool {
    for n in 2..1000 {
        count_to(db, n % 10 + 2).await;
        let (who, value) = told.recv().unwrap();
        assert_eq!(value, Value::Integer(n % 10 + 2));
        if who == "the writer" {
            return true;
        }
    }
    false
}

// G121
#[test]
fn a_quick_query_is_run_by_the_writer_when_nobody_waits_for_it() {
    pollster::block_on(async {
        let db = steps().await;
        let (_subscription, told) = Witness::of(&db, COUNTS);
        assert_eq!(told.recv().unwrap().1, Value::Integer(1));
        assert!(until_the_writer_runs_it(&db, &told).await);
        db.close().await.unwrap();
    });
}

/// The writer has run the query itself; then there is so much to count that a worker runs it.
async fn comes_to_take_the_writer_too_long(db: &Database, told: &Receiver<(String, Value)>) {
    const MANY: i64 = 1_000_000;
    assert_eq!(told.recv().unwrap().1, Value::Integer(1));
    assert!(until_the_writer_runs_it(db, told).await);
    count_to(db, MANY).await;
    assert_eq!(told.recv().unwrap(), ("others".to_owned(), Value::Integer(MANY)));
}

// G121
#[test]
fn a_query_that_keeps_the_writer_too_long_is_run_by_another_thread() {
    pollster::block_on(async {
        let db = steps().await;
        let (_subscription, told) = Witness::of(&db, COUNTS);
        comes_to_take_the_writer_too_long(&db, &told).await;
        // The interrupted work has left nothing behind on the writer's connection.
        count_to(&db, 3).await;
        assert_eq!(told.recv().unwrap().1, Value::Integer(3));
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn nor_does_a_query_that_the_writer_runs_after_another_which_had_new_rows() {
    pollster::block_on(async {
        let db = steps().await;
        let (_first, _) = Witness::of(&db, "SELECT n FROM steps");
        let (_second, told) = Witness::of(&db, COUNTS);
        comes_to_take_the_writer_too_long(&db, &told).await;
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn a_query_that_has_many_new_rows_does_not_keep_the_writer_either() {
    // Of many, more bytes than are handed over together come at once, and the last row much later.
    let sql = COUNTS.replace(
        "count(*) FROM c",
        "n, zeroblob(60000) FROM steps, c WHERE x = 1 OR x BETWEEN 20 AND 25 OR x % 100000 = 0",
    );
    pollster::block_on(async {
        let db = steps().await;
        let (_subscription, told) = Witness::of(&db, &sql);
        comes_to_take_the_writer_too_long(&db, &told).await;
        db.close().await.unwrap();
    });
}

fn wait_until_caught_up(subscription: &Subscription) {
    let (tell, is_caught_up) = channel();
    subscription.when_caught_up(Box::new(move || tell.send(()).unwrap()));
    is_caught_up.recv().unwrap();
}

// G105
#[test]
fn a_query_has_caught_up_when_its_listener_has_what_was_committed_before() {
    pollster::block_on(async {
        let db = steps().await;
        let (subscription, told) = Witness::of(&db, COUNTS);
        wait_until_caught_up(&subscription);
        assert_eq!(told.try_recv().unwrap().1, Value::Integer(1));
        for n in (1..=100).map(|n| n * 100) {
            count_to(&db, n).await;
            wait_until_caught_up(&subscription);
            assert_eq!(told.try_recv().unwrap().1, Value::Integer(n));
        }
        db.close().await.unwrap();
    });
}

// G105
#[test]
fn a_query_catches_up_with_a_commit_that_does_not_affect_it() {
    pollster::block_on(async {
        let db = steps().await;
        db.exec("CREATE TABLE other(n)").await.unwrap();
        let (subscription, told) = Witness::of(&db, COUNTS);
        wait_until_caught_up(&subscription);
        told.try_recv().unwrap();
        for _ in 0..100 {
            db.execute("INSERT INTO other VALUES (1)", ()).await.unwrap();
            wait_until_caught_up(&subscription);
        }
        assert!(told.try_recv().is_err());
        assert_eq!(subscription.caught_up_with(), Some(1));
        db.close().await.unwrap();
    });
}

// G105
#[test]
fn a_query_that_ends_keeps_nobody_waiting_for_it_to_catch_up() {
    pollster::block_on(async {
        let db = steps().await;
        let (subscription, told) = Witness::of(&db, COUNTS);
        told.recv().unwrap();
        // It does not come to an end.
        count_to(&db, 1_000_000_000_000).await;
        let (tell, is_over) = channel();
        subscription.when_caught_up(Box::new(move || tell.send(()).unwrap()));
        assert_eq!(subscription.caught_up_with(), None);
        assert!(is_over.try_recv().is_err());
        drop(subscription);
        is_over.recv().unwrap();
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn groups_that_must_be_read_again_do_not_keep_the_writer() {
    let sql = "SELECT g, min(a) FROM big GROUP BY g";
    pollster::block_on(async {
        let db = open(":memory:");
        db.exec(
            "CREATE TABLE big(id INTEGER PRIMARY KEY, g, a);
             INSERT INTO big SELECT value, value % 100, value FROM generate_series(1, 50000)",
        )
        .await
        .unwrap();
        let (_subscription, told) = Witness::of(&db, sql);
        assert_eq!(told.recv().unwrap().1, Value::Integer(0));
        // It is maintained, and quick.
        let mut lower = 0;
        until_the_writer_tells(&told, &Value::Integer(1), || {
            lower -= 1;
            execute(&db, &format!("UPDATE big SET a = {lower} WHERE id = 1"));
        });
        // The least value leaves, and no index finds the next.
        execute(&db, "DELETE FROM big WHERE id = 1");
        let (who, group) = told.recv().unwrap();
        assert_eq!((who.as_str(), group), ("others", Value::Integer(1)));
        db.close().await.unwrap();
    });
}

#[test]
fn a_retry_does_not_wait_for_a_run_of_its_query() {
    pollster::block_on(async {
        let db = steps().await;
        let (subscription, told) = Witness::of(&db, COUNTS);
        told.recv().unwrap();
        until_quiet(&db);
        let live_query = &subscription.live_query;
        live_query.is_failing.store(true, SeqCst);
        live_query.retry_planned.store(true, SeqCst);
        let running = lock(&live_query.state);
        let retry = Retry {
            coordinator: Arc::clone(&subscription.coordinator),
            live_query: Arc::downgrade(live_query),
        };
        Arc::new(retry).fail(Error::WorkerDied);
        assert!(!live_query.retry_planned.load(SeqCst));
        drop(running);
        until_quiet(&db);
        assert_eq!(subscription.stats().reruns, 1);
        drop(subscription);
        db.close().await.unwrap();
    });
}

fn until_quiet(db: &Database) {
    let (tell, quiet) = channel();
    db.engine().when_quiet(Box::new(move || tell.send(()).unwrap()));
    quiet.recv().unwrap();
}

// G105
#[test]
fn an_audit_that_the_writer_gives_up_stays_an_audit() {
    pollster::block_on(async {
        let db = steps().await;
        db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (0)")
            .await
            .unwrap();
        let (tell, told) = channel();
        let rows = Rows::default();
        let request = LiveQueryRequest {
            verify: 1.0,
            ..Witness::request(COUNTS)
        };
        let subscription = db.engine().subscribe(request, Box::new(Witness { rows, tell }));
        told.recv().unwrap();
        // A commit that comes before the query is registered may make it run twice.
        until_quiet(&db);
        // It takes longer than the writer may.
        count_to(&db, 100_000).await;
        told.recv().unwrap();
        until_quiet(&db);
        for audits in 1..=10 {
            db.execute("UPDATE t SET a = a + 1", ()).await.unwrap();
            until_quiet(&db);
            let stats = subscription.stats();
            assert_eq!((stats.audits, stats.reruns), (audits, 1));
        }
        drop(subscription);
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn the_writer_runs_no_live_query_of_several_statements() {
    pollster::block_on(async {
        let db = steps().await;
        let (tell, told) = channel();
        let rows = Rows::default();
        let _subscription = db.engine().subscribe(
            Witness::request_of(&["SELECT n FROM steps", COUNTS]),
            Box::new(Witness { rows, tell }),
        );
        told.recv().unwrap();
        assert!(!until_the_writer_runs_it(&db, &told).await);
        db.close().await.unwrap();
    });
}

/// A change of a row that the live query shows, and its value.
async fn change(db: &Database, live: &mut LiveQuery) -> u64 {
    db.execute("UPDATE t SET a = a + 1 WHERE id = 1", ())
        .await
        .unwrap();
    live.next().await.unwrap().unwrap();
    db.diagnostics().streams.sums.maintained
}

#[test]
fn a_kept_result_does_not_look_at_commits_that_do_not_affect_it() {
    pollster::block_on(async {
        let db = open(":memory:");
        db.exec(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER);
             INSERT INTO t SELECT value, 0, 0 FROM generate_series(1, 70000)",
        )
        .await
        .unwrap();
        let mut live = db.stream("SELECT id, a FROM t WHERE id <= 100 ORDER BY id", ());
        live.next().await.unwrap().unwrap();
        while change(&db, &mut live).await == 0 {}
        let before = change(&db, &mut live).await;
        // More rows than a commit tells one by one, in a column that the query does not read.
        db.execute("UPDATE t SET b = 1", ()).await.unwrap();
        assert_eq!(change(&db, &mut live).await, before + 1);
        drop(live);
        db.close().await.unwrap();
    });
}

/// Commits until the writer has run the query itself, and checks each value.
fn until_the_writer_tells(told: &Receiver<(String, Value)>, value: &Value, mut commit: impl FnMut()) {
    for _ in 0..1000 {
        commit();
        let (who, now) = told.recv().unwrap();
        assert_eq!(now, *value);
        if who == "the writer" {
            return;
        }
    }
    panic!("the writer never ran it");
}

fn execute(db: &Database, sql: &str) {
    pollster::block_on(db.execute(sql, ())).unwrap();
}

fn file_in(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// A table `t` with the rows 1 and -1.
async fn two_rows(path: &str) -> Database {
    let db = open(path);
    db.exec("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1), (-1)")
        .await
        .unwrap();
    db
}

/// Changes every row, but not how many there are.
const ANOTHER: &str = "UPDATE main.t SET a = -a";

// G121
#[test]
fn a_query_that_the_writer_runs_sees_no_temporary_table() {
    for temporary in [
        "CREATE TEMP TABLE t(a)",
        "CREATE TABLE temp.t(a)",
        "CREATE TABLE temp.t AS SELECT 9 AS a",
        "CREATE TABLE temp.u(a); ALTER TABLE temp.u RENAME TO t",
        "CREATE TEMP VIEW t AS SELECT 9 AS a",
        "CREATE VIEW temp.t AS SELECT 9 AS a",
        "CREATE VIRTUAL TABLE temp.t USING rtree(a, x, y)",
    ] {
        pollster::block_on(shows_the_main_table_beside(temporary));
    }
}

async fn shows_the_main_table_beside(temporary: &str) {
    let db = two_rows(":memory:").await;
    let (_subscription, told) = Witness::of(&db, "SELECT count(*), max(a), group_concat(a) FROM t");
    assert_eq!(told.recv().unwrap().1, Value::Integer(2));
    let another = || execute(&db, ANOTHER);
    until_the_writer_tells(&told, &Value::Integer(2), another);
    db.exec(temporary).await.unwrap();
    until_the_writer_tells(&told, &Value::Integer(2), another);
    db.close().await.unwrap();
}

// G121
#[test]
fn a_query_that_the_writer_runs_does_not_tell_what_the_writer_has_done() {
    pollster::block_on(async {
        let db = open(":memory:");
        db.exec("CREATE TABLE t(a INTEGER PRIMARY KEY)").await.unwrap();
        let sql = "SELECT last_insert_rowid(), changes(), (SELECT max(a) FROM t)";
        let (_subscription, told) = Witness::of(&db, sql);
        let insert = || execute(&db, "INSERT INTO t DEFAULT VALUES");
        assert_eq!(told.recv().unwrap().1, Value::Integer(0));
        until_the_writer_tells(&told, &Value::Integer(0), insert);
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn a_query_whose_view_comes_to_tell_what_the_writer_has_done_does_not() {
    pollster::block_on(async {
        let db = open(":memory:");
        db.exec("CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES (5)")
            .await
            .unwrap();
        db.exec("CREATE VIEW v AS SELECT 0 AS m, max(a) FROM t")
            .await
            .unwrap();
        let (_subscription, told) = Witness::of(&db, "SELECT * FROM v");
        let insert = || execute(&db, "INSERT INTO t DEFAULT VALUES");
        assert_eq!(told.recv().unwrap().1, Value::Integer(0));
        until_the_writer_tells(&told, &Value::Integer(0), insert);
        let another = "CREATE VIEW v AS SELECT last_insert_rowid() AS m, min(a), max(a) FROM t";
        db.exec(&format!("DROP VIEW v; {another}; INSERT INTO t DEFAULT VALUES"))
            .await
            .unwrap();
        assert_eq!(told.recv().unwrap().1, Value::Integer(0));
        until_the_writer_tells(&told, &Value::Integer(0), insert);
        db.close().await.unwrap();
    });
}

#[test]
fn what_the_writer_has_read_for_a_query_holds_nothing_up() {
    pollster::block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let db = two_rows(&file_in(&folder, "main.db")).await;
        let (_subscription, told) = Witness::of(&db, "SELECT count(*), group_concat(a) FROM t");
        assert_eq!(told.recv().unwrap().1, Value::Integer(2));
        let another = || execute(&db, ANOTHER);
        until_the_writer_tells(&told, &Value::Integer(2), another);
        db.exec("VACUUM").await.unwrap();
        db.exec(&format!("ATTACH '{}' AS other", file_in(&folder, "other.db")))
            .await
            .unwrap();
        db.exec("DETACH other").await.unwrap();
        db.exec("DROP TABLE t").await.unwrap();
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn a_query_that_the_writer_runs_sees_the_attached_table_that_its_name_has_come_to_mean() {
    pollster::block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let main = file_in(&folder, "main.db");
        let db = open(&main);
        db.exec(&format!(
            "ATTACH '{}' AS other; CREATE TABLE other.t(a INTEGER); INSERT INTO other.t VALUES (7)",
            file_in(&folder, "other.db")
        ))
        .await
        .unwrap();
        let (_subscription, told) = Witness::of(&db, "SELECT a, rowid, (SELECT count(*) FROM t AS u) FROM t");
        assert_eq!(told.recv().unwrap().1, Value::Integer(7));
        let change = |table: &str| execute(&db, &format!("UPDATE {table} SET rowid = rowid + 1"));
        until_the_writer_tells(&told, &Value::Integer(7), || change("other.t"));
        db.exec("CREATE TABLE main.t(a INTEGER); INSERT INTO main.t VALUES (8)")
            .await
            .unwrap();
        while told.recv().unwrap().1 != Value::Integer(8) {}
        until_the_writer_tells(&told, &Value::Integer(8), || change("main.t"));
        db.close().await.unwrap();
    });
}

/// Panics from the second value on.
struct PanicsLater(Witness, bool);

impl Listener for PanicsLater {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.0.rows(layout, batch)
    }

    fn patch(&mut self, _part: usize, _shape: &Arc<ColumnLayout>, _segments: &[Segment]) {
        assert!(!std::mem::replace(&mut self.1, true), "on purpose");
    }

    fn emit(&mut self, emission: Emission) -> Delivery {
        self.0.emit(emission)
    }

    fn discard(&mut self) {
        self.0.discard();
    }

    fn fail(&mut self, error: &Error, ended: bool) -> Delivery {
        self.0.fail(error, ended)
    }
}

// G121
#[test]
fn a_query_that_panics_on_the_writers_connection_is_told_so_and_writes_go_on() {
    pollster::block_on(async {
        let db = two_rows(":memory:").await;
        let (tell, told) = channel();
        let witness = Witness {
            rows: Rows::default(),
            tell,
        };
        let _subscription = db.engine().subscribe(
            Witness::request("SELECT count(*), group_concat(a) FROM t"),
            Box::new(PanicsLater(witness, false)),
        );
        assert_eq!(told.recv().unwrap().1, Value::Integer(2));
        db.execute(ANOTHER, ()).await.unwrap();
        assert_eq!(told.recv().unwrap().0, Error::WorkerDied.to_string());
        db.execute(ANOTHER, ()).await.unwrap();
        assert_eq!(
            db.select("SELECT a FROM t ORDER BY a", ()).await.unwrap().len(),
            2
        );
        db.close().await.unwrap();
    });
}
