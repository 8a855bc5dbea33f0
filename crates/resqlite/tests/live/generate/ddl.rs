//! Statements that change the schema, and the schema as it is after them.

use dice::Rng;

use super::{
    model::{Attached, Key, Kind, Module, Role, Schema, Table, View},
    tables::{create_table, ordinary_column},
    values::poison,
};

type Change = fn(&mut Rng, &mut Schema) -> Option<String>;

/// Changes of a schema that is in use.
const CHANGES: [(usize, Change); 13] = [
    (5, table),
    (3, drop_table),
    (2, recreate_table),
    (6, index),
    (3, drop_index),
    (4, trigger),
    (3, view),
    (3, drop_attached),
    (5, add_column),
    (2, rename_column),
    (2, drop_column),
    (2, rename_table),
    (2, analyze),
];

/// A change of the schema as one script.
pub fn change(rng: &mut Rng, schema: &mut Schema) -> String {
    loop {
        let change = rng.weighted(&CHANGES);
        if let Some(sql) = change(rng, schema) {
            return sql;
        }
    }
}

/// A schema to start with: one script per statement. `least` to `most`: so many tables.
pub fn start(rng: &mut Rng, schema: &mut Schema, (least, most): (usize, usize)) -> Vec<String> {
    let mut out = Vec::new();
    for _ in 0..rng.between(least, most) {
        out.extend(table(rng, schema));
    }
    for _ in 0..rng.below(5) {
        out.extend(index(rng, schema));
    }
    for _ in 0..rng.below(3) {
        out.extend(trigger(rng, schema));
    }
    for _ in 0..rng.below(3) {
        out.extend(view(rng, schema));
    }
    out
}

pub fn table(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let database = match rng.below(10) {
        0 => "temp",
        1..=4 if schema.has_aux => "aux",
        _ => "main",
    };
    let (table, sql) = create_table(rng, schema, database)?;
    schema.tables.push(table);
    Some(sql)
}

fn pick(rng: &mut Rng, schema: &Schema, fits: impl Fn(&Table) -> bool) -> Option<usize> {
    let fitting: Vec<usize> = (0..schema.tables.len())
        .filter(|&at| fits(&schema.tables[at]))
        .collect();
    (!fitting.is_empty()).then(|| *rng.pick(&fitting))
}

/// Foreign keys to a table that is not there make every write of the child fail, so parents stay.
fn drop_table(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    if schema.tables.len() < 2 {
        return None;
    }
    let is_parent = |table: &Table| {
        let others = schema.tables.iter().filter(|other| other.name != table.name);
        others.into_iter().any(|other| other.refers_to(table))
    };
    let at = pick(rng, schema, |table| !is_parent(table))?;
    Some(drop_at(schema, at))
}

fn drop_at(schema: &mut Schema, at: usize) -> String {
    let name = schema.tables[at].full_name();
    let mut statements: Vec<String> = schema
        .remove(at)
        .iter()
        .filter(|thing| thing.what != "INDEX")
        .map(drop_statement)
        .collect();
    statements.push(format!("DROP TABLE {name}"));
    statements.join("; ")
}

fn drop_statement(thing: &Attached) -> String {
    format!("DROP {} IF EXISTS {}.{}", thing.what, thing.schema, thing.name)
}

/// Gone and back, with other columns and without its rows, in one commit.
fn recreate_table(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let dropped = drop_table(rng, schema)?;
    let created = table(rng, schema)?;
    Some(format!("{dropped}; {created}"))
}

pub(super) fn free_name(rng: &mut Rng, schema: &Schema, letter: char) -> String {
    loop {
        let name = format!("{letter}{}", rng.below(100));
        if !schema.attached.iter().any(|thing| thing.name == name) {
            return name;
        }
    }
}

pub fn index(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let at = pick(rng, schema, |table| table.module == Module::Btree)?;
    let name = free_name(rng, schema, 'i');
    let table = schema.tables[at].clone();
    let columns = indexed_columns(rng, &table);
    let unique = if rng.chance(6) { "UNIQUE " } else { "" };
    let condition = if rng.chance(25) {
        let column = &rng.pick(&table.columns).name;
        format!(
            " WHERE {column} {}",
            rng.pick(&["IS NOT NULL", "> 1", "= 'a'", "< 5"])
        )
    } else {
        String::new()
    };
    schema.attached.push(Attached {
        what: "INDEX",
        schema: table.schema,
        name: name.clone(),
        tables: vec![table.full_name()],
    });
    Some(format!(
        "CREATE {unique}INDEX {}.{name} ON {}({}){condition}",
        table.schema,
        table.name,
        columns.join(", ")
    ))
}

fn indexed_columns(rng: &mut Rng, table: &Table) -> Vec<String> {
    let count = rng.between(1, table.columns.len().min(3));
    let start = rng.below(table.columns.len());
    let mut columns = Vec::new();
    for at in 0..count {
        let name = &table.columns[(start + at) % table.columns.len()].name;
        let order = rng.pick(&["", "", " DESC"]);
        columns.push(match rng.below(10) {
            0 => format!("{name} COLLATE NOCASE{order}"),
            1 => format!("length({name}){order}"),
            2 => format!("{name} || 'x'{order}"),
            _ => format!("{name}{order}"),
        });
    }
    columns
}

fn drop_index(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    drop_one(rng, schema, |thing| thing.what == "INDEX")
}

/// A trigger, or a view with its triggers.
fn drop_attached(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    drop_one(rng, schema, |thing| thing.what != "INDEX")
}

fn drop_one(rng: &mut Rng, schema: &mut Schema, fits: impl Fn(&Attached) -> bool) -> Option<String> {
    let found: Vec<usize> = (0..schema.attached.len())
        .filter(|&at| fits(&schema.attached[at]))
        .collect();
    let at = *found.get(rng.below(found.len().max(1)))?;
    let thing = schema.attached.remove(at);
    schema
        .views
        .retain(|view| thing.what != "VIEW" || view.name != thing.name || view.schema != thing.schema);
    Some(drop_statement(&thing))
}

/// An AFTER or BEFORE trigger that writes into another table, or into its own.
pub fn trigger(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let ordinary = |table: &Table| table.module == Module::Btree;
    let at = pick(rng, schema, ordinary)?;
    let table = schema.tables[at].clone();
    let temporary = rng.chance(15) && table.schema != "temp";
    let same = |other: &Table| ordinary(other) && other.schema == table.schema;
    let other = pick(rng, schema, same)?;
    let other = schema.tables[other].clone();
    let name = free_name(rng, schema, 'g');
    let event = *rng.pick(&["INSERT", "UPDATE", "DELETE"]);
    let body = trigger_body(rng, &table, &other, event);
    let time = *rng.pick(&["AFTER", "AFTER", "BEFORE"]);
    let (when, raise) = if event != "DELETE" && rng.chance(25) {
        raise(rng, &table)
    } else {
        Default::default()
    };
    let of = if event == "UPDATE" && rng.chance(40) {
        format!(" OF {}", rng.pick(&table.columns).name)
    } else {
        String::new()
    };
    let database = if temporary { "temp" } else { table.schema };
    let target = if temporary {
        table.full_name()
    } else {
        table.name.clone()
    };
    schema.attached.push(Attached {
        what: "TRIGGER",
        schema: database,
        name: name.clone(),
        tables: vec![table.full_name(), other.full_name()],
    });
    Some(format!(
        "CREATE TRIGGER {database}.{name} {time} {event}{of} ON {target}{when} BEGIN {body}{raise}; END"
    ))
}

/// When a trigger refuses a row, and how.
fn raise(rng: &mut Rng, table: &Table) -> (String, String) {
    let column = rng.pick(&table.columns);
    let how = rng.weighted(&[(4, "ABORT"), (4, "FAIL"), (2, "IGNORE"), (1, "ROLLBACK")]);
    let message = if how == "IGNORE" { "" } else { ", 'poisoned'" };
    (
        format!(" WHEN NEW.{} IS {}", column.name, poison(column.kind)),
        format!("; SELECT RAISE({how}{message})"),
    )
}

fn trigger_body(rng: &mut Rng, table: &Table, other: &Table, event: &str) -> String {
    let row = if event == "DELETE" { "OLD" } else { "NEW" };
    let from = &rng.pick(&table.columns).name;
    let plain: Vec<usize> = (0..other.columns.len())
        .filter(|&at| other.columns[at].role == Role::Plain && !other.is_unique(at))
        .collect();
    let target = match plain.as_slice() {
        [] => {
            return format!(
                "DELETE FROM {} WHERE {} = {row}.{from}",
                other.name, other.columns[0].name
            );
        }
        plain => &other.columns[*rng.pick(plain)].name,
    };
    let name = &other.name;
    // With recursive triggers on, a trigger that writes into its own table must come to an end.
    let bound = format!("(SELECT count(*) FROM {name}) < 20");
    match rng.below(5) {
        0 | 1 if !matches!(other.key, Key::Columns { .. }) && !other.strict => {
            format!("INSERT OR IGNORE INTO {name}({target}) SELECT {row}.{from} WHERE {bound}")
        }
        2 => format!("DELETE FROM {name} WHERE {target} = {row}.{from} AND {target} > 5"),
        _ if !other.strict => format!(
            "UPDATE OR IGNORE {name} SET {target} = {row}.{from} WHERE {target} IS NOT {row}.{from} AND typeof({target}) = 'integer'"
        ),
        _ => format!("UPDATE OR IGNORE {name} SET {target} = NULL WHERE {target} = {row}.{from}"),
    }
}

fn view(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let readable = |table: &Table| table.schema != "temp" && table.module == Module::Btree;
    let at = pick(rng, schema, readable)?;
    let table = schema.tables[at].clone();
    let other = pick(rng, schema, |other| {
        readable(other) && other.schema == table.schema
    })?;
    let other = schema.tables[other].clone();
    let name = free_name(rng, schema, 'v');
    let (results, columns, from) = match rng.below(3) {
        0 => joined_view(&table, &other),
        1 => grouped_view(rng, &table),
        _ => plain_view(rng, &table),
    };
    let schema_name = table.schema;
    let mut sql = format!("CREATE VIEW {schema_name}.{name} AS SELECT {results} FROM {from}");
    let mut view = View {
        schema: schema_name,
        name: name.clone(),
        columns,
        inserts: false,
        updates: false,
        deletes: false,
    };
    sql += &instead_of(rng, &mut view, &table);
    schema.views.push(view);
    schema.attached.push(Attached {
        what: "VIEW",
        schema: schema_name,
        name,
        tables: vec![table.full_name(), other.full_name()],
    });
    Some(sql)
}

type Parts = (String, Vec<(String, Kind)>, String);

fn plain_view(rng: &mut Rng, table: &Table) -> Parts {
    let count = rng.between(1, table.columns.len());
    let columns: Vec<(String, Kind)> = table
        .columns
        .iter()
        .take(count)
        .map(|column| (column.name.clone(), column.kind))
        .collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let condition = rng.pick(&["", " WHERE 1", " LIMIT 10"]);
    (
        names.join(", "),
        columns.clone(),
        format!("{}{condition}", table.name),
    )
}

fn grouped_view(rng: &mut Rng, table: &Table) -> Parts {
    let column = rng.pick(&table.columns);
    let name = &column.name;
    let columns = vec![(name.clone(), column.kind), ("n".into(), Kind::Integer)];
    (
        format!("{name}, count(*) AS n"),
        columns,
        format!("{} GROUP BY {name}", table.name),
    )
}

fn joined_view(table: &Table, other: &Table) -> Parts {
    let (left, right) = (&table.columns[0], &other.columns[0]);
    (
        format!("x.{} AS l, y.{} AS r", left.name, right.name),
        vec![("l".into(), left.kind), ("r".into(), right.kind)],
        format!(
            "{} AS x LEFT JOIN {} AS y ON x.{} = y.{}",
            table.name, other.name, left.name, right.name
        ),
    )
}

fn instead_of(rng: &mut Rng, view: &mut View, table: &Table) -> String {
    let plain = |at: &usize| table.columns[*at].role == Role::Plain && !table.is_unique(*at);
    let Some(target) = (0..table.columns.len()).find(plain) else {
        return String::new();
    };
    let (name, target) = (&table.name, &table.columns[target].name);
    let column = &view.columns[0].0;
    let mut out = String::new();
    let mut add = |event: &str, body: String| {
        out += &format!(
            "; CREATE TRIGGER {}.{}_{event} INSTEAD OF {event} ON {} BEGIN {body}; END",
            view.schema, view.name, view.name
        );
    };
    if rng.chance(60) && !table.strict {
        view.inserts = true;
        add(
            "INSERT",
            format!("INSERT OR IGNORE INTO {name}({target}) VALUES (NEW.{column})"),
        );
    }
    if rng.chance(50) && !table.strict {
        view.updates = true;
        add(
            "UPDATE",
            format!("UPDATE OR IGNORE {name} SET {target} = NEW.{column} WHERE {target} = OLD.{column}"),
        );
    }
    if rng.chance(40) {
        view.deletes = true;
        add(
            "DELETE",
            format!("DELETE FROM {name} WHERE {target} = OLD.{column}"),
        );
    }
    out
}

fn add_column(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let at = pick(rng, schema, |table| {
        table.module == Module::Btree && table.columns.len() < 9
    })?;
    let name = (0..20).map(|number| format!("n{number}")).find(|name| {
        schema.tables[at]
            .columns
            .iter()
            .all(|column| column.name != *name)
    })?;
    let table = &mut schema.tables[at];
    let column = ordinary_column(rng, &name, table.strict);
    let sql = format!(
        "ALTER TABLE {} ADD COLUMN {}",
        table.full_name(),
        column.definition
    );
    table.columns.push(column);
    Some(sql)
}

fn rename_column(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let stands_alone = |table: &Table| table.module == Module::Btree && schema.stands_alone(table);
    let at = pick(rng, schema, stands_alone)?;
    let table = &mut schema.tables[at];
    let column = rng.below(table.columns.len());
    let old = table.columns[column].name.clone();
    let new = format!("m{}", rng.below(100));
    if table.columns.iter().any(|column| column.name == new) {
        return None;
    }
    let sql = format!("ALTER TABLE {} RENAME COLUMN {old} TO {new}", table.full_name());
    table.columns[column].name = new;
    Some(sql)
}

/// Only columns that came later: nothing in CREATE TABLE mentions them.
fn drop_column(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let later = |table: &Table| {
        table
            .columns
            .last()
            .is_some_and(|column| column.name.starts_with('n'))
    };
    let unused = |table: &Table| {
        let name = table.full_name();
        !schema.attached.iter().any(|thing| thing.tables.contains(&name))
    };
    let at = pick(rng, schema, |table| later(table) && unused(table))?;
    let table = &mut schema.tables[at];
    let column = table.columns.pop()?;
    Some(format!(
        "ALTER TABLE {} DROP COLUMN {}",
        table.full_name(),
        column.name
    ))
}

fn rename_table(rng: &mut Rng, schema: &mut Schema) -> Option<String> {
    let alone = |table: &Table| table.module != Module::External && schema.stands_alone(table);
    let at = pick(rng, schema, alone)?;
    let (database, old) = (schema.tables[at].schema, schema.tables[at].name.clone());
    let new = format!("t{}", rng.below(6));
    if schema.table(database, &new).is_some() {
        return None;
    }
    let (before, after) = (format!("{database}.{old}"), format!("{database}.{new}"));
    for thing in &mut schema.attached {
        for table in &mut thing.tables {
            if *table == before {
                table.clone_from(&after);
            }
        }
    }
    schema.tables[at].name.clone_from(&new);
    Some(format!("ALTER TABLE {before} RENAME TO {new}"))
}

fn analyze(rng: &mut Rng, _: &mut Schema) -> Option<String> {
    Some((*rng.pick(&["ANALYZE", "ANALYZE", "REINDEX"])).into())
}
