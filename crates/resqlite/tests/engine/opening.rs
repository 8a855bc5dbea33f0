//! Opening, sharing and closing; options.

use std::{fs, path::Path};

use resqlite::{BackupOptions, Durability, Error, Options};

use crate::support::{Fixture, ask, block_on, hold_reader, integers, open, open_with};

fn refused(path: &str, options: Options) -> Error {
    open_with(path, options).err().expect("it cannot be opened")
}

/// The error names the file and gives this reason.
fn says(error: &Error, path: &str, reason: &str) {
    let text = error.to_string();
    assert!(
        text.contains(Path::new(path).file_name().unwrap().to_str().unwrap()),
        "{text}"
    );
    assert!(text.contains(reason), "{text}");
}

fn read_only() -> Options {
    Options {
        read_only: true,
        ..Options::default()
    }
}

// G237
#[test]
fn a_backup_is_not_opened_beside_the_log_of_the_file_whose_place_it_takes() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let (copy, log) = (fixture.file("copy.db"), fixture.file("copy.db-wal"));
    block_on(fixture.db.backup(&copy, BackupOptions::default())).unwrap();
    fixture.run("INSERT INTO t VALUES (1)");
    fs::copy(format!("{}-wal", fixture.path().display()), &log).unwrap();
    for options in [Options::default(), read_only()] {
        says(
            &refused(&copy, options),
            "copy.db",
            "delete the -wal and -shm files",
        );
    }
    fs::remove_file(&log).unwrap();
    let db = open(&copy).unwrap();
    assert!(integers(&block_on(db.select("SELECT a FROM t", ())).unwrap()).is_empty());
}

// G3
#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere/test.db");
    let error = refused(path.to_str().unwrap(), Options::default());
    assert_eq!(error.code(), "RESQLITE_OPEN");
    says(&error, "test.db", "nowhere");
}

// G3
#[test]
fn a_folder_is_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    says(&refused(path, Options::default()), path, "it is a folder");
}

// G3
#[cfg(unix)]
#[test]
fn a_device_is_no_database() {
    for read_only in [false, true] {
        let options = Options {
            read_only,
            ..Options::default()
        };
        says(&refused("/dev/null", options), "/dev/null", "no file");
    }
}

#[test]
fn an_empty_path_is_refused() {
    assert!(refused("", Options::default()).to_string().contains("empty"));
}

// G3
#[test]
fn a_file_that_is_no_database_is_refused_for_writing_and_for_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    fs::write(&path, "Dear database, ".repeat(100)).unwrap();
    for options in [Options::default(), read_only()] {
        let error = refused(path.to_str().unwrap(), options);
        assert_eq!(error.code(), "SQLITE_NOTADB");
        says(&error, "letter.txt", "not a SQLite database");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "Dear database, ".repeat(100));
}

// G7
#[test]
fn a_read_only_file_that_is_missing_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    says(
        &refused(path.to_str().unwrap(), read_only()),
        "none.db",
        "does not exist",
    );
    assert!(!path.exists());
}

#[test]
fn a_path_with_a_nul_character_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}/a\0b.db", folder.path().to_str().unwrap());
    assert!(open(&path).is_err());
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        // The superuser may write anywhere.
        return;
    }
    let path = locked.join("test.db");
    let error = refused(path.to_str().unwrap(), Options::default());
    says(&error, "test.db", "its folder takes no new one");
}

/// A database whose log was copied into it, in a folder where its side file of this name cannot be made, not even by the
/// superuser.
fn without_side_file(suffix: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let name = if cfg!(windows) {
        "50% off#.db"
    } else {
        "50% off?#.db"
    };
    let path = folder.path().join(name).to_str().unwrap().to_owned();
    let db = open(&path).unwrap();
    block_on(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (7)")).unwrap();
    block_on(db.close()).unwrap();
    fs::create_dir(format!("{path}{suffix}")).unwrap();
    (folder, path)
}

fn immutable() -> Options {
    Options {
        immutable: true,
        ..read_only()
    }
}

// G13
#[test]
fn a_database_whose_log_cannot_be_made_says_so_and_what_to_do() {
    let (_folder, path) = without_side_file("-wal");
    for options in [Options::default(), read_only()] {
        let error = refused(&path, options);
        assert_eq!(error.code(), "SQLITE_CANTOPEN");
        for part in [
            "the file is there",
            "write-ahead log",
            "permission",
            "backup",
            "immutable",
        ] {
            says(&error, &path, part);
        }
    }
}

// G13
#[test]
fn an_immutable_file_is_read_where_no_log_can_be_made() {
    for suffix in ["-wal", "-shm"] {
        let (_folder, path) = without_side_file(suffix);
        let db = open_with(&path, immutable()).unwrap();
        assert_eq!(
            integers(&block_on(db.select("SELECT a FROM t", ())).unwrap()),
            [7]
        );
        let error = block_on(db.execute("INSERT INTO t VALUES (8)", ())).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_READ_ONLY");
    }
}

// G13
#[test]
fn immutable_is_refused_while_a_log_has_commits() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let copy = fixture.file("copy.db");
    fs::copy(fixture.path(), &copy).unwrap();
    fs::copy(fixture.file("test.db-wal"), format!("{copy}-wal")).unwrap();
    says(&refused(&copy, immutable()), &copy, "the journal beside it");
    fs::write(format!("{copy}-wal"), "").unwrap();
    open_with(&copy, immutable()).unwrap();
}

// G13
#[test]
fn an_immutable_file_can_be_open_in_no_other_way() {
    let fixture = Fixture::new("");
    let path = fixture.file("test.db");
    says(&refused(&path, immutable()), &path, "immutable");
    block_on(fixture.db.close()).unwrap();
    let first = open_with(&path, immutable()).unwrap();
    let second = open_with(&path, immutable()).unwrap();
    for options in [Options::default(), read_only()] {
        says(&refused(&path, options), &path, "immutable");
    }
    block_on(first.close()).unwrap();
    block_on(second.close()).unwrap();
    open(&path).unwrap();
}

#[test]
fn immutable_needs_read_only() {
    let options = Options {
        immutable: true,
        ..Options::default()
    };
    assert_eq!(refused("any.db", options).code(), "RESQLITE_OPTION");
}

#[test]
fn a_file_with_a_zeroed_header_may_be_damaged() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let path = fixture.file("test.db");
    block_on(fixture.db.close()).unwrap();
    let bytes = fs::read(&path).unwrap();
    for zeroed in [16, 100] {
        let mut damaged = bytes.clone();
        damaged[..zeroed].fill(0);
        fs::write(&path, damaged).unwrap();
        says(&refused(&path, Options::default()), &path, "damaged or encrypted");
    }
}

// G4, S8
#[test]
fn values_that_an_option_cannot_have_are_refused_by_name() {
    let pragma = |name: &str, value: &str| Options {
        pragmas: vec![(name.into(), value.into())],
        ..Options::default()
    };
    for (options, name) in [
        (
            Options {
                readers: Some(0),
                ..Options::default()
            },
            "readers",
        ),
        (
            Options {
                readers: Some(65),
                ..Options::default()
            },
            "readers",
        ),
        (
            Options {
                statement_cache_size: Some(0),
                ..Options::default()
            },
            "statement cache size",
        ),
        (pragma("journal_mode", "delete"), "journal_mode"),
        (pragma("Synchronous", "OFF"), "durability"),
        (pragma("foreign_keys", "0"), "foreign keys"),
        (pragma("busy_timeout", "0"), "busy timeout"),
        (pragma("locking_mode", "exclusive"), "locking_mode"),
        (
            pragma("cache_size; DROP TABLE t", "1"),
            "cache_size; DROP TABLE t",
        ),
        (pragma("cache_size", "1; DROP TABLE t"), "1; DROP TABLE t"),
        (pragma("", "1"), "pragmas"),
        (pragma("cache_size", ""), "cache_size"),
    ] {
        let error = refused(":memory:", options);
        assert_eq!(error.code(), "RESQLITE_OPTION");
        assert!(error.to_string().contains(name), "{error}");
    }
}

// G5
#[test]
fn pragmas_are_set_on_readers_and_on_the_writer() {
    let pragmas = vec![
        ("cache_size".into(), "-123".into()),
        ("temp_store".into(), "memory".into()),
    ];
    let fixture = Fixture::with(
        "",
        Options {
            pragmas,
            ..Options::default()
        },
    );
    assert_eq!(fixture.integers("PRAGMA cache_size"), [-123]);
    assert_eq!(fixture.integers("PRAGMA temp_store"), [2]);
    assert_eq!(
        crate::support::integers(&fixture.run("PRAGMA cache_size").rows),
        [-123]
    );
}

// G2
#[test]
fn foreign_keys_are_enforced_unless_switched_off() {
    let schema = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p)";
    let on = Fixture::new(schema);
    assert_eq!(
        on.fails("INSERT INTO c VALUES (1)").code(),
        "SQLITE_CONSTRAINT_FOREIGNKEY"
    );
    let off = Fixture::with(
        schema,
        Options {
            foreign_keys: Some(false),
            ..Options::default()
        },
    );
    off.run("INSERT INTO c VALUES (1)");
}

// G9
#[test]
fn two_handles_on_one_file_share_one_engine() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let second = open(fixture.path().to_str().unwrap()).unwrap();
    assert!(std::sync::Arc::ptr_eq(fixture.db.engine(), second.engine()));
    assert_eq!(fixture.db.diagnostics().handles, 2);
    block_on(second.close()).unwrap();
    assert_eq!(fixture.db.diagnostics().handles, 1);
    fixture.run("INSERT INTO t VALUES (1)");
}

// G9
#[test]
fn another_way_to_write_the_path_leads_to_the_same_engine() {
    let fixture = Fixture::new("");
    let name = fixture
        .folder
        .path()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let roundabout = fixture.file(&format!("../{name}/./test.db"));
    assert!(std::sync::Arc::ptr_eq(
        fixture.db.engine(),
        open(&roundabout).unwrap().engine()
    ));
}

// G9
#[cfg(unix)]
#[test]
fn a_symbolic_link_leads_to_the_same_engine() {
    let fixture = Fixture::new("");
    let link = fixture.file("link.db");
    std::os::unix::fs::symlink(fixture.path(), &link).unwrap();
    assert!(std::sync::Arc::ptr_eq(
        fixture.db.engine(),
        open(&link).unwrap().engine()
    ));
}

// G12
#[cfg(unix)]
#[test]
fn a_hard_link_to_an_open_file_is_refused_and_names_it() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let link = fixture.file("link.db");
    fs::hard_link(fixture.path(), &link).unwrap();
    for options in [Options::default(), read_only()] {
        let error = refused(&link, options);
        assert_eq!(error.code(), "RESQLITE_OPEN");
        says(&error, "link.db", "test.db\", which is open");
    }
    let Fixture { db, folder: _folder } = fixture;
    drop(db);
    block_on(open(&link).unwrap().select("SELECT a FROM t", ())).unwrap();
}

// G9
#[test]
fn an_engine_that_is_shared_refuses_options_that_contradict_its_own() {
    let fixture = Fixture::with(
        "",
        Options {
            readers: Some(2),
            ..Options::default()
        },
    );
    let path = fixture.path();
    let path = path.to_str().unwrap();
    for (options, name, values) in [
        (
            Options {
                readers: Some(3),
                ..Options::default()
            },
            "readers",
            "2, not with 3",
        ),
        (
            Options {
                foreign_keys: Some(false),
                ..Options::default()
            },
            "foreignKeys",
            "true, not with false",
        ),
        (
            Options {
                busy_timeout: Some(std::time::Duration::ZERO),
                ..Options::default()
            },
            "busyTimeout",
            "5s, not with 0ns",
        ),
        (
            Options {
                statement_cache_size: Some(1),
                ..Options::default()
            },
            "statementCacheSize",
            "128, not with 1",
        ),
        (
            Options {
                pragmas: vec![("cache_size".into(), "1".into())],
                ..Options::default()
            },
            "pragmas",
            "[], not with [(\"cache_size\", \"1\")]",
        ),
    ] {
        let error = refused(path, options);
        assert_eq!(error.code(), "RESQLITE_OPTION");
        let said =
            format!("{name}: \"{path}\" is open in this process already with {values}; they must agree");
        assert_eq!(error.to_string(), said);
    }
    assert_eq!(fixture.db.diagnostics().handles, 1);
    let full = Options {
        readers: Some(2),
        durability: Durability::Full,
        ..Options::default()
    };
    open_with(path, full).unwrap();
}

// G79
#[test]
fn closing_does_all_writes_that_are_queued() {
    let Fixture { db, folder } = Fixture::new("CREATE TABLE t(a)");
    let path = folder.path().join("test.db");
    for _ in 0..500 {
        drop(ask(db.execute("INSERT INTO t VALUES (1)", ())));
    }
    block_on(db.close()).unwrap();
    let again = open(path.to_str().unwrap()).unwrap();
    let rows = block_on(again.select("SELECT count(*) FROM t", ())).unwrap();
    assert_eq!(crate::support::integers(&rows), [500]);
}

#[test]
fn a_transaction_keeps_the_database_open_until_it_ends() {
    let Fixture { db, folder } = Fixture::new("CREATE TABLE t(a)");
    let transaction = block_on(db.begin(None)).unwrap();
    block_on(db.close()).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    block_on(transaction.commit()).unwrap();
    let again = open(folder.path().join("test.db").to_str().unwrap()).unwrap();
    assert_eq!(block_on(again.select("SELECT a FROM t", ())).unwrap().len(), 1);
}

// G1
#[test]
fn a_database_can_be_closed_and_opened_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    for n in 0..20i64 {
        let db = open(path.to_str().unwrap()).unwrap();
        block_on(db.exec("CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)")).unwrap();
        let rows = block_on(db.select("SELECT count(*) FROM t", ())).unwrap();
        assert_eq!(crate::support::integers(&rows), [n + 1]);
        block_on(db.close()).unwrap();
    }
}

#[test]
fn many_threads_that_open_and_close_one_file_always_find_it_usable() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let path = fixture.path();
    let Fixture { db, folder } = fixture;
    block_on(db.close()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let db = open(path.to_str().unwrap()).unwrap();
                    block_on(db.execute("INSERT INTO t VALUES (1)", ())).unwrap();
                    block_on(db.close()).unwrap();
                }
            });
        }
    });
    let db = open(path.to_str().unwrap()).unwrap();
    assert_eq!(
        crate::support::integers(&block_on(db.select("SELECT count(*) FROM t", ())).unwrap()),
        [100]
    );
    drop((db, folder));
}

// G7
#[test]
fn a_read_only_handle_reads_and_refuses_every_write() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let reading = open_with(fixture.path().to_str().unwrap(), read_only()).unwrap();
    assert_eq!(block_on(reading.select("SELECT a FROM t", ())).unwrap().len(), 1);
    let codes = [
        block_on(reading.execute("INSERT INTO t VALUES (2)", ()))
            .unwrap_err()
            .code(),
        block_on(reading.execute_batch("INSERT INTO t VALUES (?)", &[vec![2.into()]]))
            .unwrap_err()
            .code(),
        block_on(reading.exec("DELETE FROM t")).unwrap_err().code(),
        block_on(reading.begin(None)).err().unwrap().code(),
    ];
    assert_eq!(codes, ["RESQLITE_READ_ONLY"; 4]);
    assert!(reading.diagnostics().read_only);
}

// G7
#[test]
fn a_read_only_handle_sees_what_others_write() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let reading = open_with(fixture.path().to_str().unwrap(), read_only()).unwrap();
    for n in 1..5 {
        fixture.run("INSERT INTO t VALUES (1)");
        assert_eq!(block_on(reading.select("SELECT a FROM t", ())).unwrap().len(), n);
    }
}

// G8
#[test]
fn a_database_in_memory_is_read_by_several_readers_at_once() {
    let db = open_with(
        ":memory:",
        Options {
            readers: Some(3),
            ..Options::default()
        },
    )
    .unwrap();
    block_on(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (7)")).unwrap();
    let held = [hold_reader(&db), hold_reader(&db)];
    let rows = block_on(db.select("SELECT a FROM t", ())).unwrap();
    assert_eq!(crate::support::integers(&rows), [7]);
    held.into_iter().for_each(|held| held.release().unwrap());
}

// G8
#[test]
fn every_database_in_memory_is_another_one() {
    let (one, two) = (open(":memory:").unwrap(), open(":memory:").unwrap());
    block_on(one.exec("CREATE TABLE t(a)")).unwrap();
    assert!(block_on(two.select("SELECT * FROM t", ())).is_err());
}

// G8
#[test]
fn a_database_in_memory_has_transactions_snapshots_and_a_commit_log() {
    let db = open(":memory:").unwrap();
    block_on(db.exec("CREATE TABLE t(a)")).unwrap();
    let snapshot = block_on(db.snapshot()).unwrap();
    let before = db.engine().last_commit();
    block_on(db.transaction(async |tx| tx.execute("INSERT INTO t VALUES (1)", ()).await)).unwrap();
    assert_eq!(block_on(snapshot.select("SELECT * FROM t", ())).unwrap().len(), 0);
    assert_eq!(block_on(db.select("SELECT * FROM t", ())).unwrap().len(), 1);
    assert_eq!(db.engine().commits_since(before).unwrap().len(), 1);
}

// G395
#[test]
fn a_name_in_double_quotes_that_nothing_has_is_a_text_only_where_that_is_asked_for() {
    let schema = "CREATE TABLE t(a); INSERT INTO t VALUES ('x')";
    let strict = Fixture::new(schema);
    assert!(block_on(strict.db.select("SELECT * FROM t WHERE a = \"x\"", ())).is_err());
    let lenient = Fixture::with(
        schema,
        Options {
            double_quoted_strings: Some(true),
            ..Options::default()
        },
    );
    assert_eq!(lenient.select("SELECT * FROM t WHERE a = \"x\"").len(), 1);
    lenient.run("CREATE INDEX i ON t(a) WHERE a <> \"y\"");
    lenient.run("INSERT INTO t VALUES (\"a\")");
    assert_eq!(
        lenient.select("SELECT * FROM t WHERE a = \"a\"").len(),
        2,
        "a column goes first"
    );
}
