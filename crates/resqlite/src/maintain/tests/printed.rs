//! A statement that is printed from its syntax tree is the statement that was read: SQLite makes the same program of both.

use dice::Rng;
use sqlite3_parser::Bump;

use crate::{
    core::threads::start_thread,
    maintain::clauses::printed,
    sql::{
        parse::Tree,
        tests::{Db, db, grammar::rich, sound::SCHEMA},
        tokens,
    },
};

pub(in crate::maintain) const TABLES: &str = "
    CREATE TABLE t(a, b, c, \"d e\", [f], \"g\"\"h\", key, x INT);
    CREATE TABLE u(a, b, x);
    CREATE TABLE one(a);
    CREATE INDEX t_a ON t(a);
    CREATE VIEW v AS SELECT a, b FROM t;
";

/// Expressions of every kind.
pub(in crate::maintain) const EXPRESSIONS: &[&str] = &[
    "a, \"d e\", [f], \"g\"\"h\", `a`, key, t.'a', t.\"d e\", main.t.a, rowid, t.oid",
    "'it''s', x'00ff', X'', 1e400, .5, 5., 0x1F, 1_000, 1e-3, -9223372036854775808, - -5, ~-1, +a, NULL, true",
    "x'00' || a, x'00'AND a, -a, - (-1), ~~1, NOT NOT 1, -(-9223372036854775808), a || -b, a - -b, a--b\n",
    "a IS NOT DISTINCT FROM b, a IS DISTINCT FROM b, a IS NOT b, a IS NULL, a NOT NULL, a NOTNULL, a ISNULL",
    "a IS TRUE, a IS NOT DISTINCT FROM TRUE, a IS NOT DISTINCT FROM NULL, a IS DISTINCT FROM 0",
    "NOT a NOT NULL, a = b NOT NULL, a AND b NOT NULL, -a NOT NULL, a BETWEEN b AND c NOT NULL, a || b NOT NULL",
    "a = b IS NOT DISTINCT FROM c = a, a < b IS DISTINCT FROM c, NOT a IS NOT DISTINCT FROM b",
    "a <> b, a != b, a == b, a = b, a -> 'x', a ->> '$.y' || b, a << 1 >> 2 & 3 | 4 % 5, a * (b + c) / 2",
    "a LIKE b ESCAPE 'x', a NOT LIKE b, a GLOB b, a NOT BETWEEN 1 AND 2, a IN (), a NOT IN (1, 2), (a, b) = (1, 2)",
    "a COLLATE nocase, a COLLATE \"nocase\" = b, a COLLATE 'rtrim' || b, -a COLLATE nocase = b",
    "CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END, CASE WHEN a THEN b END",
    "CAST(a AS TEXT), CAST(a AS VARCHAR(10)), CAST(a AS DECIMAL(10, -5)), CAST(a AS UNSIGNED BIG INT), CAST(a AS \"x y\")",
    "?1, ?, ?7, :a, @b, $c, ?, :a, max(a, b), \"max\"(a, 1), replace(a, 'x', 'y'), random()",
    "a /* comment */ + -- another\n b, (((a))) = ((1)) AND (a OR b) AND NOT (a AND b)",
];

/// Statements of every kind.
const STATEMENTS: &[&str] = &[
    "SELECT count(*) FILTER (WHERE a > 1), count(DISTINCT a), group_concat(a, ',' ORDER BY b DESC) FROM t",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t",
    "SELECT sum(b) OVER w, max(a) FILTER (WHERE a) OVER (w ORDER BY c) FROM t WINDOW w AS (PARTITION BY c)",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
    "WITH s AS NOT MATERIALIZED (WITH q AS MATERIALIZED (SELECT a FROM t) SELECT * FROM q) SELECT s.a FROM s",
    "SELECT * FROM t JOIN u USING (a, b)",
    "SELECT * FROM t CROSS JOIN u ON t.a = u.a",
    "SELECT * FROM t INNER JOIN u ON t.a = u.a, v",
    "SELECT * FROM t NATURAL LEFT OUTER JOIN u NATURAL CROSS JOIN v",
    "SELECT * FROM t LEFT JOIN u ON t.a = u.a RIGHT OUTER JOIN v ON v.a = t.a FULL JOIN v AS w ON 1",
    "SELECT * FROM t OUTER LEFT JOIN u ON t.a = u.a",
    "SELECT * FROM (t JOIN u ON t.a = u.a) AS x, main.v",
    "SELECT * FROM t AS z INDEXED BY t_a WHERE z.a = 1",
    "SELECT t.*, u.* FROM main.t NOT INDEXED, json_each('[1]') AS j, u WHERE t.a = 1",
    "SELECT ALL a FROM t UNION SELECT DISTINCT b FROM u EXCEPT VALUES (1), (2) INTERSECT SELECT 3 ORDER BY 1",
    "SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1), (SELECT 1), ((SELECT 1)), a IN one, (a, b) IN (SELECT 1, 2) FROM t",
    "SELECT \"a\" \"alias\", b AS 'other', c [third], x AS `f` FROM t",
    "SELECT a FROM t GROUP BY a, b + 1 HAVING count(*) > 1 ORDER BY 1 DESC NULLS LAST, - -1, b ASC NULLS FIRST;",
    "SELECT a FROM t LIMIT -1 OFFSET (1 + 2)",
];

impl Db {
    /// The program that SQLite makes of a statement; None if SQLite refuses it.
    pub(in crate::maintain) fn program(&self, sql: &str) -> Option<Vec<Vec<Option<String>>>> {
        let explain = format!("EXPLAIN {sql}");
        let mut program = self.connection.sqlite.prepare(&explain, false).ok()?.statement?;
        let mut steps = Vec::new();
        while program.step().unwrap() {
            steps.push((0..7).map(|column| program.column_text(column)).collect());
        }
        Some(steps)
    }

    /// Compares a statement, if SQLite takes it, with what is printed of it.
    fn compare(&self, sql: &str) -> bool {
        let program = self.program(sql);
        if program.is_some() {
            let (bump, numbered) = (Bump::new(), tokens::number(sql).unwrap());
            let again = printed(Tree::of(&bump, &numbered).unwrap().select);
            let made = self.program(&again);
            // A parameter that is spelt alike twice, SQLite reads once.
            let is_same = made == program || made == self.program(&numbered.sql);
            assert!(is_same, "{sql} became {again}");
        }
        program.is_some()
    }
}

// G136
#[test]
fn sqlite_makes_the_same_program_of_what_is_printed() {
    let db = db(TABLES);
    for expressions in EXPRESSIONS {
        assert!(
            db.compare(&format!("SELECT {expressions} FROM t")),
            "{expressions}"
        );
    }
    for sql in STATEMENTS {
        assert!(db.compare(sql), "{sql}");
    }
}

// G136
#[test]
fn sqlite_makes_the_same_program_of_random_statements_that_are_printed() {
    let db = db(SCHEMA);
    let start = dice::first_seed();
    for seed in start..start + dice::throws(4000) {
        db.compare(&rich(&mut Rng(seed)));
    }
}

#[test]
fn a_statement_as_deep_as_sqlite_takes_it_is_printed() {
    let deep = || {
        let db = db(TABLES);
        let parentheses = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        for depth in [100, 2000] {
            let deep = parentheses(depth);
            for sql in [
                format!("SELECT {deep} FROM t WHERE {deep} ORDER BY {deep}"),
                format!("SELECT {deep} + count(*) FROM t GROUP BY {deep}, b + 1"),
            ] {
                db.analyse(&sql)
                    .maintenance()
                    .unwrap_or_else(|why| panic!("{depth}: {why}"));
            }
        }
    };
    start_thread("deep", deep).unwrap().join().unwrap();
}
