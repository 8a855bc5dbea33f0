//! What PRAGMAs do where a database has many connections.

use resqlite::{Options, Value};

use crate::support::{Fixture, block_on, open_with, readers, single};

fn refused(error: resqlite::Error, name: &str, advice: &str) {
    let codes = ["RESQLITE_STATEMENT", "RESQLITE_READ_ONLY"];
    assert!(codes.contains(&error.code()), "{error}");
    let message = error.to_string();
    assert!(message.contains(name) && message.contains(advice), "{message}");
}

fn pragmas(pragmas: &[(&str, &str)]) -> Options {
    let pragmas = pragmas.iter().map(|&(name, value)| (name.into(), value.into()));
    Options {
        pragmas: pragmas.collect(),
        ..Options::default()
    }
}

// G35, S2
#[test]
fn select_refuses_pragmas_that_do_more_than_read() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for (sql, advice) in [
        ("PRAGMA wal_checkpoint", "use execute"),
        ("PRAGMA wal_checkpoint(TRUNCATE)", "use execute"),
        ("PRAGMA optimize", "use execute"),
        ("SELECT * FROM pragma_optimize(1)", "use execute"),
        ("PRAGMA incremental_vacuum", "use execute"),
        ("PRAGMA user_version = 1", "use execute"),
        ("PRAGMA cache_size = 10", "one of its pragmas"),
        ("PRAGMA case_sensitive_like(1)", "one of its pragmas"),
        ("PRAGMA shrink_memory", "pragmas"),
        ("PRAGMA user_versoin", "SQLite knows no PRAGMA"),
    ] {
        let error = block_on(fixture.db.select(sql, ())).expect_err(sql);
        let name = sql.trim_start_matches("SELECT * FROM pragma_");
        let name = name
            .trim_start_matches("PRAGMA ")
            .split(['(', ' '])
            .next()
            .unwrap();
        refused(error, name, advice);
    }
}

// G6
#[test]
fn execute_works_on_the_file() {
    let fixture = Fixture::with("CREATE TABLE t(a); INSERT INTO t VALUES (1)", readers(1));
    fixture.select("SELECT * FROM t");
    for sql in [
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA optimize",
        "PRAGMA incremental_vacuum(1)",
        "PRAGMA user_version = 7",
        "PRAGMA Application_ID = 8",
        "PRAGMA auto_vacuum = 2",
        "PRAGMA integrity_check",
    ] {
        fixture.run(sql);
    }
    assert_eq!(fixture.integers("PRAGMA user_version"), [7]);
    assert_eq!(fixture.integers("PRAGMA application_id"), [8]);
    fixture.run("VACUUM");
    assert_eq!(single(&fixture.run("PRAGMA auto_vacuum").rows), Value::Integer(2));
    let reader = block_on(fixture.db.select("PRAGMA auto_vacuum", ()));
    refused(reader.unwrap_err(), "auto_vacuum", "use execute");
    let checked = single(&fixture.select("PRAGMA integrity_check"));
    assert_eq!(checked, Value::Text("ok".into()));
}

// G6, G46, S7
#[test]
fn what_would_be_set_for_the_writer_alone_is_refused_with_advice() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for (name, advice) in [
        ("case_sensitive_like", "one of its pragmas"),
        ("recursive_triggers", "one of its pragmas"),
        ("cache_size", "one of its pragmas"),
        ("mmap_size", "one of its pragmas"),
        ("threads", "one of its pragmas"),
        ("reverse_unordered_selects", "one of its pragmas"),
        ("foreign_keys", "foreign keys"),
        ("trusted_schema", "trusted schema"),
        ("writable_schema", "defensive"),
        ("schema_version", "defensive"),
        ("journal_mode", "write-ahead log"),
        ("locking_mode", "at the same time"),
        ("synchronous", "durability"),
        ("busy_timeout", "busy timeout"),
        ("wal_autocheckpoint", "checkpoints"),
        ("journal_size_limit", "bounded"),
        ("query_only", "reading only"),
        ("temp_store_directory", "whole process"),
        ("data_store_directory", "whole process"),
        ("hard_heap_limit", "memory"),
        ("page_size", "before the file has content"),
        ("encoding", "before the file has content"),
        ("defer_foreign_keys", "transaction"),
        ("legacy_alter_table", "script given to exec"),
        ("max_page_count", "script given to exec"),
        ("no_such_pragma", "SQLite knows no PRAGMA"),
    ] {
        let sql = format!("PRAGMA {name} = 1");
        refused(fixture.fails(&sql), name, advice);
        refused(block_on(fixture.db.select(&sql, ())).unwrap_err(), name, "");
        let inside = block_on(fixture.db.transaction(async |tx| tx.execute(&sql, ()).await));
        if name != "defer_foreign_keys" {
            refused(inside.unwrap_err(), name, "");
        }
    }
}

// G6, S7
#[test]
fn what_a_script_sets_for_itself_ends_with_it() {
    let fixture = Fixture::with(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p, x CHECK (x > 0))",
        pragmas(&[("legacy_alter_table", "1")]),
    );
    fixture.exec(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA legacy_alter_table = OFF;
         INSERT INTO c VALUES (1, -1);",
    );
    assert_eq!(
        fixture.integers("SELECT x FROM c"),
        [-1],
        "the script had its way"
    );
    assert_eq!(
        fixture.fails("INSERT INTO c VALUES (1, 1)").code(),
        "SQLITE_CONSTRAINT_FOREIGNKEY"
    );
    assert_eq!(
        fixture.fails("INSERT INTO c VALUES (NULL, -1)").code(),
        "SQLITE_CONSTRAINT_CHECK"
    );
    let of_writer = |sql| single(&fixture.run(sql).rows);
    assert_eq!(
        of_writer("PRAGMA legacy_alter_table"),
        Value::Integer(1),
        "as open was told"
    );
    block_on(fixture.db.exec("PRAGMA foreign_keys = OFF; no SQL")).unwrap_err();
    assert_eq!(
        of_writer("PRAGMA foreign_keys"),
        Value::Integer(1),
        "a script that fails ends, too"
    );
}

// G46
#[test]
fn a_limit_of_the_size_that_a_script_sets_for_itself_ends_with_it() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let full = block_on(
        fixture
            .db
            .exec("PRAGMA max_page_count = 10; INSERT INTO t VALUES (zeroblob(100000))"),
    );
    assert_eq!(full.unwrap_err().code(), "SQLITE_FULL");
    fixture.run("INSERT INTO t VALUES (zeroblob(100000))");
}

// G6
#[test]
fn deferred_foreign_keys_end_with_the_transaction() {
    let fixture = Fixture::new("CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p)");
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("PRAGMA defer_foreign_keys = ON", ()).await?;
        tx.execute("INSERT INTO c VALUES (1)", ()).await?;
        tx.execute("INSERT INTO p VALUES (1)", ()).await
    }))
    .unwrap();
    assert_eq!(
        fixture.fails("INSERT INTO c VALUES (2)").code(),
        "SQLITE_CONSTRAINT_FOREIGNKEY"
    );
}

// G5
#[test]
fn all_connections_tell_what_open_was_told() {
    let options = Options {
        foreign_keys: Some(false),
        readers: Some(2),
        ..pragmas(&[("cache_size", "-321"), ("case_sensitive_like", "ON")])
    };
    let fixture = Fixture::with("CREATE TABLE t(a)", options);
    let asked = "SELECT (SELECT cache_size FROM pragma_cache_size) = -321 AND 'a' NOT LIKE 'A'
        AND (SELECT foreign_keys FROM pragma_foreign_keys) = 0";
    let yes = |rows: &resqlite::Rows| assert_eq!(single(rows), Value::Integer(1));
    let held = crate::support::hold_reader(&fixture.db);
    yes(&fixture.select(asked));
    held.release().unwrap();
    yes(&block_on(block_on(fixture.db.snapshot()).unwrap().select(asked, ())).unwrap());
    yes(&fixture.run(asked).rows);
    let mut live = fixture
        .db
        .stream(&format!("SELECT ({asked}), count(*) FROM t"), ());
    for _ in 0..2 {
        let emitted = block_on(live.next()).unwrap().unwrap();
        let row = emitted.rows().iter().next().unwrap().values().to_vec();
        assert_eq!(row[0], Value::Integer(1), "the first run, and one after a commit");
        fixture.run("INSERT INTO t VALUES (1)");
    }
}

// G5
#[test]
fn page_size_and_encoding_are_chosen_whatever_else_is_set() {
    for untrusted in [false, true] {
        let options = Options {
            untrusted: Some(untrusted),
            ..pragmas(&[
                ("auto_vacuum", "2"),
                ("user_version", "5"),
                ("encoding", "UTF-16le"),
                ("page_size", "8192"),
            ])
        };
        let fixture = Fixture::with("CREATE TABLE t(a)", options);
        assert_eq!(fixture.integers("PRAGMA page_size"), [8192]);
        assert_eq!(fixture.integers("PRAGMA user_version"), [5]);
        assert_eq!(
            single(&fixture.select("PRAGMA encoding")),
            Value::Text("UTF-16le".into())
        );
        assert_eq!(single(&fixture.run("PRAGMA auto_vacuum").rows), Value::Integer(2));
    }
}

// G5, S8
#[test]
fn pragmas_that_are_no_settings_are_refused_as_options() {
    for (name, advice) in [
        ("optimize", "not for the life of a database"),
        ("integrity_check", "not for the life of a database"),
        ("defer_foreign_keys", "not for the life of a database"),
        ("writable_schema", "not for the life of a database"),
        ("trusted_schema", "trusted schema"),
        ("hard_heap_limit", "memory"),
        ("cache_syze", "SQLite knows no such PRAGMA"),
    ] {
        let error = open_with(":memory:", pragmas(&[(name, "1")])).err().unwrap();
        assert_eq!(error.code(), "RESQLITE_OPTION");
        assert!(
            error.to_string().contains(name) && error.to_string().contains(advice),
            "{error}"
        );
    }
}

// G38
#[test]
fn an_integrity_check_finds_full_text_sound_that_another_connection_has_written() {
    let fixture = Fixture::with("CREATE VIRTUAL TABLE \"f's\" USING fts5(a)", readers(1));
    for write in [
        "INSERT INTO \"f's\" VALUES ('one')",
        "UPDATE \"f's\" SET a = 'two'",
    ] {
        for check in [
            "PRAGMA integrity_check",
            "PRAGMA quick_check",
            "SELECT * FROM PRAGMA_Integrity_Check",
            "SELECT * FROM pragma_integrity_check",
        ] {
            fixture.exec(write);
            assert_eq!(single(&fixture.select(check)), "ok".into(), "{check}");
        }
    }
}

// G38
#[test]
fn what_reports_on_a_table_finds_one_that_was_created_since() {
    let fixture = Fixture::with(
        "CREATE TABLE a(id INTEGER PRIMARY KEY)",
        Options {
            readers: Some(1),
            ..Options::default()
        },
    );
    let reports = [
        "PRAGMA foreign_key_list(b)",
        "PRAGMA index_list(b)",
        "SELECT * FROM pragma_foreign_key_list('b')",
    ];
    for sql in reports {
        assert_eq!(fixture.select(sql).len(), 0, "{sql}");
    }
    fixture.run("CREATE TABLE b(a REFERENCES a, u UNIQUE)");
    for sql in reports {
        assert_eq!(fixture.select(sql).len(), 1, "{sql}");
    }
}
