//! Filters: which conditions become one, and which do not.

use super::{Db, db, text, with_pragmas};
use crate::{
    core::{
        params::Params,
        value::Value::{self, *},
    },
    sql::Precision,
};

fn people() -> Db {
    db("
        CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, r REAL, s TEXT, k TEXT COLLATE NOCASE, x, g AS (n + 1));
        CREATE TABLE u(id INTEGER PRIMARY KEY, t INTEGER, m INTEGER);
        CREATE VIEW v AS SELECT * FROM t;
        CREATE TABLE one(a);
    ")
}

/// The conditions on `t` that a WHERE clause comes to.
fn of_where(db: &Db, condition: &str, params: impl Into<Params>) -> String {
    let explanation = db.explain(&format!("SELECT 1 FROM t WHERE {condition}"), params);
    explanation.tables[0].conjuncts.join(" AND ")
}

fn none<const N: usize>(condition: &str, params: [Value; N]) {
    let db = people();
    assert_eq!(of_where(&db, condition, params), "", "{condition}");
}

// G115
#[test]
fn a_key_given_as_a_parameter_is_a_filter() {
    let db = people();
    let explanation = db.explain("SELECT s FROM t WHERE id = ?", [Integer(7)]);
    assert_eq!(explanation.precision(), Precision::Key);
    assert_eq!(explanation.tables[0].why, None);
    assert_eq!(
        db.reads("SELECT s FROM t WHERE id = ?", [Integer(7)]),
        "main.t(id, s) WHERE id = 7"
    );
}

// G115
#[test]
fn ranges_are_filters_of_their_own_precision() {
    let db = people();
    let explanation = db.explain(
        "SELECT s FROM t WHERE n BETWEEN ? AND id AND n < 10",
        [Integer(1)],
    );
    assert_eq!(explanation.tables[0].conjuncts, ["n >= 1 AND n < 10"]);
    assert_eq!(explanation.precision(), Precision::Range);
    assert_eq!(of_where(&db, "n BETWEEN 1 AND 5", ()), "n >= 1 AND n <= 5");
    assert_eq!(of_where(&db, "n > 1 AND 9 >= n AND n < 9", ()), "n > 1 AND n < 9");
    assert_eq!(of_where(&db, "n BETWEEN 5 AND 1", ()), "n >= 5");
}

#[test]
fn several_columns_make_several_conditions() {
    let db = people();
    assert_eq!(
        of_where(&db, "n IN (3, 1, 2) AND s = 'a' AND r >= 0.5 AND x IS 1", ()),
        "n IN (1, 2, 3) AND r >= 0.5 AND s = 'a' AND x = 1"
    );
}

#[test]
fn parameters_are_numbered_and_named_as_sqlite_does() {
    let db = people();
    assert_eq!(
        of_where(
            &db,
            "n = ?2 AND s = ? AND x = ?1",
            [Integer(1), Integer(2), text("three")]
        ),
        "n = 2 AND s = 'three' AND x = 1"
    );
    let named = Params::named([("n", Integer(5)), (":s", text("a"))]);
    assert_eq!(
        of_where(&db, "n = $n AND s = :s AND x = @n", named),
        "n = 5 AND s = 'a' AND x = 5"
    );
    let sql = "SELECT ? FROM t WHERE n = ? LIMIT ? OFFSET ?";
    let explanation = db.explain(sql, [Integer(1), Integer(2), Integer(3), Integer(4)]);
    assert_eq!(explanation.tables[0].conjuncts, ["n = 2"]);
}

#[test]
fn literals_have_the_value_that_sqlite_reads() {
    let db = people();
    for (literal, value) in [
        ("0x10", "16"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1e3", "1000.0"),
        (".5", "0.5"),
        ("1_000", "1000"),
        ("'it''s'", "'it''s'"),
        ("X'00fF'", "x'00ff'"),
        ("+5", "5"),
    ] {
        assert_eq!(
            of_where(&db, &format!("x = {literal}"), ()),
            format!("x = {value}")
        );
    }
}

// G116
#[test]
fn values_that_sqlite_would_convert_are_no_filter() {
    none("n = ?", [text("5")]);
    none("s = ?", [Integer(5)]);
    none("r = ?", [text("1.5")]);
    none("r = ?", [Integer((1 << 53) + 1)]);
    none("n IN (1, '2')", []);
    none("s < 5", []);
    let db = people();
    let why = db.why("SELECT 1 FROM t WHERE n = ?", [text("5")]);
    assert_eq!(
        why,
        "no filter by n: it is compared with a value of another type, which SQLite converts"
    );
}

#[test]
fn values_of_the_kind_of_their_column_are() {
    let db = people();
    for (condition, value, shown) in [
        ("n = ?", Real(5.0), "n = 5.0"),
        ("r = ?", Integer(5), "r = 5"),
        ("s = ?", Blob(vec![1]), "s = x'01'"),
        ("x = ?", text("5"), "x = '5'"),
        ("n < ?", Blob(vec![]), "n < x''"),
    ] {
        assert_eq!(of_where(&db, condition, [value]), shown);
    }
}

// G116
#[test]
fn null_is_no_filter() {
    none("n = ?", [Null]);
    none("n IS ?", [Null]);
    none("n = ?", [Real(f64::NAN)]);
    none("n = NULL", []);
    none("n IN (1, NULL)", []);
    none("n IN (1, ?)", [Null]);
    none("n IS NULL", []);
    none("n > ?", [Null]);
}

// G116
#[test]
fn collations_expressions_and_computed_columns_are_no_filter() {
    none("k = 'a'", []);
    none("s = 'a' COLLATE NOCASE", []);
    none("s COLLATE NOCASE = 'a'", []);
    none("g = 1", []);
    none("+n = 1", []);
    none("n + 0 = 1", []);
    none("-n = 1", []);
    none("abs(n) = 1", []);
    none("n = n", []);
    none("rowid = 1", []);
    none("NOT n = 1", []);
    none("n = 1 OR s = 'a'", []);
    none("(n, s) = (1, 'a')", []);
    none("n = 1 + 1", []);
    none("n = (SELECT 1)", []);
    none("CASE WHEN n = 1 THEN 1 END", []);
    let db = people();
    let why = |sql| db.why(sql, ());
    assert_eq!(
        why("SELECT 1 FROM t WHERE k = 'a'"),
        "no filter by k: its collation is not BINARY"
    );
}

#[test]
fn a_double_quoted_word_is_a_column() {
    let db = people();
    assert_eq!(of_where(&db, "\"n\" = 1", ()), "n = 1");
    assert_eq!(of_where(&db, "x = \"s\"", ()), "");
}

#[test]
fn an_alias_of_a_result_does_not_hide_a_column() {
    let db = people();
    let conditions = |sql: &str| db.explain(sql, ()).tables[0].conjuncts.join(" AND ");
    assert_eq!(conditions("SELECT s AS n FROM t WHERE n = 1"), "n = 1");
    assert_eq!(conditions("SELECT n AS other FROM t WHERE other = 1"), "");
}

#[test]
fn names_are_resolved_through_aliases_and_schemas() {
    let db = people();
    let conditions = |sql: &str| db.explain(sql, ()).tables[0].conjuncts.join(" AND ");
    for sql in [
        "SELECT 1 FROM t AS a WHERE a.n = 1",
        "SELECT 1 FROM t a WHERE A.N = 1",
        "SELECT 1 FROM main.t WHERE main.t.n = 1",
        "SELECT 1 FROM T WHERE t.[n] = 1",
        "SELECT 1 FROM \"t\" AS \"a b\" WHERE \"a b\".\"n\" = 1",
        "SELECT 1 FROM t AS u, u AS t WHERE u.n = 1",
        "SELECT 1 FROM t, u WHERE n = 1",
    ] {
        assert_eq!(conditions(sql), "n = 1", "{sql}");
    }
}

#[test]
fn each_table_of_a_join_has_its_own_conditions() {
    let db = people();
    assert_eq!(
        db.plain("SELECT s FROM t JOIN u ON u.t = t.id AND u.m = 5 WHERE t.n = 1"),
        "main.t(id, n, s) WHERE n = 1; main.u(t, m) WHERE m = 5"
    );
    assert_eq!(
        db.plain("SELECT s FROM t LEFT JOIN u ON u.t = t.id AND u.m = 5 AND t.n = 2 WHERE t.n = 1"),
        "main.t(id, n, s) WHERE n = 1; main.u(t, m) WHERE m = 5"
    );
    assert_eq!(
        db.plain("SELECT s FROM t LEFT JOIN u ON u.t = t.id WHERE u.m = 5"),
        "main.t(id, s); main.u(t, m) WHERE m = 5"
    );
}

// G116
#[test]
fn a_table_that_occurs_twice_has_a_filter_for_each_place_or_none() {
    let db = people();
    assert_eq!(
        db.plain("SELECT 1 FROM t AS a JOIN t AS b ON a.id = b.n JOIN u WHERE a.n = 1 AND u.m = 2"),
        "main.t(id, n); main.u(m) WHERE m = 2"
    );
    assert_eq!(
        db.plain("SELECT 1 FROM t AS a JOIN t AS b WHERE a.n = 1 AND b.id = 2"),
        "main.t(id, n) WHERE n = 1; main.t(id, n) WHERE id = 2"
    );
    assert_eq!(
        db.plain("SELECT 1 FROM t AS a JOIN t AS b WHERE a.n = 1 AND b.n = 1"),
        "main.t(n) WHERE n = 1"
    );
}

// G116
#[test]
fn statements_that_are_not_understood_have_no_filter() {
    let db = people();
    for sql in [
        "SELECT 1 FROM t WHERE n = 1 AND id IN one",
        "SELECT 1 FROM (t JOIN u) WHERE n = 1",
        "WITH RECURSIVE c(x) AS (SELECT id FROM t WHERE n = 1 UNION SELECT x FROM c) SELECT * FROM c",
    ] {
        let explanation = db.explain(sql, ());
        let filtered = explanation.tables.iter().any(|table| !table.conjuncts.is_empty());
        assert!(!filtered, "{sql}: {explanation:?}");
        assert!(
            explanation.tables.iter().all(|table| table.why.is_some()),
            "{sql}"
        );
    }
}

#[test]
fn temp_tables_hide_others_in_filters_too() {
    let db = db("CREATE TABLE t(a TEXT); CREATE TEMP TABLE t(b INT, a INT)");
    assert_eq!(db.plain("SELECT 1 FROM t WHERE a = 5"), "temp.t(a) WHERE a = 5");
    assert_eq!(db.plain("SELECT 1 FROM main.t WHERE a = 5"), "main.t(a)");
    assert_eq!(
        db.plain("SELECT 1 FROM main.t, temp.t AS x WHERE b = 5"),
        "main.t(); temp.t(b) WHERE b = 5"
    );
}

#[test]
fn text_in_a_database_of_utf16_is_no_filter() {
    let db = with_pragmas(&[("encoding", "UTF16")], "CREATE TABLE t(s TEXT, n INT)");
    assert_eq!(
        db.plain("SELECT 1 FROM t WHERE s = 'a' AND n = 1"),
        "main.t(s, n) WHERE n = 1"
    );
}

#[test]
fn a_strict_any_column_is_compared_as_it_is() {
    let db = db("CREATE TABLE t(a ANY) STRICT");
    assert_eq!(db.plain("SELECT 1 FROM t WHERE a = 5"), "main.t(a) WHERE a = 5");
    assert_eq!(db.plain("SELECT 1 FROM t WHERE a = '5'"), "main.t(a)");
}

#[test]
fn tables_without_rowids_are_filtered_by_their_key() {
    let db = db("CREATE TABLE t(a TEXT, b INT, c, PRIMARY KEY (a, b)) WITHOUT ROWID");
    assert_eq!(
        db.plain("SELECT c FROM t WHERE a = 'x' AND b > 3"),
        "main.t(a, b, c) WHERE a = 'x' AND b > 3"
    );
}

// G115
#[test]
fn aggregates_windows_and_limits_do_not_hinder_filters() {
    let db = people();
    for sql in [
        "SELECT count(*), max(s) FROM t WHERE n = 1 GROUP BY r HAVING count(*) > 1 ORDER BY 2 LIMIT 3",
        "SELECT DISTINCT sum(n) OVER w FROM t WHERE n = 1 WINDOW w AS (ORDER BY s)",
        "SELECT count(*) FILTER (WHERE r = 2) FROM t NOT INDEXED WHERE n = 1",
    ] {
        assert_eq!(db.explain(sql, ()).tables[0].conjuncts, ["n = 1"], "{sql}");
    }
}

#[test]
fn long_values_are_shown_in_part() {
    let db = people();
    let long = "é".repeat(500);
    let shown = of_where(&db, "s = ?", [text(&long)]);
    assert!(shown.len() < 200 && shown.ends_with("…'"), "{shown}");
    let many: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    let shown = of_where(&db, &format!("n IN ({})", many.join(",")), ());
    assert!(shown.len() < 200 && shown.ends_with(", …)"), "{shown}");
}
