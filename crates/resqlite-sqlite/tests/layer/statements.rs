//! Binding, stepping, columns.

use std::sync::Arc;

use resqlite_sqlite::ValueRef;

use crate::{memory, prepare, with};

#[test]
fn a_value_of_every_type_is_returned_as_it_was_bound() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT ?1");
    for value in [
        ValueRef::Null,
        ValueRef::Integer(i64::MIN),
        ValueRef::Integer(i64::MAX),
        ValueRef::Real(-0.0),
        ValueRef::Real(f64::INFINITY),
        ValueRef::Text(b""),
        ValueRef::Text(b"nul \0 and \xff"),
        ValueRef::Blob(b""),
        ValueRef::Blob(b"\0\xff"),
    ] {
        statement.bind(1, value).unwrap();
        assert!(statement.step().unwrap());
        assert_eq!(statement.column(0), value);
        statement.reset();
    }
}

#[test]
fn a_nan_is_null() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT ?1");
    statement.bind(1, ValueRef::Real(f64::NAN)).unwrap();
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(0), ValueRef::Null);
}

#[test]
fn bound_values_survive_a_reset_until_they_are_cleared() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT ?1");
    statement.bind(1, ValueRef::Integer(7)).unwrap();
    for _ in 0..2 {
        assert!(statement.step().unwrap());
        assert_eq!(statement.column(0), ValueRef::Integer(7));
        statement.reset();
    }
    statement.clear_bindings();
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(0), ValueRef::Null);
}

#[test]
fn clearing_the_bindings_ends_a_run() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT ?1 UNION ALL SELECT ?1");
    let text = "a text that is bound".repeat(100);
    statement.bind(1, ValueRef::Text(text.as_bytes())).unwrap();
    assert!(statement.step().unwrap());
    statement.clear_bindings();
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(0), ValueRef::Null);
}

#[test]
fn held_bytes_are_kept_until_others_are_held_or_the_bindings_are_cleared() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT ?1, ?2");
    let first: Arc<[u8]> = Arc::from(&b"one, two"[..]);
    let kept = Arc::downgrade(&first);
    statement.hold(&first);
    statement.bind(1, ValueRef::Text(&first[..3])).unwrap();
    statement.bind(2, ValueRef::Blob(&first[5..])).unwrap();
    drop(first);
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(0), ValueRef::Text(b"one"));
    assert_eq!(statement.column(1), ValueRef::Blob(b"two"));

    let second: Arc<[u8]> = Arc::from(&b"three"[..]);
    statement.hold(&second);
    assert!(kept.upgrade().is_none());
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(0), ValueRef::Null);

    statement.reset();
    statement.bind(1, ValueRef::Text(&second)).unwrap();
    statement.bind(2, ValueRef::Text(b"copied")).unwrap();
    statement.hold(&second);
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(0), ValueRef::Text(b"three"));
    assert_eq!(statement.column(1), ValueRef::Text(b"copied"));
    statement.release();
    assert_eq!(Arc::strong_count(&second), 1);
}

#[test]
fn a_statement_that_is_dropped_lets_go_of_what_it_held() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT ?1");
    let bytes: Arc<[u8]> = Arc::from(&b"held"[..]);
    statement.hold(&bytes);
    statement.bind(1, ValueRef::Text(&bytes)).unwrap();
    assert!(statement.step().unwrap());
    drop(statement);
    assert_eq!(Arc::strong_count(&bytes), 1);
}

#[test]
fn a_parameter_that_does_not_exist_is_refused() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT ?1");
    assert_eq!(
        statement.bind(2, ValueRef::Null).unwrap_err().name(),
        "SQLITE_RANGE"
    );
}

#[test]
fn parameters_have_names_and_indices() {
    let connection = memory();
    let statement = prepare(&connection, "SELECT :a, @b, ?5, $c");
    assert_eq!(statement.parameter_count(), 6);
    assert_eq!(
        (statement.parameter_index(":a"), statement.parameter_index("$c")),
        (Some(1), Some(6))
    );
    assert_eq!(
        (statement.parameter_index("a"), statement.parameter_index("x\0")),
        (None, None)
    );
    assert_eq!(
        (
            statement.parameter_name(2).as_deref(),
            statement.parameter_name(3)
        ),
        (Some("@b"), None)
    );
}

#[test]
fn columns_have_names_and_a_missing_column_is_null() {
    let connection = memory();
    let mut statement = prepare(&connection, "SELECT 1 AS one, 2 AS \"größe\"");
    assert_eq!(
        (statement.column_count(), statement.column_name(1).as_str()),
        (2, "größe")
    );
    assert_eq!(statement.column_name(9), "");
    assert!(statement.step().unwrap());
    assert_eq!(statement.column(9), ValueRef::Null);
}

#[test]
fn columns_know_where_they_come_from() {
    let connection = with("CREATE TABLE t(a VARCHAR(9), b); CREATE VIEW v AS SELECT a AS x FROM t");
    let statement = prepare(&connection, "SELECT x, b AS y, 1 FROM v, t AS other");
    let origin = |column| {
        let found = statement.column_origin(column);
        let parts = [found.declared_type, found.table, found.column, found.database];
        parts.map(|part| part.unwrap_or("-".into())).join(" ")
    };
    assert_eq!(origin(0), "VARCHAR(9) t a main");
    assert_eq!(origin(1), "- t b main");
    assert_eq!(origin(2), "- - - -");
    assert_eq!(origin(9), "- - - -");
}

#[test]
fn a_statement_knows_whether_it_writes_or_explains() {
    let connection = with("CREATE TABLE t(a)");
    let kind = |sql| {
        let statement = prepare(&connection, sql);
        (statement.is_read_only(), statement.is_explain())
    };
    assert_eq!(kind("SELECT * FROM t"), (true, false));
    assert_eq!(kind("DELETE FROM t"), (false, false));
    assert!(kind("EXPLAIN DELETE FROM t").1);
}

#[test]
fn re_preparing_after_a_schema_change_is_counted() {
    let connection = with("CREATE TABLE t(a)");
    let mut statement = prepare(&connection, "SELECT * FROM t");
    assert!(!statement.step().unwrap());
    assert_eq!(statement.reprepared(), 0);
    statement.reset();
    connection.execute_script("ALTER TABLE t ADD COLUMN b").unwrap();
    assert!(!statement.step().unwrap());
    assert_eq!((statement.reprepared(), statement.column_count()), (1, 2));
}

#[test]
fn a_statement_that_failed_runs_again_after_a_reset() {
    let connection = with("CREATE TABLE t(a UNIQUE)");
    let mut statement = prepare(&connection, "INSERT INTO t VALUES (?1)");
    for (value, works) in [(1, true), (1, false), (2, true)] {
        statement.bind(1, ValueRef::Integer(value)).unwrap();
        assert_eq!(statement.step().is_ok(), works);
        statement.reset();
    }
}
