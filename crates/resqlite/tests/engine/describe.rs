//! What a statement is can be asked without running it.

use resqlite::{Description, Options};

use crate::support::{Fixture, block_on, open_with, readers};

fn fixture() -> Fixture {
    Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name VARCHAR(20)); CREATE VIEW v AS SELECT name AS n FROM t",
    )
}

fn describe(fixture: &Fixture, sql: &str) -> Description {
    block_on(fixture.db.describe(sql)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Each column as `name type database.table.column`.
fn columns(description: &Description) -> Vec<String> {
    let text = |part: &Option<String>| part.clone().unwrap_or("-".into());
    let line = |column: &resqlite::Column| {
        let origin = [&column.database, &column.table, &column.column]
            .map(text)
            .join(".");
        format!("{} {} {origin}", column.name, text(&column.declared_type))
    };
    description.columns.iter().map(line).collect()
}

#[test]
fn columns_have_their_declared_types_and_origins() {
    let described = describe(
        &fixture(),
        "SELECT id, n AS other, count(*), v.n || '' AS text FROM v, t",
    );
    assert_eq!(
        columns(&described),
        [
            "id INTEGER main.t.id",
            "other VARCHAR(20) main.t.name",
            "count(*) - -.-.-",
            "text - -.-.-"
        ]
    );
    assert!(described.read_only);
}

#[test]
fn columns_of_returning_are_told_too() {
    let described = describe(&fixture(), "INSERT INTO t(name) VALUES (?) RETURNING id, name");
    assert_eq!(columns(&described).len(), 2);
    assert!(!described.read_only);
    assert_eq!(
        columns(&describe(&fixture(), "INSERT INTO t(name) VALUES (?)")),
        [""; 0]
    );
}

// G213
#[test]
fn parameters_are_counted_and_named() {
    let described = describe(&fixture(), "SELECT ?, :a, @b, $c, :a, ?8");
    let names: Vec<_> = described.parameters.iter().map(Option::as_deref).collect();
    assert_eq!(
        names,
        [
            None,
            Some(":a"),
            Some("@b"),
            Some("$c"),
            None,
            None,
            None,
            Some("?8")
        ]
    );
    assert!(describe(&fixture(), "SELECT 1").parameters.is_empty());
}

// G213
#[test]
fn whether_it_only_reads_is_what_select_takes() {
    let fixture = fixture();
    for sql in [
        "SELECT 1",
        "VALUES (1)",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "EXPLAIN DELETE FROM t",
        "PRAGMA user_version",
        "PRAGMA table_info(t)",
        "INSERT INTO t(name) VALUES ('a')",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "CREATE TABLE u(a)",
        "PRAGMA user_version = 7",
        "PRAGMA wal_checkpoint",
        "ATTACH ':memory:' AS x",
        "VACUUM",
        "BEGIN",
        "SAVEPOINT a",
    ] {
        let taken = block_on(fixture.db.select(sql, ()));
        assert_eq!(describe(&fixture, sql).read_only, taken.is_ok(), "{sql}");
    }
}

// G213
#[test]
fn nothing_is_run() {
    let fixture = fixture();
    for sql in [
        "INSERT INTO t(name) VALUES ('a')",
        "CREATE TABLE u(a)",
        "PRAGMA user_version = 7",
        "DROP TABLE t",
        "ATTACH ':memory:' AS x",
        "BEGIN",
    ] {
        describe(&fixture, sql);
    }
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [0]);
    assert_eq!(fixture.integers("PRAGMA user_version"), [0]);
    assert_eq!(fixture.integers("SELECT count(*) FROM pragma_database_list"), [1]);
    fixture.run("INSERT INTO t(name) VALUES ('a')");
}

/// SQLite would set them while it prepares the statement.
// G213
#[test]
fn a_pragma_that_takes_effect_at_once_is_refused() {
    let fixture = fixture();
    let tx = block_on(fixture.db.begin(None)).unwrap();
    for sql in [
        "PRAGMA defer_foreign_keys = ON",
        "PRAGMA cache_size = 3",
        "PRAGMA case_sensitive_like = 1",
    ] {
        for described in [block_on(fixture.db.describe(sql)), block_on(tx.describe(sql))] {
            assert_eq!(described.unwrap_err().code(), "RESQLITE_READ_ONLY", "{sql}");
        }
    }
    let deferred = block_on(tx.select("PRAGMA defer_foreign_keys", ())).unwrap();
    assert_eq!(crate::support::integers(&deferred), [0]);
}

#[test]
fn errors_are_those_of_the_other_calls() {
    let fixture = fixture();
    for (sql, code) in [
        ("", "RESQLITE_STATEMENT"),
        ("SELECT 1; SELECT 2", "RESQLITE_STATEMENT"),
        ("PRAGMA no_such", "RESQLITE_STATEMENT"),
        ("SELECT * FROM missing", "SQLITE_ERROR"),
        ("SELECT 1\0", "RESQLITE_STATEMENT"),
    ] {
        assert_eq!(
            block_on(fixture.db.describe(sql)).unwrap_err().code(),
            code,
            "{sql}"
        );
    }
}

#[test]
fn a_session_sees_the_schema_as_it_is_there() {
    let fixture = fixture();
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("CREATE TABLE mine(a REAL)", ()).await?;
        let described = tx.describe("SELECT a FROM mine WHERE a > ?").await?;
        assert_eq!(columns(&described), ["a REAL main.mine.a"]);
        assert_eq!(described.parameters, [None]);
        Ok(())
    }))
    .unwrap();
    assert!(block_on(snapshot.describe("SELECT * FROM mine")).is_err());
    assert_eq!(
        block_on(snapshot.describe("SELECT id FROM t"))
            .unwrap()
            .columns
            .len(),
        1
    );
}

#[test]
fn a_database_that_is_open_for_reading_only_describes_writes() {
    let fixture = fixture();
    let options = Options {
        read_only: true,
        ..Options::default()
    };
    let db = open_with(fixture.path().to_str().unwrap(), options).unwrap();
    assert!(!block_on(db.describe("DELETE FROM t")).unwrap().read_only);
}

#[test]
fn a_statement_is_described_by_the_schema_of_now_also_where_nothing_has_run_since_it_changed() {
    let fixture = Fixture::with("CREATE TABLE t(a TEXT)", readers(1));
    fixture.select("SELECT a FROM t");
    fixture.exec("DROP TABLE t; CREATE TABLE t(a REAL)");
    assert_eq!(
        columns(&describe(&fixture, "SELECT a FROM t")),
        ["a REAL main.t.a"]
    );
}
