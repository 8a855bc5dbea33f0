//! Opening, scripts, errors.

use resqlite_sqlite::{Access, Checkpoint, ColumnMetadata, Connection, code_name, codes, version};

use crate::{integers, memory, with};

#[test]
fn a_missing_file_cannot_be_opened_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    let error = Connection::open(path.to_str().unwrap(), Access::ReadOnly, None)
        .err()
        .unwrap();
    assert_eq!(
        (error.primary(), error.name()),
        (codes::CANTOPEN, "SQLITE_CANTOPEN")
    );
    assert!(!path.exists());
}

#[test]
fn a_path_with_a_nul_character_is_refused() {
    assert!(Connection::open("a\0b", Access::ReadWriteCreate, None).is_err());
}

#[test]
fn an_unknown_vfs_is_refused() {
    assert!(Connection::open(":memory:", Access::ReadWriteCreate, Some("nobody's")).is_err());
}

#[test]
fn an_error_carries_its_extended_code_name_message_and_offset() {
    let connection = with("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)");
    let error = connection.execute_script("INSERT INTO t VALUES (1)").unwrap_err();
    assert_eq!((error.code(), error.name()), (2067, "SQLITE_CONSTRAINT_UNIQUE"));
    assert_eq!(error.message(), "UNIQUE constraint failed: t.a");
    let error = connection.prepare("SELECT wrong FROM t", false).err().unwrap();
    assert_eq!(error.offset(), Some(7));
}

#[test]
fn an_unknown_extended_code_has_the_name_of_its_primary_code() {
    assert_eq!(code_name(2067), "SQLITE_CONSTRAINT_UNIQUE");
    assert_eq!(code_name(19 | 250 << 8), "SQLITE_CONSTRAINT");
}

#[test]
fn a_script_stops_at_its_first_error_and_keeps_the_effects_before_it() {
    let connection = memory();
    connection
        .execute_script("CREATE TABLE t(a); INSERT INTO t VALUES (1); wrong; INSERT INTO t VALUES (2)")
        .unwrap_err();
    assert_eq!(integers(&connection, "SELECT a FROM t"), [1]);
}

#[test]
fn a_script_with_a_nul_character_is_an_error_and_ends() {
    assert!(memory().execute_script("SELECT 1;\0 SELECT 2").is_err());
}

#[test]
fn the_tail_is_the_text_after_the_first_statement() {
    let connection = memory();
    let prepared = connection.prepare("SELECT 1; SELECT 'größe'", false).unwrap();
    assert_eq!(
        (prepared.statement.is_some(), prepared.tail),
        (true, " SELECT 'größe'")
    );
    assert!(
        connection
            .prepare("-- only a comment", false)
            .unwrap()
            .statement
            .is_none()
    );
}

#[test]
fn a_connection_reports_changes_row_ids_and_autocommit() {
    let connection = with("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)");
    assert_eq!((connection.changes(), connection.last_insert_rowid()), (2, 2));
    connection.set_last_insert_rowid(0);
    assert_eq!(connection.last_insert_rowid(), 0);
    assert!(connection.is_autocommit());
    connection.execute_script("BEGIN").unwrap();
    assert!(!connection.is_autocommit());
}

#[test]
fn a_checkpoint_reports_how_many_pages_it_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let connection = Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap();
    let none = connection.checkpoint("main", Checkpoint::Passive).unwrap();
    assert_eq!((none.log, none.copied), (None, None));
    connection
        .execute_script("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
        .unwrap();
    let all = connection.checkpoint("main", Checkpoint::Passive).unwrap();
    assert_eq!(all.log, all.copied);
    assert!(all.log > Some(0));
}

#[test]
fn a_checkpoint_that_a_reader_prevents_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let path = folder.path().join("test.db");
        Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap()
    };
    let (writer, reader) = (open(), open());
    writer
        .execute_script("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
        .unwrap();
    reader.execute_script("BEGIN; SELECT * FROM t").unwrap();
    writer.execute_script("INSERT INTO t VALUES (1)").unwrap();
    let partly = writer.checkpoint("main", Checkpoint::Full).unwrap();
    assert!(partly.busy && partly.copied < partly.log, "{partly:?}");
    reader.execute_script("COMMIT").unwrap();
    let all = writer.checkpoint("main", Checkpoint::Truncate).unwrap();
    assert_eq!((all.busy, all.log), (false, Some(0)));
}

#[test]
fn a_copy_made_in_a_read_transaction_ignores_what_is_committed_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let open = || Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap();
    let (writer, source, target) = (open(), open(), with(""));
    writer
        .execute_script(
            "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000))",
        )
        .unwrap();
    source.execute_script("BEGIN; SELECT * FROM t").unwrap();
    let mut copy = source.copy_to(&target).unwrap();
    let mut steps = 0;
    while !copy.step(3).unwrap() {
        steps += 1;
        assert_eq!(copy.pages() - copy.remaining(), 3 * steps);
        writer.execute_script("INSERT INTO t VALUES (1)").unwrap();
    }
    assert!(steps > 5);
    drop(copy);
    let rows = target.query_text("SELECT count(*) FROM t").unwrap();
    assert_eq!(rows.as_deref(), Some("1"));
}

#[test]
fn a_database_cannot_be_copied_into_itself() {
    let connection = with("CREATE TABLE t(a)");
    assert!(connection.copy_to(&connection).is_err());
}

#[test]
fn a_statement_keeps_its_connection_open() {
    let connection = with("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let mut statement = crate::prepare(&connection, "SELECT a FROM t");
    drop(connection);
    assert!(statement.step().unwrap());
}

#[test]
fn the_bundled_sqlite_has_no_wal_reset_race() {
    let parts: Vec<u32> = version().split('.').map(|part| part.parse().unwrap()).collect();
    assert!(parts >= vec![3, 51, 3], "{parts:?}");
}

#[test]
fn a_column_has_a_declared_type_and_a_collation() {
    let connection = with(
        "CREATE TABLE t(a VARCHAR(10) COLLATE NOCASE, b, c AS (a) STORED); CREATE VIEW v AS SELECT a FROM t;
         CREATE TEMP TABLE t(a BLOB)",
    );
    let column = |schema, table, column| connection.column_metadata(schema, table, column);
    let known = |declared: Option<&str>, collation: &str| ColumnMetadata {
        declared_type: declared.map(str::to_owned),
        collation: collation.to_owned(),
    };
    assert_eq!(
        column(Some("main"), "T", "A").unwrap(),
        known(Some("VARCHAR(10)"), "NOCASE")
    );
    assert_eq!(column(Some("main"), "t", "b").unwrap(), known(None, "BINARY"));
    assert_eq!(column(None, "t", "a").unwrap(), known(Some("BLOB"), "BINARY"));
    for (table, name) in [("t", "missing"), ("missing", "a"), ("v", "a"), ("t\0", "a")] {
        assert!(column(Some("main"), table, name).is_err(), "{table}.{name}");
    }
}
