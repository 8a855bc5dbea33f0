//! Tables and columns.

use std::collections::BTreeSet;

use super::{db, with_options};
use crate::{
    core::{function::Function, options::Options},
    sql::{Precision, foreign},
};

const SHOP: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c);
    CREATE TABLE u(id INTEGER PRIMARY KEY, t, b, d);
    CREATE VIEW v AS SELECT a, b FROM t;
    CREATE VIEW w AS SELECT v.a AS x FROM v JOIN u ON u.t = v.b;
";

// G114
#[test]
fn columns_are_those_that_the_statement_names_anywhere() {
    let db = db(SHOP);
    assert_eq!(db.plain("SELECT a FROM t ORDER BY b"), "main.t(a, b)");
    assert_eq!(db.plain("SELECT * FROM t"), "main.t(id, a, b, c)");
    assert_eq!(
        db.plain("SELECT max(a) FROM t GROUP BY b HAVING sum(c)"),
        "main.t(a, b, c)"
    );
    assert_eq!(
        db.plain("SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t"),
        "main.t(a, b)"
    );
    assert_eq!(db.plain("SELECT A, [B], \"c\" FROM T"), "main.t(a, b, c)");
}

// G113
#[test]
fn a_table_of_which_no_column_is_used_is_read_all_the_same() {
    let db = db(SHOP);
    assert_eq!(db.plain("SELECT count(*) FROM t"), "main.t()");
    assert_eq!(db.plain("SELECT count(*) FROM MAIN.T"), "main.t()");
    assert_eq!(db.plain("SELECT t.a FROM t, u"), "main.t(a); main.u()");
    assert_eq!(
        db.plain("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)"),
        "main.t(a); main.u()"
    );
    assert_eq!(
        db.plain("SELECT 1 FROM t LIMIT (SELECT count(*) FROM u)"),
        "main.t(); main.u()"
    );
    assert_eq!(
        db.plain("SELECT a FROM t ORDER BY (SELECT 1 FROM u)"),
        "main.t(a); main.u()"
    );
}

#[test]
fn the_rowid_is_no_column_unless_one_is_its_alias() {
    let db = db("CREATE TABLE t(a, b); CREATE TABLE u(id INTEGER PRIMARY KEY, a)");
    assert_eq!(db.plain("SELECT rowid FROM t"), "main.t()");
    assert_eq!(db.plain("SELECT a FROM t WHERE oid = 1"), "main.t(a)");
    assert_eq!(db.plain("SELECT rowid FROM u"), "main.u(id)");
}

// G113
#[test]
fn subqueries_ctes_compounds_and_views_are_resolved() {
    let db = db(SHOP);
    assert_eq!(db.plain("SELECT a FROM (SELECT a, b FROM t)"), "main.t(a, b)");
    assert_eq!(
        db.plain("SELECT a FROM t WHERE b IN (SELECT d FROM u)"),
        "main.t(a, b); main.u(d)"
    );
    assert_eq!(
        db.plain("SELECT a FROM t UNION ALL SELECT d FROM u"),
        "main.t(a); main.u(d)"
    );
    assert_eq!(
        db.plain("WITH u AS (SELECT a FROM t) SELECT count(*) FROM u"),
        "main.t(a)"
    );
    assert_eq!(
        db.plain("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n JOIN t WHERE i < t.a) SELECT * FROM n"),
        "main.t(a)"
    );
    assert_eq!(db.plain("SELECT b FROM v"), "main.t(a, b)");
    assert_eq!(db.plain("SELECT count(*) FROM v"), "main.t(a, b)");
    assert_eq!(db.plain("SELECT x FROM w"), "main.t(a, b); main.u(t)");
    assert_eq!(db.plain("SELECT 1"), "");
}

// G113
#[test]
fn a_table_that_is_only_joined_by_using_or_natural_is_not_missed() {
    let db = db(SHOP);
    let both = "main.t(*); main.u(*)";
    assert_eq!(db.plain("SELECT t.a FROM t JOIN u USING (b)"), both);
    assert_eq!(db.plain("SELECT 1 FROM t NATURAL JOIN u"), both);
    assert_eq!(db.plain("SELECT a FROM t FULL JOIN u USING (b)"), both);
    assert_eq!(
        db.plain("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u JOIN u AS x USING (d))"),
        both
    );
}

#[test]
fn neither_is_one_that_a_view_joins_so() {
    let db = db("
        CREATE TABLE t(a, b); CREATE TABLE u(b, c);
        CREATE VIEW \"in\"\"ner\" AS SELECT t.a FROM t JOIN u USING (b);
        CREATE VIEW outer1 AS SELECT a FROM \"in\"\"ner\";
        CREATE VIEW outer2 AS SELECT * FROM OUTER1;
    ");
    assert_eq!(db.plain("SELECT a FROM Outer2"), "main.t(*); main.u(*)");
    assert_eq!(db.plain("SELECT count(*) FROM outer1"), "main.t(*); main.u(*)");
}

// G114
#[test]
fn columns_of_indexes_count_because_they_decide_about_order() {
    let db = db("
        CREATE TABLE t(a, b, c, d, e UNIQUE);
        CREATE INDEX i ON t(b DESC, c) WHERE d IS NOT NULL;
        CREATE TABLE p(a TEXT, b INT, c, d, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE INDEX j ON p(c);
    ");
    assert_eq!(db.plain("SELECT a FROM t"), "main.t(a, b, c, e)");
    assert_eq!(db.plain("SELECT d FROM p"), "main.p(a, b, c, d)");
    assert_eq!(db.plain("SELECT count(*) FROM p"), "main.p(a, b, c)");
}

// G114
#[test]
fn an_index_on_an_expression_makes_any_column_count() {
    let db = db("CREATE TABLE t(a, b); CREATE INDEX i ON t(lower(b))");
    assert_eq!(db.plain("SELECT a FROM t"), "main.t(*)");
    assert_eq!(
        db.why("SELECT a FROM t", ()),
        "one of its indexes is on an expression"
    );
}

#[test]
fn a_computed_column_makes_any_column_count() {
    let db = db("
        CREATE TABLE t(a, b, v AS (a + 1), s AS (b + 1) STORED);
        CREATE TABLE u(a, b, v AS (a + 1)); CREATE INDEX i ON u(v);
    ");
    assert_eq!(db.plain("SELECT v FROM t"), "main.t(*)");
    assert_eq!(db.plain("SELECT s FROM t"), "main.t(*)");
    assert_eq!(db.plain("SELECT a FROM t"), "main.t(a)");
    assert_eq!(db.plain("SELECT b FROM u"), "main.u(*)");
}

#[test]
fn a_column_without_a_name_is_a_column() {
    let db = db("CREATE TABLE t(a, \"\"); CREATE TABLE u(rowid, b)");
    assert_eq!(db.plain("SELECT \"\" FROM t"), "main.t()");
    assert_eq!(
        db.explain("SELECT \"\" FROM t", ()).tables[0].columns,
        Some(vec![String::new()])
    );
    assert_eq!(db.plain("SELECT ROWID FROM u"), "main.u(rowid)");
}

#[test]
fn temp_hides_main_and_main_hides_attached() {
    let db = db("
        CREATE TABLE t(a, b); CREATE TABLE u(a); CREATE TEMP TABLE t(a, x);
        ATTACH ':memory:' AS \"Aux\"; CREATE TABLE aux.u(a); CREATE TABLE aux.z(a);
    ");
    assert_eq!(db.plain("SELECT count(*) FROM t"), "temp.t()");
    assert_eq!(db.plain("SELECT a FROM t"), "temp.t(a)");
    assert_eq!(db.plain("SELECT a FROM main.t"), "main.t(a)");
    assert_eq!(db.plain("SELECT count(*) FROM u"), "main.u()");
    assert_eq!(db.plain("SELECT count(*) FROM AUX.u, z"), "Aux.u(); Aux.z()");
}

// G113
#[test]
fn virtual_tables_that_keep_their_content_are_read_whole() {
    let db = db("
        CREATE VIRTUAL TABLE f USING fts5(title, content, tokenize = 'porter', prefix='2 3');
        CREATE VIRTUAL TABLE \"old one\" USING FTS4(body, order=desc);
        CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
    ");
    assert_eq!(
        db.plain("SELECT title FROM f WHERE f MATCH 'a' ORDER BY rank"),
        "main.f(*)"
    );
    assert_eq!(db.plain("SELECT * FROM f"), "main.f(*)");
    assert_eq!(db.plain("SELECT count(*) FROM F"), "main.f(*)");
    assert_eq!(db.plain("SELECT body FROM [old one]"), "main.old one(*)");
    assert_eq!(db.plain("SELECT id FROM r WHERE x0 > 1"), "main.r(*)");
    assert_eq!(db.why("SELECT id FROM r", ()), "it is a virtual table");
}

// G113
#[test]
fn reading_virtual_tables_whose_rows_come_from_elsewhere_depends_on_everything() {
    let db = db("
        CREATE TABLE t(a, name);
        CREATE VIRTUAL TABLE f USING fts5(a, content='t');
        CREATE VIRTUAL TABLE g USING fts5(a, content='');
        CREATE VIRTUAL TABLE h USING fts5(a, cont='t');
        CREATE VIRTUAL TABLE k USING fts4(a, content=\"t\");
        CREATE VIRTUAL TABLE words USING fts5vocab('f', 'row');
        CREATE VIRTUAL TABLE own USING fts5(a);
    ");
    for sql in [
        "SELECT a FROM f",
        "SELECT a FROM g",
        "SELECT a FROM h",
        "SELECT a FROM k",
        "SELECT term FROM words",
        "SELECT name FROM dbstat",
        "SELECT * FROM pragma_table_info('t')",
        "SELECT count(*) FROM pragma_table_list",
        "SELECT 1 FROM t NATURAL JOIN own",
        "SELECT 1 FROM t JOIN pragma_table_info('t') USING (name)",
        "SELECT * FROM own_content",
    ] {
        assert_eq!(db.plain(sql), "everything", "{sql}");
    }
    assert_eq!(
        db.plain("SELECT own.a FROM own, t WHERE own.a = t.a"),
        "main.t(a); main.own(*)"
    );
}

#[test]
fn json_functions_in_from_read_only_their_arguments() {
    let db = db("CREATE TABLE t(a, tags)");
    assert_eq!(db.plain("SELECT value FROM json_each('[1]')"), "");
    assert_eq!(db.plain("SELECT count(*) FROM json_each('[1]')"), "");
    assert_eq!(db.plain("SELECT value FROM generate_series(1, 9)"), "");
    assert_eq!(db.plain("SELECT a FROM t, json_tree(t.tags)"), "main.t(a, tags)");
}

#[test]
fn a_table_may_be_called_like_a_function() {
    let db = db("CREATE TABLE json_each(a, b)");
    assert_eq!(db.plain("SELECT a FROM json_each"), "main.json_each(a)");
}

// G113
#[test]
fn what_sqlite_keeps_itself_and_what_is_no_query_depends_on_everything() {
    let db = db("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT); ANALYZE");
    for sql in [
        "SELECT name FROM sqlite_schema",
        "SELECT count(*) FROM sqlite_master",
        "SELECT seq FROM SQLITE_SEQUENCE",
        "SELECT * FROM sqlite_temp_schema",
        "SELECT 1 FROM t, sqlite_stat1",
        "PRAGMA table_info(t)",
        "PRAGMA user_version",
        "EXPLAIN SELECT 1 FROM t",
        "EXPLAIN QUERY PLAN SELECT 1 FROM t",
        "INSERT INTO t DEFAULT VALUES RETURNING id",
    ] {
        let explanation = db.explain(sql, ());
        assert!(explanation.unknown.is_some(), "{sql}: {explanation:?}");
        assert_eq!(explanation.precision(), Precision::Unknown);
    }
}

// G135
#[test]
fn functions_that_change_by_themselves_are_named() {
    let db = db("CREATE TABLE t(a); CREATE VIEW v AS SELECT random() AS r, a FROM t");
    let volatile = |sql: &str| {
        assert_eq!(
            db.analyse(sql).reads.is_volatile(),
            !db.explain(sql, ()).volatile.is_empty()
        );
        db.explain(sql, ()).volatile.join(" ")
    };
    assert_eq!(
        volatile("SELECT RANDOM() + random(), datetime('now') FROM t"),
        "datetime random"
    );
    assert_eq!(volatile("SELECT CURRENT_TIMESTAMP"), "current_timestamp");
    assert_eq!(volatile("SELECT r FROM v"), "random");
    assert_eq!(volatile("SELECT uuid(), uuid7() FROM t"), "uuid uuid7");
    let fixed = "SELECT lower(a), max(a), json(a), uuid_str(a), median(a) FROM t WHERE a REGEXP 'x'";
    assert_eq!(volatile(fixed), "");
}

// G231
#[test]
fn functions_of_sqlite_and_resqlite_read_no_table_except_rtreecheck() {
    let db = db("");
    let list = "SELECT DISTINCT lower(name) FROM pragma_function_list";
    let mut names = db
        .connection
        .sqlite
        .prepare(list, false)
        .unwrap()
        .statement
        .unwrap();
    let mut functions = BTreeSet::new();
    while names.step().unwrap() {
        functions.extend(names.column_text(0));
    }
    assert!(functions.contains("bm25") && functions.contains("uuid"));
    let foreign = foreign::find(&db.connection.sqlite, &functions).unwrap();
    assert_eq!(foreign, ["rtreecheck"]);
}

// G231
#[test]
fn a_function_that_is_not_said_to_be_deterministic_can_depend_on_anything() {
    let number = |name| Function::scalar(name, Some(0), |_| Ok(1.into()));
    let options = Options::default()
        .register_function(number("pure").deterministic())
        .register_function(number("Weather"));
    let db = with_options(&options, "CREATE TABLE t(a)");
    assert_eq!(db.plain("SELECT a + pure() FROM t"), "main.t(a)");
    let explanation = db.explain("SELECT weather() FROM t", ());
    assert_eq!(
        explanation.unknown.as_deref(),
        Some("it calls weather, a function that is not said to be deterministic")
    );
    assert_eq!(explanation.volatile, ["weather"]);
}

#[test]
fn a_statement_that_sqlite_refuses_is_an_error() {
    let db = db("CREATE TABLE t(a)");
    let analyse = |sql: &str| {
        super::analyse(
            &db.connection.sqlite,
            &db.connection.guard,
            &db.connection.given_tables,
            sql,
        )
    };
    for sql in [
        "SELECT nothing FROM t",
        "SELECT 1 FROM missing",
        "SELEC",
        "-- nothing",
    ] {
        assert!(analyse(sql).is_err(), "{sql}");
    }
}

// G118
#[test]
fn the_schema_is_the_one_of_now() {
    let db = db("CREATE TABLE t(a, b)");
    assert_eq!(db.plain("SELECT b FROM t"), "main.t(b)");
    db.run("DROP TABLE t; CREATE TABLE t(b, a); CREATE INDEX i ON t(a)");
    assert_eq!(db.plain("SELECT b FROM t"), "main.t(b, a)");
}

#[test]
fn equal_statements_are_analysed_to_equal_reads() {
    let db = db("CREATE TABLE t(a, b INT)");
    let sql = "SELECT a FROM t WHERE b = ?";
    let before = db.analyse(sql);
    assert_eq!(before, db.analyse(sql));
    db.run("CREATE INDEX i ON t(a)");
    assert_eq!(before, db.analyse(sql));
    db.run("DROP TABLE t; CREATE TABLE t(a, b TEXT)");
    assert_ne!(before, db.analyse(sql));
}

#[test]
fn names_of_any_spelling_are_found() {
    let db = db("CREATE TABLE \"a \"\"b\"\"\"(\"c.d\", 'e f'); CREATE TABLE \"ünïcode\"(ä)");
    assert_eq!(
        db.plain("SELECT \"c.d\" FROM \"A \"\"B\"\"\""),
        "main.a \"b\"(c.d)"
    );
    assert_eq!(db.plain("SELECT count(*) FROM [a \"b\"]"), "main.a \"b\"()");
    assert_eq!(db.plain("SELECT ä FROM ünïcode"), "main.ünïcode(ä)");
}
