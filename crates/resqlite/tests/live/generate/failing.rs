//! Statements that are meant to fail, mostly half-way: at a row that is not the first.

use super::{
    draw::Draw,
    model::{Key, Kind, Module, Role, Table},
    values::poison,
    writes,
};

/// Functions and values that SQLite takes only until it runs into them.
const RUNTIME_ERRORS: [&str; 4] = [
    "abs(-9223372036854775807 - 1)",
    "json('{')",
    "zeroblob(2000000000)",
    "(SELECT value FROM json_each('['))",
];
const CONFLICTS: [(usize, &str); 6] = [
    (10, ""),
    (3, " OR ABORT"),
    (3, " OR FAIL"),
    (3, " OR IGNORE"),
    (3, " OR REPLACE"),
    (1, " OR ROLLBACK"),
];

/// A statement that fails, unless the table happens to be empty, or its constraints say what to do instead.
pub fn statement(draw: &mut Draw<'_>, table: &Table) -> String {
    if table.module != Module::Btree {
        return in_module(draw, table);
    }
    match draw.rng.below(8) {
        0..=2 => insert(draw, table),
        3 => insert_select(draw, table),
        4 => upsert(draw, table),
        5 => returning(draw, table),
        _ => update(draw, table),
    }
}

/// What a column must not be given.
fn bad(draw: &mut Draw<'_>, table: &Table, at: usize) -> String {
    let column = &table.columns[at];
    match draw.rng.below(8) {
        0 | 1 => "NULL".into(),
        2 | 3 => poison(column.kind).into(),
        4 | 5 if matches!(column.kind, Kind::Integer | Kind::Real) => "'no number'".into(),
        4 | 5 if matches!(column.kind, Kind::Text) => "x'00'".into(),
        6 if matches!(column.role, Role::Child { .. }) => "77".into(),
        _ => (*draw.rng.pick(&RUNTIME_ERRORS)).into(),
    }
}

fn columns(table: &Table) -> (Vec<usize>, String) {
    let writable = table.writable();
    let names: Vec<&str> = writable
        .iter()
        .map(|&at| table.columns[at].name.as_str())
        .collect();
    let names = names.join(", ");
    (writable, names)
}

fn row(draw: &mut Draw<'_>, table: &Table, columns: &[usize]) -> Vec<String> {
    columns.iter().map(|&at| writes::value(draw, table, at)).collect()
}

/// Good rows, then a bad one: with a bad value, or with the keys of the one before.
fn rows(draw: &mut Draw<'_>, table: &Table, columns: &[usize]) -> String {
    let count = draw.rng.between(1, 4);
    let mut rows: Vec<Vec<String>> = (0..count).map(|_| row(draw, table, columns)).collect();
    let mut last = rows[count - 1].clone();
    if !draw.rng.chance(25) {
        let at = draw.rng.below(columns.len());
        last[at] = bad(draw, table, columns[at]);
    }
    rows.push(last);
    let rows: Vec<String> = rows.iter().map(|row| format!("({})", row.join(", "))).collect();
    rows.join(", ")
}

fn insert(draw: &mut Draw<'_>, table: &Table) -> String {
    let (name, (columns, names)) = (draw.table_name(table, true), columns(table));
    let (conflict, rows) = (draw.rng.weighted(&CONFLICTS), rows(draw, table, &columns));
    format!("INSERT{conflict} INTO {name}({names}) VALUES {rows}")
}

fn insert_select(draw: &mut Draw<'_>, table: &Table) -> String {
    let (name, (columns, names)) = (draw.table_name(table, true), columns(table));
    let conflict = draw.rng.weighted(&CONFLICTS);
    let good = row(draw, table, &columns).join(", ");
    let mut last = row(draw, table, &columns);
    let at = draw.rng.below(columns.len());
    last[at] = bad(draw, table, columns[at]);
    format!(
        "INSERT{conflict} INTO {name}({names}) SELECT {good} UNION ALL SELECT {}",
        last.join(", ")
    )
}

fn upsert(draw: &mut Draw<'_>, table: &Table) -> String {
    let (name, (columns, names)) = (draw.table_name(table, true), columns(table));
    let rows = rows(draw, table, &columns);
    let at = *draw.rng.pick(&columns);
    let bad = bad(draw, table, at);
    format!(
        "INSERT INTO {name}({names}) VALUES {rows} ON CONFLICT DO UPDATE SET {} = {bad}",
        table.columns[at].name
    )
}

fn returning(draw: &mut Draw<'_>, table: &Table) -> String {
    let name = draw.table_name(table, true);
    let column = &table.columns[draw.rng.below(table.columns.len())].name;
    let error = *draw.rng.pick(&RUNTIME_ERRORS);
    if draw.rng.chance(50) {
        return format!("DELETE FROM {name} RETURNING CASE WHEN {column} IS NULL THEN 1 ELSE {error} END");
    }
    let (columns, names) = columns(table);
    let row = row(draw, table, &columns).join(", ");
    format!("INSERT INTO {name}({names}) VALUES ({row}) RETURNING {column}, {error}")
}

/// Goes wrong at the last row.
fn update(draw: &mut Draw<'_>, table: &Table) -> String {
    let (name, columns) = (draw.table_name(table, true), table.writable());
    let at = *draw.rng.pick(&columns);
    let (column, conflict) = (&table.columns[at].name, draw.rng.weighted(&CONFLICTS));
    let key = match &table.key {
        Key::Columns {
            columns,
            rowid: false,
        } => table.columns[columns[0]].name.as_str(),
        _ => "rowid",
    };
    let last = if draw.rng.chance(30) && table.is_unique(at) {
        format!("(SELECT min({column}) FROM {name})")
    } else {
        bad(draw, table, at)
    };
    let good = writes::value(draw, table, at);
    let good = if table.is_unique(at) { column } else { &good };
    format!(
        "UPDATE{conflict} {name} SET {column} = CASE WHEN {key} = (SELECT max({key}) FROM {name}) \
         THEN {last} ELSE {good} END"
    )
}

fn in_module(draw: &mut Draw<'_>, table: &Table) -> String {
    let name = draw.table_name(table, true);
    let error = *draw.rng.pick(&RUNTIME_ERRORS);
    match (table.module, draw.rng.below(3)) {
        (Module::Rtree, 0) => format!("INSERT INTO {name}(id, low, high) VALUES (40, 1, 2), (41, 2, 1)"),
        (Module::Rtree, 1) => format!("INSERT INTO {name}(id, low, high) VALUES (40, 1, 2), (40, 1, 2)"),
        (Module::Rtree, _) => format!("UPDATE {name} SET low = CASE id % 2 WHEN 0 THEN 0 ELSE {error} END"),
        (_, 0) => format!("INSERT INTO {name}(rowid, title) VALUES (40, 'one'), ('no rowid', 'two')"),
        (_, 1) => format!("INSERT INTO {name}(title) VALUES ('one'), ({error})"),
        _ => format!(
            "UPDATE {name} SET title = 'red', body = CASE rowid % 2 WHEN 0 THEN 'one' ELSE {error} END"
        ),
    }
}
