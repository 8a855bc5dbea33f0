//! Write-ahead logging: snapshots, checkpoints, conflicting writers.
#![allow(unsafe_code)]

use resqlite_sqlite_sys as ffi;

use super::{
    super::*,
    harness::{Connection, beside, is_sound},
};

#[test]
fn wal_mode_can_be_switched_on_and_off() {
    let file = MemoryFile::create();
    let connection = Connection::wal(&file);
    connection.run("CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    assert!(beside(&file, "-wal").unwrap() > 0);
    assert_eq!(connection.texts("PRAGMA journal_mode = DELETE"), ["delete"]);
    assert_eq!(beside(&file, "-wal"), None);
    assert_eq!(connection.number("SELECT x FROM t"), 1);
}

#[test]
fn a_reader_keeps_its_snapshot_while_a_writer_commits() {
    let file = MemoryFile::create();
    let writer = Connection::wal(&file);
    writer.run("CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    let reader = Connection::to(&file);
    reader.run("BEGIN");
    assert_eq!(reader.number("SELECT count(*) FROM t"), 1);
    writer.run("INSERT INTO t VALUES (2)");
    assert_eq!(reader.number("SELECT count(*) FROM t"), 1);
    reader.run("COMMIT");
    assert_eq!(reader.number("SELECT count(*) FROM t"), 2);
}

#[test]
fn readers_and_a_writer_do_not_block_each_other() {
    let file = MemoryFile::create();
    let (writer, reader) = (Connection::wal(&file), Connection::to(&file));
    writer.run("CREATE TABLE t(x); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
    assert_eq!(reader.number("SELECT count(*) FROM t"), 0);
    writer.run("COMMIT");
    assert_eq!(reader.number("SELECT count(*) FROM t"), 1);
}

#[test]
fn a_transaction_on_an_old_snapshot_cannot_write() {
    let file = MemoryFile::create();
    let (a, b) = (Connection::wal(&file), Connection::to(&file));
    a.run("CREATE TABLE t(x)");
    b.run("BEGIN; SELECT * FROM t");
    a.run("INSERT INTO t VALUES (1)");
    assert_eq!(b.query("INSERT INTO t VALUES (2)"), Err(ffi::SQLITE_BUSY));
    // SAFETY: the connection is open.
    let code = unsafe { ffi::sqlite3_extended_errcode(b.0) };
    assert_eq!(code, ffi::SQLITE_BUSY_SNAPSHOT);
}

#[test]
fn a_read_only_connection_reads_but_cannot_write() {
    let file = MemoryFile::create();
    let writer = Connection::wal(&file);
    writer.run("CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    let reader = Connection::open(file.name(), ffi::SQLITE_OPEN_READONLY).unwrap();
    assert_eq!(reader.number("SELECT x FROM t"), 1);
    assert_eq!(
        reader.query("INSERT INTO t VALUES (2)"),
        Err(ffi::SQLITE_READONLY)
    );
    drop(writer);
    drop(reader);
    assert!(
        beside(&file, "-wal").unwrap() > 0,
        "a read-only connection does not checkpoint when it closes"
    );
    assert_eq!(Connection::to(&file).number("SELECT x FROM t"), 1);
}

#[test]
fn a_truncating_checkpoint_empties_the_log() {
    let file = MemoryFile::create();
    let connection = Connection::wal(&file);
    let reader = Connection::to(&file);
    connection.run("CREATE TABLE t(x); INSERT INTO t VALUES (randomblob(100000))");
    assert_eq!(reader.number("SELECT count(*) FROM t"), 1);
    assert!(beside(&file, "-wal").unwrap() > 100_000);
    assert_eq!(connection.texts("PRAGMA wal_checkpoint(TRUNCATE)"), ["0"]);
    assert_eq!(beside(&file, "-wal"), Some(0));
    assert_eq!(reader.number("SELECT length(x) FROM t"), 100_000);
}

#[test]
fn a_truncating_checkpoint_is_busy_while_a_reader_needs_the_log() {
    let file = MemoryFile::create();
    let (writer, reader) = (Connection::to(&file), Connection::to(&file));
    writer.run("PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    reader.run("BEGIN; SELECT * FROM t");
    writer.run("INSERT INTO t VALUES (2)");
    assert_eq!(writer.texts("PRAGMA wal_checkpoint(TRUNCATE)"), ["1"]);
    assert_eq!(reader.number("SELECT count(*) FROM t"), 1);
    reader.run("COMMIT");
    assert_eq!(writer.texts("PRAGMA wal_checkpoint(TRUNCATE)"), ["0"]);
}

#[test]
fn a_log_whose_index_needs_several_regions_is_read_correctly() {
    let file = MemoryFile::create();
    let (writer, reader) = (Connection::wal(&file), Connection::to(&file));
    writer.run("PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
    writer.insert_blob("INSERT INTO t VALUES (1, ?)", &[7; 40_000_000]);
    writer.run("INSERT INTO t VALUES (2, 'end')");
    assert!(file.database.shared().regions.get(2).is_some());
    assert_eq!(reader.texts("SELECT length(x) FROM t"), ["40000000", "3"]);
    assert!(is_sound(&reader));
}
