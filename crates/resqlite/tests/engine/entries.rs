//! Entries: exactly what a commit changed.

use resqlite::log::{Head, Position};

use crate::support::{Fixture, ask, block_on};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a, u UNIQUE)")
}

// G300
#[test]
fn an_entry_has_all_values_before_and_after() {
    let fixture = fixture();
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (5, 'x', 1.5)");
    assert_eq!(feed.told(), ["+ t 5 (5, 'x', 1.5)"]);
    fixture.run("UPDATE t SET a = x'01', id = 6");
    assert_eq!(feed.told(), ["* t 5 (5, 'x', 1.5) 6 (6, [1], 1.5)"]);
    fixture.run("DELETE FROM t");
    assert_eq!(feed.told(), ["- t 6 (6, [1], 1.5)"]);
}

// G301
#[test]
fn positions_are_dense_and_each_entry_names_the_one_before() {
    let fixture = fixture();
    let feed = fixture.entries();
    (0..3).for_each(|_| drop(fixture.run("INSERT INTO t DEFAULT VALUES")));
    let entries = feed.all();
    let positions: Vec<_> = entries.iter().map(resqlite::log::Entry::position).collect();
    assert_eq!(positions, [1, 2, 3].map(Position));
    assert!(
        entries
            .windows(2)
            .all(|pair| pair[1].previous() == pair[0].hash())
    );
}

// G301
#[test]
fn the_position_is_still_there_when_the_file_is_opened_again() {
    let fixture = fixture();
    let feed = fixture.entries();
    fixture.run("INSERT INTO t DEFAULT VALUES");
    let last = feed.one();
    let path = fixture.path();
    block_on(fixture.db.close()).unwrap();
    let db = crate::support::open(path.to_str().unwrap()).unwrap();
    assert_eq!(block_on(db.set_entry_gate(None)).unwrap(), Head::of(&last));
    drop(fixture.folder);
}

// G300
#[test]
fn replace_is_a_delete_and_an_insert() {
    let fixture = fixture();
    fixture.exec("INSERT INTO t VALUES (1, 'x', 7)");
    let feed = fixture.entries();
    fixture.run("REPLACE INTO t VALUES (2, 'y', 7)");
    assert_eq!(feed.told(), ["- t 1 (1, 'x', 7)", "+ t 2 (2, 'y', 7)"]);
}

// G301
#[test]
fn writes_that_wait_together_are_one_entry() {
    let fixture = fixture();
    let feed = fixture.entries();
    let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
    let asked: Vec<_> = [
        "INSERT INTO t VALUES (1, 1, 1)",
        "INSERT INTO t VALUES (1, 1, 1)",
        "INSERT INTO t VALUES (2, 2, 2)",
    ]
    .map(|sql| ask(fixture.db.execute(sql, ())))
    .into();
    drop(holds_the_writer);
    let done: Vec<_> = asked.into_iter().map(|asked| asked.wait().is_ok()).collect();
    assert_eq!(done, [true, false, true]);
    assert_eq!(feed.told(), ["+ t 1 (1, 1, 1)", "+ t 2 (2, 2, 2)"]);
}

// G300
#[test]
fn an_undone_savepoint_leaves_nothing() {
    let fixture = fixture();
    let feed = fixture.entries();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    let run = |sql: &str| block_on(transaction.execute(sql, ())).is_ok();
    assert!(run("INSERT INTO t VALUES (1, 1, 1)"));
    block_on(transaction.savepoint(1)).unwrap();
    assert!(run("INSERT INTO t VALUES (2, 2, 2)"));
    block_on(transaction.rollback_to(1)).unwrap();
    assert!(run("SAVEPOINT Mine") && run("INSERT INTO t VALUES (3, 3, 3)"));
    assert!(
        run("SAVEPOINT inner") && run("DELETE FROM t") && run("RELEASE inner") && run("ROLLBACK TO mine")
    );
    assert!(!run("INSERT INTO t VALUES (4, 4, 4), (5, 5, 1)"));
    assert!(run("INSERT INTO t VALUES (6, 6, 6)") && run("RELEASE mine"));
    block_on(transaction.commit()).unwrap();
    assert_eq!(feed.told(), ["+ t 1 (1, 1, 1)", "+ t 6 (6, 6, 6)"]);
}

// G98
#[test]
fn what_a_query_undoes_has_no_entry() {
    let fixture = fixture();
    let feed = fixture.entries();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    for sql in [
        "SAVEPOINT s",
        "INSERT INTO t VALUES (1, 1, 1)",
        "ROLLBACK TO s",
        "EXPLAIN RELEASE s",
        "INSERT INTO t VALUES (2, 2, 2)",
        "EXPLAIN ROLLBACK TO s",
    ] {
        block_on(transaction.query(sql, ())).unwrap();
    }
    block_on(transaction.commit()).unwrap();
    assert_eq!(feed.told(), ["+ t 2 (2, 2, 2)"]);
}

// G300
#[test]
fn what_is_rolled_back_or_changes_nothing_has_no_entry() {
    let fixture = fixture();
    let feed = fixture.entries();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1, 1, 1)", ())).unwrap();
    block_on(transaction.rollback()).unwrap();
    fixture.run("DELETE FROM t");
    fixture.exec("CREATE TABLE IF NOT EXISTS t(a); CREATE TEMP TABLE s(a); INSERT INTO s VALUES (1)");
    assert_eq!(feed.all(), []);
}

// G300
#[test]
fn generated_columns_are_carried_where_they_are_stored() {
    let fixture = Fixture::new("CREATE TABLE t(a, v AS (a + 1), s AS (a + 2) STORED, b)");
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES (1, 'b')");
    let entry = feed.one();
    let Some(resqlite::log::Operation::Insert { table, .. }) = entry.operations().next() else {
        panic!("{entry:?}")
    };
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column.generated))
        .collect();
    assert_eq!(columns, [("a", false), ("s", true), ("b", false)]);
    fixture.run("UPDATE t SET a = 5");
    assert_eq!(feed.told(), ["* t 1 (1, 3, 'b') 1 (5, 7, 'b')"]);
}

// G300
#[test]
fn a_row_without_a_value_for_an_added_column_has_its_default() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let feed = fixture.entries();
    fixture.run("ALTER TABLE t ADD COLUMN b DEFAULT 'd'");
    assert_eq!(feed.told(), ["ALTER TABLE t ADD COLUMN b DEFAULT 'd'"]);
    fixture.run("DELETE FROM t");
    assert_eq!(feed.told(), ["- t 1 (1, 'd')"]);
}

// G300
#[test]
fn a_table_made_from_a_query_is_carried_with_its_rows() {
    let fixture = fixture();
    let feed = fixture.entries();
    block_on(
        fixture
            .db
            .execute("CREATE TABLE made AS SELECT ?1 AS a, 2 AS b", ["x".into()]),
    )
    .unwrap();
    assert_eq!(
        feed.told(),
        ["CREATE TABLE made(a,b)", "0 made", "+ made 1 ('x', 2)"]
    );
}

// G300
#[test]
fn sequences_of_keys_are_carried() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)");
    let feed = fixture.entries();
    fixture.run("INSERT INTO t DEFAULT VALUES");
    assert_eq!(
        feed.told(),
        ["+ t 1 (1)", "0 sqlite_sequence", "+ sqlite_sequence 1 ('t', 1)"]
    );
    fixture.run("UPDATE sqlite_sequence SET seq = 9");
    assert_eq!(feed.told(), ["0 sqlite_sequence", "+ sqlite_sequence 1 ('t', 9)"]);
}

// G300
#[test]
fn numbers_in_the_header_are_carried() {
    let fixture = fixture();
    let feed = fixture.entries();
    fixture.run("PRAGMA user_version = 0x7");
    assert_eq!(feed.told(), ["PRAGMA main.user_version = 7"]);
}

// G300
#[test]
fn what_triggers_and_foreign_keys_do_is_carried() {
    let fixture = Fixture::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
         CREATE TABLE c(p REFERENCES p ON DELETE CASCADE); INSERT INTO c VALUES (1);
         CREATE TABLE log(a); CREATE TRIGGER g AFTER DELETE ON c BEGIN INSERT INTO log VALUES (old.p); END",
    );
    let feed = fixture.entries();
    fixture.run("DELETE FROM p");
    assert_eq!(feed.told(), ["- p 1 (1)", "- c 1 (1)", "+ log 1 (1)"]);
}

/// FTS5 writes its index at a savepoint: that of a later write must not undo it.
// G300
#[test]
fn an_index_of_words_is_carried_though_a_later_write_fails() {
    let fixture = Fixture::new("CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE t(u UNIQUE)");
    let copy = Fixture::new("CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE t(u UNIQUE)");
    let feed = fixture.entries();
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO f VALUES ('hello')", ())).unwrap();
    let failing = block_on(transaction.exec("INSERT INTO f VALUES ('world'); INSERT INTO t VALUES (1), (1)"));
    assert!(failing.is_err());
    block_on(transaction.commit()).unwrap();
    copy.follow(&feed);
    assert_eq!(copy.integers("SELECT rowid FROM f('hello')"), [1]);
    copy.run("INSERT INTO f(f) VALUES ('integrity-check')");
}

// G300
#[test]
fn a_column_with_a_type_has_what_it_stores() {
    let fixture = Fixture::new("CREATE TABLE t(i INTEGER, r REAL, s TEXT, n NUMERIC)");
    let feed = fixture.entries();
    fixture.run("INSERT INTO t VALUES ('1', 1, 1, '1.0')");
    assert_eq!(feed.told(), ["+ t 1 (1, 1.0, '1', 1)"]);
    fixture.run("UPDATE t SET i = '2', r = 2, s = 2, n = '2.0'");
    assert_eq!(feed.told(), ["* t 1 (1, 1.0, '1', 1) 1 (2, 2.0, '2', 2)"]);
}
