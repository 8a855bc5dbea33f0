//! Entries of odd schemas and statements: a copy that applies them holds the same.

use resqlite::{Options, Value};

use crate::support::{Fixture, block_on};

/// Everything that the main database holds, as text.
fn content(of: &Fixture) -> Vec<String> {
    let shown = |sql: &str| -> Vec<String> {
        let rows = of.select(sql);
        rows.iter()
            .map(|row| format!("{sql}: {:?}", row.values()))
            .collect()
    };
    let mut all = shown("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2");
    all.extend(shown("PRAGMA user_version"));
    let tables =
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')
        AND name <> 'sqlite_schema'";
    for row in of.select(tables).iter() {
        let [Value::Text(name), Value::Integer(without_rowid)] = row.values() else {
            panic!("{row:?}")
        };
        let table = format!("main.\"{}\"", name.replace('"', "\"\""));
        let order = if *without_rowid == 0 { "ORDER BY oid" } else { "" };
        all.extend(shown(&format!("SELECT * FROM {table} {order}")));
        if *without_rowid == 0 {
            // Apart, since a table may have as many columns as a result can have.
            let rowids = format!("SELECT oid FROM {table} ORDER BY oid");
            all.push(format!("{rowids}: {:?}", of.integers(&rowids)));
        }
    }
    all
}

/// Runs the statements, each in a transaction of its own, and applies what they did to a copy after each.
fn assert_carried_with(options: &Options, schema: &str, statements: &[&str]) {
    let original = Fixture::with(schema, options.clone());
    let copy = Fixture::with(schema, options.clone());
    let feed = original.entries();
    let mut entries = 0;
    for sql in statements {
        // A statement may fail, and do something all the same (OR FAIL).
        let done = block_on(original.db.exec(sql));
        for entry in feed.all() {
            entries += 1;
            let applied = block_on(copy.db.apply(entry.clone()));
            assert!(applied.is_ok(), "{sql}: {applied:?}\n{entry:?}");
        }
        if entries > 0 {
            assert_eq!(content(&copy), content(&original), "{sql}: {done:?}");
        }
    }
    assert!(entries > 0, "{schema}");
    assert_eq!(
        copy.integers("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"),
        [0]
    );
}

fn assert_carried(schema: &str, statements: &[&str]) {
    assert_carried_with(&Options::default(), schema, statements);
}

// G300
#[test]
fn keys_of_several_columns_that_descend_and_ignore_case() {
    assert_carried(
        "CREATE TABLE w(a TEXT COLLATE NOCASE, b, c, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
         CREATE INDEX w_c ON w(c DESC, a) WHERE c > 0",
        &[
            "INSERT INTO w VALUES ('x', 1, 1), ('y', 1, 2), ('x', 2.5, -1), ('', x'', NULL)",
            "UPDATE w SET a = upper(a)",
            "UPDATE w SET b = -b, c = c + 1 WHERE b = 1",
            "REPLACE INTO w VALUES ('X', -1, 9), ('Z', 0, 0)",
            "UPDATE OR REPLACE w SET a = 'q', b = 7",
            "DELETE FROM w",
        ],
    );
}

// G300
#[test]
fn columns_that_are_computed() {
    assert_carried(
        "CREATE TABLE g(a, v AS (a * 2), s AS (a || '!') STORED UNIQUE, b DEFAULT (random()), v2 AS (v + 1));
         CREATE INDEX g_v ON g(v2, v); INSERT INTO g(a, b) VALUES (1, 1)",
        &[
            "INSERT INTO g(a) VALUES (2), ('x'), (NULL), (x'ff')",
            "UPDATE g SET a = a + 1 WHERE typeof(a) = 'integer'",
            "REPLACE INTO g(a) VALUES (3)",
            "ALTER TABLE g ADD COLUMN w AS (b + 1)",
            "UPDATE g SET b = 5",
            "ALTER TABLE g DROP COLUMN w; DELETE FROM g WHERE v > 4",
        ],
    );
}

// G300
#[test]
fn triggers_that_write_elsewhere_and_views_that_are_written_to() {
    assert_carried(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, n UNIQUE); CREATE TABLE b(n, t); CREATE TABLE c(n PRIMARY KEY) WITHOUT ROWID;
         CREATE VIEW v AS SELECT id, n FROM a;
         CREATE TRIGGER one BEFORE INSERT ON a BEGIN INSERT INTO b VALUES (new.n, random()); END;
         CREATE TRIGGER two AFTER UPDATE ON a WHEN new.n > 3 BEGIN REPLACE INTO c VALUES (old.n); DELETE FROM b WHERE n = old.n; END;
         CREATE TRIGGER three AFTER DELETE ON b BEGIN INSERT OR IGNORE INTO c VALUES (old.n * 10); END;
         CREATE TRIGGER four INSTEAD OF INSERT ON v BEGIN INSERT INTO a VALUES (new.id, new.n); END",
        &[
            "INSERT INTO v VALUES (1, 1), (2, 2), (3, 3)",
            "UPDATE a SET n = n + 3 RETURNING id, n",
            "INSERT INTO a VALUES (1, 9) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING *",
            "REPLACE INTO a VALUES (7, 5)",
            "INSERT INTO b SELECT n, t FROM b; DELETE FROM b",
            "DROP TRIGGER three; DELETE FROM a",
        ],
    );
}

// G300
#[test]
fn conflict_clauses_of_statements_and_tables() {
    assert_carried(
        "CREATE TABLE r(a UNIQUE ON CONFLICT REPLACE, b NOT NULL ON CONFLICT IGNORE, c UNIQUE ON CONFLICT FAIL);
         CREATE TABLE p(id INTEGER PRIMARY KEY ON CONFLICT ROLLBACK, u UNIQUE, CHECK (u <> 13))",
        &[
            "INSERT INTO r VALUES (1, 1, 1), (1, 2, 2), (2, NULL, 3), (3, 3, 4)",
            "INSERT INTO r VALUES (5, 5, 5), (6, 6, 4), (7, 7, 7)",
            "INSERT OR FAIL INTO p VALUES (1, 1), (2, 2), (3, 1), (4, 4)",
            "INSERT OR IGNORE INTO p VALUES (5, 1), (6, 6), (7, 13)",
            "UPDATE OR REPLACE p SET u = 6 WHERE id = 1",
            "UPDATE OR IGNORE p SET u = id",
            "INSERT INTO p VALUES (1, 1)",
            "UPDATE p SET id = -id",
        ],
    );
}

// G300
#[test]
fn tables_that_change_between_their_rows() {
    assert_carried(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 'old'), (2, 'older')",
        &[
            "ALTER TABLE t ADD COLUMN c DEFAULT 'd'; UPDATE t SET b = 1 WHERE a = 1; ALTER TABLE t RENAME b TO \"the b\"",
            "UPDATE t SET c = \"the b\"; ALTER TABLE t RENAME TO \"it's \"\"t\"\"\"; INSERT INTO \"it's \"\"t\"\"\" VALUES (3, 3, 3)",
            "ALTER TABLE \"it's \"\"t\"\"\" DROP COLUMN \"the b\"; DELETE FROM \"it's \"\"t\"\"\" WHERE a = 2",
            "/* made */ CREATE TABLE s(n INT, t TEXT, x ANY) STRICT; -- done",
            "INSERT INTO s VALUES (1, 2, 3.5), (NULL, NULL, x'00')",
            "CREATE TABLE made AS SELECT * FROM s; CREATE UNIQUE INDEX made_n ON made(abs(n), t) WHERE n IS NOT NULL",
            "DROP TABLE s; CREATE TABLE s(other); INSERT INTO s VALUES (1)",
            "PRAGMA user_version = 7",
            "REINDEX; ANALYZE",
            "DROP INDEX made_n; UPDATE made SET n = 5",
        ],
    );
}

// G300
#[test]
fn savepoints_in_savepoints() {
    let schema = "CREATE TABLE t(a UNIQUE); CREATE VIRTUAL TABLE f USING fts5(w); CREATE VIRTUAL TABLE r USING rtree(id, x, y)";
    let (original, copy) = (Fixture::new(schema), Fixture::new(schema));
    let feed = original.entries();
    let transaction = block_on(original.db.begin(None)).unwrap();
    let run = |sql: &str| block_on(transaction.execute(sql, ())).is_ok();
    for level in 1..=3 {
        block_on(transaction.savepoint(level)).unwrap();
        assert!(run("SAVEPOINT a"));
        assert!(run(&format!("INSERT INTO t VALUES ({level})")));
        assert!(run(&format!("INSERT INTO f VALUES ('word{level}')")));
        assert!(run("SAVEPOINT A") && run(&format!("INSERT INTO r VALUES ({level}, 1, 2)")));
        assert!(run("CREATE TABLE IF NOT EXISTS made(b)") && run("INSERT INTO made VALUES (1)"));
        assert!(run("ROLLBACK TO a") && !run("INSERT INTO t VALUES (9), (1)"));
        assert!(run("INSERT INTO r VALUES (NULL, 3, 4)") && run("RELEASE a"));
    }
    assert!(run("ROLLBACK TO a"));
    assert!(run("INSERT INTO t VALUES ('last')"));
    block_on(transaction.release(3)).unwrap();
    block_on(transaction.rollback_to(2)).unwrap();
    assert!(run("INSERT INTO f VALUES ('end')"));
    block_on(transaction.commit()).unwrap();
    copy.follow(&feed);
    assert_eq!(content(&copy), content(&original));
    copy.run("INSERT INTO f(f) VALUES ('integrity-check')");
}

// G300
#[test]
fn values_at_the_borders_of_their_types() {
    assert_carried(
        "CREATE TABLE b(id INTEGER PRIMARY KEY, v); CREATE TABLE k(v PRIMARY KEY) WITHOUT ROWID; CREATE TABLE rowid(rowid, v)",
        &[
            "INSERT INTO b VALUES (-9223372036854775808, -9223372036854775808), (9223372036854775807, 9223372036854775807)",
            "INSERT INTO b(v) VALUES (0.0), (-0.0), (1e308), (9e999), (-9e999), (4.9e-324), ('')",
            "INSERT INTO b(v) VALUES (x''), (zeroblob(100000)), (char(0) || 'a'), (CAST(x'ff00fe' AS TEXT)), ('ä€😀')",
            "UPDATE b SET v = v + 0.5 WHERE typeof(v) = 'real'; UPDATE b SET v = -v WHERE v = 0",
            "INSERT INTO k SELECT DISTINCT v FROM b WHERE v IS NOT NULL; UPDATE k SET v = v || 'x' WHERE typeof(v) = 'text'",
            "INSERT INTO rowid VALUES ('not the rowid', 1), (NULL, 2); UPDATE rowid SET rowid = v",
            "UPDATE b SET id = -1 - id WHERE id < 0; DELETE FROM b WHERE id = 9223372036854775807",
        ],
    );
}

// G300
#[test]
fn tables_of_two_thousand_columns() {
    let columns: Vec<_> = (0..2000).map(|column| format!("c{column}")).collect();
    let schema = format!("CREATE TABLE wide({})", columns.join(", "));
    let update: Vec<_> = (0..2000)
        .step_by(3)
        .map(|column| format!("c{column} = {column}"))
        .collect();
    assert_carried(
        &schema,
        &[
            "INSERT INTO wide(c0, c999, c1999) VALUES (1, 2, 3)",
            &format!("UPDATE wide SET {}", update.join(", ")),
            "DELETE FROM wide WHERE c1998 = 1998",
        ],
    );
}

// G300
#[test]
fn rows_that_refer_to_others() {
    assert_carried(
        "CREATE TABLE p(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO p VALUES (1, 1), (2, 2), (3, 3);
         CREATE TABLE c(a, b, n DEFAULT 0, FOREIGN KEY (a, b) REFERENCES p ON DELETE SET NULL ON UPDATE CASCADE);
         CREATE TABLE self(id INTEGER PRIMARY KEY AUTOINCREMENT, up REFERENCES self ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
         INSERT INTO c(a, b) VALUES (1, 1), (2, 2), (3, 3)",
        &[
            "UPDATE p SET a = a + 10",
            "DELETE FROM p WHERE b = 2; DROP TABLE p",
            "INSERT INTO self VALUES (5, 6), (6, 7), (7, NULL)",
            "DELETE FROM self WHERE id = 7",
            "INSERT INTO self DEFAULT VALUES",
        ],
    );
}

#[test]
fn tables_that_are_called_like_those_of_resqlite() {
    assert_carried(
        "CREATE TABLE _resqlite_change(a); CREATE TABLE \"_resqlite\"(b); CREATE TABLE x_resqlite_feeds(c)",
        &[
            "INSERT INTO _resqlite_change VALUES (1); INSERT INTO \"_resqlite\" VALUES (2); INSERT INTO x_resqlite_feeds VALUES (3)",
        ],
    );
    let taken = Fixture::new("CREATE TABLE _resqlite_changes(mine)");
    taken.run("INSERT INTO _resqlite_changes VALUES (1)");
    let error = block_on(taken.db.feed(resqlite::feeds::FeedOptions::named("one")))
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "table _resqlite_changes already exists");
    taken.run("INSERT INTO _resqlite_changes VALUES (2)");
}

// G300
#[test]
fn text_in_another_encoding() {
    let options = Options {
        pragmas: vec![("encoding".into(), "UTF16le".into())],
        ..Options::default()
    };
    assert_carried_with(
        &options,
        "CREATE TABLE t(a PRIMARY KEY, b)",
        &[
            "INSERT INTO t VALUES ('ä€😀', 'x'), ('', char(0))",
            "UPDATE t SET b = a, a = b",
            "DELETE FROM t WHERE a = 'x'",
        ],
    );
}
