//! What the commit log says about definitions, and about tables outside `main`.

use resqlite::live::{Detail, Keys};

use crate::support::{Fixture, record, table};

fn schema_change(sql: &str) {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT a FROM t;
         CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END; INSERT INTO t VALUES (1, 2)",
    );
    let seen = record(&fixture.db, Detail::Rows, &["t"], || fixture.exec(sql));
    assert!(seen.commit().schema_changed(), "{sql}: {:?}", seen.commit());
    assert!(seen.commit().touches(&table("t")), "{sql}");
}

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
    ] {
        schema_change(sql);
    }
}

#[test]
fn dropping_a_column_changes_the_schema() {
    let fixture = Fixture::new("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("ALTER TABLE t DROP COLUMN b"))
    });
    assert!(seen.commit().schema_changed());
}

#[test]
fn vacuum_may_have_changed_everything() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || drop(fixture.run("VACUUM")));
    assert!(seen.commits().iter().any(|commit| commit.everything_changed()));
}

#[test]
fn rows_written_after_a_table_was_defined_anew_have_its_new_keys() {
    let fixture = Fixture::new("CREATE TABLE t(k PRIMARY KEY)");
    fixture.run("INSERT INTO t VALUES (1)");
    fixture.exec("DROP TABLE t; CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("INSERT INTO t VALUES (7)"))
    });
    assert_eq!(
        seen.keys("t"),
        [crate::support::key([resqlite::live::Value::Integer(7)])]
    );
}

#[test]
fn definitions_and_rows_of_one_script_are_one_commit_that_touches_everything() {
    let fixture = Fixture::new("");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.exec(
            "CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b; UPDATE t SET b = 1",
        );
    });
    assert!(seen.commit().schema_changed());
    assert_eq!(seen.commit().table(&table("t")).unwrap().keys, Keys::Any);
}

#[test]
fn a_temporary_table_is_known_by_its_schema() {
    let fixture = Fixture::new("CREATE TABLE t(a); CREATE TEMP TABLE t(a)");
    let seen = record(&fixture.db, Detail::Rows, &["temp.t", "t"], || {
        drop(fixture.run("INSERT INTO t VALUES (1)"))
    });
    assert_eq!(seen.rowids("temp.t"), [1]);
    assert!(!seen.commit().touches(&table("t")));
}

#[test]
fn an_attached_table_is_known_by_its_schema() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("CREATE TABLE other.t(a)");
    let seen = record(&fixture.db, Detail::Rows, &["other.t", "t"], || {
        fixture.run("INSERT INTO other.t VALUES (1)");
    });
    assert_eq!(seen.rowids("other.t"), [1]);
    assert!(!seen.commit().touches(&table("t")));
}

#[test]
fn a_table_attached_without_rowid_is_keyed_by_its_primary_key() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("CREATE TABLE other.t(b, k PRIMARY KEY) WITHOUT ROWID");
    let seen = record(&fixture.db, Detail::Rows, &["other.t"], || {
        fixture.run("INSERT INTO other.t VALUES (1, 2)");
    });
    assert_eq!(
        seen.keys("other.t"),
        [crate::support::key([resqlite::live::Value::Integer(2)])]
    );
}
