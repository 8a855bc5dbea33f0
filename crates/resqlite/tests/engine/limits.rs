//! Limits of queries that users write.

use std::{sync::mpsc, time::Duration};

use resqlite::{
    Durability, Error, QueryLimits, Result,
    binding::{ColumnLayout, Format, Outcome, Query, Reply, RowBatch, Token},
};

use crate::support::{Fixture, block_on, query, readers};

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
const ROWS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, 'some text' FROM n";

fn time(milliseconds: u64) -> QueryLimits {
    QueryLimits {
        time: Some(Duration::from_millis(milliseconds)),
        ..QueryLimits::default()
    }
}

fn steps(steps: u64) -> QueryLimits {
    QueryLimits {
        steps: Some(steps),
        ..QueryLimits::default()
    }
}

fn bytes(bytes: u64) -> QueryLimits {
    QueryLimits {
        bytes: Some(bytes),
        ..QueryLimits::default()
    }
}

fn one_reader() -> Fixture {
    Fixture::with(
        "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)",
        readers(1),
    )
}

fn exceeds(error: Error, name: &str) {
    assert_eq!(error.code(), "RESQLITE_LIMIT", "{error}");
    assert!(
        matches!(error, Error::Limit { limit, .. } if limit == name),
        "{error}"
    );
    assert!(error.to_string().contains(&format!("limits.{name}")), "{error}");
}

// G203, S9
#[test]
fn a_query_that_exceeds_a_limit_ends_with_its_name_and_harms_no_other() {
    let fixture = one_reader();
    for (limits, sql, name) in [
        (time(5), ENDLESS, "time"),
        (time(5), ROWS, "time"),
        (steps(100_000), ENDLESS, "steps"),
        (bytes(1_000_000), ROWS, "bytes"),
        (bytes(10_000), "SELECT zeroblob(20000)", "bytes"),
    ] {
        let error = block_on(fixture.db.select_within(limits, sql, ())).unwrap_err();
        exceeds(error, name);
        assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3], "after {name}");
    }
}

// G203
#[test]
fn rows_that_come_too_late_are_not_given() {
    let fixture = one_reader();
    // One long step, in which nobody looks at the time.
    let slow = "SELECT instr(a, substr(a, 1, 60000) || 'b') FROM (SELECT replace(hex(zeroblob(60000)), '0', 'a') AS a)";
    let limits = QueryLimits {
        time: Some(Duration::from_micros(1)),
        ..QueryLimits::default()
    };
    exceeds(
        block_on(fixture.db.select_within(limits, slow, ())).unwrap_err(),
        "time",
    );
}

#[test]
fn a_query_within_its_limits_gives_all_its_rows() {
    let fixture = one_reader();
    let generous = QueryLimits {
        time: Some(Duration::from_secs(60)),
        steps: Some(1_000_000),
        bytes: Some(1_000),
    };
    for _ in 0..100 {
        let rows = block_on(fixture.db.select_within(generous.clone(), "SELECT a FROM t", ()));
        assert_eq!(rows.unwrap().len(), 3, "what others have cost does not count");
    }
}

// G203, S9
#[test]
fn reads_that_share_a_transaction_have_limits_of_their_own() {
    let fixture = one_reader();
    let held = crate::support::hold_reader(&fixture.db);
    let mut reads = Vec::new();
    for _ in 0..3 {
        let endless = fixture.db.select_within(steps(10_000), ENDLESS, ());
        reads.push((
            crate::support::ask(endless),
            crate::support::ask(fixture.db.select("SELECT a FROM t", ())),
        ));
    }
    held.release().unwrap();
    for (endless, select) in reads {
        exceeds(endless.wait().unwrap_err(), "steps");
        assert_eq!(select.wait().unwrap().len(), 3);
    }
}

/// Hands over how a request ended, and the rows of its last slice.
struct Heard(mpsc::Sender<Result<(usize, bool)>>);

impl Reply for Heard {
    fn rows(&mut self, _: &std::sync::Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let told = outcome.map(|outcome| match outcome {
            Outcome::Rows { last, end, .. } => (last.rows(), end),
            _ => (0, true),
        });
        self.0.send(told).unwrap();
    }
}

fn limited(sql: &str, limits: QueryLimits) -> Query {
    Query {
        limits: Some(Box::new(limits)),
        ..query(sql, Token::default())
    }
}

#[test]
fn json_has_limits() {
    let fixture = one_reader();
    let (tell, hear) = mpsc::channel();
    for (limits, name) in [(bytes(500_000), "bytes"), (steps(50_000), "steps")] {
        let mut json = limited(ROWS, limits);
        json.format = Format::Json;
        fixture.db.engine().select(json, Box::new(Heard(tell.clone())));
        exceeds(hear.recv().unwrap().unwrap_err(), name);
    }
}

// G203, S9
#[test]
fn the_limits_of_a_cursor_hold_for_all_its_batches() {
    let fixture = one_reader();
    for (limits, name) in [
        (bytes(50_000), "bytes"),
        (steps(50_000), "steps"),
        (time(10), "time"),
    ] {
        let (tell, hear) = mpsc::channel();
        let reply = || Box::new(Heard(tell.clone()));
        let cursor = fixture.db.engine().cursor(limited(ROWS, limits), 100, reply());
        let error = loop {
            match hear.recv().unwrap() {
                Ok(batch) => assert_eq!(batch, (100, false)),
                Err(error) => break error,
            }
            cursor.fetch(reply());
        };
        exceeds(error, name);
    }
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3]);
}

// G203, S9
#[test]
fn a_read_that_exceeds_a_limit_leaves_its_transaction_as_it_was() {
    let fixture = one_reader();
    let engine = fixture.db.engine();
    let (tell, hear) = mpsc::channel();
    let reply = || Box::new(Heard(tell.clone()));
    let done = || hear.recv().unwrap();
    let transaction = engine.begin(None, Durability::Normal, reply());
    done().unwrap();
    transaction.write(crate::support::write("INSERT INTO t VALUES (4)", false), reply());
    done().unwrap();
    transaction.select(limited(ENDLESS, steps(10_000)), reply());
    exceeds(done().unwrap_err(), "steps");
    let much = "INSERT INTO t SELECT 5 FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
        SELECT max(i) FROM n)";
    transaction.write(crate::support::write(much, false), reply());
    done().expect("a write after it has no limits");
    transaction.commit(reply());
    done().unwrap();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3, 4, 5]);
}
