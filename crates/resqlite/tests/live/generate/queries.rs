//! Random queries. On one state of the database each gives the same rows however often it runs.

use dice::Rng;

use super::{
    draw::Draw,
    expressions::Named,
    model::{Kind, Module, Role, Schema, Table},
    parts::{compound_by_key, in_elements, joined_by_key, related, seen_through},
    values::WORDS,
};
use crate::script::Statement;

/// The kinds of queries, with how often each comes.
type Make = fn(&mut Draw<'_>) -> Option<String>;

const KINDS: [(usize, Make); 22] = [
    (14, simple),
    (12, by_key),
    (10, filtered),
    (10, joined),
    (5, natural),
    (8, grouped),
    (4, aggregated),
    (5, windowed),
    (5, common_table),
    (3, recursive),
    (7, compound),
    (6, correlated),
    (4, in_subquery),
    (6, related),
    (3, joined_by_key),
    (2, in_elements),
    (3, seen_through),
    (2, compound_by_key),
    (3, index_only),
    (5, in_module),
    (2, over_values),
    (2, about_schema),
];

/// Those that can be told from most commits by the columns or the rows that they read.
const NARROW: [(usize, Make); 12] = [
    (6, related),
    (5, joined_by_key),
    (3, in_elements),
    (6, seen_through),
    (4, compound_by_key),
    (4, by_key),
    (12, filtered),
    (5, few_columns),
    (3, joined),
    (2, natural),
    (2, self_joined),
    (1, index_only),
];

/// A query on the tables that readers see.
pub fn query(rng: &mut Rng, schema: &Schema) -> Statement {
    one_of(&KINDS, rng, schema)
}

/// A query that most commits do not concern.
pub fn narrow_query(rng: &mut Rng, schema: &Schema) -> Statement {
    one_of(&NARROW, rng, schema)
}

fn one_of(kinds: &[(usize, Make)], rng: &mut Rng, schema: &Schema) -> Statement {
    loop {
        let make = if schema
            .readable()
            .iter()
            .any(|table| table.module == Module::Btree)
        {
            rng.weighted(kinds)
        } else {
            in_module
        };
        let mut draw = Draw::new(rng, schema);
        if let Some(text) = make(&mut draw) {
            return draw.finish(&text);
        }
    }
}

fn simple(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("")?;
    let qualified = draw.rng.chance(40);
    let scope = source.scope(qualified);
    let (results, tail) = (draw.results(&scope, true), draw.tail(&scope));
    let condition = if draw.rng.chance(70) {
        format!(" WHERE {}", draw.predicate(&scope, 2))
    } else {
        String::new()
    };
    let distinct = if draw.rng.chance(10) { "DISTINCT " } else { "" };
    Some(format!(
        "SELECT {distinct}{results} FROM {}{condition}{tail}",
        source.text
    ))
}

/// By the whole key, or the rowid: a point query.
fn by_key(draw: &mut Draw<'_>) -> Option<String> {
    let table = ordinary(draw)?;
    let source = draw.table_source(&table, "");
    let lists = table.unique_lists();
    let conditions: Vec<String> = if lists.is_empty() {
        let row = draw.rng.between(1, 20) as i64;
        vec![format!("rowid = {}", draw.value(row.into()))]
    } else {
        let list = draw.rng.pick(&lists).clone();
        list.iter().map(|&at| key_condition(draw, &table, at)).collect()
    };
    let results = draw.results(&source.columns, true);
    Some(format!(
        "SELECT {results} FROM {} WHERE {}",
        source.text,
        conditions.join(" AND ")
    ))
}

fn key_condition(draw: &mut Draw<'_>, table: &Table, at: usize) -> String {
    let column = &table.columns[at];
    let count = if draw.rng.chance(40) { 3 } else { 1 };
    let values: Vec<String> = (0..count)
        .map(|_| {
            let value = super::values::unique(draw.rng, column.kind);
            draw.value(value)
        })
        .collect();
    match values.as_slice() {
        [value] => format!("{} = {value}", column.name),
        values => format!("{} IN ({})", column.name, values.join(", ")),
    }
}

/// Top-level conditions of the forms that streams are found by.
fn filtered(draw: &mut Draw<'_>) -> Option<String> {
    let table = ordinary(draw)?;
    let source = draw.table_source(&table, "");
    let columns: Vec<Named> = source.scope(false);
    let count = draw.rng.between(1, 2);
    let conditions: Vec<String> = (0..count).map(|_| condition(draw, &columns)).collect();
    let (results, tail) = (draw.results(&columns, true), draw.tail(&columns));
    Some(format!(
        "SELECT {results} FROM {} WHERE {}{tail}",
        source.text,
        conditions.join(" AND ")
    ))
}

fn condition(draw: &mut Draw<'_>, columns: &[Named]) -> String {
    let column = draw.rng.pick(columns).clone();
    match draw.rng.below(8) {
        0..=3 => draw.compared(&column),
        4 | 5 => draw.one_of(&column),
        6 => draw.between(&column),
        _ => {
            let value = draw.constant(column.kind);
            format!("{} IS {value}", column.text)
        }
    }
}

/// One or two columns of all rows, in whatever order they come.
fn few_columns(draw: &mut Draw<'_>) -> Option<String> {
    let table = ordinary(draw)?;
    let source = draw.table_source(&table, "");
    let computed = table.columns.iter().find(|column| column.role == Role::Generated);
    if let Some(column) = computed.filter(|_| draw.rng.chance(40)) {
        return Some(format!("SELECT {} FROM {}", column.name, source.text));
    }
    let (first, second) = (draw.scalar(&source.columns, 0), draw.scalar(&source.columns, 0));
    let results = if draw.rng.chance(50) {
        first
    } else {
        format!("{first}, {second}")
    };
    Some(format!("SELECT {results} FROM {}", source.text))
}

/// A table twice, with a condition on one of the two.
fn self_joined(draw: &mut Draw<'_>) -> Option<String> {
    let table = ordinary(draw)?;
    let (first, second) = (draw.table_source(&table, "a"), draw.table_source(&table, "b"));
    let (left, right) = (first.scope(true), second.scope(true));
    let on = draw.rng.pick(&table.columns).name.clone();
    let join = draw.rng.pick(&["JOIN", "LEFT JOIN"]);
    let (mine, other) = (draw.scalar(&left, 0), draw.scalar(&right, 0));
    let condition = condition(draw, &left);
    Some(format!(
        "SELECT {mine}, {other} FROM {} {join} {} ON a.{on} = b.{on} WHERE {condition}",
        first.text, second.text
    ))
}

fn joined(draw: &mut Draw<'_>) -> Option<String> {
    let (from, scope) = draw.join()?;
    let results = draw.results(&scope, true);
    let condition = if draw.rng.chance(65) {
        format!(" WHERE {}", draw.predicate(&scope, 1))
    } else {
        String::new()
    };
    Some(format!(
        "SELECT {results} FROM {from}{condition}{}",
        draw.tail(&scope)
    ))
}

/// NATURAL, USING, RIGHT, FULL and self joins.
fn natural(draw: &mut Draw<'_>) -> Option<String> {
    let (left, right) = (draw.readable_table()?, draw.readable_table()?);
    let shared = |table: &Table, name: &str| table.columns.iter().any(|column| column.name == name);
    let common = left.columns.iter().find(|column| shared(&right, &column.name))?;
    let (first, second) = (draw.table_source(&left, "a"), draw.table_source(&right, "b"));
    let name = &common.name;
    let join = match draw.rng.below(5) {
        0 => format!("NATURAL JOIN {}", second.text),
        1 => format!("JOIN {} USING ({name})", second.text),
        2 => format!("LEFT JOIN {} USING ({name})", second.text),
        3 => format!("RIGHT JOIN {} ON a.{name} = b.{name}", second.text),
        _ => format!("FULL JOIN {} ON a.{name} = b.{name}", second.text),
    };
    let mut scope = first.scope(true);
    scope.extend(second.scope(true));
    Some(format!(
        "SELECT {} FROM {} {join}{}",
        draw.results(&scope, false),
        first.text,
        draw.tail(&scope)
    ))
}

fn grouped(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("a")?;
    let scope = source.scope(true);
    let depth = usize::from(draw.rng.chance(30));
    let group = draw.scalar(&scope, depth);
    let (first, second) = (draw.aggregate(&scope), draw.aggregate(&scope));
    let condition = if draw.rng.chance(40) {
        format!(" WHERE {}", draw.predicate(&scope, 1))
    } else {
        String::new()
    };
    let having = *draw
        .rng
        .pick(&["", "", " HAVING count(*) > 1", " HAVING min(1) = 1"]);
    let order = draw
        .rng
        .pick(&["", " ORDER BY 1", " ORDER BY 2 DESC, 1", " ORDER BY 3 LIMIT 3"]);
    Some(format!(
        "SELECT {group}, {first}, {second} FROM {}{condition} GROUP BY 1{having}{order}",
        source.text
    ))
}

fn aggregated(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("a")?;
    let scope = source.scope(true);
    let (first, second) = (draw.aggregate(&scope), draw.aggregate(&scope));
    let condition = if draw.rng.chance(50) {
        format!(" WHERE {}", draw.predicate(&scope, 1))
    } else {
        String::new()
    };
    Some(format!(
        "SELECT {first}, {second} FROM {}{condition}",
        source.text
    ))
}

fn windowed(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("a")?;
    let scope = source.scope(true);
    let (what, by, order) = (
        draw.scalar(&scope, 0),
        draw.scalar(&scope, 0),
        draw.scalar(&scope, 0),
    );
    let function = match draw.rng.below(7) {
        0 => "row_number()".into(),
        1 => "rank()".into(),
        2 => "ntile(2)".into(),
        3 => "count(*)".into(),
        4 => format!("lag({what})"),
        5 => format!("first_value({what})"),
        _ => format!("max({what})"),
    };
    let frame = if draw.rng.chance(30) {
        " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
    } else {
        ""
    };
    Some(format!(
        "SELECT {what}, {function} OVER (PARTITION BY {by} ORDER BY {order}{frame}) FROM {}{}",
        source.text,
        draw.tail(&scope)
    ))
}

fn common_table(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("a")?;
    let scope = source.scope(true);
    let (what, kind) = (draw.scalar(&scope, 1), Kind::Any);
    let inner = draw.predicate(&scope, 1);
    let results = [Named {
        text: "q.v".into(),
        kind,
    }];
    let outer = draw.predicate(&results, 0);
    let hint = draw.rng.pick(&["", " MATERIALIZED", " NOT MATERIALIZED"]);
    Some(format!(
        "WITH q(v) AS{hint} (SELECT {what} FROM {} WHERE {inner}) \
         SELECT v, (SELECT count(*) FROM q AS z WHERE z.v = q.v) FROM q WHERE {outer}{}",
        source.text,
        draw.tail(&results)
    ))
}

fn recursive(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("a")?;
    let scope = source.scope(true);
    let column = draw.rng.pick(&scope).text.clone();
    let end = draw.rng.between(2, 6) as i64;
    let end = draw.value(end.into());
    Some(format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {end}) \
         SELECT n.i, count({column}) FROM n LEFT JOIN {} ON {column} = n.i GROUP BY n.i",
        source.text
    ))
}

fn compound(draw: &mut Draw<'_>) -> Option<String> {
    let half = |draw: &mut Draw<'_>| -> Option<String> {
        let source = draw.source("a")?;
        let scope = source.scope(true);
        let (first, second) = (draw.scalar(&scope, 1), draw.scalar(&scope, 0));
        let condition = draw.predicate(&scope, 1);
        Some(format!(
            "SELECT {first} AS x, {second} FROM {} WHERE {condition}",
            source.text
        ))
    };
    let (left, right) = (half(draw)?, half(draw)?);
    let operator = draw.rng.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
    let tail = draw
        .rng
        .pick(&["", " ORDER BY 1", " ORDER BY 2, 1 LIMIT 5", " ORDER BY x DESC"]);
    Some(format!("{left} {operator} {right}{tail}"))
}

fn correlated(draw: &mut Draw<'_>) -> Option<String> {
    let (outer, inner) = (draw.source("a")?, draw.source("b")?);
    let (mine, other) = (outer.scope(true), inner.scope(true));
    let (left, right) = (draw.rng.pick(&mine).clone(), draw.rng.pick(&other).clone());
    let condition = format!("{} = {}", right.text, left.text);
    Some(if draw.rng.chance(50) {
        let aggregate = draw.aggregate(&other);
        format!(
            "SELECT {}, (SELECT {aggregate} FROM {} WHERE {condition}) FROM {}{}",
            left.text,
            inner.text,
            outer.text,
            draw.tail(&mine)
        )
    } else {
        let not = draw.rng.pick(&["", "NOT "]);
        let results = draw.results(&mine, true);
        format!(
            "SELECT {results} FROM {} WHERE {not}EXISTS (SELECT 1 FROM {} WHERE {condition}){}",
            outer.text,
            inner.text,
            draw.tail(&mine)
        )
    })
}

fn in_subquery(draw: &mut Draw<'_>) -> Option<String> {
    let (outer, inner) = (draw.source("a")?, draw.source("b")?);
    let (mine, other) = (outer.scope(true), inner.scope(true));
    let (left, right) = (draw.rng.pick(&mine).clone(), draw.rng.pick(&other).clone());
    let condition = draw.predicate(&other, 0);
    let (results, tail) = (draw.results(&mine, true), draw.tail(&mine));
    Some(format!(
        "SELECT {results} FROM {} WHERE {} IN (SELECT {} FROM {} WHERE {condition}){tail}",
        outer.text, left.text, right.text, inner.text
    ))
}

/// Little is read, so that SQLite may answer from an index whose other columns decide the order.
fn index_only(draw: &mut Draw<'_>) -> Option<String> {
    let table = ordinary(draw)?;
    let source = draw.table_source(&table, "");
    let column = draw.rng.pick(&source.columns).text.clone();
    let results = match draw.rng.below(4) {
        0 => "1".into(),
        1 if table.has_rowid() => "rowid".into(),
        2 if table.has_rowid() => format!("{column}, rowid"),
        _ => column,
    };
    let limit = draw.rng.pick(&["", " LIMIT 3"]);
    Some(format!("SELECT {results} FROM {}{limit}", source.text))
}

fn in_module(draw: &mut Draw<'_>) -> Option<String> {
    let tables: Vec<Table> = draw
        .schema
        .readable()
        .into_iter()
        .filter(|table| table.module != Module::Btree)
        .cloned()
        .collect();
    if tables.is_empty() {
        return None;
    }
    let table = draw.rng.pick(&tables).clone();
    let name = draw.table_name(&table, false);
    Some(if table.module != Module::Rtree {
        full_text(draw, &table, &name)
    } else {
        let at = draw.rng.below(6) as f64;
        let at = draw.value(at.into());
        format!("SELECT id, note FROM {name} WHERE low <= {at} AND high >= {at}")
    })
}

fn full_text(draw: &mut Draw<'_>, table: &Table, from: &str) -> String {
    let word = (*draw.rng.pick(&WORDS)).to_owned();
    let word = draw.value(word.into());
    let (old, table) = (table.module == Module::Fts4, &table.name);
    match draw.rng.below(5) {
        1 if old => format!("SELECT rowid, length(body) FROM {from} WHERE body MATCH {word}"),
        3 if old => format!("SELECT docid, offsets({table}) FROM {from} WHERE {table} MATCH {word}"),
        0 => format!("SELECT rowid, title FROM {from} WHERE {table} MATCH {word} ORDER BY rowid"),
        1 => format!("SELECT rowid, body FROM {from} WHERE {table} MATCH {word} ORDER BY rank, rowid"),
        2 => format!("SELECT count(*) FROM {from} WHERE {table} MATCH {word}"),
        3 => format!("SELECT rowid, * FROM {from}({word})"),
        _ => format!(
            "SELECT rowid, title FROM {from} WHERE rowid > {}",
            draw.rng.below(5)
        ),
    }
}

/// A list of values beside a table.
fn over_values(draw: &mut Draw<'_>) -> Option<String> {
    let source = draw.source("a")?;
    let scope = source.scope(true);
    let column = draw.rng.pick(&scope).text.clone();
    let from = *draw.rng.pick(&[
        "json_each('[0, 1, 2, \"a\", null]') AS j",
        "(SELECT column1 AS value FROM (VALUES (0), (1), ('a'))) AS j",
    ]);
    Some(format!(
        "SELECT j.value, count({column}) FROM {from} LEFT JOIN {} ON {column} = j.value GROUP BY 1",
        source.text
    ))
}

/// The schema itself, and other things that no row of a table tells.
fn about_schema(draw: &mut Draw<'_>) -> Option<String> {
    let table = ordinary(draw)?;
    let counted = draw
        .schema
        .tables
        .iter()
        .any(|table| table.autoincrement && table.schema == "main");
    Some(match draw.rng.below(5) {
        0 => "SELECT type, name FROM sqlite_schema ORDER BY name".into(),
        1 => format!("SELECT name, type FROM pragma_table_info('{}')", table.name),
        2 => "PRAGMA user_version".into(),
        3 if counted => "SELECT name, seq FROM sqlite_sequence ORDER BY name".into(),
        _ => format!("PRAGMA {}.table_info({})", table.schema, table.name),
    })
}

/// A table of SQLite's own storage.
fn ordinary(draw: &mut Draw<'_>) -> Option<Table> {
    let tables: Vec<&Table> = draw
        .schema
        .readable()
        .into_iter()
        .filter(|table| table.module == Module::Btree)
        .collect();
    (!tables.is_empty()).then(|| (*draw.rng.pick(&tables)).clone())
}
