//! Random statements that change rows.

use dice::Rng;
use resqlite::Value;

use super::{
    draw::Draw,
    expressions::Named,
    failing,
    model::{Column, Key, Kind, Module, Role, Schema, Table, View},
    tables::content_name,
    values,
};
use crate::script::{Statement, Step};

const CONFLICTS: [(usize, &str); 6] = [
    (10, ""),
    (6, " OR REPLACE"),
    (6, " OR IGNORE"),
    (1, " OR FAIL"),
    (1, " OR ABORT"),
    (0, " OR ROLLBACK"),
];

/// A statement that changes rows of some table or view; `None` while there is none. `failing`: so many of a hundred are
/// meant to fail.
pub fn write(rng: &mut Rng, schema: &Schema, failing: usize) -> Option<Statement> {
    let mut draw = Draw::new(rng, schema);
    let text = statement(&mut draw, failing)?;
    Some(draw.finish(&text))
}

/// The same as text without parameters.
pub fn literal(rng: &mut Rng, schema: &Schema, failing: usize) -> Option<String> {
    let mut draw = Draw::literal(rng, schema);
    let text = statement(&mut draw, failing)?;
    Some(draw.finish(&text).sql)
}

/// A statement that runs once per set of parameters. `failing`: in so many of a hundred batches, the last set fits
/// nowhere.
pub fn batch(rng: &mut Rng, schema: &Schema, failing: usize) -> Option<Step> {
    let table = written_for(some_table(rng, schema)?);
    let writable = table.writable();
    let insert = rng.chance(60);
    let (columns, condition) = (rng.subset(writable.len(), 80), rng.below(writable.len()));
    let columns: Vec<usize> = columns.into_iter().map(|at| writable[at]).collect();
    let condition = writable[condition];
    let mut draw = Draw::parameters(rng, schema);
    let name = draw.table_name(&table, true);
    let names: Vec<&str> = columns
        .iter()
        .map(|&at| table.columns[at].name.as_str())
        .collect();
    let sql = if insert {
        let marks = vec!["?"; names.len()].join(", ");
        let conflict = insert_conflict(&mut draw, &table);
        format!(
            "INSERT{conflict} INTO {name}({}) VALUES ({marks})",
            names.join(", ")
        )
    } else {
        let condition = &table.columns[condition].name;
        format!(
            "UPDATE{} {name} SET {} = ? WHERE {condition} = ?",
            update_conflict(&mut draw, &table),
            names[0]
        )
    };
    let set = |rng: &mut Rng| -> Vec<Value> {
        if insert {
            columns.iter().map(|&at| plain_value(rng, &table, at)).collect()
        } else {
            vec![
                plain_value(rng, &table, columns[0]),
                plain_value(rng, &table, condition),
            ]
        }
    };
    let mut sets: Vec<Vec<Value>> = (0..rng.between(1, 5)).map(|_| set(rng)).collect();
    if rng.chance(failing) {
        let wrong = *rng.pick(&["no number", "bad"]);
        sets.push(vec![Value::Text(wrong.into()); sets[0].len()]);
    }
    Some(Step::Batch { sql, sets })
}

fn some_table(rng: &mut Rng, schema: &Schema) -> Option<Table> {
    (!schema.tables.is_empty()).then(|| rng.pick(&schema.tables).clone())
}

/// The table to write to, so that the rows of this one change.
fn written_for(table: Table) -> Table {
    if table.module != Module::External {
        return table;
    }
    Table {
        name: content_name(&table.name),
        module: Module::Btree,
        ..table
    }
}

fn statement(draw: &mut Draw<'_>, failing: usize) -> Option<String> {
    if !draw.schema.views.is_empty() && draw.rng.chance(10) {
        let view = draw.rng.pick(&draw.schema.views).clone();
        if let Some(text) = through_view(draw, &view) {
            return Some(text);
        }
    }
    let table = some_table(draw.rng, draw.schema)?;
    let full_text = matches!(table.module, Module::Fts4 | Module::Fts5 | Module::External);
    if full_text && draw.rng.chance(8) {
        let name = draw.table_name(&table, true);
        let command = draw.rng.pick(&["optimize", "rebuild", "integrity-check"]);
        return Some(format!("INSERT INTO {name}({}) VALUES ('{command}')", table.name));
    }
    let table = written_for(table);
    if draw.rng.chance(failing) {
        return Some(failing::statement(draw, &table));
    }
    Some(match draw.rng.below(20) {
        0..=8 => insert(draw, &table),
        9 => insert_select(draw, &table),
        10..=16 => update(draw, &table),
        _ => delete(draw, &table),
    })
}

/// A value for a column, as it is bound.
fn plain_value(rng: &mut Rng, table: &Table, at: usize) -> Value {
    let column = &table.columns[at];
    if table.module != Module::Btree {
        return module_value(rng, column);
    }
    match &column.role {
        // An id of its own choice, often.
        Role::Key if table.key == Key::Alias(at) && rng.chance(50) => Value::Null,
        Role::Child { .. } if rng.chance(50) => Value::Null,
        _ if table.is_unique(at) || column.role != Role::Plain => values::unique(rng, column.kind),
        _ if table.strict => values::fitting(rng, column.kind),
        _ => values::any_class(rng, column.kind),
    }
}

fn module_value(rng: &mut Rng, column: &Column) -> Value {
    match column.name.as_str() {
        "id" => Value::Integer(rng.below(30) as i64),
        "low" => Value::Real(rng.below(5) as f64 - 1.0),
        "high" => Value::Real(rng.below(5) as f64 + 5.0),
        _ => Value::Text(values::sentence(rng)),
    }
}

/// A value for a column, as text: a parent's key where there must be one.
pub fn value(draw: &mut Draw<'_>, table: &Table, at: usize) -> String {
    if let Role::Child {
        table: parent,
        column,
    } = &table.columns[at].role
        && draw.rng.chance(85)
    {
        let offset = draw.rng.below(8);
        return format!(
            "(SELECT {column} FROM {}.{parent} LIMIT 1 OFFSET {offset})",
            table.schema
        );
    }
    let value = plain_value(draw.rng, table, at);
    draw.value(value)
}

fn insert_conflict(draw: &mut Draw<'_>, table: &Table) -> &'static str {
    match table.module {
        // A module has its own idea of conflicts.
        Module::Fts4 | Module::Fts5 | Module::External => "",
        Module::Rtree => draw.rng.pick::<&str>(&[" OR REPLACE", " OR IGNORE"]),
        Module::Btree if table.unique_lists().is_empty() => draw.rng.weighted(&CONFLICTS),
        Module::Btree => {
            draw.rng
                .weighted(&[(2, ""), (6, " OR REPLACE"), (6, " OR IGNORE"), (1, " OR FAIL")])
        }
    }
}

fn update_conflict(draw: &mut Draw<'_>, table: &Table) -> &'static str {
    if table.module == Module::Btree {
        draw.rng.weighted(&CONFLICTS)
    } else {
        ""
    }
}

fn insert(draw: &mut Draw<'_>, table: &Table) -> String {
    let name = draw.table_name(table, true);
    if table.module == Module::Btree && draw.rng.chance(2) {
        return format!("INSERT OR IGNORE INTO {name} DEFAULT VALUES");
    }
    let writable = table.writable();
    let mut columns: Vec<usize> = draw
        .rng
        .subset(writable.len(), 85)
        .into_iter()
        .map(|at| writable[at])
        .collect();
    if let Key::Columns { columns: key, .. } = &table.key {
        // No default for these.
        columns.extend(key);
        columns.sort_unstable();
        columns.dedup();
    }
    let rows = draw.rng.weighted(&[(6, 1), (2, 2), (1, 4)]);
    let rows: Vec<String> = (0..rows)
        .map(|_| {
            let row: Vec<String> = columns.iter().map(|&at| value(draw, table, at)).collect();
            format!("({})", row.join(", "))
        })
        .collect();
    let names = names_of(table, &columns);
    let returning = returning(draw, table);
    let rows = rows.join(", ");
    if table.module == Module::Btree && draw.rng.chance(25) {
        let upsert = upsert(draw, table);
        return format!("INSERT INTO {name}({names}) VALUES {rows} {upsert}{returning}");
    }
    let conflict = insert_conflict(draw, table);
    format!("INSERT{conflict} INTO {name}({names}) VALUES {rows}{returning}")
}

fn names_of(table: &Table, columns: &[usize]) -> String {
    let names: Vec<&str> = columns
        .iter()
        .map(|&at| table.columns[at].name.as_str())
        .collect();
    names.join(", ")
}

fn returning(draw: &mut Draw<'_>, table: &Table) -> &'static str {
    if table.module == Module::Btree && draw.rng.chance(8) {
        " RETURNING *"
    } else {
        ""
    }
}

fn upsert(draw: &mut Draw<'_>, table: &Table) -> String {
    let lists = table.unique_lists();
    if lists.is_empty() || draw.rng.chance(25) {
        return "ON CONFLICT DO NOTHING".into();
    }
    let list = draw.rng.pick(&lists).clone();
    let assignments = assignments(draw, table);
    format!(
        "ON CONFLICT({}) DO UPDATE SET {assignments} ON CONFLICT DO NOTHING",
        names_of(table, &list)
    )
}

/// SET of an update: new values, values computed from old ones, and values that stay as they are.
fn assignments(draw: &mut Draw<'_>, table: &Table) -> String {
    let mut choice = table.writable();
    // Keys change, but not with every update.
    if !draw.rng.chance(25) {
        choice.retain(|&at| !table.is_unique(at));
    }
    if choice.is_empty() {
        choice = table.writable();
    }
    let count = draw.rng.between(1, choice.len().min(3));
    let start = draw.rng.below(choice.len());
    let chosen: Vec<usize> = (0..count).map(|at| choice[(start + at) % choice.len()]).collect();
    let assignments: Vec<String> = chosen
        .iter()
        .map(|&at| format!("{} = {}", table.columns[at].name, assigned(draw, table, at)))
        .collect();
    assignments.join(", ")
}

fn assigned(draw: &mut Draw<'_>, table: &Table, at: usize) -> String {
    let column = &table.columns[at];
    let name = &column.name;
    let free = table.module == Module::Btree && column.role == Role::Plain && !table.is_unique(at);
    match draw.rng.below(14) {
        0 => name.clone(),
        1 if free && column.kind == Kind::Integer => format!("abs({name} % 10) + 1"),
        2 if free && !table.strict => {
            format!("CAST({name} AS {})", draw.rng.pick(&["TEXT", "INTEGER", "REAL"]))
        }
        3 if free && column.kind == Kind::Text => format!("upper({name})"),
        4 if free && !table.strict => draw
            .rng
            .pick(&["'1'", "1", "1.0", "-0.0", "0.0", "x'31'"])
            .to_string(),
        5 if free && matches!(column.kind, Kind::Real | Kind::Any) => format!("{name} * -1.0"),
        _ => value(draw, table, at),
    }
}

fn scope_of(table: &Table) -> Vec<Named> {
    let named = |column: &Column| Named {
        text: column.name.clone(),
        kind: column.kind,
    };
    table.columns.iter().map(named).collect()
}

/// Which rows: mostly few.
fn condition(draw: &mut Draw<'_>, table: &Table) -> String {
    let scope = scope_of(table);
    if table.module == Module::Rtree {
        return format!("id BETWEEN {} AND 20", draw.rng.below(20));
    }
    match draw.rng.below(10) {
        0..=2 if table.has_rowid() => format!("rowid % {} = 0", draw.rng.between(2, 5)),
        3 | 4 if table.has_rowid() => {
            let name = draw.table_name(table, true);
            let offset = draw.rng.below(5);
            format!("rowid = (SELECT rowid FROM {name} LIMIT 1 OFFSET {offset})")
        }
        5 | 6 => {
            let column = draw.rng.pick(&scope).clone();
            draw.one_of(&column)
        }
        _ => draw.predicate(&scope, 1),
    }
}

/// A row gets another key, and with it another place; all the rest of it stays.
fn moved(draw: &mut Draw<'_>, table: &Table) -> String {
    let name = draw.table_name(table, true);
    let (key, kind) = match &table.key {
        Key::Columns {
            columns,
            rowid: false,
        } => {
            let column = &table.columns[*draw.rng.pick(columns)];
            (column.name.as_str(), column.kind)
        }
        _ => ("rowid", Kind::Integer),
    };
    let value = values::unique(draw.rng, kind);
    let (value, offset) = (draw.value(value), draw.rng.below(5));
    format!(
        "UPDATE OR IGNORE {name} SET {key} = {value} WHERE {key} = (SELECT {key} FROM {name} LIMIT 1 OFFSET {offset})"
    )
}

fn update(draw: &mut Draw<'_>, table: &Table) -> String {
    if table.module == Module::Btree && draw.rng.chance(8) {
        return moved(draw, table);
    }
    let name = draw.table_name(table, true);
    let (assignments, condition) = (assignments(draw, table), condition(draw, table));
    let (conflict, returning) = (update_conflict(draw, table), returning(draw, table));
    if table.module == Module::Btree && returning.is_empty() && draw.rng.chance(6) {
        return format!(
            "UPDATE{conflict} {name} SET {assignments} FROM (SELECT 1 AS one) AS other \
             WHERE other.one = 1 AND {condition}"
        );
    }
    if let Some(pair) = pair_of(draw, table) {
        return format!("UPDATE{conflict} {name} SET {pair} WHERE {condition}{returning}");
    }
    format!("UPDATE{conflict} {name} SET {assignments} WHERE {condition}{returning}")
}

/// Two columns at once, as a row value.
fn pair_of(draw: &mut Draw<'_>, table: &Table) -> Option<String> {
    let free = |at: &usize| !table.is_unique(*at) && table.columns[*at].role == Role::Plain;
    let free: Vec<usize> = table.writable().into_iter().filter(free).collect();
    let [first, second, ..] = free[..] else {
        return None;
    };
    if !draw.rng.chance(8) {
        return None;
    }
    let (one, two) = (&table.columns[first].name, &table.columns[second].name);
    Some(if draw.rng.chance(50) {
        let values = (value(draw, table, first), value(draw, table, second));
        format!("({one}, {two}) = ({}, {})", values.0, values.1)
    } else {
        let name = draw.table_name(table, true);
        format!(
            "({one}, {two}) = (SELECT {one}, {two} FROM {name} LIMIT 1 OFFSET {})",
            draw.rng.below(4)
        )
    })
}

fn delete(draw: &mut Draw<'_>, table: &Table) -> String {
    let name = draw.table_name(table, true);
    if draw.rng.chance(5) {
        return format!("DELETE FROM {name}");
    }
    let condition = condition(draw, table);
    format!("DELETE FROM {name} WHERE {condition}{}", returning(draw, table))
}

/// Rows of some table go into another: few of them, so that tables stay small.
fn insert_select(draw: &mut Draw<'_>, table: &Table) -> String {
    let from = match draw.rng.chance(50) {
        true => table.clone(),
        false => draw.rng.pick(&draw.schema.tables).clone(),
    };
    if table.module != Module::Btree || from.module != Module::Btree || table.strict {
        return insert(draw, table);
    }
    let columns: Vec<usize> = table
        .writable()
        .into_iter()
        .filter(|&at| !matches!(table.columns[at].role, Role::Child { .. }))
        // Behind the greatest rowid, SQLite tries random ones.
        .filter(|&at| !table.may_be_rowid(at))
        .take(from.columns.len())
        .collect();
    if columns.is_empty() {
        return insert(draw, table);
    }
    let (target, source) = (draw.table_name(table, true), draw.table_name(&from, true));
    let values: Vec<&str> = (0..columns.len())
        .map(|at| from.columns[at].name.as_str())
        .collect();
    format!(
        "INSERT OR IGNORE INTO {target}({}) SELECT {} FROM {source} LIMIT 3",
        names_of(table, &columns),
        values.join(", ")
    )
}

/// A write that INSTEAD OF triggers of a view take.
fn through_view(draw: &mut Draw<'_>, view: &View) -> Option<String> {
    let name = format!("{}.{}", view.schema, view.name);
    let (column, kind) = draw.rng.pick(&view.columns).clone();
    let value = draw.constant(kind);
    let named = Named {
        text: column.clone(),
        kind,
    };
    match draw.rng.below(3) {
        0 if view.inserts => Some(format!("INSERT INTO {name}({column}) VALUES ({value})")),
        1 if view.updates => {
            let condition = draw.one_of(&named);
            Some(format!("UPDATE {name} SET {column} = {value} WHERE {condition}"))
        }
        2 if view.deletes => Some(format!("DELETE FROM {name} WHERE {column} = {value}")),
        _ => None,
    }
}
