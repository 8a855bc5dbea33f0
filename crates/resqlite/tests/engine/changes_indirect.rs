//! What the commit log says about rows that a statement changed by way of something else.

use resqlite::{Options, live::Columns};

use crate::support::{Fixture, Recorded, images, record, table};

fn names(seen: &Recorded) -> Vec<String> {
    seen.commit().tables().map(|(name, _)| name.to_string()).collect()
}

#[test]
fn fts5_changes_are_told_of_the_virtual_table() {
    let fixture = Fixture::new("CREATE VIRTUAL TABLE docs USING fts5(body)");
    let seen = record(&fixture.db, &[images("docs", &[0])], || {
        fixture.run("INSERT INTO docs VALUES ('some text')");
    });
    assert!(seen.any_row("docs"));
    assert_eq!(names(&seen), ["main.docs"]);
}

// G97
#[test]
fn fts5_updates_and_deletes_are_told_of_the_virtual_table() {
    let fixture =
        Fixture::new("CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES ('a'), ('b')");
    for sql in [
        "UPDATE docs SET body = 'c' WHERE rowid = 1",
        "DELETE FROM docs WHERE rowid = 2",
    ] {
        let seen = record(&fixture.db, &[], || drop(fixture.run(sql)));
        assert!(seen.commit().table(&table("docs")).is_some(), "{sql}");
    }
}

#[test]
fn an_update_of_a_shadow_table_may_have_changed_every_column_of_the_virtual_table() {
    let fixture = Fixture::with(
        "CREATE VIRTUAL TABLE docs USING fts5(a, b); INSERT INTO docs VALUES ('x', 'y')",
        Options {
            defensive: Some(false),
            ..Options::default()
        },
    );
    let seen = record(&fixture.db, &[images("docs", &[0])], || {
        fixture.run("UPDATE docs_content SET c1 = 'z'");
    });
    assert_eq!(seen.change("docs").columns, Columns::Any);
    assert!(seen.any_row("docs"));
}

// G97
#[test]
fn rtree_changes_are_told_of_the_virtual_table() {
    let fixture = Fixture::new("CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1)");
    let seen = record(&fixture.db, &[images("boxes", &[0])], || {
        fixture.run("INSERT INTO boxes VALUES (1, 0.0, 1.0)");
    });
    assert!(seen.any_row("boxes"));
    assert_eq!(names(&seen), ["main.boxes"]);
}

#[test]
fn of_virtual_tables_with_nested_names_the_longest_owns_a_shadow_table() {
    let fixture =
        Fixture::new("CREATE VIRTUAL TABLE a USING fts5(x); CREATE VIRTUAL TABLE a_b USING fts5(x)");
    let seen = record(&fixture.db, &[], || {
        drop(fixture.run("INSERT INTO a_b VALUES ('x')"))
    });
    assert_eq!(names(&seen), ["main.a_b"]);
}

#[test]
fn a_trigger_makes_changes_in_its_own_table_known() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a); CREATE TABLE log(id INTEGER PRIMARY KEY, x);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log(x) VALUES (new.a); END",
    );
    let asks = [images("t", &[0]), images("log", &[0, 1])];
    let seen = record(&fixture.db, &asks, || {
        drop(fixture.run("INSERT INTO t VALUES (5)"))
    });
    assert_eq!(seen.rows("t"), ["insert 5"]);
    assert_eq!(seen.rows("log"), ["insert 1 5"]);
}

// G96
#[test]
fn a_trigger_within_a_trigger_makes_its_changes_known() {
    let fixture = Fixture::new(
        "CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); INSERT INTO c VALUES (0);
         CREATE TRIGGER ta AFTER INSERT ON a BEGIN INSERT INTO b VALUES (1); END;
         CREATE TRIGGER tb AFTER INSERT ON b BEGIN UPDATE c SET x = 1; END",
    );
    let seen = record(&fixture.db, &[images("c", &[0])], || {
        drop(fixture.run("INSERT INTO a VALUES (1)"))
    });
    assert_eq!(seen.rows("c"), ["update 0 to 1"]);
    assert_eq!((seen.operations("c"), seen.columns("c")), ((0, 1, 0), vec![0]));
}

// G96
#[test]
fn a_cascade_makes_changes_in_the_child_known() {
    let fixture = Fixture::new(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY);
         CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE SET NULL ON UPDATE CASCADE);
         INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (5, 1), (6, 2)",
    );
    let seen = record(&fixture.db, &[images("child", &[0, 1])], || {
        drop(fixture.run("DELETE FROM parent WHERE id = 1"))
    });
    assert_eq!(seen.rows("child"), ["update 5 1 to 5 null"]);
    assert_eq!(seen.columns("child"), [1]);
    let seen = record(&fixture.db, &[images("child", &[0, 1])], || {
        drop(fixture.run("UPDATE parent SET id = 3"))
    });
    assert_eq!(seen.rows("child"), ["update 6 2 to 6 3"]);
    assert_eq!(seen.columns("child"), [1]);
}

#[test]
fn a_change_through_a_view_is_told_of_its_table() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t;
         CREATE TRIGGER r INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES (new.a); END",
    );
    let seen = record(&fixture.db, &[images("t", &[0])], || {
        drop(fixture.run("INSERT INTO v VALUES (5)"))
    });
    assert_eq!(seen.rows("t"), ["insert 5"]);
    assert_eq!(names(&seen), ["main.t"]);
}
