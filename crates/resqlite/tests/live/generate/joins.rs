//! Random queries whose results can be maintained, as far as that is known from their shape: plain SELECTs over joins.

use dice::Rng;
use resqlite::Value;

use super::{
    draw::Draw,
    expressions::Named,
    model::{Schema, Table},
    sources::Source,
};
use crate::script::Statement;

/// Names of sources; some are those of tables and columns, or keywords.
const ALIASES: [&str; 9] = ["x", "y", "z", "t0", "t1", "a", "\"from\"", "[two words]", "main"];
/// Names of results; most are those of columns.
const NAMES: [&str; 8] = ["a", "b", "id", "key", "\"select\"", "r", "\"x y\"", "c"];
const COLLATIONS: [&str; 3] = ["NOCASE", "RTRIM", "BINARY"];

/// What the text before WHERE says.
struct From {
    /// Common table expressions.
    with: Vec<String>,
    text: String,
    /// Columns that every row has.
    preserved: Vec<Named>,
    /// Columns behind LEFT JOIN.
    optional: Vec<Named>,
    /// Conditions of comma joins.
    conditions: Vec<String>,
    /// How the sources are called.
    called: Vec<String>,
}

impl From {
    fn columns(&self) -> Vec<Named> {
        [&self.preserved[..], &self.optional[..]].concat()
    }
}

/// A query over one table to five.
pub fn join_query(rng: &mut Rng, schema: &Schema) -> Statement {
    let mut draw = Draw::new(rng, schema);
    let make: fn(&mut Draw<'_>) -> String =
        draw.rng
            .weighted(&[(6, self_join as _), (10, union as _), (84, join as _)]);
    let text = make(&mut draw);
    draw.finish(&text)
}

/// Two or three SELECTs whose rows stand in one result.
fn union(draw: &mut Draw<'_>) -> String {
    let columns = draw.rng.between(1, 3);
    let alias = *draw.rng.pick(&NAMES);
    let has_alias = draw.rng.chance(40);
    let mut names: Vec<String> = (1..=columns).map(|at| at.to_string()).collect();
    if has_alias {
        names.push(alias.into());
    }
    let arms: Vec<String> = (0..draw.rng.weighted(&[(4, 2), (1, 3)]))
        .map(|at| arm(draw, columns, alias, has_alias && at == 0, &mut names))
        .collect();
    let between = if draw.rng.chance(4) {
        " UNION "
    } else {
        " UNION ALL "
    };
    let terms: Vec<String> = (0..draw.rng.weighted(&[(2, 0), (6, 1), (2, 2)]))
        .map(|_| {
            let name = draw.rng.pick(&names).clone();
            format!("{name}{}", manner(draw))
        })
        .collect();
    let order = match &terms[..] {
        [] => String::new(),
        terms => format!(" ORDER BY {}", terms.join(", ")),
    };
    let limit = limit(draw);
    format!("{}{order}{limit}", arms.join(between))
}

fn arm(draw: &mut Draw<'_>, columns: usize, alias: &str, has_alias: bool, names: &mut Vec<String>) -> String {
    let from = loop {
        let count = draw.rng.weighted(&[(5, 1), (2, 2)]);
        let from = sources(draw, count);
        if from.with.is_empty() {
            break from;
        }
    };
    let offered = from.columns();
    let mut results: Vec<String> = (0..columns)
        .map(|_| {
            let depth = usize::from(draw.rng.chance(15));
            draw.scalar(&offered, depth)
        })
        .collect();
    let text = &results[0];
    if draw.rng.chance(10) && !Draw::has_parameter(text) {
        names.push(text.clone());
    }
    if has_alias {
        results[0] += &format!(" AS {alias}");
    }
    let mut conditions = from.conditions.clone();
    if draw.rng.chance(45) {
        conditions.push(condition(draw, &from));
    }
    let condition = match &conditions[..] {
        [] => String::new(),
        some => format!(" WHERE {}", some.join(" AND ")),
    };
    format!("SELECT {} FROM {}{condition}", results.join(", "), from.text)
}

fn join(draw: &mut Draw<'_>) -> String {
    let drawn: usize = draw.rng.weighted(&[(6, 1), (6, 2), (4, 3), (1, 4), (1, 5)]);
    // One table joined to itself again and again makes results that take minutes.
    let count = if draw.schema.readable().len() == 1 {
        drawn.min(3)
    } else {
        drawn
    };
    let from = sources(draw, count);
    let (results, names) = results(draw, &from);
    let mut conditions = from.conditions.clone();
    if draw.rng.chance(45) {
        conditions.push(condition(draw, &from));
    }
    let order = order(draw, &from, &names);
    let comment = *draw.rng.pick(&["", "", "", " /* FROM t ORDER BY ? */", "/**/"]);
    let condition = match &conditions[..] {
        [] => String::new(),
        some => format!(" WHERE {}", some.join(" AND ")),
    };
    let limit = limit(draw);
    let end = *draw.rng.pick(&["", "", "", ";", " -- WHERE 1"]);
    let with = match &from.with[..] {
        [] => String::new(),
        some => format!("WITH {} ", some.join(", ")),
    };
    format!(
        "{with}SELECT {results}{comment} FROM {}{condition}{comment}{order}{limit}{end}",
        from.text
    )
}

/// A window, small enough that there are rows around it.
pub(super) fn limit(draw: &mut Draw<'_>) -> String {
    if !draw.rng.chance(30) {
        return String::new();
    }
    let mut value = |common: usize| {
        let number = draw.rng.weighted(&[(8, common), (1, 0)]) as i64;
        let value = match draw.rng.below(40) {
            0 => Value::Null,
            1 => Value::Text(number.to_string()),
            2 => Value::Real(number as f64),
            3 | 4 => Value::Integer(-1),
            _ => Value::Integer(number),
        };
        draw.value(value)
    };
    let (limit, offset) = (value(3), value(2));
    match draw.rng.below(5) {
        0 | 1 => format!(" LIMIT {limit}"),
        2 => format!(" LIMIT {offset}, {limit}"),
        _ => format!(" LIMIT {limit} OFFSET {offset}"),
    }
}

/// A table twice, of which a condition of its own picks the rows each time.
fn self_join(draw: &mut Draw<'_>) -> String {
    let table = draw.readable_table().expect("there is a table");
    let [left, right] = ["x", "y"].map(|alias| draw.table_source(&table, alias));
    let (one, other) = (left.scope(true), right.scope(true));
    let picked = |draw: &mut Draw<'_>, columns: &[Named]| {
        let column = draw.rng.pick(columns).clone();
        format!(
            "{} IN ({}, {})",
            column.text,
            draw.constant(column.kind),
            draw.constant(column.kind)
        )
    };
    let join = *draw.rng.pick(&[",", " JOIN", " CROSS JOIN"]);
    let (shown, found) = (
        draw.rng.pick(&one).text.clone(),
        draw.rng.pick(&other).text.clone(),
    );
    let (first, second) = (picked(draw, &one), picked(draw, &other));
    let (left, right) = (&left.text, &right.text);
    format!("SELECT {shown}, {found} FROM {left}{join} {right} WHERE {first} AND {second} ORDER BY {found}")
}

fn sources(draw: &mut Draw<'_>, count: usize) -> From {
    let mut aliases = ALIASES.to_vec();
    let mut from = From {
        with: Vec::new(),
        text: String::new(),
        preserved: Vec::new(),
        optional: Vec::new(),
        conditions: Vec::new(),
        called: Vec::new(),
    };
    let mut tables: Vec<Table> = Vec::new();
    let mut before: Option<Table> = None;
    for at in 0..count {
        let again = at > 0 && draw.rng.chance(25);
        let table = match again {
            true => draw.rng.pick(&tables).clone(),
            false => draw.readable_table().expect("there is a table"),
        };
        let alias = aliases.remove(draw.rng.below(aliases.len()));
        let alias = if count == 1 && draw.rng.chance(50) {
            ""
        } else {
            alias
        };
        let is_seen = draw.rng.chance(12);
        let source = match is_seen {
            true => draw.seen_source(&table, alias, &mut from.with),
            false => draw.table_source(&table, alias),
        };
        let offered = if is_seen {
            with_columns(&table, &source)
        } else {
            table.clone()
        };
        from.called.push(source.alias.clone());
        match &before {
            None => {
                from.text = source.text.clone();
                from.preserved = source.scope(count > 1 || draw.rng.chance(30));
            }
            Some(before) => join_one(draw, &mut from, &source, before, &offered),
        }
        before = Some(offered);
        tables.push(table);
    }
    from
}

/// The table as if it had only the columns of a source.
fn with_columns(table: &Table, source: &Source) -> Table {
    let mut table = table.clone();
    let is_given = |name: &str| source.columns.iter().any(|column| column.text == name);
    table.columns.retain(|column| is_given(&column.name));
    table
}

fn join_one(draw: &mut Draw<'_>, from: &mut From, source: &Source, before: &Table, table: &Table) {
    let columns = source.scope(true);
    let text = &source.text;
    let shared = |name: &str| before.columns.iter().find(|column| column.name == name);
    let common = table
        .columns
        .iter()
        .find_map(|column| shared(&column.name))
        .map(|column| column.name.clone());
    let left = draw.rng.chance(40);
    let kind = if left {
        *draw.rng.pick(&["LEFT JOIN", "LEFT OUTER JOIN"])
    } else {
        *draw.rng.pick(&["JOIN", "INNER JOIN", "CROSS JOIN"])
    };
    match (draw.rng.below(10), common) {
        (0, Some(name)) if from.called.len() == 2 => from.text += &format!(" {kind} {text} USING ({name})"),
        (1, Some(_)) if from.called.len() == 2 => {
            let natural = if left { "NATURAL LEFT JOIN" } else { "NATURAL JOIN" };
            from.text += &format!(" {natural} {text}");
        }
        (2, _) if !left => {
            from.text += &format!(", {text}");
            let on = equality(draw, &from.preserved, &columns);
            from.conditions.push(on);
        }
        _ => {
            // What stands behind an inner join may be left out for what stands behind LEFT JOIN; seldom it is.
            let chained = left && !from.optional.is_empty() && draw.rng.chance(50);
            let refused = !left && draw.rng.chance(20);
            let others = if chained || refused {
                from.columns()
            } else {
                from.preserved.clone()
            };
            let mut on = equality(draw, &others, &columns);
            if draw.rng.chance(30) {
                let side = if draw.rng.chance(60) { &columns } else { &others };
                on += &format!(" AND {}", draw.predicate(side, 0));
            }
            from.text += &format!(" {kind} {text} ON {on}");
        }
    }
    if left {
        from.optional.extend(columns);
    } else {
        from.preserved.extend(columns);
    }
}

/// Columns of one kind meet more often.
fn equality(draw: &mut Draw<'_>, left: &[Named], right: &[Named]) -> String {
    let one = draw.rng.pick(left).clone();
    let fitting: Vec<&Named> = right.iter().filter(|column| column.kind == one.kind).collect();
    let other = if fitting.is_empty() {
        draw.rng.pick(right)
    } else {
        *draw.rng.pick(&fitting)
    };
    let sign = draw.rng.weighted(&[(8, "="), (1, "IS")]);
    format!("{} {sign} {}", one.text, other.text)
}

/// Most rows fulfil it, or few; seldom what stands behind LEFT JOIN decides.
fn condition(draw: &mut Draw<'_>, from: &From) -> String {
    let decides = !from.optional.is_empty() && draw.rng.chance(35);
    let columns = if decides {
        from.optional.clone()
    } else {
        from.preserved.clone()
    };
    let column = draw.rng.pick(&columns).clone();
    let name = &column.text;
    match draw.rng.below(7) {
        0 => format!("{name} IS NOT {}", draw.constant(column.kind)),
        1 => format!("({name} IS NULL OR {name} <> {})", draw.constant(column.kind)),
        2 => {
            // One parameter at two places.
            let value = draw.constant(column.kind);
            format!("({name} > {value} OR {name} < {value})")
        }
        3 | 4 if decides => format!("{name} IS NULL"),
        3 => draw.one_of(&column),
        4 => draw.compared(&column),
        _ => draw.predicate(&columns, 1),
    }
}

/// The list of results, and the names and numbers by which ORDER BY can mean them.
fn results(draw: &mut Draw<'_>, from: &From) -> (String, Vec<String>) {
    if draw.rng.chance(15) {
        return ("*".into(), vec!["1".into()]);
    }
    let columns = from.columns();
    let (mut texts, mut names) = (Vec::new(), Vec::new());
    for at in 1..=draw.rng.between(1, 4) {
        if draw.rng.chance(8) {
            texts.push(format!("{}.*", draw.rng.pick(&from.called)));
            break;
        }
        let depth = usize::from(draw.rng.chance(25));
        let mut text = draw.scalar(&columns, depth);
        if draw.rng.chance(15) && !text.contains("COLLATE") {
            text = format!("{text} COLLATE NOCASE");
        }
        names.push(at.to_string());
        if draw.rng.chance(30) {
            let name = *draw.rng.pick(&NAMES);
            texts.push(format!("{text} AS {name}"));
            names.push(name.into());
        } else {
            texts.push(text);
        }
    }
    (texts.join(", "), names)
}

fn order(draw: &mut Draw<'_>, from: &From, names: &[String]) -> String {
    let columns = from.columns();
    let terms: Vec<String> = (0..draw.rng.weighted(&[(3, 0), (5, 1), (4, 2), (1, 3)]))
        .map(|_| {
            let value = match draw.rng.below(10) {
                0..=4 => draw.scalar(&columns, 0),
                5 | 6 if !names.is_empty() => draw.rng.pick(names).clone(),
                7 if !names.is_empty() => format!("({})", draw.rng.pick(names)),
                8 => {
                    let name = draw.rng.pick(&columns).text.clone();
                    let expression = *draw.rng.pick(&[
                        "lower(@)",
                        "-@",
                        "length(@)",
                        "@ IS NULL",
                        "(@)",
                        "+@",
                        "typeof(@)",
                    ]);
                    expression.replace('@', &name)
                }
                _ => draw.scalar(&columns, 1),
            };
            let collation = match draw.rng.chance(20) && !value.contains("COLLATE") {
                true => format!(" COLLATE {}", draw.rng.pick(&COLLATIONS)),
                false => String::new(),
            };
            format!("{value}{collation}{}", manner(draw))
        })
        .collect();
    match &terms[..] {
        [] => String::new(),
        terms => format!(" ORDER BY {}", terms.join(", ")),
    }
}

/// In what direction a term orders, and where NULLs stand.
fn manner(draw: &mut Draw<'_>) -> String {
    let direction = draw.rng.pick(&["", "", " ASC", " DESC", " DESC"]);
    let nulls = draw.rng.pick(&["", "", "", " NULLS FIRST", " NULLS LAST"]);
    format!("{direction}{nulls}")
}
