//! The parts that are found in a statement's text.

use crate::sql::{
    parse::parse,
    syntax::{
        Arm, ColumnName, Comparison::*, Condition, Constant::*, Join, Output, Relation, Select, Source, Terms,
    },
};

fn select(sql: &str) -> Select {
    parse(sql).unwrap_or_else(|why| panic!("{sql}: {why}")).select
}

/// The only SELECT of a statement.
fn arm(sql: &str) -> Arm {
    let mut arms = select(sql).arms;
    assert_eq!(arms.len(), 1, "{sql}");
    arms.remove(0)
}

fn name(column: &ColumnName) -> String {
    let parts = [&column.schema, &column.table].into_iter().flatten();
    let qualifiers: String = parts.map(|part| format!("{part}.")).collect();
    qualifiers + &column.column
}

/// A condition, as `column comparison operands`.
fn shown(condition: &Condition) -> String {
    let operands = condition.operands.iter().map(|operand| match operand {
        Literal(text) => text.clone(),
        Parameter(number) => format!("?{number}"),
        ElementsOf(number) => format!("each(?{number})"),
    });
    let operator = match condition.comparison {
        Equal => "=",
        Less => "<",
        LessEqual => "<=",
        Greater => ">",
        GreaterEqual => ">=",
    };
    let operands: Vec<_> = operands.collect();
    format!("{} {operator} {}", name(&condition.column), operands.join(","))
}

fn shown_all(terms: &Terms) -> Vec<String> {
    terms.conditions.iter().map(shown).collect()
}

/// The conditions that all rows of the only SELECT of a statement must fulfil.
fn conditions(sql: &str) -> Vec<String> {
    shown_all(&arm(sql).terms)
}

fn equalities(terms: &Terms) -> Vec<String> {
    let pairs = terms.equalities.iter();
    pairs
        .map(|(left, right)| format!("{} = {}", name(left), name(right)))
        .collect()
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

// G116
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
fn conditions_of_inner_joins_hold_for_all_rows() {
    assert_eq!(
        conditions("SELECT 1 FROM t JOIN u ON t.a = 1 AND u.b = t.b"),
        ["t.a = 1"]
    );
    assert_eq!(conditions("SELECT 1 FROM t INNER JOIN u ON a = 1"), ["a = 1"]);
    assert_eq!(conditions("SELECT 1 FROM t CROSS JOIN u ON a = 1"), ["a = 1"]);
}

// G116
#[test]
fn conditions_of_a_left_join_stay_with_its_table() {
    let arm = arm("SELECT 1 FROM t LEFT OUTER JOIN u ON a = 1 AND t.x = u.y WHERE b = 2");
    assert_eq!(shown_all(&arm.terms), ["b = 2"]);
    assert_eq!(arm.sources[1].join, Join::Left);
    assert_eq!(shown_all(&arm.sources[1].on), ["a = 1"]);
    assert_eq!(equalities(&arm.sources[1].on), ["t.x = u.y"]);
}

#[test]
fn beside_a_right_join_no_join_condition_counts() {
    let arm = arm("SELECT 1 FROM t JOIN u ON t.a = 1 FULL JOIN v ON v.b = 2 WHERE c = 3");
    assert_eq!(shown_all(&arm.terms), ["c = 3"]);
    assert_eq!(arm.sources[2].join, Join::Right);
    assert!(arm.sources.iter().all(|source| source.on == Terms::default()));
}

#[test]
fn columns_that_must_be_equal_are_found() {
    let arm =
        arm("SELECT 1 FROM t, u WHERE t.a = u.b AND (u.c) == d AND t.e < u.f AND t.g IS u.h AND i = +j");
    assert_eq!(equalities(&arm.terms), ["t.a = u.b", "u.c = d"]);
}

#[test]
fn the_elements_of_an_array_are_operands() {
    for each in [
        "SELECT value FROM json_each(?)",
        "SELECT j.value FROM json_each(?) AS j",
        "SELECT \"JSON_EACH\".\"value\" FROM json_each((?))",
    ] {
        assert_eq!(of_where(&format!("a IN ({each})")), ["a = each(?1)"], "{each}");
    }
    for other in [
        "SELECT value FROM json_each(?) WHERE value > 1",
        "SELECT value FROM json_each(?) LIMIT 1",
        "SELECT value FROM json_each(?, '$.a')",
        "SELECT value FROM json_each(b)",
        "SELECT value + 1 FROM json_each(?)",
        "SELECT key FROM json_each(?)",
        "SELECT b.value FROM json_each(?)",
        "SELECT value FROM json_tree(?)",
        "SELECT value FROM json_each(?), u",
        "SELECT value FROM json_each(?) UNION SELECT 1",
        "SELECT max(value) FROM json_each(?)",
    ] {
        assert_eq!(of_where(&format!("a IN ({other})")), [""; 0], "{other}");
    }
    assert_eq!(of_where("a NOT IN (SELECT value FROM json_each(?))"), [""; 0]);
}

fn relation(source: &Source) -> String {
    match &source.relation {
        Relation::Named { schema: None, name } => name.clone(),
        Relation::Named {
            schema: Some(schema),
            name,
        } => format!("{schema}.{name}"),
        Relation::Select(_) => "(SELECT)".into(),
        Relation::Function(name, _) => format!("{name}()"),
    }
}

#[test]
fn sources_are_listed_with_their_aliases() {
    let arm =
        arm("SELECT 1 FROM main.t AS x, \"U\" y JOIN w INDEXED BY i, (SELECT 1) z JOIN json_each('[]')");
    let sources = arm
        .sources
        .iter()
        .map(|source| (relation(source), source.alias.as_deref()));
    let sources: Vec<_> = sources.collect();
    let sources: Vec<_> = sources
        .iter()
        .map(|(name, alias)| (name.as_str(), *alias))
        .collect();
    assert_eq!(
        sources,
        [
            ("main.t", Some("x")),
            ("U", Some("y")),
            ("w", None),
            ("(SELECT)", Some("z")),
            ("json_each()", None),
        ]
    );
}

#[test]
fn outputs_are_columns_or_something_else() {
    let outputs = arm("SELECT a, t.a AS b, (c), d + 1, e COLLATE NOCASE AS f, *, t.* FROM t").outputs;
    let shown = outputs.iter().map(|output| match output {
        Output::Column(column, alias) => format!("{} {}", name(column), alias.as_deref().unwrap_or("-")),
        Output::Expression(alias) => format!("? {}", alias.as_deref().unwrap_or("-")),
        Output::Star(of) => format!("{}.*", of.as_deref().unwrap_or("-")),
    });
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown, ["a -", "t.a b", "c -", "? -", "? f", "-.*", "t.*"]);
}

/// All SELECTs in a statement.
fn count(select: &Select) -> usize {
    let of_terms = |terms: &Terms| terms.subqueries.iter().map(count).sum::<usize>();
    let of_source = |source: &Source| {
        of_terms(&source.on)
            + match &source.relation {
                Relation::Named { .. } => 0,
                Relation::Select(inner) => count(inner),
                Relation::Function(_, arguments) => arguments.iter().map(count).sum(),
            }
    };
    let of_arm = |arm: &Arm| {
        let expressions = arm.subqueries.iter().map(count).sum::<usize>();
        1 + expressions + of_terms(&arm.terms) + arm.sources.iter().map(of_source).sum::<usize>()
    };
    let with = select
        .with
        .iter()
        .map(|table| count(&table.select))
        .sum::<usize>();
    let rest = select.subqueries.iter().map(count).sum::<usize>();
    with + rest + select.arms.iter().map(of_arm).sum::<usize>()
}

// G246
#[test]
fn a_subquery_is_found_wherever_it_stands() {
    const Q: &str = "(SELECT 1 FROM t)";
    for expression in [
        format!("1 BETWEEN {Q} AND 2"),
        format!("1 + {Q}"),
        format!("CASE {Q} WHEN 1 THEN 2 END"),
        format!("CASE 1 WHEN {Q} THEN 2 END"),
        format!("CASE 1 WHEN 1 THEN {Q} END"),
        format!("CASE 1 WHEN 1 THEN 2 ELSE {Q} END"),
        format!("CAST({Q} AS TEXT)"),
        format!("{Q} COLLATE NOCASE"),
        format!("EXISTS {Q}"),
        format!("max(1, {Q})"),
        format!("count(*) FILTER (WHERE {Q})"),
        format!("group_concat(a, ',' ORDER BY {Q})"),
        format!("sum(1) OVER (PARTITION BY {Q})"),
        format!("sum(1) OVER (ORDER BY {Q})"),
        format!("sum(1) OVER (ROWS BETWEEN {Q} PRECEDING AND CURRENT ROW)"),
        format!("sum(1) OVER (ROWS BETWEEN 1 PRECEDING AND {Q} FOLLOWING)"),
        format!("1 IN (2, {Q})"),
        format!("{Q} IN (1)"),
        format!("1 IN {Q}"),
        format!("{Q} ISNULL"),
        format!("{Q} NOTNULL"),
        format!("'a' LIKE {Q}"),
        format!("'a' LIKE 'b' ESCAPE {Q}"),
        format!("-{Q}"),
        format!("(1, {Q}) = (1, 2)"),
    ] {
        for sql in [
            format!("SELECT {expression} FROM u"),
            format!("SELECT 1 FROM u WHERE a = 1 AND {expression}"),
            format!("SELECT 1 FROM u GROUP BY {expression}"),
            format!("SELECT 1 FROM u GROUP BY a HAVING {expression}"),
            format!("SELECT 1 FROM u ORDER BY {expression}"),
            format!("SELECT 1 FROM u LIMIT {expression}"),
            format!("SELECT 1 FROM u LIMIT 1 OFFSET {expression}"),
            format!("SELECT 1 FROM u JOIN v ON {expression}"),
            format!("SELECT 1 FROM u LEFT JOIN v ON {expression}"),
            format!("SELECT 1 FROM u RIGHT JOIN v ON {expression}"),
            format!("SELECT 1 FROM json_each({expression})"),
            format!("SELECT sum(1) OVER w FROM u WINDOW w AS (ORDER BY {expression})"),
        ] {
            assert_eq!(count(&select(&sql)), 2, "{sql}");
        }
        assert_eq!(count(&select(&format!("VALUES (1), ({expression})"))), 2);
        let compound = format!("SELECT 1 UNION SELECT 2 ORDER BY {expression} LIMIT 1");
        assert_eq!(count(&select(&compound)), 3);
        let common = format!("WITH c AS (SELECT {expression}) SELECT 1 FROM c");
        assert_eq!(count(&select(&common)), 3);
    }
}

#[test]
fn other_statements_are_refused() {
    for sql in [
        "SELECT 1 FROM (t JOIN u)",
        "SELECT 1 FROM t WHERE a IN u",
        "SELECT 1 FROM t WHERE a IN json_each('[]')",
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
    let nested = format!("{}SELECT 1{}", "SELECT (".repeat(65), ")".repeat(65));
    assert!(parse(&nested).is_err());
}

#[test]
fn a_semicolon_and_comments_behind_the_statement_are_fine() {
    assert_eq!(conditions("SELECT 1 FROM t WHERE a = 1; -- done"), ["a = 1"]);
    assert_eq!(
        conditions("/* a = 2 */ SELECT 1 FROM t WHERE a = 1 /* OR 1 */ ;"),
        ["a = 1"]
    );
}
