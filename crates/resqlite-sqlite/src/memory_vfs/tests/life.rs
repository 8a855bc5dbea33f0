//! The lifetime of a database and its memory.

use std::sync::Weak;

use resqlite_sqlite_sys as ffi;

use super::{
    super::*,
    harness::{Connection, READ_WRITE, beside},
};

/// Weak references to the memory of a file: the database with its shared memory, and the contents of its files.
fn memory(file: &MemoryFile) -> (Weak<Database>, Vec<Weak<contents::Contents>>) {
    let log = file.database.beside("-wal").unwrap();
    (
        Arc::downgrade(&file.database),
        vec![Arc::downgrade(&file.database.main()), Arc::downgrade(&log)],
    )
}

#[test]
fn a_database_outlives_its_connections_while_its_memory_file_lives() {
    let file = MemoryFile::create();
    Connection::wal(&file).run("CREATE TABLE t(x); INSERT INTO t VALUES (5)");
    assert_eq!(
        beside(&file, "-wal"),
        None,
        "the last connection checkpoints and deletes the log"
    );
    let again = Connection::to(&file);
    assert_eq!(again.texts("PRAGMA journal_mode"), ["wal"]);
    assert_eq!(again.number("SELECT x FROM t"), 5);
}

#[test]
fn dropping_the_memory_file_and_all_connections_in_any_order_frees_the_memory() {
    for file_first in [true, false] {
        let file = MemoryFile::create();
        let (a, b) = (Connection::wal(&file), Connection::to(&file));
        a.run("CREATE TABLE t(x)");
        b.run("SELECT * FROM t");
        let name = file.name().to_owned();
        let (database, contents) = memory(&file);
        let mut owners: Vec<Box<dyn std::any::Any>> = vec![Box::new(file), Box::new(a), Box::new(b)];
        if !file_first {
            owners.reverse();
        }
        for owner in owners {
            assert!(database.upgrade().is_some());
            drop(owner);
        }
        assert!(database.upgrade().is_none());
        assert!(contents.iter().all(|contents| contents.strong_count() == 0));
        assert_eq!(
            Connection::open(&name, READ_WRITE).err(),
            Some(ffi::SQLITE_CANTOPEN)
        );
    }
}

#[test]
fn connections_still_work_when_the_memory_file_is_dropped_first() {
    let file = MemoryFile::create();
    let connection = Connection::to(&file);
    drop(file);
    connection.run("PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    assert_eq!(connection.number("SELECT x FROM t"), 1);
}

#[test]
fn shared_memory_exists_only_while_a_connection_uses_it() {
    let file = MemoryFile::create();
    let (a, b) = (Connection::wal(&file), Connection::to(&file));
    a.run("CREATE TABLE t(x)");
    b.run("SELECT * FROM t");
    assert_eq!(file.database.shared().users, 2);
    assert!(file.database.shared().regions.get(0).is_some());
    drop((a, b));
    assert_eq!(file.database.shared().users, 0);
    assert!(file.database.shared().regions.get(0).is_none());
}
