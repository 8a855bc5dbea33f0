//! The conditions that are found in a statement's text.

use super::super::parse::{Comparison::*, Source::*, parse};

/// The conditions of a statement, as `column comparison operands`.
fn conditions(sql: &str) -> Vec<String> {
    let query = parse(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
    let conditions = query.conditions.iter().map(|condition| {
        let column = &condition.column;
        let parts = [&column.schema, &column.table].into_iter().flatten();
        let name: String = parts.map(|part| format!("{part}.")).collect();
        let operands = condition.operands.iter().map(|operand| match operand {
            Literal(text) => text.clone(),
            Parameter(number) => format!("?{number}"),
        });
        let operator = match condition.comparison {
            Equal => "=",
            Less => "<",
            LessEqual => "<=",
            Greater => ">",
            GreaterEqual => ">=",
        };
        let operands: Vec<_> = operands.collect();
        format!("{name}{} {operator} {}", column.column, operands.join(","))
    });
    conditions.collect()
}

fn of_where(condition: &str) -> Vec<String> {
    conditions(&format!("SELECT * FROM t WHERE {condition}"))
}

#[test]
fn comparisons_of_a_column_with_a_value_are_conditions_both_ways_round() {
    assert_eq!(of_where("a = 1"), ["a = 1"]);
    assert_eq!(of_where("a == 'x'"), ["a = 'x'"]);
    assert_eq!(of_where("a IS ?"), ["a = ?1"]);
    assert_eq!(of_where("a IS NOT DISTINCT FROM 2"), ["a = 2"]);
    assert_eq!(of_where("1 = a"), ["a = 1"]);
    assert_eq!(of_where("a < 1 AND 2 < b"), ["a < 1", "b > 2"]);
    assert_eq!(of_where("a >= 1 AND 2 >= b"), ["a >= 1", "b <= 2"]);
    assert_eq!(of_where("a <= 1 AND 2 <= b"), ["a <= 1", "b >= 2"]);
    assert_eq!(of_where("a > 1 AND 2 > b"), ["a > 1", "b < 2"]);
}

#[test]
fn in_and_between_are_conditions_unless_negated() {
    assert_eq!(of_where("a IN (1, ?, 'x')"), ["a = 1,?1,'x'"]);
    assert_eq!(
        of_where("a BETWEEN 1 AND 2 AND b = 3"),
        ["a >= 1", "a <= 2", "b = 3"]
    );
    for none in [
        "a NOT IN (1)",
        "a NOT BETWEEN 1 AND 2",
        "a IN ()",
        "1 BETWEEN a AND b",
        "NOT a = 1",
    ] {
        assert_eq!(of_where(none), [""; 0], "{none}");
    }
}

#[test]
fn only_what_every_row_must_fulfil_counts() {
    assert_eq!(
        of_where("a = 1 AND (b = 2 AND (c = 3))"),
        ["a = 1", "b = 2", "c = 3"]
    );
    assert_eq!(of_where("a = 1 AND (b = 2 OR c = 3)"), ["a = 1"]);
    assert_eq!(of_where("a = 1 OR b = 2 AND c = 3"), [""; 0]);
    assert_eq!(of_where("(a = 1) = 0"), [""; 0]);
    assert_eq!(of_where("a = 1 = b"), [""; 0]);
    assert_eq!(of_where("CASE WHEN a = 1 THEN 1 END"), [""; 0]);
}

#[test]
fn expressions_and_collations_are_no_columns_and_no_values() {
    for none in [
        "+a = 1",
        "a + 1 = 2",
        "lower(a) = 'x'",
        "a COLLATE NOCASE = 'x'",
        "a = 'x' COLLATE NOCASE",
        "a = NULL",
        "a IS NULL",
        "a = CURRENT_DATE",
        "a = 1 + 1",
        "a = -?",
        "a = +?1",
        "a = ~1",
        "a IN (1, b)",
        "a IN (1, NULL)",
        "(a, b) = (1, 2)",
        "(a, b) IN ((1, 2))",
        "a <> 1",
        "a IS NOT 1",
        "a LIKE 'x'",
        "a GLOB 'x'",
        "a -> 1 = 2",
        "CAST(a AS TEXT) = 'x'",
    ] {
        assert_eq!(of_where(none), [""; 0], "{none}");
    }
}

#[test]
fn literals_are_kept_as_sql() {
    assert_eq!(
        of_where("a IN (-1, +2, 0xFF, 1e3, .5, 1_000, X'00ff', 'it''s', x'')"),
        ["a = -1,2,0xFF,1e3,.5,1_000,x'00ff','it''s',x''"]
    );
    assert_eq!(
        of_where("a = (-9223372036854775808)"),
        ["a = -9223372036854775808"]
    );
}

#[test]
fn names_are_without_quotes() {
    assert_eq!(of_where("\"a b\" = 1"), ["a b = 1"]);
    assert_eq!(of_where("[t].`a` = 1"), ["t.a = 1"]);
    assert_eq!(of_where("main.t.a = 1"), ["main.t.a = 1"]);
}

#[test]
fn parameters_have_sqlites_numbers() {
    assert_eq!(
        conditions("SELECT ? FROM t WHERE a = ? AND b = :n AND c = ?7 AND d = ? AND e = :n LIMIT ?"),
        ["a = ?2", "b = ?3", "c = ?7", "d = ?8", "e = ?3"]
    );
}

#[test]
fn conditions_of_inner_joins_count_those_of_left_joins_do_not() {
    assert_eq!(
        conditions("SELECT 1 FROM t JOIN u ON t.a = 1 AND u.b = t.b"),
        ["t.a = 1"]
    );
    assert_eq!(conditions("SELECT 1 FROM t INNER JOIN u ON a = 1"), ["a = 1"]);
    assert_eq!(conditions("SELECT 1 FROM t CROSS JOIN u ON a = 1"), ["a = 1"]);
    assert_eq!(conditions("SELECT 1 FROM t LEFT JOIN u ON a = 1"), [""; 0]);
    assert_eq!(
        conditions("SELECT 1 FROM t LEFT OUTER JOIN u ON a = 1 WHERE b = 2"),
        ["b = 2"]
    );
}

#[test]
fn tables_are_listed_with_their_aliases() {
    let query = parse("SELECT 1 FROM main.t AS x, \"U\" y JOIN w INDEXED BY i").unwrap();
    let tables: Vec<_> = query
        .from
        .iter()
        .map(|table| {
            (
                table.schema.as_deref(),
                table.table.as_str(),
                table.alias.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        tables,
        [
            (Some("main"), "t", Some("x")),
            (None, "U", Some("y")),
            (None, "w", None)
        ]
    );
}

#[test]
fn other_statements_are_refused() {
    for sql in [
        "SELECT 1",
        "SELECT 1 FROM t NATURAL JOIN u",
        "SELECT 1 FROM t RIGHT JOIN u ON 1",
        "SELECT 1 FROM t FULL OUTER JOIN u ON 1",
        "SELECT 1 FROM t LEFT NATURAL JOIN u",
        "SELECT 1 FROM json_each('[]')",
        "SELECT 1 FROM (t JOIN u)",
        "SELECT 1 FROM t WHERE a = 1; SELECT 2",
        "DELETE FROM t WHERE a = 1",
        "PRAGMA table_info(t)",
        "EXPLAIN SELECT 1 FROM t",
        "SELECT 1 FROM t WHERE",
        "SELECT 1 FROM t WHERE a = $a(b)",
        "",
    ] {
        assert!(parse(sql).is_err(), "{sql}");
    }
}

#[test]
fn a_semicolon_and_comments_behind_the_statement_are_fine() {
    assert_eq!(conditions("SELECT 1 FROM t WHERE a = 1; -- done"), ["a = 1"]);
    assert_eq!(
        conditions("/* a = 2 */ SELECT 1 FROM t WHERE a = 1 /* OR 1 */ ;"),
        ["a = 1"]
    );
}
