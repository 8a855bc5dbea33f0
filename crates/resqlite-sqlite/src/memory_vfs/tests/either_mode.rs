//! Rollback journals, and behaviour that is the same with a journal and with a log.

use resqlite_sqlite_sys as ffi;

use super::{
    super::*,
    harness::{Connection, beside, is_sound},
};

#[test]
fn a_second_writer_gets_busy() {
    for mode in ["WAL", "DELETE"] {
        let file = MemoryFile::create();
        let (a, b) = (Connection::to(&file), Connection::to(&file));
        a.run(&format!(
            "PRAGMA journal_mode = {mode}; CREATE TABLE t(x); BEGIN IMMEDIATE"
        ));
        assert_eq!(b.query("BEGIN IMMEDIATE"), Err(ffi::SQLITE_BUSY), "{mode}");
        a.run("COMMIT");
        assert_eq!(
            b.query("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); COMMIT"),
            Ok(vec![]),
            "{mode}"
        );
    }
}

#[test]
fn without_a_log_a_writer_waits_for_readers_and_excludes_new_ones() {
    let file = MemoryFile::create();
    let (writer, reader, late) = (
        Connection::to(&file),
        Connection::to(&file),
        Connection::to(&file),
    );
    writer.run("CREATE TABLE t(x)");
    reader.run("BEGIN; SELECT * FROM t");
    writer.run("BEGIN; INSERT INTO t VALUES (1)");
    assert_eq!(writer.query("COMMIT"), Err(ffi::SQLITE_BUSY));
    assert_eq!(late.query("SELECT * FROM t"), Err(ffi::SQLITE_BUSY));
    reader.run("COMMIT");
    writer.run("COMMIT");
    assert_eq!(late.number("SELECT count(*) FROM t"), 1);
}

#[test]
fn rollback_journals_work_in_every_mode() {
    for (mode, journal) in [("DELETE", None), ("TRUNCATE", Some(0)), ("PERSIST", Some(1))] {
        let file = MemoryFile::create();
        let connection = Connection::to(&file);
        connection.run(&format!(
            "PRAGMA journal_mode = {mode}; CREATE TABLE t(x); INSERT INTO t VALUES (1)"
        ));
        connection.run("BEGIN; UPDATE t SET x = 2");
        assert!(beside(&file, "-journal").is_some(), "{mode}");
        connection.run("ROLLBACK");
        assert_eq!(connection.number("SELECT x FROM t"), 1, "{mode}");
        assert_eq!(beside(&file, "-journal").map(|len| len.min(1)), journal, "{mode}");
    }
}

#[test]
fn a_transaction_larger_than_the_page_cache_can_be_rolled_back() {
    for mode in ["WAL", "DELETE"] {
        let file = MemoryFile::create();
        let connection = Connection::to(&file);
        connection.run(&format!(
            "PRAGMA journal_mode = {mode}; PRAGMA cache_size = 10; CREATE TABLE t(x)"
        ));
        connection.run("INSERT INTO t VALUES (zeroblob(1000000)), (zeroblob(1000000)); BEGIN");
        connection.run("UPDATE t SET x = randomblob(1000000); SAVEPOINT s; DELETE FROM t; ROLLBACK TO s");
        assert_eq!(connection.number("SELECT count(*) FROM t"), 2, "{mode}");
        connection.run("ROLLBACK");
        assert_eq!(
            connection.number("SELECT count(*) FROM t WHERE x = zeroblob(1000000)"),
            2,
            "{mode}"
        );
        assert!(is_sound(&connection), "{mode}");
    }
}

#[test]
fn a_transaction_on_two_databases_commits_in_both() {
    let (a, b) = (MemoryFile::create(), MemoryFile::create());
    let connection = Connection::to(&a);
    connection.run(&format!(
        "ATTACH '{}' AS b; CREATE TABLE t(x); CREATE TABLE b.u(x)",
        b.name()
    ));
    connection.run("BEGIN; INSERT INTO t VALUES (1); INSERT INTO u VALUES (2); COMMIT");
    assert_eq!(Connection::to(&b).number("SELECT x FROM u"), 2);
    assert_eq!(Connection::to(&a).number("SELECT x FROM t"), 1);
}

#[test]
fn temporary_tables_and_sorts_work() {
    let file = MemoryFile::create();
    let connection = Connection::wal(&file);
    connection.run("PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 5; PRAGMA cache_size = 5");
    connection.run(
        "CREATE TEMP TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         SELECT i, hex(i) || hex(zeroblob(50)) AS pad FROM n",
    );
    assert_eq!(
        connection.number("SELECT i FROM t ORDER BY pad DESC, i LIMIT 1"),
        9999
    );
    assert_eq!(beside(&file, "-journal"), None);
}

#[test]
fn a_large_blob_is_read_as_it_was_written() {
    let file = MemoryFile::create();
    let writer = Connection::wal(&file);
    let blob: Vec<u8> = (0..5_000_000_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    writer.run("CREATE TABLE t(x)");
    writer.insert_blob("INSERT INTO t VALUES (?)", &blob);
    let reader = Connection::to(&file);
    assert!(reader.blob("SELECT x FROM t") == blob);
    writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
    assert!(Connection::to(&file).blob("SELECT x FROM t") == blob);
}

#[test]
fn vacuum_frees_memory() {
    for mode in ["WAL", "DELETE"] {
        let file = MemoryFile::create();
        let connection = Connection::to(&file);
        connection.run(&format!(
            "PRAGMA journal_mode = {mode}; CREATE TABLE t(x); CREATE TABLE u(x)"
        ));
        connection.run("INSERT INTO t VALUES (zeroblob(2000000)); INSERT INTO u VALUES (1); DROP TABLE t");
        connection.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        assert!(file.database.main().len() < 100_000, "{mode}");
        assert_eq!(connection.number("SELECT x FROM u"), 1, "{mode}");
        assert!(is_sound(&connection), "{mode}");
    }
}

#[test]
fn the_database_can_be_vacuumed_into_another() {
    let (from, to) = (MemoryFile::create(), MemoryFile::create());
    let connection = Connection::wal(&from);
    connection.run("CREATE TABLE t(x); INSERT INTO t VALUES (3)");
    connection.run(&format!("VACUUM INTO '{}'", to.name()));
    assert_eq!(Connection::to(&to).number("SELECT x FROM t"), 3);
}
