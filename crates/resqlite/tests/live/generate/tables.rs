//! CREATE TABLE, and the columns of ADD COLUMN.

use dice::Rng;

use super::{
    model::{Column, Key, Kind, Module, Role, Schema, Table},
    values::{WORDS, poison},
};

const COLUMN_NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "amount", "name"];
const CONFLICTS: [&str; 5] = [
    "",
    " ON CONFLICT REPLACE",
    " ON CONFLICT IGNORE",
    " ON CONFLICT FAIL",
    " ON CONFLICT ABORT",
];

/// A table that is not there yet, and the statement that creates it.
pub fn create_table(rng: &mut Rng, schema: &Schema, database: &'static str) -> Option<(Table, String)> {
    let name = free_name(rng, schema, database)?;
    Some(match rng.below(24) {
        0 | 1 if database != "temp" => fts5(rng, database, name),
        2 if database != "temp" => fts4(rng, database, name),
        3 if database != "temp" => external(database, name),
        4 | 5 if database != "temp" => rtree(database, name),
        _ => ordinary(rng, schema, database, name),
    })
}

/// Names come from a few, so that a table that was dropped returns with other columns, and databases share names.
fn free_name(rng: &mut Rng, schema: &Schema, database: &str) -> Option<String> {
    let free: Vec<String> = (0..6)
        .map(|number| format!("t{number}"))
        .filter(|name| schema.table(database, name).is_none())
        .collect();
    (!free.is_empty()).then(|| rng.pick(&free).clone())
}

fn plain(name: &str, kind: Kind) -> Column {
    Column {
        name: name.into(),
        kind,
        role: Role::Plain,
        definition: name.into(),
    }
}

fn fts5(rng: &mut Rng, schema: &'static str, name: String) -> (Table, String) {
    let options = rng.pick(&[
        "",
        ", prefix='2'",
        ", columnsize=0",
        ", tokenize='porter'",
        ", detail=none",
        ", content=''",
        ", content='', contentless_delete=1",
    ]);
    let sql = format!("CREATE VIRTUAL TABLE {schema}.{name} USING fts5(title, body{options})");
    (virtual_table(schema, name, texts(), Module::Fts5), sql)
}

fn texts() -> Vec<Column> {
    vec![plain("title", Kind::Text), plain("body", Kind::Text)]
}

fn fts4(rng: &mut Rng, schema: &'static str, name: String) -> (Table, String) {
    let options = rng.pick(&["", ", prefix=\"2\"", ", matchinfo=fts3", ", content=\"\""]);
    let sql = format!("CREATE VIRTUAL TABLE {schema}.{name} USING fts4(title, body{options})");
    (virtual_table(schema, name, texts(), Module::Fts4), sql)
}

/// A full-text table over another one, [`content_name`], whose triggers keep it up to date.
fn external(schema: &'static str, name: String) -> (Table, String) {
    let content = content_name(&name);
    let add = format!("INSERT INTO {name}(rowid, title, body) VALUES (NEW.rowid, NEW.title, NEW.body)");
    let remove = format!(
        "INSERT INTO {name}({name}, rowid, title, body) VALUES ('delete', OLD.rowid, OLD.title, OLD.body)"
    );
    let trigger = |event: &str, body: &str| {
        format!("CREATE TRIGGER {schema}.{content}_{event} AFTER {event} ON {content} BEGIN {body}; END")
    };
    let sql = format!(
        "DROP TABLE IF EXISTS {schema}.{content}; \
         CREATE TABLE {schema}.{content}(title, body); \
         CREATE VIRTUAL TABLE {schema}.{name} USING fts5(title, body, content='{content}'); {}; {}; {}",
        trigger("INSERT", &add),
        trigger("DELETE", &remove),
        trigger("UPDATE", &format!("{remove}; {add}"))
    );
    (virtual_table(schema, name, texts(), Module::External), sql)
}

/// The table that holds the rows of an external full-text table.
pub fn content_name(name: &str) -> String {
    format!("{name}c")
}

fn rtree(schema: &'static str, name: String) -> (Table, String) {
    let sql = format!("CREATE VIRTUAL TABLE {schema}.{name} USING rtree(id, low, high, +note)");
    let columns = vec![
        plain("id", Kind::Integer),
        plain("low", Kind::Real),
        plain("high", Kind::Real),
        plain("note", Kind::Text),
    ];
    (virtual_table(schema, name, columns, Module::Rtree), sql)
}

fn virtual_table(schema: &'static str, name: String, columns: Vec<Column>, module: Module) -> Table {
    Table {
        schema,
        name,
        columns,
        key: Key::Rowid,
        strict: false,
        autoincrement: false,
        unique: Vec::new(),
        module,
    }
}

fn ordinary(rng: &mut Rng, schema: &Schema, database: &'static str, name: String) -> (Table, String) {
    let strict = rng.chance(15);
    let mut table = Table {
        schema: database,
        name,
        columns: Vec::new(),
        key: Key::Rowid,
        strict,
        autoincrement: false,
        unique: Vec::new(),
        module: Module::Btree,
    };
    let mut constraints = Vec::new();
    key_columns(rng, &mut table, &mut constraints);
    let names = rng.between(2, 5);
    let start = rng.below(3);
    for name in COLUMN_NAMES.iter().skip(start).take(names) {
        let mut column = match parent(rng, schema, &table) {
            Some(parent) if rng.chance(25) => child(rng, name, parent, strict),
            _ => ordinary_column(rng, name, strict),
        };
        if column.role == Role::Plain && rng.chance(5) {
            // The default lets statements work that leave the column out, and REPLACE has something to put there.
            let value = default(rng, column.kind).replace("NULL", "1");
            column.definition += &format!(" NOT NULL{} DEFAULT {value}", conflict(rng));
        }
        table.columns.push(column);
    }
    if rng.chance(30) {
        let column = generated(rng, &table, strict);
        table.columns.push(column);
    }
    unique_columns(rng, &mut table, &mut constraints);
    let definitions: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.definition.clone())
        .chain(constraints)
        .collect();
    let mut options = Vec::new();
    if !table.has_rowid() {
        options.push("WITHOUT ROWID");
    }
    if strict {
        options.push("STRICT");
    }
    let sql = format!(
        "CREATE TABLE {}.{}({}) {}",
        table.schema,
        table.name,
        definitions.join(", "),
        options.join(", ")
    );
    (table, sql.trim_end().into())
}

fn key_columns(rng: &mut Rng, table: &mut Table, constraints: &mut Vec<String>) {
    let conflict = conflict(rng);
    match rng.below(10) {
        0 | 1 => {}
        2..=5 => {
            table.autoincrement = rng.chance(20);
            let auto = if table.autoincrement { " AUTOINCREMENT" } else { "" };
            let order = if auto.is_empty() && rng.chance(5) {
                " ASC"
            } else {
                ""
            };
            table.columns.push(Column {
                name: "id".into(),
                kind: Kind::Integer,
                role: Role::Key,
                definition: format!("id INTEGER PRIMARY KEY{order}{conflict}{auto}"),
            });
            table.key = Key::Alias(0);
        }
        kind => {
            let columns = if rng.chance(40) { vec![0, 1] } else { vec![0] };
            for at in &columns {
                let mut column = ordinary_column(rng, ["k", "l"][*at], table.strict);
                column.role = Role::Key;
                table.columns.push(column);
            }
            let names = list(table, &columns);
            constraints.push(format!("PRIMARY KEY({names}){conflict}"));
            let rowid = kind > 7;
            table.key = Key::Columns { columns, rowid };
        }
    }
}

/// Mostly none; seldom ROLLBACK, which ends whole transactions.
fn conflict(rng: &mut Rng) -> &'static str {
    if rng.chance(70) {
        ""
    } else if rng.chance(4) {
        " ON CONFLICT ROLLBACK"
    } else {
        rng.pick::<&str>(&CONFLICTS)
    }
}

fn list(table: &Table, columns: &[usize]) -> String {
    let names: Vec<&str> = columns
        .iter()
        .map(|&at| table.columns[at].name.as_str())
        .collect();
    names.join(", ")
}

fn unique_columns(rng: &mut Rng, table: &mut Table, constraints: &mut Vec<String>) {
    let plain: Vec<usize> = (0..table.columns.len())
        .filter(|&at| table.columns[at].role == Role::Plain)
        .collect();
    if plain.len() > 1 && rng.chance(25) {
        let columns: Vec<usize> = plain.into_iter().take(rng.between(1, 2)).collect();
        constraints.push(format!("UNIQUE({}){}", list(table, &columns), conflict(rng)));
        table.unique.push(columns);
    }
}

pub fn ordinary_column(rng: &mut Rng, name: &str, strict: bool) -> Column {
    let (declared, kind) = if strict {
        *rng.pick(&[
            ("INTEGER", Kind::Integer),
            ("INT", Kind::Integer),
            ("REAL", Kind::Real),
            ("TEXT", Kind::Text),
            ("BLOB", Kind::Blob),
            ("ANY", Kind::Any),
        ])
    } else {
        rng.weighted(&[
            (4, ("INTEGER", Kind::Integer)),
            (1, ("BIGINT", Kind::Integer)),
            (2, ("REAL", Kind::Real)),
            (4, ("TEXT", Kind::Text)),
            (1, ("VARCHAR(20)", Kind::Text)),
            (1, ("BLOB", Kind::Blob)),
            (1, ("NUMERIC", Kind::Any)),
            (3, ("", Kind::Any)),
            (1, ("BOOLEAN", Kind::Integer)),
        ])
    };
    let mut definition = format!("{name} {declared}").trim_end().to_owned();
    if matches!(kind, Kind::Text | Kind::Any) && rng.chance(30) {
        definition += &format!(" COLLATE {}", rng.pick(&["NOCASE", "RTRIM"]));
    }
    if rng.chance(15) {
        definition += &format!(" DEFAULT {}", default(rng, kind));
    }
    if rng.chance(10) {
        definition += &format!(" CHECK ({name} IS NOT {})", poison(kind));
    }
    Column {
        name: name.into(),
        kind,
        role: Role::Plain,
        definition,
    }
}

fn default(rng: &mut Rng, kind: Kind) -> String {
    match kind {
        Kind::Integer => rng.below(5).to_string(),
        Kind::Real => (*rng.pick(&["0.5", "5"])).into(),
        Kind::Text => format!("'{}'", rng.pick(&WORDS)),
        Kind::Blob => "x'61'".into(),
        Kind::Any => (*rng.pick(&["1", "'1'", "1.0", "NULL"])).into(),
    }
}

/// A column that others may refer to: database, table, column, kind.
pub fn parent(rng: &mut Rng, schema: &Schema, table: &Table) -> Option<(String, String, Kind)> {
    let mut found = Vec::new();
    for other in schema.tables.iter().filter(|other| other.schema == table.schema) {
        let single = other.unique_lists().into_iter().filter(|list| list.len() == 1);
        for column in single.map(|list| &other.columns[list[0]]) {
            found.push((other.name.clone(), column.name.clone(), column.kind));
        }
    }
    if let Key::Alias(at) = table.key {
        let column = &table.columns[at];
        found.push((table.name.clone(), column.name.clone(), column.kind));
    }
    (!found.is_empty()).then(|| rng.pick(&found).clone())
}

pub fn child(
    rng: &mut Rng,
    name: &str,
    (table, parent, kind): (String, String, Kind),
    strict: bool,
) -> Column {
    let declared = match kind {
        Kind::Integer => "INTEGER",
        Kind::Real => "REAL",
        Kind::Text => "TEXT",
        Kind::Blob => "BLOB",
        Kind::Any if strict => "ANY",
        Kind::Any => "",
    };
    let mut definition = format!("{name} {declared} REFERENCES {table}({parent})");
    let action = |rng: &mut Rng| {
        rng.weighted(&[
            (4, "CASCADE"),
            (3, "SET NULL"),
            (1, "SET DEFAULT"),
            (1, "NO ACTION"),
        ])
    };
    if rng.chance(80) {
        definition += &format!(" ON DELETE {}", action(rng));
    }
    if rng.chance(80) {
        definition += &format!(" ON UPDATE {}", action(rng));
    }
    if rng.chance(40) {
        definition += " DEFERRABLE INITIALLY DEFERRED";
    }
    Column {
        name: name.into(),
        kind,
        role: Role::Child {
            table,
            column: parent,
        },
        definition,
    }
}

/// A generated column over one or two stored columns.
pub fn generated(rng: &mut Rng, table: &Table, strict: bool) -> Column {
    let stored: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| column.role == Role::Plain)
        .collect();
    let Some(first) = stored.first() else {
        return ordinary_column(rng, "g", strict);
    };
    let (first, second) = (&first.name, &rng.pick(&stored).name);
    let (expression, kind) = match rng.below(4) {
        0 => (format!("{first} || {second}"), Kind::Text),
        1 => (format!("coalesce({first}, {second})"), Kind::Any),
        2 => (format!("length({second})"), Kind::Integer),
        _ => (format!("typeof({second})"), Kind::Text),
    };
    let storage = rng.pick(&["VIRTUAL", "STORED"]);
    let declared = if strict { "ANY " } else { "" };
    Column {
        name: "g".into(),
        kind,
        role: Role::Generated,
        definition: format!("g {declared}AS ({expression}) {storage}"),
    }
}
