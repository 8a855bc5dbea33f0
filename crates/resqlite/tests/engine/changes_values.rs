//! Which values and columns the commit log tells, by the kind of table and column.

use resqlite::live::Columns;

use crate::support::{Fixture, columns, images, record};

// G96
#[test]
fn rows_of_a_table_without_rowid_are_told_like_any_others() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, k TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (1, 'x', 2)",
    );
    let seen = record(&fixture.db, &[images("t", &[0, 1, 2])], || {
        fixture.exec(
            "INSERT INTO t VALUES (1, 'y', 2); UPDATE t SET b = 3 WHERE k = 'x'; DELETE FROM t WHERE k = 'x'",
        );
    });
    assert_eq!(
        seen.rows("t"),
        ["insert 1 'y' 2", "update 1 'x' 2 to 1 'x' 3", "delete 1 'x' 3"]
    );
    assert_eq!(seen.columns("t"), [2]);
}

#[test]
fn a_composite_key_stands_in_the_order_of_its_columns() {
    let fixture = Fixture::new("CREATE TABLE t(a, b, c, PRIMARY KEY(c, a)) WITHOUT ROWID");
    let seen = record(&fixture.db, &[images("t", &[0, 2])], || {
        drop(fixture.run("INSERT INTO t VALUES ('a', 'b', 3)"))
    });
    assert_eq!(seen.rows("t"), ["insert 'a' 3"]);
}

#[test]
fn an_update_of_a_composite_key_names_the_old_and_the_new_one() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, b, c, PRIMARY KEY(c, a)) WITHOUT ROWID; INSERT INTO t VALUES (1, 2, 3)",
    );
    let seen = record(&fixture.db, &[images("t", &[0, 2])], || {
        drop(fixture.run("UPDATE t SET a = 4, b = 5"))
    });
    assert_eq!(seen.rows("t"), ["update 1 3 to 4 3"]);
    assert_eq!(seen.change("t").columns, Columns::Any);
}

#[test]
fn an_update_of_a_key_that_is_not_compared_may_have_changed_every_column() {
    let fixture =
        Fixture::new("CREATE TABLE t(k PRIMARY KEY, a, b) WITHOUT ROWID; INSERT INTO t VALUES ('x', 1, 2)");
    let seen = record(&fixture.db, &[columns("t", [1])], || {
        drop(fixture.run("UPDATE t SET k = 'y'"))
    });
    assert_eq!(seen.change("t").columns, Columns::Any);
    let seen = record(&fixture.db, &[columns("t", [1])], || {
        drop(fixture.run("UPDATE t SET b = 3"))
    });
    assert_eq!(seen.columns("t"), [0; 0]);
}

#[test]
fn nothing_is_told_of_the_columns_of_a_table_without_rowid_that_nobody_watches() {
    let fixture =
        Fixture::new("CREATE TABLE t(k PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO t VALUES ('x', 1)");
    let seen = record(&fixture.db, &[], || drop(fixture.run("UPDATE t SET a = 2")));
    assert_eq!(seen.change("t").columns, Columns::Any);
}

#[test]
fn a_replace_in_a_table_without_rowid_names_both_rows() {
    let fixture =
        Fixture::new("CREATE TABLE t(k PRIMARY KEY, u UNIQUE) WITHOUT ROWID; INSERT INTO t VALUES ('x', 1)");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("REPLACE INTO t VALUES ('y', 1)"))
    });
    assert_eq!(seen.rows("t"), ["delete 'x'", "insert 'y'"]);
    assert_eq!(seen.operations("t"), (1, 0, 1));
}

#[test]
fn a_stored_generated_column_changes_with_what_it_is_made_of() {
    let fixture =
        Fixture::new("CREATE TABLE t(a, g AS (a * 2) STORED, c); INSERT INTO t(a, c) VALUES (1, 1)");
    let seen = record(&fixture.db, &[images("t", &[0, 1])], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0, 1]);
    assert_eq!(seen.rows("t"), ["update 1 2 to 2 4"]);
}

// G97
#[test]
fn a_virtual_generated_column_changes_with_what_it_is_made_of() {
    let fixture =
        Fixture::new("CREATE TABLE t(g AS (a * 2) VIRTUAL, a, c); INSERT INTO t(a, c) VALUES (1, 1)");
    let seen = record(&fixture.db, &[columns("t", 0..3)], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0, 1]);
}

#[test]
fn a_virtual_generated_column_changes_although_what_it_is_made_of_is_not_compared() {
    let fixture =
        Fixture::new("CREATE TABLE t(g AS (a * 2) VIRTUAL, a, c); INSERT INTO t(a, c) VALUES (1, 1)");
    let seen = record(&fixture.db, &[columns("t", [0, 2])], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0]);
}

#[test]
fn a_virtual_generated_column_stays_when_its_row_does() {
    let fixture = Fixture::new("CREATE TABLE t(g AS (a * 2) VIRTUAL, a); INSERT INTO t(a) VALUES (1)");
    let seen = record(&fixture.db, &[columns("t", 0..2)], || {
        drop(fixture.run("UPDATE t SET a = a"))
    });
    assert!(seen.is_empty());
}

#[test]
fn the_value_of_a_virtual_generated_column_cannot_be_had_so_any_row_may_have_changed() {
    let fixture = Fixture::new("CREATE TABLE t(g AS (a * 2) VIRTUAL, a)");
    let seen = record(&fixture.db, &[images("t", &[0, 1])], || {
        drop(fixture.run("INSERT INTO t(a) VALUES (1)"))
    });
    assert!(seen.any_row("t"));
}

#[test]
fn columns_behind_a_virtual_generated_column_are_told_by_their_own_index() {
    let fixture = Fixture::new(
        "CREATE TABLE t(g AS (1) VIRTUAL, a, h AS (a + 1), c); INSERT INTO t(a, c) VALUES (1, 1)",
    );
    let seen = record(&fixture.db, &[images("t", &[1, 3])], || {
        drop(fixture.run("UPDATE t SET c = 2"))
    });
    assert_eq!(seen.columns("t"), [0, 2, 3]);
    assert_eq!(seen.rows("t"), ["update 1 1 to 1 2"]);
}

#[test]
fn a_column_that_was_added_after_the_row_was_written_is_seen_to_change() {
    let fixture =
        Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b DEFAULT 7");
    let seen = record(&fixture.db, &[images("t", &[1])], || {
        drop(fixture.run("UPDATE t SET b = 8"))
    });
    assert_eq!(
        (seen.columns("t"), seen.rows("t")),
        (vec![1], vec!["update 7 to 8".into()])
    );
    let seen = record(&fixture.db, &[columns("t", 0..2)], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0]);
}

#[test]
fn a_wide_table_tells_its_columns_apart() {
    let names: Vec<String> = (0..300).map(|n| format!("c{n}")).collect();
    let fixture = Fixture::new(&format!(
        "CREATE TABLE t({}); INSERT INTO t(c0) VALUES (1)",
        names.join(",")
    ));
    let seen = record(&fixture.db, &[columns("t", 0..300)], || {
        drop(fixture.run("UPDATE t SET c299 = 1, c64 = 2"))
    });
    assert_eq!(seen.columns("t"), [64, 299]);
}

#[test]
fn columns_that_a_table_does_not_have_are_not_seen_to_change() {
    let fixture = Fixture::new("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 1)");
    let seen = record(&fixture.db, &[columns("t", [1, 7])], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0; 0]);
}

#[test]
fn rowids_at_the_edges_of_int64_are_kept_exactly() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let ids = [i64::MIN, i64::MIN + 1, -1, 0, (1 << 53) + 1, i64::MAX];
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        let sets: Vec<_> = ids.iter().map(|&id| vec![id.into()]).collect();
        pollster::block_on(fixture.db.execute_batch("INSERT INTO t VALUES (?)", &sets)).unwrap();
    });
    assert_eq!(seen.rows("t"), ids.map(|id| format!("insert {id}")));
}

#[test]
fn text_with_nul_and_invalid_utf8_is_kept_byte_for_byte() {
    let fixture = Fixture::new("CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.run("INSERT INTO t VALUES (CAST(x'6100ff' AS TEXT))");
    });
    assert_eq!(seen.rows("t"), ["insert 'a\\x00\\xff'"]);
}
