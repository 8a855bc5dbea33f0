//! Filters of statements that are more than one plain SELECT.

use super::{Db, db, text};
use crate::core::value::Value::Integer;

fn shop() -> Db {
    db("
        CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, best INTEGER, code TEXT COLLATE NOCASE, key INTEGER,
            stop INTEGER);
        CREATE TABLE posts(id INTEGER PRIMARY KEY, author INTEGER, title TEXT, score REAL, tag, code TEXT);
        CREATE TABLE likes(post INT, user INT, kind TEXT, PRIMARY KEY (post, user)) WITHOUT ROWID;
        CREATE TABLE typed(id INTEGER PRIMARY KEY, v ANY) STRICT;
        CREATE VIEW titles AS SELECT id, author, title FROM posts WHERE score > 0;
        CREATE VIEW written(who, what) AS SELECT users.id, title FROM users JOIN posts ON author = users.id;
        CREATE VIEW counts AS SELECT author, count(*) AS n FROM posts GROUP BY author;
        CREATE VIEW totals AS SELECT count(*) AS n, author FROM posts;
        CREATE VIEW latest AS SELECT * FROM posts ORDER BY id DESC LIMIT 3;
    ")
}

/// The conditions of all tables, one text for each: `posts author = 7`.
fn conditions(db: &Db, sql: &str) -> Vec<String> {
    let explanation = db.explain(sql, ());
    assert_eq!(explanation.unknown, None, "{sql}");
    let tables = explanation.tables.iter();
    tables
        .map(|table| format!("{} {}", table.table, table.conjuncts.join(" AND ")))
        .collect()
}

fn assert_conditions<const N: usize>(sql: &str, expected: [&str; N]) {
    assert_eq!(conditions(&shop(), sql), expected, "{sql}");
}

// G246
#[test]
fn each_subquery_has_its_own_conditions() {
    assert_conditions(
        "SELECT name FROM users WHERE id = 7 AND EXISTS (SELECT 1 FROM posts WHERE title = 'x')",
        ["posts title = 'x'", "users id = 7"],
    );
    assert_conditions(
        "SELECT (SELECT max(score) FROM posts WHERE author > 3) FROM users WHERE id = 7",
        ["posts author > 3", "users id = 7"],
    );
    assert_conditions(
        "SELECT name FROM users WHERE id IN (SELECT author FROM posts WHERE title = 'x') AND best = 1",
        ["posts title = 'x'", "users best = 1"],
    );
}

// G247
#[test]
fn a_correlated_subquery_is_bound_by_the_key_of_the_outer_row() {
    for subquery in [
        "(SELECT count(*) FROM posts WHERE author = users.id)",
        "(SELECT count(*) FROM posts AS p WHERE users.id = p.author)",
        "(SELECT count(*) FROM posts WHERE author = best AND best = users.id)",
        "(SELECT count(*) FROM (SELECT * FROM posts WHERE author = users.id LIMIT 5))",
        "(SELECT (SELECT count(*) FROM posts WHERE author = users.id))",
        "(SELECT title FROM posts WHERE author = users.id ORDER BY 1 LIMIT 1)",
    ] {
        for sql in [
            format!("SELECT {subquery} FROM users WHERE id = 7"),
            format!("SELECT 1 FROM users WHERE users.id = 7 AND {subquery} > 3"),
            format!("SELECT 1 FROM users WHERE NOT {subquery} AND 7 = users.id"),
            format!("SELECT 1 FROM users WHERE id = 7 ORDER BY {subquery}"),
            format!("SELECT count(*) FROM users WHERE id = 7 GROUP BY name HAVING {subquery}"),
        ] {
            assert_conditions(&sql, ["posts author = 7", "users id = 7"]);
        }
    }
}

#[test]
fn what_depends_on_a_value_that_only_a_row_knows_is_not_bound() {
    let sql = "SELECT (SELECT name FROM users WHERE id = p.author) FROM posts p WHERE id = 7";
    assert_conditions(sql, ["posts id = 7", "users "]);
    let explanation = shop().explain(sql, ());
    assert_eq!(
        explanation.tables[1].why.as_deref(),
        Some("no filter by id: it equals a column whose values are not known in advance")
    );
    // Of a row of NULLs, NULL is the key.
    assert_conditions(
        "SELECT count(*), (SELECT count(*) FROM posts WHERE author IS users.id) FROM users WHERE id = 7",
        ["posts ", "users id = 7"],
    );
    assert_conditions(
        "SELECT (SELECT count(*) FROM posts WHERE author = users.id) FROM users WHERE id = 7 OR best = 1",
        ["posts ", "users "],
    );
}

#[test]
fn a_name_means_what_the_innermost_query_says() {
    for (sql, posts) in [
        ("(SELECT 1 FROM posts WHERE author = id)", "posts "),
        (
            "(SELECT 1 FROM posts AS users WHERE users.author = users.id)",
            "posts ",
        ),
        (
            "(SELECT abs(score) AS best FROM posts WHERE author = best)",
            "posts ",
        ),
        (
            "(SELECT 1 FROM posts, json_each('[]') WHERE author = best)",
            "posts author = 7",
        ),
        (
            "(SELECT 1 FROM posts, json_each('[]') WHERE author = key)",
            "posts ",
        ),
        ("(SELECT 1 FROM posts WHERE author = rowid)", "posts "),
    ] {
        let sql = format!("SELECT {sql} FROM users WHERE best = 7 AND key = 7 AND stop = 7");
        assert_conditions(&sql, [posts, "users best = 7 AND key = 7 AND stop = 7"]);
    }
}

// G247
#[test]
fn keys_go_through_joins() {
    for sql in [
        "SELECT 1 FROM users u JOIN posts p ON p.author = u.id WHERE u.id = 7",
        "SELECT 1 FROM users u, posts p WHERE p.author = u.id AND u.id = 7",
        "SELECT 1 FROM posts p JOIN users u ON p.author = u.id AND p.author = 7",
        "SELECT 1 FROM users u LEFT JOIN posts p ON p.author = u.id WHERE u.id = 7",
    ] {
        assert_conditions(sql, ["posts author = 7", "users id = 7"]);
    }
    assert_conditions(
        "SELECT 1 FROM users u JOIN posts p ON p.author = u.id JOIN likes l ON l.user = u.id AND l.post = p.id \
         WHERE u.id IN (7, 8) AND l.kind = 'a'",
        [
            "likes user IN (7, 8) AND kind = 'a'",
            "posts author IN (7, 8)",
            "users id IN (7, 8)",
        ],
    );
    assert_conditions(
        "SELECT 1 FROM users u JOIN posts p ON p.author = u.id WHERE u.id > 7",
        ["posts author > 7", "users id > 7"],
    );
    assert_conditions(
        "SELECT 1 FROM posts JOIN users USING (id) WHERE id = 7",
        ["posts id = 7", "users id = 7"],
    );
    assert_conditions(
        "SELECT 1 FROM posts NATURAL JOIN titles WHERE posts.title = 'a'",
        ["posts title = 'a'", "posts title = 'a' AND score > 0"],
    );
}

// G247
#[test]
fn keys_do_not_go_where_values_are_converted_or_compared_otherwise() {
    for (join, posts) in [
        ("p.title = u.best", "posts "),
        ("p.tag = u.best", "posts "),
        ("p.score = u.best", "posts score = 7"),
        ("p.author + 0 = u.best", "posts "),
        ("p.author IS u.best", "posts "),
        ("p.author < u.best", "posts "),
    ] {
        let sql = format!("SELECT 1 FROM users u JOIN posts p ON {join} WHERE u.best = 7");
        assert_conditions(&sql, [posts, "users best = 7"]);
    }
    let big = (1_i64 << 53) + 1;
    assert_conditions(
        &format!("SELECT 1 FROM users u JOIN posts p ON p.score = u.best WHERE u.best = {big}"),
        ["posts ", &format!("users best = {big}")],
    );
    assert_conditions(
        "SELECT 1 FROM posts p JOIN users u ON u.code = p.code WHERE p.code = 'a'",
        ["posts code = 'a'", "users "],
    );
    assert_conditions(
        "SELECT 1 FROM users u JOIN typed t ON t.v = u.best WHERE u.best = 7",
        ["typed ", "users best = 7"],
    );
}

#[test]
fn left_joins_bind_their_own_table_and_nothing_before_it() {
    assert_conditions(
        "SELECT 1 FROM users u LEFT JOIN posts p ON p.title = 'a' AND u.best = 2",
        ["posts title = 'a'", "users "],
    );
    assert_conditions(
        "SELECT 1 FROM users u LEFT JOIN posts p ON u.best = 2 AND p.author = u.best",
        ["posts author = 2", "users "],
    );
    assert_conditions(
        "SELECT 1 FROM users u LEFT JOIN posts p ON p.author = u.id LEFT JOIN likes l ON l.post = p.id \
         WHERE u.id = 7",
        ["likes ", "posts author = 7", "users id = 7"],
    );
}

#[test]
fn beside_right_and_full_joins_only_where_counts() {
    for join in ["RIGHT", "FULL"] {
        assert_conditions(
            &format!(
                "SELECT 1 FROM users u {join} JOIN posts p ON p.author = u.id AND p.title = 'a' WHERE u.id = 7"
            ),
            ["posts ", "users id = 7"],
        );
        assert_conditions(
            &format!("SELECT 1 FROM users {join} JOIN posts USING (id) WHERE id = 7"),
            ["posts ", "users "],
        );
    }
}

// G246
#[test]
fn views_are_seen_through() {
    assert_conditions(
        "SELECT title FROM titles WHERE author = 7",
        ["posts author = 7 AND score > 0"],
    );
    assert_conditions(
        "SELECT what FROM written WHERE who = 7",
        ["posts author = 7", "users id = 7"],
    );
    assert_conditions("SELECT n FROM counts WHERE author = 7", ["posts author = 7"]);
    assert_conditions(
        "SELECT 1 FROM users u JOIN titles v ON v.author = u.id WHERE u.id = 7",
        ["posts author = 7 AND score > 0", "users id = 7"],
    );
}

// G246
#[test]
fn rows_that_depend_on_others_stay_whole() {
    assert_conditions("SELECT n FROM totals WHERE author = 7", ["posts "]);
    assert_conditions("SELECT n FROM counts WHERE n = 7", ["posts "]);
    assert_conditions("SELECT title FROM latest WHERE author = 7", ["posts "]);
    for inner in [
        "SELECT author FROM posts LIMIT 5",
        "SELECT author, max(id) FROM posts",
        "SELECT author, row_number() OVER (ORDER BY id) FROM posts",
        "SELECT author, count(*) AS n FROM posts HAVING n > 1",
        "SELECT author FROM posts GROUP BY title",
        "SELECT abs(author) AS author FROM posts",
        "SELECT author COLLATE NOCASE, id AS author FROM posts",
        "SELECT author FROM posts UNION ALL SELECT 1 LIMIT 5",
    ] {
        assert_conditions(
            &format!("SELECT 1 FROM ({inner}) AS q WHERE q.author = 7"),
            ["posts "],
        );
    }
}

#[test]
fn subqueries_in_from_take_conditions_from_outside() {
    for inner in [
        "SELECT author FROM posts",
        "SELECT DISTINCT author, title FROM posts ORDER BY title",
        "SELECT posts.* FROM posts",
        "SELECT author, upper(title) FROM posts",
        "SELECT author, count(*) FROM posts GROUP BY title, author HAVING count(*) > 1",
        "SELECT author FROM (SELECT * FROM posts)",
        "WITH p AS (SELECT * FROM posts) SELECT author FROM p",
    ] {
        assert_conditions(
            &format!("SELECT 1 FROM ({inner}) AS q WHERE q.author = 7"),
            ["posts author = 7"],
        );
    }
}

#[test]
fn what_a_subquery_says_of_its_columns_holds_outside() {
    assert_conditions(
        "SELECT 1 FROM (SELECT * FROM users WHERE id = 7 LIMIT 1) u LEFT JOIN posts p ON p.author = u.id",
        ["posts author = 7", "users id = 7"],
    );
}

// G246
#[test]
fn common_table_expressions_are_seen_through() {
    assert_conditions(
        "WITH p AS (SELECT * FROM posts WHERE title = 'a'), unused AS (SELECT * FROM likes) \
         SELECT * FROM p WHERE author = 7",
        ["posts author = 7 AND title = 'a'"],
    );
    assert_conditions(
        "WITH p(a, b) AS MATERIALIZED (SELECT author, title FROM posts) \
         SELECT (SELECT count(*) FROM p q WHERE q.a = 8) FROM p WHERE a = 7",
        ["posts author = 7", "posts author = 8"],
    );
    assert_conditions(
        "WITH p AS (SELECT * FROM posts) SELECT (SELECT count(*) FROM p) FROM p WHERE author = 7",
        ["posts "],
    );
    // The name hides the table in the statement, and what the view reads cannot be told by name.
    assert_conditions(
        "WITH posts AS (SELECT 1 AS id) SELECT 1 FROM titles, posts WHERE titles.author = 7",
        ["posts "],
    );
}

// G246
#[test]
fn each_part_of_a_compound_has_its_own_conditions() {
    for operator in ["UNION", "UNION ALL", "INTERSECT", "EXCEPT"] {
        assert_conditions(
            &format!("SELECT id FROM users WHERE best = 1 {operator} SELECT id FROM posts WHERE author = 2"),
            ["posts author = 2", "users best = 1"],
        );
        assert_conditions(
            &format!(
                "SELECT 1 FROM (SELECT id AS k FROM users {operator} SELECT author FROM posts) WHERE k = 7"
            ),
            ["posts author = 7", "users id = 7"],
        );
        for (left, right) in [
            ("id", "title"),
            ("id", "tag"),
            ("id", "1"),
            ("code", "title"),
            ("best", "score"),
        ] {
            let sql = format!(
                "SELECT 1 FROM (SELECT {left} AS k FROM users {operator} SELECT {right} FROM posts) WHERE k = 7"
            );
            assert_conditions(&sql, ["posts ", "users "]);
        }
    }
    assert_conditions(
        "SELECT id FROM posts WHERE author = 1 UNION SELECT id FROM posts WHERE author = 2 ORDER BY 1 LIMIT 3",
        ["posts author = 1", "posts author = 2"],
    );
}

// G248
#[test]
fn the_elements_of_an_array_are_keys() {
    let db = shop();
    let sql = "SELECT name FROM users WHERE id IN (SELECT value FROM json_each(?))";
    let with = |json: &str| {
        let explanation = db.explain(sql, [text(json)]);
        let [table] = &explanation.tables[..] else {
            panic!("{explanation:?}");
        };
        table.conjuncts.join(" AND ")
    };
    assert_eq!(with("[3, 1, 2]"), "id IN (1, 2, 3)");
    assert_eq!(with("[]"), "id IN ()");
    assert_eq!(with("[true]"), "id = 1");
    for none in ["[1, \"2\"]", "[null]", "[[1]]", "[1"] {
        assert_eq!(with(none), "", "{none}");
    }
    let texts = "SELECT id FROM users WHERE name IN (SELECT value FROM json_each(?2)) AND best = ?1";
    assert_eq!(
        db.reads(texts, [Integer(3), text("[\"a\", \"b\\u0021\"]")]),
        "main.users(id, name, best) WHERE name IN ('a', 'b!') AND best = 3"
    );
    let other = "WITH json_each AS (SELECT 1 AS value) SELECT name FROM users WHERE id IN (SELECT value FROM json_each)";
    assert_eq!(db.plain(other), "main.users(id, name)");
}

#[test]
fn a_statement_with_very_many_places_has_no_filter() {
    let many = vec!["SELECT id FROM users WHERE id = 1"; 65].join(" UNION ALL ");
    assert_conditions(&many, ["users "]);
}
