//! Files and SQL of strangers: what the schema may use, what SQL may damage, what is bounded.

use std::fs;

use resqlite::{Database, Error, Options, Value};

use crate::support::{Fixture, block_on, open_with, single};

fn untrusted() -> Options {
    Options {
        untrusted: Some(true),
        ..Options::default()
    }
}

fn code(db: &Database, sql: &str) -> String {
    let error = block_on(db.select(sql, ())).expect_err(sql);
    format!("{}: {error}", error.code())
}

// S5
#[test]
fn the_schema_may_use_what_can_do_harm_only_where_it_is_trusted() {
    let schema = "CREATE VIEW v AS SELECT name FROM pragma_table_info('t'); CREATE TABLE t(a)";
    let distrusted = Fixture::new(schema);
    let refused = code(&distrusted.db, "SELECT * FROM v");
    assert!(refused.contains("unsafe use of virtual table"), "{refused}");
    assert!(refused.contains("trusted schema"), "{refused}");
    assert_eq!(
        distrusted.select("SELECT * FROM pragma_table_info('t')").len(),
        1,
        "it is the schema that is not trusted"
    );
    let trusted = Fixture::with(
        schema,
        Options {
            trusted_schema: Some(true),
            ..Options::default()
        },
    );
    assert_eq!(trusted.select("SELECT * FROM v").len(), 1);
}

// S5
#[test]
fn what_schemas_use_every_day_needs_no_trust() {
    let fixture = Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT DEFAULT (lower(hex(randomblob(4)))), j TEXT CHECK (json_valid(j)),
            low TEXT AS (lower(a)), at TEXT DEFAULT (datetime('now')));
         CREATE INDEX i ON t(json_extract(j, '$.k')) WHERE a IS NOT NULL;
         CREATE VIRTUAL TABLE f USING fts5(a, content = 't', content_rowid = 'id');
         CREATE VIRTUAL TABLE g USING fts4(a);
         CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
         CREATE TRIGGER added AFTER INSERT ON t BEGIN
            INSERT INTO f(rowid, a) VALUES (new.id, new.a);
            INSERT INTO g(a) VALUES (new.a);
            INSERT INTO r VALUES (new.id, 1, 2);
         END;
         CREATE VIEW keys AS SELECT t.id, e.key FROM t, json_each(t.j) AS e;
         CREATE VIEW found AS SELECT highlight(f, 0, '<', '>') AS h, bm25(f) AS b, snippet(f, 0, '', '', '', 3) AS s
            FROM f WHERE f MATCH 'word' ORDER BY rank;
         CREATE VIEW found4 AS SELECT snippet(g) AS s, offsets(g), matchinfo(g), matchinfo(g, 'x') FROM g
            WHERE g MATCH 'word';",
    );
    fixture.run("INSERT INTO t(a, j) VALUES ('Word', '{\"k\": 1}')");
    for sql in [
        "SELECT * FROM keys",
        "SELECT * FROM found",
        "SELECT * FROM found4",
        "SELECT * FROM r WHERE x0 < 2",
    ] {
        assert_eq!(fixture.select(sql).len(), 1, "{sql}");
    }
}

// S6
#[test]
fn a_defensive_database_keeps_its_shadow_tables_and_its_schema() {
    let schema = "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('word')";
    let by_hand = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE x(y)'";
    let defensive = Fixture::new(schema);
    let shadow = "DELETE FROM f_data";
    assert_eq!(
        defensive.fails(shadow).to_string(),
        "table f_data may not be modified"
    );
    let refused = block_on(defensive.db.exec(by_hand)).unwrap_err();
    assert!(refused.to_string().contains("defensive off"), "{refused}");
    defensive.run("INSERT INTO f VALUES ('more')");
    defensive.run("INSERT INTO f(f) VALUES ('optimize')");
    defensive.run("VACUUM");
    assert_eq!(
        defensive.select("SELECT * FROM f('more')").len(),
        1,
        "full text works"
    );
    let open = Fixture::with(
        schema,
        Options {
            defensive: Some(false),
            ..Options::default()
        },
    );
    open.run(shadow);
    open.exec("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql; PRAGMA schema_version = 99");
    assert_eq!(open.integers("PRAGMA schema_version"), [99]);
    let after = open.fails("UPDATE sqlite_schema SET sql = sql");
    assert_eq!(after.to_string(), "table sqlite_master may not be modified");
}

// S12
#[test]
fn an_untrusted_database_bounds_what_sql_may_ask() {
    let fixture = Fixture::with("CREATE TABLE t(a)", untrusted());
    let deep = format!("SELECT {}1{}", "(1+".repeat(60), ")".repeat(60));
    let unions = vec!["SELECT 1"; 30].join(" UNION ALL ");
    let long = format!("SELECT '{}'", "x".repeat(100_001));
    let arguments = format!("SELECT max({})", vec!["1"; 60].join(","));
    let pattern = format!("SELECT 'a' LIKE '{}'", "%a".repeat(30));
    for (sql, said) in [
        ("SELECT zeroblob(20000000)", "SQLITE_TOOBIG"),
        ("SELECT randomblob(20000000)", "SQLITE_TOOBIG"),
        ("SELECT printf('%20000000d', 1)", "SQLITE_TOOBIG"),
        (
            "SELECT replace(printf('%9000000d', 1), ' ', 'xxxx')",
            "SQLITE_TOOBIG",
        ),
        (
            "SELECT group_concat(zeroblob(9000000)) FROM (VALUES (1), (2))",
            "SQLITE_TOOBIG",
        ),
        (&long, "SQLITE_TOOBIG"),
        (&deep, "Expression tree is too large"),
        (&unions, "too many terms in compound SELECT"),
        (&arguments, "too many arguments"),
        (&pattern, "LIKE or GLOB pattern too complex"),
    ] {
        let told = code(&fixture.db, sql);
        assert!(told.contains(said), "{sql:.60}: {told}");
    }
    assert_eq!(fixture.integers("SELECT 1"), [1], "and nothing else is harmed");
}

// S12
#[test]
fn the_bounds_hold_for_writers_snapshots_and_live_queries() {
    let fixture = Fixture::with("CREATE TABLE t(a)", untrusted());
    let bomb = "SELECT length(zeroblob(20000000) || '')";
    let said = |error: Error| assert_eq!(error.code(), "SQLITE_TOOBIG", "{error}");
    said(fixture.fails("INSERT INTO t SELECT zeroblob(20000000) || ''"));
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    said(block_on(snapshot.select(bomb, ())).unwrap_err());
    said(block_on(fixture.db.stream(bomb, ()).next()).unwrap().unwrap_err());
}

// S13
#[test]
fn an_untrusted_database_attaches_nothing_and_can_be_vacuumed() {
    let fixture = Fixture::with("CREATE TABLE t(a)", untrusted());
    let into = format!("VACUUM INTO '{}'", fixture.file("copy.db"));
    for sql in [
        "ATTACH 'other.db' AS o",
        "ATTACH '' AS o",
        "ATTACH 'a' || 'b' AS o",
        &into,
    ] {
        let error = fixture.fails(sql);
        assert!(
            ["RESQLITE_STATEMENT", "SQLITE_ERROR"].contains(&error.code()),
            "{sql}: {error}"
        );
    }
    assert!(!fs::exists(fixture.file("copy.db")).unwrap());
    let mut parameter = block_on(fixture.db.execute("ATTACH ? AS o", ["other.db".into()]));
    assert_eq!(parameter.as_mut().unwrap_err().code(), "RESQLITE_STATEMENT");
    fixture.run("VACUUM");
}

// S11
#[test]
fn an_untrusted_database_checks_cells_and_maps_no_memory() {
    let fixture = Fixture::with("CREATE TABLE t(a)", untrusted());
    assert_eq!(fixture.integers("PRAGMA cell_size_check"), [1]);
    assert_eq!(fixture.integers("PRAGMA mmap_size"), [0]);
    let told = |sql| single(&fixture.run(sql).rows);
    assert_eq!(told("PRAGMA cell_size_check"), Value::Integer(1));
}

// S10
#[test]
fn a_damaged_file_is_found_when_it_is_opened_as_untrusted() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(9000)), (1), (2)");
    fixture.run("PRAGMA wal_checkpoint(TRUNCATE)");
    let Fixture { db, folder } = fixture;
    block_on(db.close()).unwrap();
    let path = folder.path().join("test.db");
    let mut bytes = fs::read(&path).unwrap();
    // The page of t: its count of cells.
    bytes[4096 + 3..4096 + 5].copy_from_slice(&[0x7f, 0xff]);
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    for read_only in [false, true] {
        let error = open_with(
            path,
            Options {
                read_only,
                ..untrusted()
            },
        )
        .err()
        .unwrap();
        assert_eq!(error.code(), "SQLITE_CORRUPT", "{error}");
        assert!(error.to_string().contains("the file is damaged"), "{error}");
    }
    assert!(
        open_with(path, Options::default()).is_ok(),
        "it is looked through for strangers only"
    );
}

// S14
#[test]
fn options_that_take_back_what_untrusted_stands_for_are_refused() {
    for (options, name) in [
        (
            Options {
                trusted_schema: Some(true),
                ..untrusted()
            },
            "trusted schema",
        ),
        (
            Options {
                defensive: Some(false),
                ..untrusted()
            },
            "defensive",
        ),
        (
            Options {
                pragmas: vec![("MMAP_size".into(), "1000".into())],
                ..untrusted()
            },
            "MMAP_size",
        ),
    ] {
        let error = open_with(":memory:", options).err().unwrap();
        assert_eq!(error.code(), "RESQLITE_OPTION");
        assert!(error.to_string().contains(name), "{error}");
    }
    let fixture = Fixture::new("");
    let error = open_with(fixture.path().to_str().unwrap(), untrusted())
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("untrusted"),
        "it is open already: {error}"
    );
}

// S4
#[test]
fn nothing_loads_code_or_reads_files() {
    let fixture = Fixture::new("");
    for (sql, said) in [
        ("SELECT load_extension('x')", "not authorized"),
        ("SELECT readfile('/etc/passwd')", "no such function: readfile"),
        ("SELECT writefile('x', 'y')", "no such function: writefile"),
        ("SELECT edit('x')", "no such function: edit"),
        ("SELECT fts3_tokenizer('x', x'00')", "fts3tokenize disabled"),
    ] {
        let told = code(&fixture.db, sql);
        assert!(told.contains(said), "{sql}: {told}");
    }
}
