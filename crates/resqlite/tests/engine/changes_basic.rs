//! What the commit log says about rows that changed.

use resqlite::live::{Columns, Rows, limits};

use crate::support::{Fixture, columns, images, only, record};

/// Column 0 is the rowid.
fn three_rows() -> Fixture {
    Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b UNIQUE);
         INSERT INTO t VALUES (1, 'one', 10), (2, 'two', 20), (3, 'three', 30)",
    )
}

#[test]
fn an_insert_tells_the_new_values() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0, 1, 2])], || {
        drop(fixture.run("INSERT INTO t VALUES (9, 'nine', x'00ff')"))
    });
    assert_eq!(seen.rows("t"), ["insert 9 'nine' x'\\x00\\xff'"]);
    assert_eq!(seen.operations("t"), (1, 0, 0));
}

#[test]
fn a_rowid_that_sqlite_chose_is_told() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("INSERT INTO t(a) VALUES ('x')"))
    });
    assert_eq!(seen.rows("t"), ["insert 4"]);
}

#[test]
fn only_the_asked_values_are_kept_in_the_order_of_their_columns() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[2]), images("t", &[0])], || {
        drop(fixture.run("DELETE FROM t WHERE id = 2"))
    });
    assert_eq!(*seen.change("t").watched.images, [0, 2]);
    assert_eq!(seen.rows("t"), ["delete 2 20"]);
}

// G96
#[test]
fn a_delete_without_where_names_every_row() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0, 1])], || {
        drop(fixture.run("DELETE FROM t"))
    });
    assert_eq!(
        seen.rows("t"),
        ["delete 1 'one'", "delete 2 'two'", "delete 3 'three'"]
    );
    assert_eq!(seen.operations("t"), (0, 0, 3));
}

#[test]
fn a_delete_without_where_is_seen_although_nobody_asked_for_details() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[], || drop(fixture.run("DELETE FROM t")));
    assert_eq!(seen.operations("t"), (0, 0, 3));
}

#[test]
fn replace_counts_the_row_it_pushes_out_and_names_both() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0, 1])], || {
        fixture.run("INSERT OR REPLACE INTO t VALUES (7, 'new', 20)");
    });
    assert_eq!(seen.rows("t"), ["delete 2 'two'", "insert 7 'new'"]);
    assert_eq!(seen.operations("t"), (1, 0, 1));
}

// G96
#[test]
fn replace_that_pushes_several_rows_out_names_them_all() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.run("REPLACE INTO t VALUES (1, 'new', 30)");
    });
    let mut rows = seen.rows("t");
    rows.sort_unstable();
    assert_eq!(rows, ["delete 1", "delete 3", "insert 1"]);
    assert_eq!(seen.operations("t"), (1, 0, 2));
}

#[test]
fn update_or_replace_names_the_row_it_pushes_out() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0, 2])], || {
        fixture.run("UPDATE OR REPLACE t SET b = 30 WHERE id = 1");
    });
    let mut rows = seen.rows("t");
    rows.sort_unstable();
    assert_eq!(rows, ["delete 3 30", "update 1 10 to 1 30"]);
    assert_eq!(seen.operations("t"), (0, 1, 1));
}

#[test]
fn replace_cascades_from_the_row_it_pushes_out() {
    let fixture = Fixture::new(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY, u UNIQUE);
         CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent ON DELETE CASCADE);
         INSERT INTO parent VALUES (1, 'x'); INSERT INTO child VALUES (11, 1), (12, 1)",
    );
    let asks = [images("parent", &[0]), images("child", &[0, 1])];
    let seen = record(&fixture.db, &asks, || {
        fixture.run("INSERT OR REPLACE INTO parent VALUES (2, 'x')");
    });
    assert_eq!(seen.rows("parent"), ["delete 1", "insert 2"]);
    assert_eq!(seen.rows("child"), ["delete 11 1", "delete 12 1"]);
    assert_eq!(seen.operations("child"), (0, 0, 2));
}

// G96
#[test]
fn an_update_names_the_columns_whose_values_changed() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[columns("t", 0..3)], || {
        fixture.run("UPDATE t SET a = 'changed', b = b WHERE id = 2");
    });
    assert_eq!((seen.columns("t"), seen.operations("t")), (vec![1], (0, 1, 0)));
}

#[test]
fn of_an_update_each_row_names_its_own_columns() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.run("UPDATE t SET a = 'x', b = iif(id = 3, 99, b) WHERE id >= 2");
    });
    assert_eq!(seen.columns("t"), [1, 2]);
    let Rows::Only(rows) = &seen.change("t").rows else {
        panic!("the images are known")
    };
    let columns: Vec<_> = rows.iter().map(|row| row.columns().unwrap().clone()).collect();
    assert_eq!(columns, [only([1]), only([1, 2])]);
}

#[test]
fn an_update_tells_the_values_before_and_after() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0, 1])], || {
        drop(fixture.run("UPDATE t SET a = NULL WHERE id > 1"))
    });
    assert_eq!(
        seen.rows("t"),
        ["update 2 'two' to 2 null", "update 3 'three' to 3 null"]
    );
}

#[test]
fn of_a_wide_row_only_the_compared_columns_are_told() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[columns("t", [0, 2])], || {
        fixture.run("UPDATE t SET a = 'changed', b = 99 WHERE id = 2");
    });
    assert_eq!(seen.columns("t"), [2]);
    let change = seen.change("t");
    assert!(!change.watched.compared.contains(1));
}

#[test]
fn an_update_of_columns_that_are_not_compared_is_told_without_columns() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[columns("t", [2])], || {
        fixture.run("UPDATE t SET a = 'changed' WHERE id = 2");
    });
    assert_eq!(seen.columns("t"), [0; 0]);
    assert_eq!(seen.operations("t"), (0, 1, 0));
}

#[test]
fn an_update_of_columns_that_are_not_compared_names_its_rows() {
    let fixture = three_rows();
    fixture
        .db
        .engine()
        .watch(&crate::support::table("t"), &Columns::Any, &[0]);
    let seen = record(&fixture.db, &[columns("t", [2])], || {
        fixture.run("UPDATE t SET a = 'changed' WHERE id = 2");
    });
    assert_eq!(seen.rows("t"), ["update 2 to 2"]);
    assert_eq!(seen.columns("t"), [0; 0]);
}

// G96
#[test]
fn an_update_of_the_key_names_the_old_and_the_new_one() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("UPDATE t SET id = 8 WHERE id = 2"))
    });
    assert_eq!(seen.rows("t"), ["update 2 to 8"]);
    assert_eq!(seen.change("t").columns, Columns::Any);
}

#[test]
fn an_update_of_a_hidden_rowid_may_have_changed_every_column() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (5, 'x')");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("UPDATE t SET rowid = 6"))
    });
    assert_eq!(seen.rows("t"), ["update 'x' to 'x'"]);
    assert_eq!(seen.change("t").columns, Columns::Any);
    assert_eq!(seen.operations("t"), (0, 1, 0));
}

#[test]
fn an_update_of_a_key_may_have_changed_every_column_although_none_is_compared() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[], || {
        drop(fixture.run("UPDATE t SET id = 8 WHERE id = 2"))
    });
    assert_eq!(seen.change("t").columns, Columns::Any);
}

#[test]
fn an_update_to_the_same_values_adds_nothing_where_every_column_is_compared() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[columns("t", 0..3)], || {
        drop(fixture.run("UPDATE t SET a = a, b = b"))
    });
    assert!(seen.is_empty());
}

#[test]
fn integer_one_becoming_real_one_is_a_change() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let seen = record(&fixture.db, &[columns("t", [0])], || {
        drop(fixture.run("UPDATE t SET a = 1.0"))
    });
    assert_eq!(seen.columns("t"), [0]);
}

#[test]
fn zero_becoming_negative_zero_is_a_change() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (0.0)");
    let seen = record(&fixture.db, &[columns("t", [0])], || {
        drop(fixture.run("UPDATE t SET a = -0.0"))
    });
    assert_eq!(seen.columns("t"), [0]);
}

#[test]
fn an_upsert_that_updates_is_an_update() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0, 1])], || {
        fixture.run("INSERT INTO t VALUES (2, 'up', 20) ON CONFLICT(id) DO UPDATE SET a = excluded.a");
    });
    assert_eq!(seen.rows("t"), ["update 2 'two' to 2 'up'"]);
    assert_eq!((seen.operations("t"), seen.columns("t")), ((0, 1, 0), vec![1]));
}

#[test]
fn an_upsert_that_does_nothing_adds_nothing() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.run("INSERT INTO t VALUES (2, 'up', 20) ON CONFLICT DO NOTHING");
    });
    assert!(seen.is_empty());
}

#[test]
fn without_interest_columns_and_rows_are_not_decoded() {
    let fixture = three_rows();
    let seen = record(&fixture.db, &[], || {
        drop(fixture.run("UPDATE t SET a = 0 WHERE id = 1"))
    });
    assert!(seen.any_row("t"));
    assert!(seen.change("t").watched.compared.is_empty());
}

#[test]
fn interest_in_one_table_decodes_no_other() {
    let fixture = three_rows();
    fixture.exec("CREATE TABLE other(a)");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.exec("INSERT INTO t VALUES (4, 4, 4); INSERT INTO other VALUES (1)");
    });
    assert_eq!(seen.rows("t"), ["insert 4"]);
    assert!(seen.any_row("other"));
}

#[test]
fn interest_that_changes_between_commits_counts_from_the_next_commit_on() {
    let fixture = three_rows();
    let insert = |id: i64| drop(fixture.run(&format!("INSERT INTO t VALUES ({id}, 0, {id})")));
    let seen = record(&fixture.db, &[], || insert(100));
    assert!(seen.any_row("t"));
    let seen = record(&fixture.db, &[images("t", &[0])], || insert(101));
    assert_eq!(seen.rows("t"), ["insert 101"]);
    let seen = record(&fixture.db, &[], || insert(102));
    assert!(seen.any_row("t"));
}

// G99
#[test]
fn more_rows_than_the_bound_degrade_to_any_row() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let fill = |from: usize, count: usize| {
        fixture.run(&format!(
            "WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {from} + {count})
             INSERT INTO t SELECT i FROM n"
        ));
    };
    let most = limits::ROWS_PER_TABLE;
    let seen = record(&fixture.db, &[images("t", &[0])], || fill(0, most));
    assert_eq!(seen.rows("t").len(), most);
    let seen = record(&fixture.db, &[images("t", &[0])], || fill(most, most + 1));
    assert!(seen.any_row("t"));
    assert_eq!(seen.operations("t"), (most as u64 + 1, 0, 0));
}

#[test]
fn values_beyond_the_bound_degrade_to_any_row() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        fixture.run(&format!(
            "INSERT INTO t VALUES (zeroblob({}))",
            limits::IMAGE_BYTES_PER_CHANGE_SET
        ));
    });
    assert!(seen.any_row("t"));
}

#[test]
fn a_table_is_named_as_declared_however_the_statement_spells_it() {
    let fixture = Fixture::new("CREATE TABLE \"Größe\"(a)");
    let seen = record(&fixture.db, &[images("Größe", &[0])], || {
        drop(fixture.run("INSERT INTO MAIN.\"GRößE\" VALUES (1)"))
    });
    assert_eq!(seen.rows("Größe"), ["insert 1"]);
}
