//! Whole databases, to be damaged: the bytes of the file and of its write-ahead log.

use std::{fs, path::Path};

use crate::key::connect;

/// A database as it lies on disk.
#[derive(Clone)]
pub struct Specimen {
    pub file: Vec<u8>,
    pub log: Vec<u8>,
}

/// What is in them. Text is long enough for overflow pages.
const SCHEMAS: [&str; 4] = [
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b);
     CREATE INDEX by_a ON t(a);
     CREATE INDEX some ON t(b) WHERE b > 3;
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
         INSERT INTO t SELECT i, printf('%0*d', i * 7, i), i % 9 FROM n;
     INSERT INTO t VALUES (1000, zeroblob(5000), 1);
     DELETE FROM t WHERE id % 4 = 0",
    "CREATE TABLE t(id TEXT PRIMARY KEY, a, b) WITHOUT ROWID;
     CREATE UNIQUE INDEX by_ab ON t(a, b);
     CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a;
     CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET b = b + 1 WHERE id = NEW.a; END;
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
         INSERT INTO t SELECT 'key ' || i, i % 7, i FROM n",
    "CREATE VIRTUAL TABLE t USING fts5(a, b);
     CREATE VIRTUAL TABLE old USING fts4(a, b);
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
         INSERT INTO t SELECT 'red ' || i, 'blue fish ' || (i % 5) FROM n;
     INSERT INTO old SELECT a, b FROM t",
    "CREATE VIRTUAL TABLE t USING rtree(id, a, b, +note);
     CREATE TABLE s(x INT, y TEXT) STRICT;
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
         INSERT INTO t SELECT i, i, i + 2, 'note ' || i FROM n;
     INSERT INTO s SELECT id, note FROM t",
];
const LAST: &str = "UPDATE t SET b = a; INSERT INTO t(a, b) VALUES (7, 8)";

/// One of each kind.
pub fn all(folder: &Path) -> Vec<Specimen> {
    let kinds = SCHEMAS.iter().enumerate();
    kinds
        .map(|(at, schema)| make(&folder.join(format!("{at}.db")), schema))
        .collect()
}

/// With frames in its log.
fn make(path: &Path, schema: &str) -> Specimen {
    let text = path.to_str().expect("a path in UTF-8");
    let connection = connect(text).expect("a database");
    connection
        .execute_script(&format!(
            "PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; {schema}; \
             PRAGMA wal_checkpoint(TRUNCATE)"
        ))
        .expect("the schema is right");
    // Some of these are refused for the keys; they leave frames behind all the same.
    let _ = connection.execute_script(LAST);
    connection
        .execute_script("CREATE TABLE late(x); INSERT INTO late VALUES (1), (2)")
        .expect("a table more");
    let read = |suffix: &str| fs::read(format!("{text}{suffix}")).expect("the file is there");
    Specimen {
        file: read(""),
        log: read("-wal"),
    }
}
