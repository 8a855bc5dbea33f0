//! Random queries that make groups: aggregates, GROUP BY, DISTINCT. Most are of shapes whose groups can be kept.

use dice::Rng;

use super::{
    draw::Draw,
    expressions::Named,
    joins::limit,
    model::{Kind, Schema, Table},
};
use crate::script::Statement;

/// Names of results; most are those of columns.
const NAMES: [&str; 6] = ["a", "b", "key", "total", "\"x y\"", "n"];

/// A query over one table, seldom two.
pub fn group_query(rng: &mut Rng, schema: &Schema) -> Statement {
    let mut draw = Draw::new(rng, schema);
    let mut with = Vec::new();
    let (from, columns) = source(&mut draw, &mut with);
    let condition = match draw.rng.chance(45) {
        true => format!(" WHERE {}", draw.predicate(&columns, 1)),
        false => String::new(),
    };
    let from = format!("{from}{condition}");
    let kind: fn(&mut Draw<'_>, &str, &[Named]) -> String =
        draw.rng
            .weighted(&[(5, grouped as _), (4, aggregated as _), (2, distinct as _)]);
    let text = kind(&mut draw, &from, &columns);
    match &with[..] {
        [] => draw.finish(&text),
        some => draw.finish(&format!("WITH {} {text}", some.join(", "))),
    }
}

fn source(draw: &mut Draw<'_>, with: &mut Vec<String>) -> (String, Vec<Named>) {
    let table = draw.readable_table().expect("there is a table");
    let alias = *draw.rng.pick(&["", "", "x", "t1", "a", "\"two words\""]);
    if draw.rng.chance(20) {
        let source = draw.seen_source(&table, alias, with);
        let qualified = draw.rng.chance(25);
        return (source.text.clone(), source.scope(qualified));
    }
    if draw.rng.chance(16) {
        return joined(draw, &table);
    }
    let source = draw.table_source(&table, alias);
    let qualified = draw.rng.chance(25);
    (source.text.clone(), source.scope(qualified))
}

/// Two tables or three, seldom one of them twice. Keys meet more often, since they are found.
fn joined(draw: &mut Draw<'_>, table: &Table) -> (String, Vec<Named>) {
    let first = draw.table_source(table, "x");
    let (mut text, mut columns) = (first.text.clone(), first.scope(true));
    let mut names = vec![table.name.clone()];
    for alias in ["y", "z"].into_iter().take(draw.rng.weighted(&[(4, 1), (1, 2)])) {
        let mut other = draw.readable_table().expect("there is a table");
        for _ in 0..4 {
            if names.contains(&other.name) {
                other = draw.readable_table().expect("there is a table");
            }
        }
        names.push(other.name.clone());
        let other = draw.table_source(&other, alias);
        let theirs = other.scope(true);
        let one = draw.rng.pick(&columns).clone();
        let key = theirs.iter().find(|column| column.text.ends_with(".id"));
        let fitting: Vec<&Named> = theirs.iter().filter(|column| column.kind == one.kind).collect();
        let met = match key {
            Some(key) if draw.rng.chance(40) => key.text.clone(),
            _ if fitting.is_empty() => draw.rng.pick(&theirs).text.clone(),
            _ => draw.rng.pick(&fitting).text.clone(),
        };
        let join = *draw.rng.pick(&[
            "JOIN",
            "JOIN",
            "JOIN",
            "JOIN",
            "INNER JOIN",
            "CROSS JOIN",
            "LEFT JOIN",
        ]);
        text += &format!(" {join} {} ON {} = {met}", other.text, one.text);
        columns.extend(theirs);
    }
    (text, columns)
}

/// `SELECT … GROUP BY …`
fn grouped(draw: &mut Draw<'_>, from: &str, columns: &[Named]) -> String {
    let count = draw.rng.weighted(&[(6, 1), (3, 2), (1, 3)]);
    let terms: Vec<String> = (0..count).map(|_| term(draw, columns)).collect();
    let (results, names) = results(draw, columns, &terms);
    let mut written = terms.clone();
    if let Some((at, name)) = names.first().filter(|_| draw.rng.chance(12)) {
        // By a number or a name of the results, where that is a group's value and no aggregate.
        if let Some(place) = terms.iter().position(|term| results[*at] == *term) {
            written[place] = name.clone();
        }
    }
    let having = match draw.rng.chance(35) {
        true => format!(" HAVING {}", having(draw, columns, &terms)),
        false => String::new(),
    };
    let order = order(draw, columns, &terms, &names);
    let limit = limit(draw);
    let (results, written) = (listed(&results, &names), written.join(", "));
    format!("SELECT {results} FROM {from} GROUP BY {written}{having}{order}{limit}")
}

/// Aggregates alone: always one row, but for HAVING.
fn aggregated(draw: &mut Draw<'_>, from: &str, columns: &[Named]) -> String {
    let (results, names) = results(draw, columns, &[]);
    let having = match draw.rng.chance(8) {
        true => format!(" HAVING {}", having(draw, columns, &[])),
        false => String::new(),
    };
    format!("SELECT {} FROM {from}{having}", listed(&results, &names))
}

fn distinct(draw: &mut Draw<'_>, from: &str, columns: &[Named]) -> String {
    let terms: Vec<String> = (0..draw.rng.between(1, 3)).map(|_| term(draw, columns)).collect();
    let order = match draw.rng.chance(50) {
        true => {
            let at = draw.rng.between(1, terms.len());
            format!(" ORDER BY {at}{}", direction(draw))
        }
        false => String::new(),
    };
    let limit = limit(draw);
    format!("SELECT DISTINCT {} FROM {from}{order}{limit}", terms.join(", "))
}

/// A term of GROUP BY.
fn term(draw: &mut Draw<'_>, columns: &[Named]) -> String {
    let mut column = draw.rng.pick(columns).text.clone();
    let key = columns.iter().find(|column| column.text.ends_with(".id"));
    if let Some(key) = key.filter(|_| draw.rng.chance(35)) {
        column = key.text.clone();
    }
    if column.ends_with("rowid") {
        column = draw.rng.pick(columns).text.clone();
    }
    match draw.rng.below(14) {
        0 => format!("{column} IS NULL"),
        1 => format!("typeof({column})"),
        2 => format!("{column} % 2"),
        3 => format!("lower({column})"),
        4 => draw.scalar(columns, 1),
        5 => format!("({column})"),
        _ => column,
    }
}

/// The call of an aggregate.
fn call(draw: &mut Draw<'_>, columns: &[Named]) -> String {
    let integers: Vec<&Named> = columns
        .iter()
        .filter(|column| column.kind == Kind::Integer)
        .collect();
    let number = match integers.is_empty() || draw.rng.chance(6) {
        true => draw.rng.pick(columns).text.clone(),
        false => draw.rng.pick(&integers).text.clone(),
    };
    let any = draw.rng.pick(columns).text.clone();
    let call = match draw.rng.below(15) {
        0..=3 => "count(*)".into(),
        4 | 5 => format!("count({any})"),
        6..=8 => format!("sum({number})"),
        9 => format!(
            "sum({})",
            *draw
                .rng
                .pick(&["1", "@ + 1", "-@", "@ * @", "coalesce(@, 0)", "abs(@)"])
        )
        .replace('@', &number),
        10 => format!("total({number})"),
        11 => format!("avg({number})"),
        12 => format!("min({any})"),
        13 => format!("max({any})"),
        _ => format!("{}({})", draw.rng.pick(&["min", "max"]), draw.scalar(columns, 1)),
    };
    let call = match draw.rng.chance(2) {
        true => format!("count(DISTINCT {any})"),
        false => call,
    };
    match draw.rng.chance(20) {
        true => format!("{call} FILTER (WHERE {})", draw.predicate(columns, 1)),
        false => call,
    }
}

/// An expression over aggregates, and seldom values of the group.
fn value(draw: &mut Draw<'_>, columns: &[Named], terms: &[String]) -> String {
    let one = call(draw, columns);
    match draw.rng.below(14) {
        0 => format!("coalesce({one}, 0)"),
        1 => format!("{one} - {}", call(draw, columns)),
        2 => format!("{one} > {}", draw.rng.below(4)),
        3 => format!("typeof({one})"),
        5 => compared(draw, &one),
        6 if !terms.is_empty() => {
            let term = draw.rng.pick(terms).clone();
            compared(draw, &term)
        }
        7 if !terms.is_empty() => {
            let sign = *draw.rng.pick(&["=", "<", "IS"]);
            format!("{} {sign} {one}", draw.rng.pick(terms))
        }
        4 => match terms {
            [] => format!("max({one}, {})", call(draw, columns)),
            terms => {
                let term = draw.rng.pick(terms).clone();
                format!("CASE WHEN {one} > 1 THEN {term} ELSE 'few' END")
            }
        },
        _ => one,
    }
}

/// What decides whether texts and numbers are converted before they are compared, and how texts are.
fn compared(draw: &mut Draw<'_>, value: &str) -> String {
    let other = *draw
        .rng
        .pick(&["'1'", "1", "'1.0'", "'A'", "x'61'", "NULL", "2.0"]);
    match draw.rng.below(6) {
        0 => format!("{value} IN ('1', 2, 'a', x'61')"),
        1 => format!("{value} BETWEEN {other} AND 'b'"),
        2 => format!("{value} LIKE '1%'"),
        3 => format!("{value} IS {other}"),
        4 => format!("{other} < {value}"),
        _ => format!("{value} = {other}"),
    }
}

/// The results, and by which number or name others may mean each of some.
fn results(draw: &mut Draw<'_>, columns: &[Named], terms: &[String]) -> (Vec<String>, Vec<(usize, String)>) {
    let mut results: Vec<String> = terms.iter().filter(|_| draw.rng.chance(75)).cloned().collect();
    for _ in 0..draw.rng.between(usize::from(results.is_empty()), 3) {
        results.push(value(draw, columns, terms));
    }
    let key = terms.iter().find_map(|term| term.strip_suffix(".id"));
    if let Some(table) = key.filter(|_| draw.rng.chance(50)) {
        // What the key of its table determines. The term may be an expression that ends with a key.
        let of_table = |column: &&Named| column.text.starts_with(&format!("{table}."));
        let columns: Vec<&Named> = columns.iter().filter(of_table).collect();
        if !columns.is_empty() {
            results.push(draw.rng.pick(&columns).text.clone());
        }
    } else if draw.rng.chance(4) {
        // Of some row of the group.
        results.push(draw.rng.pick(columns).text.clone());
    }
    let mut names = Vec::new();
    for (at, result) in results.iter().enumerate() {
        names.push((at, (at + 1).to_string()));
        // Without a name of its own, it is named by its text, in which a parameter has a number when it is maintained.
        let share = if Draw::has_parameter(result) { 85 } else { 25 };
        if draw.rng.chance(share) {
            names.push((at, (*draw.rng.pick(&NAMES)).into()));
        }
    }
    (results, names)
}

/// The results as SELECT lists them, some with names, before which AS need not stand.
fn listed(results: &[String], names: &[(usize, String)]) -> String {
    let is_name = |name: &&(usize, String)| name.1.parse::<usize>().is_err();
    let named = results.iter().enumerate().map(|(at, result)| {
        match names.iter().filter(is_name).find(|(of, _)| *of == at) {
            Some((_, name)) if (at + name.len()).is_multiple_of(3) => format!("{result} {name}"),
            Some((_, name)) => format!("{result} AS {name}"),
            None => result.clone(),
        }
    });
    named.collect::<Vec<_>>().join(", ")
}

fn having(draw: &mut Draw<'_>, columns: &[Named], terms: &[String]) -> String {
    let one = value(draw, columns, terms);
    let condition = match (draw.rng.below(6), terms) {
        (0, [term, ..]) => match draw.rng.chance(50) {
            true => format!("{term} IS NOT NULL"),
            false => compared(draw, term),
        },
        (1, _) => format!("{one} IS NOT NULL"),
        (2, _) => one,
        _ => format!(
            "{one} {} {}",
            draw.rng.pick(&[">", "<=", "<>"]),
            draw.rng.below(4)
        ),
    };
    match draw.rng.chance(15) {
        true => format!("{condition} OR count(*) = {}", draw.rng.below(3)),
        false => condition,
    }
}

fn order(draw: &mut Draw<'_>, columns: &[Named], terms: &[String], names: &[(usize, String)]) -> String {
    let count = draw.rng.weighted(&[(3, 0), (4, 1), (2, 2)]);
    let by: Vec<String> = (0..count)
        .map(|_| {
            let by = match draw.rng.below(8) {
                0 | 1 => draw.rng.pick(names).1.clone(),
                2..=4 => draw.rng.pick(terms).clone(),
                _ => value(draw, columns, terms),
            };
            let collation = match draw.rng.chance(6) && !by.contains("COLLATE") {
                true => " COLLATE NOCASE",
                false => "",
            };
            format!("{by}{collation}{}", direction(draw))
        })
        .collect();
    match &by[..] {
        [] => String::new(),
        by => format!(" ORDER BY {}", by.join(", ")),
    }
}

fn direction(draw: &mut Draw<'_>) -> String {
    let direction = *draw.rng.pick(&["", "", " DESC", " DESC", " ASC"]);
    let nulls = *draw.rng.pick(&["", "", "", " NULLS FIRST", " NULLS LAST"]);
    format!("{direction}{nulls}")
}
