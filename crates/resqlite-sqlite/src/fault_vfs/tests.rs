use std::path::PathBuf;

use resqlite_sqlite_sys as ffi;
use tempfile::TempDir;

use super::*;
use crate::{Access, Connection};

struct Fixture {
    tap: Tap,
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        install().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tap = Tap::on(folder.path()).unwrap();
        Self { tap, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.db")
    }

    fn open(&self) -> Result<Connection> {
        Connection::open(self.path().to_str().unwrap(), Access::ReadWriteCreate, None)
    }
}

#[test]
fn calls_are_counted_by_kind() {
    let fixture = Fixture::new();
    fixture
        .open()
        .unwrap()
        .execute_script("CREATE TABLE t(a)")
        .unwrap();
    let calls = fixture.tap.calls();
    for call in [
        Call::Open,
        Call::Read,
        Call::Write,
        Call::Sync,
        Call::Lock,
        Call::Delete,
    ] {
        assert!(calls[&call] > 0, "{calls:?}");
    }
    assert_eq!(fixture.tap.open_files(), 0);
}

#[test]
fn only_the_call_in_the_plan_fails() {
    let fixture = Fixture::new();
    let connection = fixture.open().unwrap();
    let failure = Failure::Refused(ffi::SQLITE_IOERR_FSYNC);
    fixture.tap.inject(Plan::once(Call::Sync, 1, failure));
    let error = connection.execute_script("CREATE TABLE t(a)").unwrap_err();
    assert_eq!(error.name(), "SQLITE_IOERR_FSYNC");
    connection.execute_script("CREATE TABLE t(a)").unwrap();
    assert_eq!(fixture.tap.heal(), 1);
}

#[test]
fn a_file_that_cannot_be_opened_is_not_created_and_no_file_stays_open() {
    let fixture = Fixture::new();
    let plan = Plan {
        what: What::Everything,
        after: 0,
        times: u64::MAX,
    };
    fixture.tap.inject(plan);
    let error = fixture.open().map(drop).unwrap_err();
    assert_eq!(error.name(), "SQLITE_CANTOPEN");
    assert!(!fixture.path().exists());
    assert_eq!(fixture.tap.open_files(), 0);
}

#[test]
fn half_a_write_reaches_the_file() {
    let fixture = Fixture::new();
    let connection = fixture.open().unwrap();
    connection
        .execute_script("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
        .unwrap();
    let log = || fixture.folder.path().join("a.db-wal").metadata().unwrap().len();
    let before = log();
    // Each frame is written in two calls: its header of 24 bytes, its page.
    fixture
        .tap
        .inject(Plan::once(Call::Write, 1, Failure::Half(ffi::SQLITE_FULL)));
    let error = connection.execute_script("INSERT INTO t VALUES (1)").unwrap_err();
    assert_eq!(error.name(), "SQLITE_FULL");
    assert_eq!(log(), before + 24 + 2048);
}

#[test]
fn temporary_files_of_a_connection_fail_too() {
    let fixture = Fixture::new();
    let connection = fixture.open().unwrap();
    let much = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                SELECT count(*) FROM (SELECT printf('%200d', i) AS text FROM n ORDER BY text DESC)";
    connection.execute_script("CREATE TABLE t(a)").unwrap();
    connection.execute_script(much).unwrap();
    let failure = Failure::DISK_FULL;
    fixture.tap.inject(Plan::once(Call::Write, 0, failure));
    let error = connection.execute_script(much).unwrap_err();
    assert_eq!(error.name(), "SQLITE_FULL");
}

#[test]
fn the_record_has_names_bytes_and_syncs() {
    let fixture = Fixture::new();
    fixture.tap.record();
    fixture
        .open()
        .unwrap()
        .execute_script("CREATE TABLE t(a)")
        .unwrap();
    let events = fixture.tap.recorded();
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Create { name, .. } => Some(format!("+{name}")),
            Event::Delete { name } => Some(format!("-{name}")),
            Event::SyncFolder => Some("lasts".to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["+a.db", "+a.db-journal", "lasts", "-a.db-journal"]);
    let file = std::fs::read(fixture.path()).unwrap();
    let mut written = vec![0; file.len()];
    for event in events {
        if let Event::Write {
            file: FileId(1),
            offset,
            data,
        } = event
        {
            written[offset as usize..][..data.len()].copy_from_slice(&data);
        }
    }
    assert!(written == file, "the writes make the file");
}
