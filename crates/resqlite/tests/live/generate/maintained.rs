//! Scripts for results that are maintained: small tables that are joined by what they share or whose rows make groups, and
//! writes that hit them.

use dice::Rng;
use resqlite::Value;

use super::{
    ddl,
    groups::group_query,
    joins::join_query,
    model::{Column, Key, Kind, Module, Role, Schema, Table},
    scripts::Size,
    seen,
    tables::{child, generated, parent},
    writes,
};
use crate::{
    script::{Script, Setup, Statement, Step},
    text::literal,
};

const TABLES: [&str; 4] = ["t0", "t1", "\"order\"", "\"t 3\""];
const COLUMNS: [&str; 6] = ["a", "b", "c", "\"select\"", "\"x y\"", "key"];

struct Maker {
    rng: Rng,
    schema: Schema,
    steps: Vec<Step>,
    size: Size,
    /// Number of the next stream.
    streams: usize,
    open: Vec<usize>,
    has_transactions: bool,
    has_lags: bool,
    changes_schema: bool,
    has_strangers: bool,
    checks: usize,
    queries: Queries,
    /// Numbers of which few add up to more than an INTEGER holds.
    has_large_numbers: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Queries {
    Joins,
    Groups,
}

type Act = fn(&mut Maker);

/// A script with joins.
pub fn maintained_script(seed: u64, size: Size) -> Script {
    script(seed, size, Queries::Joins)
}

/// A script with groups.
pub fn groups_script(seed: u64, size: Size) -> Script {
    script(seed, size, Queries::Groups)
}

fn script(seed: u64, size: Size, queries: Queries) -> Script {
    let mut rng = Rng(seed);
    let has_strangers = rng.chance(8);
    let setup = Setup {
        file: has_strangers || rng.chance(15),
        readers: rng.between(1, 3),
        statement_cache: *rng.pick(&[2, 128, 128, 128]),
        recursive_triggers: rng.chance(15),
        utf16: false,
        handles: *rng.pick(&[1, 1, 1, 2]),
    };
    let mut maker = Maker {
        schema: Schema::default(),
        steps: Vec::new(),
        size,
        streams: 0,
        open: Vec::new(),
        has_transactions: rng.chance(60),
        has_lags: rng.chance(40),
        changes_schema: rng.chance(15),
        has_strangers,
        checks: *rng.pick(&[50, 100]),
        queries,
        has_large_numbers: queries == Queries::Groups && rng.chance(30),
        rng,
    };
    maker.start();
    while maker.steps.len() < size.steps {
        maker.step();
    }
    maker.steps.push(Step::Check);
    Script {
        setup,
        steps: maker.steps,
    }
}

impl Maker {
    fn start(&mut self) {
        let collations = self.rng.chance(20);
        for name in &TABLES[..self.rng.between(1, 4)] {
            let (table, sql) = table(&mut self.rng, &self.schema, name, collations);
            self.schema.tables.push(table);
            self.steps.push(Step::Script(sql));
        }
        for _ in 0..self.rng.below(4) {
            let index = ddl::index(&mut self.rng, &mut self.schema);
            self.steps.extend(index.map(Step::Script));
        }
        if self.queries == Queries::Groups && self.rng.chance(60) {
            self.index_all();
        }
        if self.rng.chance(40) {
            let trigger = ddl::trigger(&mut self.rng, &mut self.schema);
            self.steps.extend(trigger.map(Step::Script));
        }
        for _ in 0..self.rng.below(3) {
            let view = seen::view(&mut self.rng, &mut self.schema);
            self.steps.extend(view.map(Step::Script));
        }
        let (least, most) = *self.rng.pick(&[(0, 1), (2, 7), (2, 7)]);
        for at in 0..self.schema.tables.len() {
            for _ in 0..self.rng.between(least, most) {
                let sql = insert(&mut self.rng, &self.schema.tables[at], "INSERT OR IGNORE");
                self.steps.push(Step::Script(sql));
            }
        }
        for _ in 0..self.size.streams {
            self.subscribe();
        }
        self.steps.push(Step::Check);
    }

    /// So rows are found by any column.
    fn index_all(&mut self) {
        for (number, table) in self.schema.tables.iter().enumerate() {
            for (at, column) in table.columns.iter().enumerate() {
                let sql = format!(
                    "CREATE INDEX all_{number}_{at} ON {}({})",
                    table.name, column.name
                );
                self.steps.push(Step::Script(sql));
            }
        }
    }

    fn step(&mut self) {
        const ACTS: [(usize, Act); 9] = [
            (50, Maker::hit),
            (18, Maker::any_write),
            (6, Maker::batch),
            (10, Maker::script),
            (8, Maker::transaction),
            (3, Maker::subscribe),
            (3, Maker::lag),
            (2, Maker::change_schema),
            (2, Maker::foreign),
        ];
        let act = self.rng.weighted(&ACTS);
        act(self);
        if self.rng.chance(self.checks) {
            self.steps.push(Step::Check);
        }
    }

    fn any_write(&mut self) {
        let write = writes::write(&mut self.rng, &self.schema, 0);
        self.steps.extend(write.map(Step::Write));
    }

    fn batch(&mut self) {
        let batch = writes::batch(&mut self.rng, &self.schema, 0);
        self.steps.extend(batch);
    }

    /// A write that hits rows, in a commit of its own.
    fn hit(&mut self) {
        let writes = self.hitting();
        self.steps.push(match &writes[..] {
            [sql] => Step::Write(Statement {
                sql: sql.clone(),
                params: Vec::new(),
            }),
            several => Step::Script(several.join("; ")),
        });
    }

    /// Several writes in one commit, often of one row.
    fn script(&mut self) {
        let writes: Vec<String> = (0..self.rng.between(2, 5)).flat_map(|_| self.hitting()).collect();
        self.steps.push(Step::Script(writes.join("; ")));
    }

    /// Some of it undone.
    fn transaction(&mut self) {
        if !self.has_transactions {
            return self.hit();
        }
        self.steps.push(Step::Begin);
        self.hit();
        for _ in 0..self.rng.below(3) {
            self.steps.push(Step::Savepoint);
            self.hit();
            let end = self.rng.pick(&[Step::Release, Step::RollbackTo]).clone();
            self.steps.push(end);
            self.hit();
        }
        let end = if self.rng.chance(85) {
            Step::Commit
        } else {
            Step::Rollback
        };
        self.steps.push(end);
    }

    fn subscribe(&mut self) {
        if self.open.len() >= self.size.streams {
            let at = self.rng.below(self.open.len());
            self.steps.push(Step::Unsubscribe(self.open.remove(at)));
        }
        let count = self.rng.weighted(&[(8, 1), (1, 2)]);
        let query = match self.queries {
            Queries::Joins => join_query,
            Queries::Groups => group_query,
        };
        let queries = (0..count).map(|_| query(&mut self.rng, &self.schema)).collect();
        self.steps.push(Step::Subscribe {
            stream: self.streams,
            queries,
        });
        self.open.push(self.streams);
        self.streams += 1;
    }

    /// The commits until the next check are one maintenance step.
    fn lag(&mut self) {
        if self.has_lags {
            self.steps.push(Step::Lag);
            for _ in 0..self.rng.between(1, 5) {
                self.hit();
            }
            self.steps.push(Step::Check);
        }
    }

    fn change_schema(&mut self) {
        if self.changes_schema {
            let sql = ddl::change(&mut self.rng, &mut self.schema);
            self.steps.push(Step::Script(sql));
        }
    }

    fn foreign(&mut self) {
        if self.has_strangers {
            let writes = self.hitting();
            self.steps.push(Step::Foreign(writes.join("; ")));
        }
    }

    /// Writes to a row or a few.
    fn hitting(&mut self) -> Vec<String> {
        let tables: Vec<&Table> = (self.schema.tables.iter())
            .filter(|table| table.module == Module::Btree && table.schema == "main")
            .collect();
        let Some(table) = (!tables.is_empty()).then(|| (*self.rng.pick(&tables)).clone()) else {
            return vec!["SELECT 1".into()];
        };
        if self.has_large_numbers && self.rng.chance(8) {
            return vec![enlarge(&mut self.rng, &table)];
        }
        let rng = &mut self.rng;
        match rng.below(22) {
            0..=3 => vec![insert(rng, &table, "INSERT OR IGNORE")],
            4 | 5 => vec![insert(rng, &table, "INSERT OR REPLACE")],
            6..=13 => vec![update(rng, &table)],
            14 => vec![move_key(rng, &table)],
            15 | 16 => vec![delete(rng, &table)],
            // Gone, and back under the same key.
            17 => vec![delete(rng, &table), insert(rng, &table, "INSERT OR REPLACE")],
            18 => {
                let update = update(rng, &table);
                vec![
                    update.clone(),
                    update.replacen("SET", "SET /* again */", 1),
                    move_key(rng, &table),
                ]
            }
            19 => vec![upsert(rng, &table)],
            20 => vec![many(rng, &table)],
            // Tables stay small.
            _ => vec![format!(
                "DELETE FROM {} WHERE {} % 2 = 0 OR {} IS NULL",
                table.name,
                first(&table),
                first(&table)
            )],
        }
    }
}

fn table(rng: &mut Rng, schema: &Schema, name: &str, collations: bool) -> (Table, String) {
    let mut table = Table {
        schema: "main",
        name: name.into(),
        columns: Vec::new(),
        key: Key::Rowid,
        strict: false,
        autoincrement: false,
        unique: Vec::new(),
        module: Module::Btree,
    };
    let mut constraints = Vec::new();
    let mut key = |name: &str, declared: &str, kind: Kind| {
        table.columns.push(Column {
            name: name.into(),
            kind,
            role: Role::Key,
            definition: format!("{name} {declared}"),
        });
    };
    match rng.below(8) {
        0 => {}
        1..=3 => {
            key("id", "INTEGER PRIMARY KEY", Kind::Integer);
            table.key = Key::Alias(0);
        }
        choice => {
            let (declared, kind) = *rng.pick(&[
                ("TEXT", Kind::Text),
                ("", Kind::Any),
                ("INTEGER", Kind::Integer),
                ("REAL", Kind::Real),
            ]);
            key("id", declared, kind);
            if choice > 5 {
                key("k", "", Kind::Integer);
            }
            let columns = if choice > 5 { vec![1, 0] } else { vec![0] };
            constraints.push(
                if choice > 5 {
                    "PRIMARY KEY(k, id)"
                } else {
                    "PRIMARY KEY(id)"
                }
                .into(),
            );
            table.key = Key::Columns {
                columns,
                rowid: choice == 4,
            };
        }
    }
    for name in &COLUMNS[..rng.between(2, COLUMNS.len())] {
        let column = match parent(rng, schema, &table) {
            Some(parent) if rng.chance(25) => child(rng, name, parent, false),
            _ => plain(rng, name, collations),
        };
        table.columns.push(column);
    }
    if rng.chance(4) {
        table.columns.push(plain(rng, "rowid", false));
    }
    if rng.chance(25) {
        let column = generated(rng, &table, false);
        table.columns.push(column);
    }
    let definitions = table.columns.iter().map(|column| column.definition.clone());
    let definitions: Vec<String> = definitions.chain(constraints).collect();
    let options = if table.has_rowid() { "" } else { " WITHOUT ROWID" };
    let sql = format!("CREATE TABLE {name}({}){options}", definitions.join(", "));
    (table, sql)
}

fn plain(rng: &mut Rng, name: &str, collations: bool) -> Column {
    let (declared, kind) = *rng.pick(&[
        ("INTEGER", Kind::Integer),
        ("INTEGER", Kind::Integer),
        ("TEXT", Kind::Text),
        ("REAL", Kind::Real),
        ("NUMERIC", Kind::Any),
        ("", Kind::Any),
    ]);
    let collation = if collations && rng.chance(40) {
        " COLLATE NOCASE"
    } else {
        ""
    };
    Column {
        name: name.into(),
        kind,
        role: Role::Plain,
        definition: format!("{name} {declared}{collation}"),
    }
}

/// A value from a domain so small that rows meet.
fn value(rng: &mut Rng, table: &Table, at: usize) -> String {
    let column = &table.columns[at];
    let number = rng.below(6);
    if table.is_unique(at) || column.role != Role::Plain {
        return match column.kind {
            Kind::Text => format!("'k{}'", rng.below(12)),
            Kind::Any if rng.chance(50) => {
                (*rng.pick(&["'k1'", "x'01'", "2.0", "'2'", "1.5", "-0.0"])).into()
            }
            _ => rng.below(14).to_string(),
        };
    }
    match column.kind {
        _ if rng.chance(12) => "NULL".into(),
        Kind::Any if rng.chance(50) => (*rng.pick(&["'1'", "1.0", "x'61'", "'b'", "-0.0", "0.5"])).into(),
        Kind::Integer | Kind::Any => number.to_string(),
        Kind::Text => (*rng.pick(&["'a'", "'A'", "'a '", "'b'", "'B'", "'1'"])).into(),
        Kind::Real => (*rng.pick(&["0.0", "-0.0", "1.0", "1.5", "2.0"])).into(),
        Kind::Blob => literal(&Value::Blob(vec![number as u8])),
    }
}

fn first(table: &Table) -> &str {
    &table.columns[0].name
}

/// The key of some row that is there.
fn some_row(rng: &mut Rng, table: &Table) -> String {
    let key = match &table.key {
        Key::Columns { columns, .. } => columns
            .iter()
            .map(|&at| table.columns[at].name.as_str())
            .collect(),
        _ => vec!["_rowid_"],
    };
    let (key, offset) = (key.join(", "), rng.below(8));
    format!(
        "({key}) = (SELECT {key} FROM {} LIMIT 1 OFFSET {offset})",
        table.name
    )
}

fn insert(rng: &mut Rng, table: &Table, how: &str) -> String {
    let columns = table.writable();
    let rows: Vec<String> = (0..rng.weighted(&[(6, 1), (1, 2)]))
        .map(|_| {
            let values: Vec<String> = columns.iter().map(|&at| value(rng, table, at)).collect();
            format!("({})", values.join(", "))
        })
        .collect();
    let names: Vec<&str> = columns
        .iter()
        .map(|&at| table.columns[at].name.as_str())
        .collect();
    format!(
        "{how} INTO {}({}) VALUES {}",
        table.name,
        names.join(", "),
        rows.join(", ")
    )
}

fn assignments(rng: &mut Rng, table: &Table) -> String {
    let plain = |at: &usize| table.columns[*at].role != Role::Key;
    let columns: Vec<usize> = table.writable().into_iter().filter(plain).collect();
    let chosen = rng.subset(columns.len(), 30);
    let assigned = |at: usize| {
        let value = value(rng, table, columns[at]);
        format!("{} = {value}", table.columns[columns[at]].name)
    };
    let assigned: Vec<String> = chosen.into_iter().map(assigned).collect();
    assigned.join(", ")
}

fn update(rng: &mut Rng, table: &Table) -> String {
    let (assignments, row) = (assignments(rng, table), some_row(rng, table));
    format!("UPDATE OR IGNORE {} SET {assignments} WHERE {row}", table.name)
}

/// A number near the border of what an INTEGER holds.
fn enlarge(rng: &mut Rng, table: &Table) -> String {
    let is_number = |at: &usize| {
        let column = &table.columns[*at];
        column.role == Role::Plain && matches!(column.kind, Kind::Integer | Kind::Any)
    };
    let numbers: Vec<usize> = table.writable().into_iter().filter(is_number).collect();
    if numbers.is_empty() {
        return update(rng, table);
    }
    let (name, row) = (&table.columns[*rng.pick(&numbers)].name, some_row(rng, table));
    let number = *rng.pick(&[
        i64::MAX,
        i64::MAX - 3,
        1 << 62,
        -(1 << 62),
        i64::MIN + 2,
        i64::MIN,
    ]);
    format!(
        "UPDATE OR IGNORE {} SET {name} = {number} WHERE {row}",
        table.name
    )
}

fn move_key(rng: &mut Rng, table: &Table) -> String {
    let how = *rng.pick(&["IGNORE", "REPLACE"]);
    let (name, value) = match &table.key {
        Key::Columns { columns, .. } => {
            let at = *rng.pick(columns);
            (table.columns[at].name.clone(), value(rng, table, at))
        }
        _ => ("_rowid_".into(), rng.below(14).to_string()),
    };
    let row = some_row(rng, table);
    format!("UPDATE OR {how} {} SET {name} = {value} WHERE {row}", table.name)
}

fn delete(rng: &mut Rng, table: &Table) -> String {
    let row = some_row(rng, table);
    format!("DELETE FROM {} WHERE {row}", table.name)
}

fn upsert(rng: &mut Rng, table: &Table) -> String {
    let (insert, assignments) = (insert(rng, table, "INSERT"), assignments(rng, table));
    let lists = table.unique_lists();
    match lists.first() {
        None => insert,
        Some(list) => {
            let names: Vec<&str> = list.iter().map(|&at| table.columns[at].name.as_str()).collect();
            format!(
                "{insert} ON CONFLICT({}) DO UPDATE SET {assignments}",
                names.join(", ")
            )
        }
    }
}

/// Many rows in one commit.
fn many(rng: &mut Rng, table: &Table) -> String {
    let assignments = assignments(rng, table);
    format!("UPDATE OR IGNORE {} SET {assignments} WHERE true", table.name)
}
