//! A file that was written long ago is opened with a connection that reads. That of the writer opens when it is needed.

use std::{fs, path::Path};

use resqlite::Options;

use crate::support::{Fixture, age, block_on, next_integers, open_with};

/// A database with one row that was closed long ago.
fn old(schema: &str) -> Fixture {
    let Fixture { db, folder } = Fixture::new(schema);
    block_on(db.close()).unwrap();
    let path = folder.path().join("test.db");
    let path = path.to_str().unwrap();
    age(path);
    let db = open_with(path, Options::default()).unwrap();
    Fixture { db, folder }
}

fn one_row() -> Fixture {
    old("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
}

/// Descriptors that this process has of the log.
#[cfg(target_os = "linux")]
fn connections(path: &Path) -> usize {
    let log = format!("{}-wal", path.to_str().unwrap());
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter(|name| name.to_string_lossy() == log)
        .count()
}

// G386
#[cfg(target_os = "linux")]
#[test]
fn it_has_one_connection_until_somebody_writes() {
    let fixture = one_row();
    assert_eq!(fixture.db.diagnostics().readers, 1);
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    assert_eq!(connections(&fixture.path()), 1);
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(connections(&fixture.path()), 2);
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2]);
}

// G386
#[test]
fn nothing_is_left_beside_it_when_it_was_only_read() {
    let fixture = one_row();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    let Fixture { db, folder } = fixture;
    block_on(db.close()).unwrap();
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

// G386
#[test]
fn a_log_that_a_program_left_which_was_killed_is_read_and_copied() {
    let fixture = one_row();
    fixture.run("INSERT INTO t VALUES (2)");
    let other = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let to = other.path().join(name);
        fs::copy(fixture.folder.path().join(name), &to).unwrap();
        to.to_str().unwrap().to_owned()
    };
    let (path, log) = (copy("test.db"), copy("test.db-wal"));
    age(&path);
    let db = open_with(&path, Options::default()).unwrap();
    assert_eq!(block_on(db.select("SELECT a FROM t", ())).unwrap().len(), 2);
    block_on(db.close()).unwrap();
    assert!(!Path::new(&log).exists());
}

// G386
#[test]
fn what_others_commit_before_the_writers_connection_opens_is_seen() {
    let fixture = one_row();
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    let stranger = fixture.stranger();
    stranger
        .execute_script("ALTER TABLE t ADD COLUMN b DEFAULT 5; INSERT INTO t VALUES (2, 6)")
        .unwrap();
    fixture.run("INSERT INTO t SELECT 3, max(b) + 1 FROM t");
    assert_eq!(fixture.integers("SELECT b FROM t"), [5, 6, 7]);
}

// G386
#[test]
fn a_live_query_sees_what_others_commit() {
    let fixture = one_row();
    let mut live = fixture.db.stream("SELECT a FROM t", ());
    assert_eq!(next_integers(&mut live), [1]);
    let stranger = fixture.stranger();
    stranger.execute_script("INSERT INTO t VALUES (2)").unwrap();
    assert_eq!(next_integers(&mut live), [1, 2]);
    fixture.run("INSERT INTO t VALUES (3)");
    assert_eq!(next_integers(&mut live), [1, 2, 3]);
}

// G386
#[cfg(unix)]
#[test]
fn a_file_that_took_its_place_before_the_first_write_is_not_written_to() {
    let fixture = one_row();
    let path = fixture.path();
    fs::rename(&path, path.with_extension("old")).unwrap();
    fs::copy(path.with_extension("old"), &path).unwrap();
    let error = block_on(fixture.db.execute("INSERT INTO t VALUES (2)", ())).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_FILES_LOST");
}

// G386
#[test]
fn a_file_that_is_locked_is_refused_after_the_busy_timeout() {
    let Fixture { db, folder } = one_row();
    block_on(db.close()).unwrap();
    let path = folder.path().join("test.db");
    let path = path.to_str().unwrap();
    let stranger = crate::support::connect(path).unwrap();
    stranger
        .execute_script("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
        .unwrap();
    age(path);
    let impatient = Options {
        busy_timeout: Some(std::time::Duration::ZERO),
        ..Options::default()
    };
    let error = open_with(path, impatient).map(drop).unwrap_err();
    assert_eq!(error.code(), "SQLITE_BUSY");
    assert!(error.to_string().contains("test.db"), "{error}");
}
