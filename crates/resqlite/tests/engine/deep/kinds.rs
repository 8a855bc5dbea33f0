//! Statements that are deep or long. Tables have one row, so that no product of tables is large.

/// A statement, and the schema that it needs.
#[derive(Debug, Default)]
pub struct Deep {
    pub schema: String,
    pub sql: String,
    /// The value of its only parameter, if it has one.
    pub param: Option<String>,
}

/// A kind of statement, how deep one is made at most (beyond that only time grows), and how it is made.
pub type Kind = (&'static str, usize, fn(usize) -> Deep);

const T: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 'x');";

fn on_table(sql: String) -> Deep {
    Deep {
        schema: T.into(),
        sql,
        param: None,
    }
}

fn with_schema(schema: String, sql: String) -> Deep {
    Deep {
        schema: T.to_owned() + &schema,
        sql,
        param: None,
    }
}

fn with_param(sql: &str, param: String) -> Deep {
    Deep {
        param: Some(param),
        ..on_table(sql.into())
    }
}

/// `open` so often, then `core`, then `close` so often.
fn nested(depth: usize, open: &str, core: &str, close: &str) -> String {
    open.repeat(depth) + core + &close.repeat(depth)
}

/// `part` of each number, between the numbers before and after it.
fn each(count: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (1..=count).map(part).collect::<Vec<_>>().join(separator)
}

/// Common table expressions of which each reads the one before it.
fn ctes(depth: usize, hint: &str, rest: &str) -> Deep {
    let tables = each(depth, "", |n| {
        format!(", c{n} AS {hint}(SELECT a FROM c{} {rest})", n - 1)
    });
    on_table(format!(
        "WITH c0 AS (SELECT a FROM t){tables} SELECT a FROM c{depth}"
    ))
}

/// Views of which each is made of the one before it.
fn views(depth: usize, select: impl Fn(usize) -> String) -> Deep {
    let views = each(depth, "", |n| format!("CREATE VIEW v{n} AS {};", select(n - 1)));
    with_schema(
        format!("CREATE VIEW v0 AS SELECT a FROM t;{views}"),
        format!("SELECT a FROM v{depth}"),
    )
}

#[rustfmt::skip]
pub const KINDS: &[Kind] = &[
    ("parentheses", 100_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "(", "a", ")")))),
    ("signs", 100_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "- ", "a", "")))),
    ("sums to the left", 100_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "", "a", " + 1")))),
    ("sums to the right", 100_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "a + (", "1", ")")))),
    ("conditions", 100_000, |n| on_table(format!("SELECT a FROM t WHERE {}", each(n, " OR ", |n| format!("a = {n}"))))),
    ("conditions inside each other", 100_000, |n| on_table(format!("SELECT a FROM t WHERE {}", nested(n, "a = 1 AND NOT (", "a = 2", ")")))),
    ("calls", 100_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "abs(", "a", ")")))),
    ("casts", 100_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "CAST(", "a", " AS TEXT)")))),
    ("collations", 100_000, |n| on_table(format!("SELECT a FROM t ORDER BY {}", nested(n, "", "b", " COLLATE NOCASE")))),
    ("CASE", 100_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "CASE WHEN a THEN ", "1", " ELSE 2 END")))),
    ("long CASE", 20_000, |n| on_table(format!("SELECT CASE a {} END FROM t", each(n, " ", |n| format!("WHEN {n} THEN {n}"))))),
    ("list", 50_000, |n| on_table(format!("SELECT a FROM t WHERE a IN ({})", each(n, ", ", |n| n.to_string())))),
    ("result columns", 3_000, |n| on_table(format!("SELECT {} FROM t", each(n, ", ", |n| format!("a + {n}"))))),
    ("VALUES", 20_000, |n| on_table(format!("VALUES {}", each(n, ", ", |n| format!("({n})"))))),
    ("compound", 3_000, |n| on_table(each(n, " UNION ALL ", |_| "SELECT a FROM t".into()))),
    ("compound that sorts", 3_000, |n| on_table(each(n, " UNION ", |_| "SELECT a FROM t".into()) + " ORDER BY 1")),
    ("compounds inside each other", 300, |n| on_table(nested(n, "SELECT a FROM (", "SELECT a FROM t", &format!("){}", " UNION ALL SELECT a FROM t".repeat(50))))),
    ("compounds that multiply", 9, |n| with_schema("CREATE TABLE none(a);".into(), format!("SELECT 1 FROM {}", each(n, ", ", |n| format!("(SELECT a FROM none{}) AS t{n}", " UNION ALL SELECT a FROM none".repeat(50)))))),
    ("subqueries in expressions", 10_000, |n| on_table(format!("SELECT {} FROM t", nested(n, "(SELECT ", "a", ")")))),
    ("subqueries that read", 2_000, |n| on_table(format!("SELECT {}", nested(n, "(SELECT a + ", "1", " FROM t)")))),
    ("EXISTS", 2_000, |n| on_table(format!("SELECT a FROM t WHERE {}", nested(n, "EXISTS (SELECT 1 FROM t WHERE ", "1", ")")))),
    ("IN", 2_000, |n| on_table(format!("SELECT a FROM t WHERE {}", nested(n, "a IN (SELECT a FROM t WHERE ", "1", ")")))),
    ("subqueries in FROM", 5_000, |n| on_table(nested(n, "SELECT a FROM (", "SELECT a FROM t", ")"))),
    ("subqueries in FROM with LIMIT", 5_000, |n| on_table(nested(n, "SELECT a FROM (", "SELECT a FROM t LIMIT 1", ") LIMIT 1"))),
    ("subqueries in FROM with expressions", 2_000, |n| on_table(nested(n, "SELECT a + 1 + 1 + 1 + 1 AS a FROM (", "SELECT a FROM t", ") WHERE a > 0"))),
    ("joins in parentheses", 2_000, |n| on_table(format!("SELECT 1 FROM {}", nested(n, "(", "t", ")")))),
    ("joins", 100, |n| on_table(format!("SELECT t1.a FROM {}", each(n, ", ", |n| format!("t AS t{n}"))))),
    ("aliases", 2_000, |n| on_table(format!("SELECT {} AS c FROM t WHERE {} > 0", nested(n, "", "a", " + 1"), nested(n, "", "c", " + 1")))),
    ("CTEs", 2_000, |n| ctes(n, "", "")),
    ("CTEs with LIMIT", 2_000, |n| ctes(n, "", "LIMIT 1")),
    ("materialized CTEs", 2_000, |n| ctes(n, "MATERIALIZED ", "")),
    ("CTEs with GROUP BY", 2_000, |n| ctes(n, "", "GROUP BY a")),
    ("CTEs inside each other", 2_000, |n| on_table(nested(n, "WITH c AS (", "SELECT a FROM t", ") SELECT a FROM c"))),
    ("recursive CTE", 900, |n| on_table(format!("WITH RECURSIVE c(a) AS (VALUES (1) UNION ALL SELECT {} FROM c WHERE a < 3) SELECT a FROM c", nested(n, "", "a", " + 1")))),
    ("views", 2_000, |n| views(n, |before| format!("SELECT a FROM v{before}"))),
    ("views with conditions", 1_000, |n| views(n, |before| format!("SELECT a FROM v{before} WHERE a > 0"))),
    ("views of deep expressions", 9, |n| views(n, |before| format!("SELECT {} AS a FROM v{before}", nested(900, "", "a", " + 1")))),
    ("views of deep subqueries", 100, |n| views(n, |before| format!("SELECT {} AS a FROM v{before}", nested(40, "(SELECT ", "a", ")")))),
    ("views of deep conditions", 9, |n| views(n, |before| format!("SELECT DISTINCT {} AS a FROM v{before} WHERE a > 0", nested(900, "", "a", " + 1")))),
    ("views that join the one before with itself", 40, |n| views(n, |before| format!("SELECT x.a FROM v{before} AS x, v{before} AS y"))),
    ("views that read the one before twice", 40, |n| views(n, |before| format!("SELECT a FROM v{before} UNION ALL SELECT a FROM v{before}"))),
    ("views that ask the one before twice", 40, |n| views(n, |before| format!("SELECT (SELECT a FROM v{before}) + (SELECT a FROM v{before}) AS a"))),
    ("views that double an expression", 14, |n| views(n, |before| format!("SELECT a || a AS a FROM v{before}"))),
    ("views of many terms", 30, |n| views(2, |before| each(10 * n, " UNION ALL ", |_| format!("SELECT a FROM v{before}")))),
    ("LIKE", 40_000, |n| with_param(&format!("SELECT id FROM t WHERE '{}' LIKE ?", "a".repeat(n + 1)), "%a".repeat(n) + "%")),
    ("GLOB", 40_000, |n| with_param(&format!("SELECT id FROM t WHERE '{}' GLOB ?", "a".repeat(n + 1)), "*a".repeat(n) + "*")),
    ("REGEXP", 10_000, |n| with_param("SELECT id FROM t WHERE 'a' REGEXP ?", nested(n, "(", "a", ")"))),
    ("JSON", 100_000, |n| with_param("SELECT json_valid(?1), (SELECT count(*) FROM json_tree(?1))", nested(n, "[", "", "]"))),
    ("JSON patch", 100_000, |n| with_param("SELECT length(json_patch('{}', ?1)), length(jsonb(?1)) FROM t", nested(n, "{\"a\":", "1", "}"))),
    ("JSON path", 40_000, |n| with_param("SELECT json_set('{}', '$' || ?, 1) FROM t", ".a".repeat(n))),
    ("FTS5", 10_000, |n| { let schema = "CREATE VIRTUAL TABLE f USING fts5(c); INSERT INTO f VALUES ('word');"; let deep = with_schema(schema.into(), "SELECT rowid FROM f WHERE f MATCH ?".into()); Deep { param: Some(nested(n, "(word OR ", "word", ")")),..deep } }),
    ("FTS4", 10_000, |n| { let schema = "CREATE VIRTUAL TABLE f USING fts4(c); INSERT INTO f VALUES ('word');"; let deep = with_schema(schema.into(), "SELECT rowid FROM f WHERE f MATCH ?".into()); Deep { param: Some(nested(n, "(word OR ", "word", ")")),..deep } }),
    ("R-tree", 2_000, |n| with_schema("CREATE VIRTUAL TABLE r USING rtree(id, x0, x1); INSERT INTO r VALUES (1, 1, 2);".into(), format!("SELECT id FROM r WHERE {}", each(n, " AND ", |n| format!("x0 < {}", n + 1))))),
    ("generated columns", 1_990, |n| with_schema(format!("CREATE TABLE g(c0 INT{}); INSERT INTO g(c0) VALUES (1);", each(n, "", |n| format!(", c{n} AS (c{} + 1)", n - 1))), format!("SELECT c{n} AS a FROM g"))),
    ("generated columns of deep expressions", 9, |n| with_schema(format!("CREATE TABLE g(c0 INT{}); INSERT INTO g(c0) VALUES (1);", each(n, "", |n| format!(", c{n} AS ({})", nested(900, "", &format!("c{}", n - 1), " + 1")))), format!("SELECT c{n} AS a FROM g"))),
    ("generated columns that double", 12, |n| with_schema(format!("CREATE TABLE g(c0 INT{}); INSERT INTO g(c0) VALUES (1);", each(n, "", |n| format!(", c{n} AS (c{0} || c{0})", n - 1))), format!("SELECT typeof(c{n}) AS a FROM g LIMIT 0"))),
    ("triggers", 1_500, |n| with_schema(each(n + 1, "", |n| format!("CREATE TABLE r{n}(a);")) + &each(n, "", |n| format!("CREATE TRIGGER g{n} AFTER INSERT ON r{n} BEGIN INSERT INTO r{} VALUES (new.a + 1); END;", n + 1)), "INSERT INTO r1 VALUES (1)".into())),
    ("trigger that calls itself", 3_000, |n| with_schema(format!("PRAGMA recursive_triggers = ON; CREATE TABLE r(a); CREATE TRIGGER g AFTER INSERT ON r WHEN new.a < {n} BEGIN INSERT INTO r VALUES (new.a + 1); END;"), "INSERT INTO r VALUES (1)".into())),
    ("cascades", 1_500, |n| with_schema("CREATE TABLE r0(a PRIMARY KEY); INSERT INTO r0 VALUES (1);".to_owned() + &each(n, "", |n| format!("CREATE TABLE r{n}(a PRIMARY KEY REFERENCES r{} ON DELETE CASCADE ON UPDATE CASCADE); INSERT INTO r{n} VALUES (1);", n - 1)), "DELETE FROM r0".into())),
    ("CHECK", 3_000, |n| with_schema(String::new(), format!("CREATE TABLE c(a CHECK ({}))", nested(n, "", "a", " + 1")))),
    ("index on an expression", 3_000, |n| with_schema(String::new(), format!("CREATE INDEX i ON t({}) WHERE {}", nested(n, "", "a", " + 1"), nested(n, "NOT ", "a", "")))),
    ("written expressions", 3_000, |n| on_table(format!("UPDATE t SET a = {} WHERE {} RETURNING {}", nested(n, "", "a", " + 1"), nested(n, "- ", "1", ""), nested(n, "abs(", "a", ")")))),
    ("rows of VALUES", 20_000, |n| on_table(format!("INSERT INTO t(a) VALUES {}", each(n, ", ", |n| format!("({n})"))))),
    ("windows", 900, |n| on_table(format!("SELECT sum({}) OVER (ORDER BY a) FROM t", nested(n, "abs(", "a", ")")))),
];
