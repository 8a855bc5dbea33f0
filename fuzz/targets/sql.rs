//! Any SQL on a schema with something of everything: run, described, and analysed for a live query.
#![no_main]

use std::{sync::LazyLock, time::Duration};

use libfuzzer_sys::fuzz_target;
use pollster::block_on;
use resqlite::{Database, Error, Options, QueryLimits};

const SCHEMA: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b REAL, c AS (a || b));
    CREATE TABLE w(k TEXT, n INT, PRIMARY KEY (k, n)) WITHOUT ROWID;
    CREATE INDEX i ON t(b) WHERE a > 1;
    CREATE VIEW v AS SELECT t.a, w.n FROM t LEFT JOIN w ON w.k = t.a;
    CREATE VIEW u(x) AS SELECT a FROM v UNION ALL SELECT k FROM w;
    CREATE VIRTUAL TABLE f USING fts5(a);
    CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
    INSERT INTO t(a, b) VALUES ('a', 1), ('b', 2);
    INSERT INTO w VALUES ('a', 1);
    INSERT INTO f VALUES ('word');";

static DATABASE: LazyLock<Database> = LazyLock::new(|| {
    let options = Options {
        readers: Some(1),
        ..Options::default()
    };
    let db = block_on(Database::open(":memory:", options)).expect("memory");
    block_on(db.exec(SCHEMA)).expect("a schema");
    db
});

fuzz_target!(|sql: &str| {
    let limits = QueryLimits {
        time: Some(Duration::from_millis(50)),
        bytes: Some(1 << 20),
        ..QueryLimits::default()
    };
    let died = |error: Option<Error>| assert_ne!(error, Some(Error::WorkerDied));
    died(block_on(DATABASE.select_within(limits, sql, ())).err());
    died(block_on(DATABASE.describe(sql)).err());
    died(block_on(DATABASE.explain_stream(sql, ())).err());
});
