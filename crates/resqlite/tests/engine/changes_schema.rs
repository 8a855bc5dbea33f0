//! What the commit log says about definitions, and about tables outside `main`.

use resqlite::live::Rows;

use crate::support::{Fixture, images, later, record, table};

fn schema_change(sql: &str) {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT a FROM t;
         CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END; INSERT INTO t VALUES (1, 2)",
    );
    let seen = record(&fixture.db, &[images("t", &[0])], || fixture.exec(sql));
    assert!(seen.commit().schema_changed(), "{sql}: {:?}", seen.commit());
    assert!(seen.commit().table(&table("t")).is_some(), "{sql}");
}

// G99
#[test]
fn every_kind_of_ddl_changes_the_schema() {
    for sql in [
        "CREATE TABLE u(a)",
        "CREATE TABLE u AS SELECT * FROM t",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN c",
        "ALTER TABLE t RENAME COLUMN a TO z",
        "ALTER TABLE t RENAME TO u",
        "CREATE INDEX j ON t(b)",
        "DROP INDEX i",
        "CREATE VIEW w AS SELECT b FROM t",
        "DROP VIEW v",
        "DROP TRIGGER r",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE TEMP TABLE u(a)",
        "CREATE TEMP VIEW t AS SELECT 1",
        "ANALYZE",
        "ANALYZE t",
        "REINDEX",
        "REINDEX i",
    ] {
        schema_change(sql);
    }
}

#[test]
fn dropping_a_column_changes_the_schema() {
    let fixture = Fixture::new("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("ALTER TABLE t DROP COLUMN b"))
    });
    assert!(seen.commit().schema_changed());
}

// G99
#[test]
fn vacuum_may_have_changed_everything() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let seen = record(&fixture.db, &[images("t", &[0])], || drop(fixture.run("VACUUM")));
    assert!(seen.commits().iter().any(|commit| commit.everything_changed()));
}

#[test]
fn rows_written_after_a_table_was_defined_anew_have_its_new_columns() {
    let fixture = Fixture::new("CREATE TABLE t(a, k PRIMARY KEY)");
    fixture.run("INSERT INTO t VALUES (0, 1)");
    fixture.exec("DROP TABLE t; CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("INSERT INTO t VALUES (7)"))
    });
    assert_eq!(seen.rows("t"), ["insert 7"]);
}

#[test]
fn definitions_and_rows_of_one_script_are_one_commit_that_touches_everything() {
    let fixture = Fixture::new("");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.exec(
            "CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b; UPDATE t SET b = 1",
        );
    });
    assert!(seen.commit().schema_changed());
    assert_eq!(seen.commit().table(&table("t")).unwrap().rows, Rows::Any);
}

// G97
#[test]
fn a_temporary_table_is_known_by_its_schema() {
    let fixture = Fixture::new("CREATE TABLE t(a); CREATE TEMP TABLE t(a)");
    let seen = record(&fixture.db, &[images("temp.t", &[0]), images("t", &[0])], || {
        drop(fixture.run("INSERT INTO t VALUES (1)"))
    });
    assert_eq!(seen.rows("temp.t"), ["insert 1"]);
    assert!(seen.commit().table(&table("t")).is_none());
}

// G97
#[test]
fn an_attached_table_is_known_by_its_schema() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("CREATE TABLE other.t(a)");
    let seen = record(&fixture.db, &[images("other.t", &[0]), images("t", &[0])], || {
        fixture.run("INSERT INTO other.t VALUES (1)");
    });
    assert_eq!(seen.rows("other.t"), ["insert 1"]);
    assert!(seen.commit().table(&table("t")).is_none());
}

#[test]
fn an_attached_table_without_rowid_is_decoded_like_any_other() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("CREATE TABLE other.t(b, k PRIMARY KEY) WITHOUT ROWID; INSERT INTO other.t VALUES (1, 2)");
    let seen = record(&fixture.db, &[images("other.t", &[0, 1])], || {
        fixture.run("UPDATE other.t SET b = 3");
    });
    assert_eq!(seen.rows("other.t"), ["update 1 2 to 3 2"]);
    assert_eq!(seen.columns("other.t"), [0]);
}

#[test]
fn analyze_and_reindex_may_have_changed_the_order_of_rows() {
    for sql in ["ANALYZE", "REINDEX"] {
        let fixture = Fixture::new("CREATE TABLE t(a); CREATE INDEX i ON t(a); INSERT INTO t VALUES (1)");
        let before = fixture.db.engine().last_commit();
        assert_eq!(fixture.run(sql).commit, later(before, 1), "{sql}");
    }
}
