//! The most important property: a commit that changes the result of a query always concerns it. Random queries meet random
//! changes, which go the way of real ones: hook, recorder, commit log.

use std::{env, fmt::Write as _};

use dice::Rng;
use resqlite_live::{Columns, Dependencies};
use resqlite_sqlite::Statement;

use super::{Db, grammar::rich};
use crate::{
    commits::{log::Commits, recorder::Recorder},
    connection::{location::Location, open::open},
    core::{
        options::{Options, Settings},
        params::Params,
        value::Value,
    },
    guard::authorizer::Role,
    maintain::analyse,
};

pub(crate) const SCHEMA: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, n NUMERIC, k TEXT COLLATE NOCASE, x, y BLOB,
        g AS (i || s), h AS (i + 1) STORED);
    CREATE TABLE u(id INTEGER PRIMARY KEY, i INT, s TEXT, m);
    CREATE TABLE p(s TEXT, i INT, m, PRIMARY KEY (s, i)) WITHOUT ROWID;
    CREATE VIEW v AS SELECT i, s, m FROM u WHERE m IS NOT 2;
    CREATE VIEW w AS SELECT t.x, u.m AS i FROM t JOIN u USING (i);
    CREATE TABLE a(id INTEGER PRIMARY KEY, v ANY, z TEXT COLLATE RTRIM, e INTEGER REFERENCES u) STRICT;
    CREATE VIEW renamed(q, f, e) AS SELECT s, i, m FROM p WHERE i > 0;
    CREATE VIEW nested AS SELECT q, e FROM renamed WHERE f < 3;
    CREATE VIEW grouped AS SELECT i, s, count(*) AS c, max(m) AS b FROM u GROUP BY i, s;
    CREATE VIEW whole AS SELECT i, max(s) AS s FROM u;
    CREATE VIEW latest AS SELECT * FROM u ORDER BY id DESC LIMIT 4;
    CREATE VIEW numbered AS SELECT i, m, row_number() OVER (ORDER BY id) AS o FROM u;
    CREATE VIEW both AS SELECT i, s FROM u UNION ALL SELECT i, m FROM p;
    CREATE VIEW alike(i, s) AS SELECT i, s FROM u UNION SELECT i, s FROM p;
    CREATE VIEW less AS SELECT id AS i, s FROM u EXCEPT SELECT i, s FROM p;
    CREATE VIEW outside AS SELECT u.i, u.s, p.m, p.i AS j FROM u LEFT JOIN p ON p.i = u.i AND p.m = 1;
    CREATE VIEW counted AS SELECT i, (SELECT count(*) FROM p WHERE p.i = u.i) AS n FROM u;
";
const INDEXES: [&str; 8] = [
    "CREATE INDEX t_i ON t(i)",
    "CREATE INDEX t_sr ON t(s, r DESC)",
    "CREATE INDEX t_r ON t(r)",
    "CREATE INDEX t_n ON t(n) WHERE x IS NOT NULL",
    "CREATE INDEX t_x ON t(x, i)",
    "CREATE INDEX t_k ON t(lower(k))",
    "CREATE INDEX u_is ON u(i, s)",
    "CREATE INDEX p_m ON p(m)",
];
pub(super) const OF_T: [&str; 10] = ["id", "i", "r", "s", "n", "k", "x", "y", "g", "h"];
pub(super) const OF_U: [&str; 4] = ["id", "i", "s", "m"];
pub(super) const OF_P: [&str; 3] = ["s", "i", "m"];
pub(super) const OF_A: [&str; 4] = ["id", "v", "z", "e"];
const VALUES: [&str; 29] = [
    "NULL",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "1.0",
    "0.5",
    "2.5",
    "-0.0",
    "1e300",
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.0",
    "9223372036854775807",
    "9223372036854775808.0",
    "0x02",
    "''",
    "'a'",
    "'A'",
    "'b'",
    "'1'",
    "'1.0'",
    "' 2'",
    "'ä'",
    "x''",
    "x'31'",
    "x'61'",
];

/// Arrays for `json_each`.
const ARRAYS: [&str; 8] = [
    "'[0, 1, 2]'",
    "'[1]'",
    "'[\"a\", \"b\"]'",
    "'[1, \"a\"]'",
    "'[\"1\", 2.0, 0.5]'",
    "'[true, null]'",
    "'[[1], 1]'",
    "'[]'",
];

/// The few values that most cells have, so that rows find partners and conditions find rows.
const COMMON: [&str; 8] = ["0", "1", "2", "'a'", "'b'", "'a'", "'A'", "'1'"];

pub(super) fn literal(dice: &mut Rng) -> &'static str {
    if dice.one_in(3) {
        dice.one_of(&VALUES)
    } else {
        dice.one_of(&COMMON)
    }
}

/// A query that is being put together.
struct Query<'a> {
    dice: &'a mut Rng,
}

impl Query<'_> {
    fn value(&mut self) -> String {
        match self.dice.below(8) {
            0..4 => literal(self.dice).into(),
            4..7 => "?".into(),
            _ => self.dice.one_of(&["?1", "?3", ":a", "@b"]).into(),
        }
    }

    fn comparison(&mut self, columns: &[&str], of: &str) -> String {
        let column = format!("{of}{}", self.dice.one_of(columns));
        match self.dice.below(12) {
            0..5 => {
                let operator = self
                    .dice
                    .one_of(&["=", "==", "IS", "<", "<=", ">", ">=", "=", "="]);
                format!("{column} {operator} {}", self.value())
            }
            5 => {
                let operator = self.dice.one_of(&["=", "<", "<=", ">", ">=", "IS"]);
                format!("{} {operator} ({column})", self.value())
            }
            6 | 7 => {
                let values: Vec<_> = (0..=self.dice.below(3)).map(|_| self.value()).collect();
                let not = self.dice.one_of(&["", "", "", "NOT "]);
                format!("{column} {not}IN ({})", values.join(", "))
            }
            8 => format!("{column} BETWEEN {} AND {}", self.value(), self.value()),
            9 => format!("{column} <> {}", self.value()),
            10 => {
                let collation = self.dice.one_of(&["NOCASE", "RTRIM", "BINARY"]);
                format!("{column} COLLATE {collation} = {}", self.value())
            }
            _ => format!("+{column} = {}", self.value()),
        }
    }

    fn condition(&mut self, columns: &[&str], of: &str) -> String {
        let first = self.comparison(columns, of);
        match self.dice.below(8) {
            0..3 => first,
            3..6 => format!("{first} AND {}", self.comparison(columns, of)),
            6 => format!("({first} OR {})", self.comparison(columns, of)),
            _ => format!("NOT ({first})"),
        }
    }

    fn tail(&mut self, columns: &[&str], of: &str) -> String {
        let mut tail = String::new();
        if self.dice.one_in(2) {
            let _ = write!(tail, " ORDER BY {of}{}", self.dice.one_of(columns));
        }
        if self.dice.one_in(3) {
            let _ = write!(tail, " LIMIT {}", 1 + self.dice.below(3));
        }
        tail
    }

    fn sql(&mut self) -> String {
        match self.dice.below(18) {
            0..4 => {
                let (one, other) = (self.dice.one_of(&OF_T), self.dice.one_of(&OF_T));
                let condition = self.condition(&OF_T, "");
                format!(
                    "SELECT {one}, {other} FROM t WHERE {condition}{}",
                    self.tail(&OF_T, "")
                )
            }
            4 => format!(
                "SELECT count(*), max(x), min(i) FROM t WHERE {}",
                self.condition(&OF_T, "t.")
            ),
            5 => format!(
                "SELECT count(*) FROM {}",
                self.dice.one_of(&["t", "u", "p", "v", "w"])
            ),
            6 => {
                let condition = self.condition(&OF_P, "p.");
                format!("SELECT m FROM p WHERE {condition}{}", self.tail(&OF_P, ""))
            }
            7 | 8 => {
                let join = self.dice.one_of(&["JOIN", "LEFT JOIN", "CROSS JOIN"]);
                let on = self.condition(&OF_U, "u.");
                let condition = self.condition(&OF_T, "a.");
                let more = self.condition(&OF_U, "u.");
                let tail = self.tail(&OF_U, "u.");
                format!(
                    "SELECT a.x, u.m FROM t a {join} u ON a.i = u.i AND {on} WHERE {condition} AND {more}{tail}"
                )
            }
            9 => {
                let on = self.comparison(&OF_U, "u.");
                let condition = self.condition(&["s", "i", "m"], "u.");
                format!("SELECT t.s, u.s FROM u LEFT JOIN t ON t.i = u.i AND {on} WHERE {condition}")
            }
            10 => {
                let condition = self.condition(&OF_U, "a.");
                format!("SELECT a.m, b.m FROM u a JOIN u b ON a.i = b.id WHERE {condition}")
            }
            11 => format!(
                "SELECT t.x FROM t JOIN u USING (i) WHERE {}",
                self.condition(&["x", "r", "n"], "")
            ),
            12 => format!(
                "SELECT 1 FROM u NATURAL JOIN p WHERE {}",
                self.condition(&["m"], "")
            ),
            13 => {
                let inner = self.condition(&OF_U, "u.");
                format!(
                    "SELECT x FROM t WHERE {} AND i IN (SELECT i FROM u WHERE {inner})",
                    self.condition(&OF_T, "")
                )
            }
            16 => format!("SELECT id, x FROM t WHERE x >= {}", self.value()),
            17 => format!(
                "SELECT id FROM u WHERE i = {}{}",
                self.value(),
                self.tail(&["i"], "")
            ),
            14 => format!(
                "SELECT * FROM {} WHERE {}",
                self.dice.one_of(&["v", "w"]),
                self.condition(&["i"], "")
            ),
            _ => format!(
                "SELECT i, s FROM u WHERE {} UNION ALL SELECT i, m FROM p WHERE {}",
                self.condition(&OF_U, ""),
                self.condition(&OF_P, "")
            ),
        }
    }
}

/// A random change of a row or a few.
fn change(dice: &mut Rng) -> String {
    let kind = dice.below(8);
    change_of(dice, kind)
}

/// A change of this kind; 0 is an INSERT.
fn change_of(dice: &mut Rng, kind: usize) -> String {
    let value = literal;
    let (table, columns) = match dice.below(9) {
        0..3 => ("t", &OF_T[..8]),
        3..6 => ("u", &OF_U[..]),
        6 | 7 => ("p", &OF_P[..]),
        _ => ("a", &OF_A[..]),
    };
    let column = dice.one_of(columns);
    match kind {
        0 | 1 => {
            let names: Vec<_> = columns.iter().filter(|&&name| name != "id").copied().collect();
            let values: Vec<_> = names.iter().map(|_| value(dice)).collect();
            format!(
                "INSERT OR REPLACE INTO {table}({}) VALUES ({})",
                names.join(", "),
                values.join(", ")
            )
        }
        2 => format!("DELETE FROM {table} WHERE {column} = {}", value(dice)),
        3 if table != "p" => format!(
            "UPDATE OR REPLACE {table} SET id = id + {} WHERE id % 3 = 1",
            dice.below(5)
        ),
        _ => {
            let filter = dice.one_of(columns);
            format!(
                "UPDATE OR REPLACE {table} SET {column} = {} WHERE {filter} IS {}",
                value(dice),
                value(dice)
            )
        }
    }
}

struct World {
    db: Db,
    recorder: Recorder,
    commits: Commits,
}

impl World {
    fn new(dice: &mut Rng) -> Self {
        let location = Location::find(":memory:", &Options::default()).unwrap();
        let settings = Settings::decide(&Options::default()).unwrap();
        let recorder = Recorder::default();
        let connection = open(&location, &settings, Role::Writer, |connection| {
            recorder.install(connection)
        });
        let db = Db {
            connection: connection.unwrap(),
            _location: location,
        };
        db.run(SCHEMA);
        INDEXES
            .iter()
            .filter(|_| dice.one_in(2))
            .for_each(|index| db.run(index));
        let world = Self {
            db,
            recorder,
            commits: Commits::default(),
        };
        (0..40).for_each(|_| world.try_run(&change_of(dice, 0)));
        world
    }

    /// Runs a statement that may violate a constraint.
    fn try_run(&self, sql: &str) {
        let connection = &self.db.connection;
        let run = || connection.sqlite.execute_script(sql);
        let mark = self.recorder.mark();
        if connection
            .guard
            .authorizer
            .unwrapped(crate::guard::pragmas::Asker::Script, run)
            .is_err()
        {
            self.recorder.rollback_to(mark);
        }
    }

    /// The rows of a query, and the error that ends them, if there is one.
    fn rows(&self, sql: &str, params: &Params) -> Vec<String> {
        let mut statement = self.prepare(sql).unwrap();
        params.reader().bind_next(&mut statement).unwrap();
        let mut rows = Vec::new();
        loop {
            match statement.step() {
                Ok(false) => return rows,
                Ok(true) => {}
                Err(error) => {
                    rows.push(format!("{error:?}"));
                    return rows;
                }
            }
            let cells: Vec<_> = (0..statement.column_count())
                .map(|cell| format!("{:?}", statement.column(cell)))
                .collect();
            rows.push(cells.join("|"));
        }
    }

    fn prepare(&self, sql: &str) -> Result<Statement, String> {
        let prepared = self.db.connection.sqlite.prepare(sql, false);
        let statement = prepared.map_err(|error| format!("{sql}: {error:?}"))?.statement;
        statement.ok_or_else(|| sql.to_owned())
    }

    fn dependencies(&self, sql: &str, params: &Params) -> Dependencies {
        let connection = &self.db.connection;
        let analysed = analyse(
            &connection.sqlite,
            &connection.guard,
            &connection.given_tables,
            sql,
        )
        .unwrap();
        let statement = connection.sqlite.prepare(sql, false).unwrap().statement.unwrap();
        analysed.reads.resolve(&connection.sqlite, &statement, params)
    }

    fn watch(&self, dependencies: &Dependencies) {
        self.commits.change_interest(|interest| {
            for dependency in &dependencies.tables {
                let images: Vec<u16> = dependency
                    .filter
                    .iter()
                    .flat_map(|filter| filter.columns())
                    .collect();
                interest.add(&dependency.table, &dependency.columns, &images);
            }
        });
    }

    /// The values of literals.
    fn params(&self, literals: &[&str]) -> Params {
        let values: Vec<Value> = literals.iter().map(|literal| self.literal(literal)).collect();
        Params::from(values)
    }

    fn literal(&self, literal: &str) -> Value {
        let sql = format!("SELECT {literal}");
        let mut row = self
            .db
            .connection
            .sqlite
            .prepare(&sql, false)
            .unwrap()
            .statement
            .unwrap();
        assert!(row.step().unwrap());
        row.column(0).into()
    }
}

/// The outcome of a run.
#[derive(Debug, Default)]
struct Seen {
    queries: usize,
    skipped: usize,
    filtered: usize,
    by_column: usize,
    changed: usize,
}

/// Random queries, and how many of them meet changes.
struct Plan {
    make: fn(&mut Rng) -> String,
    /// SQLite refuses some.
    refusable: bool,
    queries: u64,
    /// Commits that each query meets.
    commits: usize,
}

/// Lets one query meet changes.
fn meet(seed: u64, plan: &Plan, seen: &mut Seen) {
    let mut dice = Rng(seed);
    let world = World::new(&mut dice);
    let (sql, statement) = loop {
        let sql = (plan.make)(&mut dice);
        match world.prepare(&sql) {
            Ok(statement) => break (sql, statement),
            // Names that mean two things, mostly.
            Err(_) if plan.refusable => {}
            Err(error) => panic!("seed {seed}: {error}"),
        }
    };
    let json = statement.parameter_index(":json");
    let literals: Vec<_> = (1..=statement.parameter_count())
        .map(|number| match json {
            Some(json) if json == number => dice.one_of(&ARRAYS),
            _ => literal(&mut dice),
        })
        .collect();
    let params = world.params(&literals);
    let dependencies = world.dependencies(&sql, &params);
    let tables = &dependencies.tables;
    seen.queries += 1;
    seen.filtered += usize::from(tables.iter().any(|table| table.filter.is_some()));
    seen.by_column += usize::from(tables.iter().all(|table| table.columns != Columns::Any));
    if env::var_os("RESQLITE_SOUND_VERBOSE").is_some() {
        println!("{sql}\n{:#?}", world.db.explain(&sql, params.clone()));
    }
    world.watch(&dependencies);
    let mut before = world.rows(&sql, &params);
    for _ in 0..plan.commits {
        let script: Vec<_> = (0..=dice.below(2)).map(|_| change(&mut dice)).collect();
        world.recorder.know_tables(&world.db.connection.sqlite).unwrap();
        world.recorder.begin(&world.commits);
        let last = world.commits.last();
        script.iter().for_each(|sql| world.try_run(sql));
        world.recorder.commit(&world.commits, true, None);
        let after = world.rows(&sql, &params);
        let commits = world.commits.since(last).unwrap();
        let heard = commits
            .iter()
            .any(|commit| dependencies.impact(&commit.summary).reason().is_some());
        assert!(
            heard || before == after,
            "seed {seed}: {sql} {literals:?}\n{script:?}\n{before:?}\n{after:?}\n{dependencies:?}"
        );
        seen.skipped += usize::from(!heard && !commits.is_empty());
        seen.changed += usize::from(before != after);
        before = after;
    }
}

/// A throw is a query.
fn meet_many(plan: &Plan) -> Seen {
    let (start, queries) = (dice::first_seed(), dice::throws(plan.queries));
    let mut seen = Seen::default();
    for seed in start..start + queries {
        meet(seed, plan, &mut seen);
    }
    println!("from seed {start}: {seen:?}");
    seen
}

// G105
#[test]
fn a_commit_that_changes_a_result_always_concerns_its_query() {
    let seen = meet_many(&Plan {
        make: |dice| Query { dice }.sql(),
        refusable: false,
        queries: 2000,
        commits: 6,
    });
    // Otherwise the test shows nothing.
    let Seen { queries, .. } = seen;
    let matters = seen.skipped > queries / 2 && seen.filtered > queries / 6;
    let moves = seen.by_column > queries / 3 && seen.changed > queries / 3;
    assert!(!dice::throws_all() || matters && moves, "{seen:?}");
}

#[test]
fn so_does_one_that_changes_the_result_of_a_query_of_many_parts() {
    let seen = meet_many(&Plan {
        make: rich,
        refusable: true,
        queries: 600,
        commits: 20,
    });
    let Seen { queries, .. } = seen;
    let matters = seen.skipped > queries / 2 && seen.filtered > queries / 3;
    assert!(
        !dice::throws_all() || matters && seen.changed > queries / 3,
        "{seen:?}"
    );
}
