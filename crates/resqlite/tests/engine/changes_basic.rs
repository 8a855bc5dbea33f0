//! What the commit log says about rows that changed.

use resqlite::live::{Columns, Detail, Keys, Value};

use crate::support::{Fixture, key, record};

fn text(text: &str) -> Value {
    Value::Text(text.as_bytes().into())
}

fn three_rows() -> Fixture {
    Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b UNIQUE);
         INSERT INTO t VALUES (1, 'one', 10), (2, 'two', 20), (3, 'three', 30)",
    )
}

#[test]
fn an_insert_names_its_rowid() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("INSERT INTO t VALUES (9, 0, 0)"))
    });
    assert_eq!((seen.rowids("t"), seen.operations("t")), (vec![9], (1, 0, 0)));
}

#[test]
fn a_delete_without_where_names_every_row() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("DELETE FROM t"))
    });
    assert_eq!(
        (seen.rowids("t"), seen.operations("t")),
        (vec![1, 2, 3], (0, 0, 3))
    );
}

#[test]
fn a_delete_without_where_is_seen_although_nobody_asked_for_details() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Table, &[], || {
        drop(fixture.run("DELETE FROM t"))
    });
    assert_eq!(seen.operations("t"), (0, 0, 3));
}

#[test]
fn replace_counts_the_row_it_pushes_out_and_names_both_keys() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.run("INSERT OR REPLACE INTO t VALUES (7, 'new', 20)");
    });
    assert_eq!((seen.rowids("t"), seen.operations("t")), (vec![2, 7], (1, 0, 1)));
}

#[test]
fn replace_that_pushes_several_rows_out_names_them_all() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.run("REPLACE INTO t VALUES (1, 'new', 30)");
    });
    let mut rowids = seen.rowids("t");
    rowids.sort_unstable();
    assert_eq!((rowids, seen.operations("t")), (vec![1, 3], (1, 0, 2)));
}

#[test]
fn update_or_replace_names_the_row_it_pushes_out() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.run("UPDATE OR REPLACE t SET b = 30 WHERE id = 1");
    });
    let mut rowids = seen.rowids("t");
    rowids.sort_unstable();
    assert_eq!((rowids, seen.operations("t")), (vec![1, 3], (0, 1, 1)));
}

#[test]
fn replace_cascades_from_the_row_it_pushes_out() {
    let fixture = Fixture::new(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY, u UNIQUE);
         CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent ON DELETE CASCADE);
         INSERT INTO parent VALUES (1, 'x'); INSERT INTO child VALUES (11, 1), (12, 1)",
    );
    let seen = record(&fixture.db, Detail::Rows, &["parent", "child"], || {
        fixture.run("INSERT OR REPLACE INTO parent VALUES (2, 'x')");
    });
    assert_eq!(seen.rowids("parent"), [1, 2]);
    assert_eq!(
        (seen.rowids("child"), seen.operations("child")),
        (vec![11, 12], (0, 0, 2))
    );
}

#[test]
fn an_update_names_the_columns_whose_values_changed() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        fixture.run("UPDATE t SET a = 'changed', b = b WHERE id = 2");
    });
    assert_eq!((seen.columns("t"), seen.operations("t")), (vec![1], (0, 1, 0)));
}

#[test]
fn an_update_of_the_key_names_the_old_and_the_new_one() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("UPDATE t SET id = 8 WHERE id = 2"))
    });
    assert_eq!(seen.rowids("t"), [2, 8]);
    assert_eq!(seen.change("t").columns, Columns::Any);
}

#[test]
fn an_update_of_a_hidden_rowid_names_the_old_and_the_new_one() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (5, 'x')");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("UPDATE t SET rowid = 6"))
    });
    assert_eq!((seen.rowids("t"), seen.operations("t")), (vec![5, 6], (0, 1, 0)));
}

#[test]
fn an_update_to_the_same_values_adds_nothing() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET a = a, b = b"))
    });
    assert!(seen.is_empty());
}

#[test]
fn integer_one_becoming_real_one_is_a_change() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET a = 1.0"))
    });
    assert_eq!(seen.columns("t"), [0]);
}

#[test]
fn zero_becoming_negative_zero_is_a_change() {
    let fixture = Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (0.0)");
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET a = -0.0"))
    });
    assert_eq!(seen.columns("t"), [0]);
}

#[test]
fn an_upsert_that_updates_is_an_update() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.run("INSERT INTO t VALUES (2, 'up', 20) ON CONFLICT(id) DO UPDATE SET a = excluded.a");
    });
    assert_eq!(
        (seen.rowids("t"), seen.operations("t"), seen.columns("t")),
        (vec![2], (0, 1, 0), vec![1])
    );
}

#[test]
fn an_upsert_that_does_nothing_adds_nothing() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.run("INSERT INTO t VALUES (2, 'up', 20) ON CONFLICT DO NOTHING");
    });
    assert!(seen.is_empty());
}

#[test]
fn a_table_without_rowid_is_keyed_by_its_primary_key() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, k TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (1, 'x', 2)",
    );
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.exec("INSERT INTO t VALUES (1, 'y', 2); DELETE FROM t WHERE k = 'x'");
    });
    assert_eq!(seen.keys("t"), [key([text("y")]), key([text("x")])]);
}

#[test]
fn a_composite_key_stands_in_the_order_of_its_declaration() {
    let fixture = Fixture::new("CREATE TABLE t(a, b, c, PRIMARY KEY(c, a)) WITHOUT ROWID");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("INSERT INTO t VALUES ('a', 'b', 3)"))
    });
    assert_eq!(seen.keys("t"), [key([Value::Integer(3), text("a")])]);
}

#[test]
fn an_update_of_a_composite_key_names_the_old_and_the_new_one() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, b, c, PRIMARY KEY(c, a)) WITHOUT ROWID; INSERT INTO t VALUES (1, 2, 3)",
    );
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("UPDATE t SET a = 4, b = 5"))
    });
    let pair = |c, a| key([Value::Integer(c), Value::Integer(a)]);
    assert_eq!(seen.keys("t"), [pair(3, 1), pair(3, 4)]);
}

#[test]
fn a_replace_in_a_table_without_rowid_names_the_key() {
    let fixture =
        Fixture::new("CREATE TABLE t(k PRIMARY KEY, u UNIQUE) WITHOUT ROWID; INSERT INTO t VALUES ('x', 1)");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        drop(fixture.run("REPLACE INTO t VALUES ('y', 1)"))
    });
    assert_eq!(seen.keys("t"), [key([text("x")]), key([text("y")])]);
    assert_eq!(seen.operations("t"), (1, 0, 1));
}

#[test]
fn a_stored_generated_column_changes_with_what_it_is_made_of() {
    let fixture =
        Fixture::new("CREATE TABLE t(a, g AS (a * 2) STORED, c); INSERT INTO t(a, c) VALUES (1, 1)");
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0, 1]);
}

#[test]
fn a_virtual_generated_column_changes_with_what_it_is_made_of() {
    let fixture =
        Fixture::new("CREATE TABLE t(g AS (a * 2) VIRTUAL, a, c); INSERT INTO t(a, c) VALUES (1, 1)");
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0, 1]);
}

#[test]
fn a_virtual_generated_column_stays_when_its_row_does() {
    let fixture = Fixture::new("CREATE TABLE t(g AS (a * 2) VIRTUAL, a); INSERT INTO t(a) VALUES (1)");
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET a = a"))
    });
    assert!(seen.is_empty());
}

#[test]
fn columns_behind_a_virtual_generated_column_are_told_by_their_own_index() {
    let fixture = Fixture::new(
        "CREATE TABLE t(g AS (1) VIRTUAL, a, h AS (a + 1), c); INSERT INTO t(a, c) VALUES (1, 1)",
    );
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET c = 2"))
    });
    assert_eq!(seen.columns("t"), [0, 2, 3]);
}

#[test]
fn a_column_that_was_added_after_the_row_was_written_is_seen_to_change() {
    let fixture =
        Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b DEFAULT 7");
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET b = 8"))
    });
    assert_eq!(seen.columns("t"), [1]);
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET a = 2"))
    });
    assert_eq!(seen.columns("t"), [0]);
}

#[test]
fn a_wide_table_tells_its_columns_apart() {
    let columns: Vec<String> = (0..300).map(|n| format!("c{n}")).collect();
    let fixture = Fixture::new(&format!(
        "CREATE TABLE t({}); INSERT INTO t(c0) VALUES (1)",
        columns.join(",")
    ));
    let seen = record(&fixture.db, Detail::Columns, &["t"], || {
        drop(fixture.run("UPDATE t SET c299 = 1, c64 = 2"))
    });
    assert_eq!(seen.columns("t"), [64, 299]);
}

#[test]
fn fts5_changes_are_told_of_the_virtual_table() {
    let fixture = Fixture::new("CREATE VIRTUAL TABLE docs USING fts5(body)");
    let seen = record(&fixture.db, Detail::Rows, &["docs"], || {
        fixture.run("INSERT INTO docs VALUES ('some text')");
    });
    assert_eq!(seen.change("docs").keys, Keys::Any);
    let names: Vec<_> = seen.commit().tables().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["main.docs"]);
}

#[test]
fn fts5_updates_and_deletes_are_told_of_the_virtual_table() {
    let fixture =
        Fixture::new("CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES ('a'), ('b')");
    for sql in [
        "UPDATE docs SET body = 'c' WHERE rowid = 1",
        "DELETE FROM docs WHERE rowid = 2",
    ] {
        let seen = record(&fixture.db, Detail::Table, &[], || drop(fixture.run(sql)));
        assert!(seen.commit().touches(&crate::support::table("docs")), "{sql}");
    }
}

#[test]
fn rtree_changes_are_told_of_the_virtual_table() {
    let fixture = Fixture::new("CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1)");
    let seen = record(&fixture.db, Detail::Rows, &["boxes"], || {
        fixture.run("INSERT INTO boxes VALUES (1, 0.0, 1.0)");
    });
    assert_eq!(seen.change("boxes").keys, Keys::Any);
}

#[test]
fn of_virtual_tables_with_nested_names_the_longest_owns_a_shadow_table() {
    let fixture =
        Fixture::new("CREATE VIRTUAL TABLE a USING fts5(x); CREATE VIRTUAL TABLE a_b USING fts5(x)");
    let seen = record(&fixture.db, Detail::Table, &[], || {
        drop(fixture.run("INSERT INTO a_b VALUES ('x')"))
    });
    let names: Vec<_> = seen.commit().tables().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["main.a_b"]);
}

#[test]
fn a_trigger_makes_changes_in_its_own_table_known() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a); CREATE TABLE log(id INTEGER PRIMARY KEY, x);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log(x) VALUES (new.a); END",
    );
    let seen = record(&fixture.db, Detail::Rows, &["t", "log"], || {
        drop(fixture.run("INSERT INTO t VALUES (1)"))
    });
    assert_eq!((seen.rowids("t"), seen.rowids("log")), (vec![1], vec![1]));
}

#[test]
fn a_trigger_within_a_trigger_makes_its_changes_known() {
    let fixture = Fixture::new(
        "CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); INSERT INTO c VALUES (0);
         CREATE TRIGGER ta AFTER INSERT ON a BEGIN INSERT INTO b VALUES (1); END;
         CREATE TRIGGER tb AFTER INSERT ON b BEGIN UPDATE c SET x = 1; END",
    );
    let seen = record(&fixture.db, Detail::Rows, &["c"], || {
        drop(fixture.run("INSERT INTO a VALUES (1)"))
    });
    assert_eq!((seen.rowids("c"), seen.operations("c")), (vec![1], (0, 1, 0)));
}

#[test]
fn a_cascade_makes_changes_in_the_child_known() {
    let fixture = Fixture::new(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY);
         CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE SET NULL ON UPDATE CASCADE);
         INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (5, 1), (6, 2)",
    );
    let seen = record(&fixture.db, Detail::Rows, &["child"], || {
        drop(fixture.run("DELETE FROM parent WHERE id = 1"))
    });
    assert_eq!((seen.rowids("child"), seen.columns("child")), (vec![5], vec![1]));
    let seen = record(&fixture.db, Detail::Rows, &["child"], || {
        drop(fixture.run("UPDATE parent SET id = 3"))
    });
    assert_eq!((seen.rowids("child"), seen.columns("child")), (vec![6], vec![1]));
}

#[test]
fn without_interest_columns_and_keys_are_not_decoded() {
    let fixture = three_rows();
    let seen = record(&fixture.db, Detail::Table, &["t"], || {
        drop(fixture.run("UPDATE t SET a = 0 WHERE id = 1"))
    });
    assert_eq!(
        (&seen.change("t").columns, &seen.change("t").keys),
        (&Columns::Any, &Keys::Any)
    );
}

#[test]
fn interest_in_one_table_decodes_no_other() {
    let fixture = three_rows();
    fixture.exec("CREATE TABLE other(a)");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.exec("INSERT INTO t VALUES (4, 4, 4); INSERT INTO other VALUES (1)");
    });
    assert_eq!(seen.rowids("t"), [4]);
    assert_eq!(seen.change("other").keys, Keys::Any);
}

#[test]
fn interest_that_changes_between_commits_counts_from_the_next_commit_on() {
    let fixture = three_rows();
    let insert = |id: i64| drop(fixture.run(&format!("INSERT INTO t VALUES ({id}, 0, {id})")));
    let seen = record(&fixture.db, Detail::Table, &[], || insert(100));
    assert_eq!(seen.change("t").keys, Keys::Any);
    let seen = record(&fixture.db, Detail::Rows, &["t"], || insert(101));
    assert_eq!(seen.rowids("t"), [101]);
    let seen = record(&fixture.db, Detail::Table, &[], || insert(102));
    assert_eq!(seen.change("t").keys, Keys::Any);
}

#[test]
fn rowids_at_the_edges_of_int64_are_kept_exactly() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let ids = [i64::MIN, i64::MIN + 1, -1, 0, (1 << 53) + 1, i64::MAX];
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        let sets: Vec<_> = ids.iter().map(|&id| vec![id.into()]).collect();
        pollster::block_on(fixture.db.execute_batch("INSERT INTO t VALUES (?)", &sets)).unwrap();
    });
    assert_eq!(seen.rowids("t"), ids);
}

#[test]
fn more_keys_than_the_bound_degrade_to_any_key() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let fill = |from: usize, count: usize| {
        fixture.run(&format!(
            "WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {from} + {count})
             INSERT INTO t SELECT i FROM n"
        ));
    };
    let most = resqlite::live::limits::KEYS_PER_TABLE;
    let seen = record(&fixture.db, Detail::Rows, &["t"], || fill(0, most));
    assert_eq!(seen.rowids("t").len(), most);
    let seen = record(&fixture.db, Detail::Rows, &["t"], || fill(most, most + 1));
    assert_eq!(
        (&seen.change("t").keys, seen.operations("t")),
        (&Keys::Any, (most as u64 + 1, 0, 0))
    );
}

#[test]
fn a_table_is_named_as_declared_however_the_statement_spells_it() {
    let fixture = Fixture::new("CREATE TABLE \"Größe\"(a)");
    let seen = record(&fixture.db, Detail::Rows, &["Größe"], || {
        drop(fixture.run("INSERT INTO MAIN.\"GRößE\" VALUES (1)"))
    });
    assert_eq!(seen.rowids("Größe"), [1]);
}

#[test]
fn a_key_that_is_text_with_nul_and_invalid_utf8_is_kept_byte_for_byte() {
    let fixture = Fixture::new("CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID");
    let seen = record(&fixture.db, Detail::Rows, &["t"], || {
        fixture.run("INSERT INTO t VALUES (CAST(x'6100ff' AS TEXT))");
    });
    assert_eq!(seen.keys("t"), [key([Value::Text(b"a\0\xff".as_slice().into())])]);
}
