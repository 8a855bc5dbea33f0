//! Random queries of several parts, in which a condition on one says something of another.

use super::{draw::Draw, expressions::Named, values::fitting};

/// A condition with one value or a few, which others may take over.
fn keyed(draw: &mut Draw<'_>, scope: &[Named]) -> String {
    let column = draw.rng.pick(scope).clone();
    let value = fitting(draw.rng, column.kind);
    let value = draw.value(value);
    match draw.rng.below(6) {
        0 => format!("{} IN ({value}, {})", column.text, draw.constant(column.kind)),
        1 => draw.compared(&column),
        _ => format!("{} = {value}", column.text),
    }
}

/// A column of each, mostly of one kind.
fn pair(draw: &mut Draw<'_>, left: &[Named], right: &[Named]) -> (String, String) {
    let one = draw.rng.pick(left).clone();
    let fitting: Vec<&Named> = right.iter().filter(|column| column.kind == one.kind).collect();
    let other = if fitting.is_empty() || draw.rng.chance(20) {
        draw.rng.pick(right).text.clone()
    } else {
        draw.rng.pick(&fitting).text.clone()
    };
    (one.text, other)
}

/// A row with the rows that belong to it, as builders ask for them.
pub fn related(draw: &mut Draw<'_>) -> Option<String> {
    let (outer, inner) = (draw.source("a")?, draw.source("b")?);
    let (mine, other) = (outer.scope(true), inner.scope(true));
    let key = draw.rng.pick(&mine).clone();
    let (left, right) = pair(draw, std::slice::from_ref(&key), &other);
    let shown = draw.rng.pick(&other).text.clone();
    let more = if draw.rng.chance(30) {
        format!(" AND {}", draw.predicate(&other, 0))
    } else {
        String::new()
    };
    let rows = format!(
        "SELECT {shown} AS v FROM {} WHERE {right} = {left}{more}{}",
        inner.text,
        draw.tail(&other)
    );
    let list = match draw.rng.below(3) {
        0 => format!("EXISTS ({rows})"),
        1 => format!("({rows})"),
        _ => format!("(SELECT coalesce(json_group_array(quote(v)), json_array()) FROM ({rows}) AS t)"),
    };
    let scope = if draw.rng.chance(70) {
        std::slice::from_ref(&key)
    } else {
        &mine
    };
    let condition = keyed(draw, scope);
    let results = draw.results(&mine, false);
    Some(format!(
        "SELECT {results}, {list} FROM {} WHERE {condition}{}",
        outer.text,
        draw.tail(&mine)
    ))
}

/// Tables joined by columns, of one of which the value is known.
pub fn joined_by_key(draw: &mut Draw<'_>) -> Option<String> {
    let first = draw.source("a")?;
    let (mut text, mut scope) = (first.text.clone(), first.scope(true));
    let mut keys = Vec::new();
    for alias in ["b", "c"].iter().take(draw.rng.between(1, 2)) {
        let next = draw.source(alias)?;
        let mine = next.scope(true);
        let (left, right) = pair(draw, &scope, &mine);
        let join = draw.rng.pick(&[
            "JOIN",
            "JOIN",
            "LEFT JOIN",
            "LEFT JOIN",
            "RIGHT JOIN",
            "FULL JOIN",
        ]);
        let more = if draw.rng.chance(30) {
            format!(" AND {}", keyed(draw, &mine))
        } else {
            String::new()
        };
        text += &format!(" {join} {} ON {left} = {right}{more}", next.text);
        keys.extend(
            scope
                .iter()
                .chain(&mine)
                .filter(|column| column.text == left || column.text == right)
                .cloned(),
        );
        scope.extend(mine);
    }
    let condition = keyed(draw, &keys);
    let results = draw.results(&scope, false);
    Some(format!(
        "SELECT {results} FROM {text} WHERE {condition}{}",
        draw.tail(&scope)
    ))
}

/// A list of values as one parameter.
pub fn in_elements(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("")?;
    let scope = source.scope(false);
    let column = draw.rng.pick(&scope).text.clone();
    let list = draw.rng.pick(&[
        "[0, 1, 2]",
        "[1]",
        "[3, 5, 8, 13, 21]",
        "[]",
        "[1.5, -1, 2]",
        "[\"a\", \"A\", \"k1\"]",
        "[true, \"1\"]",
        "[null, 1]",
        "[[1], 2]",
    ]);
    let list = draw.value((*list).to_owned().into());
    let (results, tail) = (draw.results(&scope, true), draw.tail(&scope));
    Some(format!(
        "SELECT {results} FROM {} WHERE {column} IN (SELECT value FROM json_each({list})){tail}",
        source.text
    ))
}

/// A condition on the columns of a subquery.
pub fn seen_through(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("a")?;
    let scope = source.scope(true);
    let (first, second) = (draw.rng.pick(&scope).clone(), draw.rng.pick(&scope).clone());
    let computed = draw.aggregate(&scope);
    let columns = format!("{} AS x, {} AS y", first.text, second.text);
    let inside = if draw.rng.chance(30) {
        format!(" WHERE {}", draw.predicate(&scope, 0))
    } else {
        String::new()
    };
    let from = format!("FROM {}{inside}", source.text);
    let inner = match draw.rng.below(8) {
        0 => format!(
            "SELECT {columns}, {computed} {from} GROUP BY {}, {}",
            first.text, second.text
        ),
        1 => format!("SELECT {columns}, {computed} {from} GROUP BY {}", second.text),
        2 => format!("SELECT {columns}, {computed} {from}"),
        3 => format!("SELECT {columns} {from} ORDER BY 2 LIMIT 3"),
        4 => format!("SELECT DISTINCT {columns} {from}"),
        5 => format!(
            "SELECT {columns}, row_number() OVER (ORDER BY {}) {from}",
            second.text
        ),
        _ => format!("SELECT {columns} {from}"),
    };
    let x = Named {
        text: "q.x".into(),
        kind: first.kind,
    };
    let condition = keyed(draw, &[x]);
    Some(if draw.rng.chance(50) {
        format!("SELECT * FROM ({inner}) AS q WHERE {condition}")
    } else {
        format!("WITH q AS ({inner}) SELECT * FROM q WHERE {condition}")
    })
}

/// Parts with a condition each, or with one for all.
pub fn compound_by_key(draw: &mut Draw<'_>) -> Option<String> {
    let operator = *draw.rng.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
    let (left, right) = (draw.source("a")?, draw.source("b")?);
    let (one, other) = (left.scope(true), right.scope(true));
    let key = draw.rng.pick(&one).clone();
    let (first, second) = pair(draw, std::slice::from_ref(&key), &other);
    let (more, most) = (draw.scalar(&one, 0), draw.scalar(&other, 0));
    let (left_part, right_part) = (
        format!("SELECT {first} AS x, {more} FROM {}", left.text),
        format!("SELECT {second}, {most} FROM {}", right.text),
    );
    if draw.rng.chance(50) {
        let (mine, theirs) = (keyed(draw, &one), keyed(draw, &other));
        return Some(format!(
            "{left_part} WHERE {mine} {operator} {right_part} WHERE {theirs}"
        ));
    }
    let x = Named {
        text: "q.x".into(),
        kind: key.kind,
    };
    let condition = keyed(draw, &[x]);
    Some(format!(
        "SELECT * FROM ({left_part} {operator} {right_part}) AS q WHERE {condition}"
    ))
}
