//! Followers that come to write themselves, where virtual tables keep state of their own.

use pollster::block_on;
use resqlite::{BackupOptions, Database, Options};

use crate::support::{Node, World};

const SCHEMA: &str = "
    CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT);
    CREATE VIRTUAL TABLE words USING fts5(body, tokenize = porter);
    CREATE VIRTUAL TABLE outside USING fts5(body, content = notes, content_rowid = id);
    CREATE TRIGGER added AFTER INSERT ON notes BEGIN
        INSERT INTO outside(rowid, body) VALUES (new.id, new.body);
    END;
    CREATE TRIGGER removed AFTER DELETE ON notes BEGIN
        INSERT INTO outside(outside, rowid, body) VALUES ('delete', old.id, old.body);
    END;
    CREATE TRIGGER changed AFTER UPDATE ON notes BEGIN
        INSERT INTO outside(outside, rowid, body) VALUES ('delete', old.id, old.body);
        INSERT INTO outside(rowid, body) VALUES (new.id, new.body);
    END;
    CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1, +label);
";

/// What each node does when it is its turn. `{}` is a number of the turn.
const STEPS: [&str; 14] = [
    "INSERT INTO words(rowid, body) VALUES (1000 * {}, 'the quick fox number {}')",
    "INSERT INTO notes VALUES ({}, 'a lazy dog number {}')",
    "INSERT INTO boxes VALUES ({}, {}, {} + 5, 1, 2, 'box {}')",
    "INSERT INTO words(body) SELECT 'word' || value || ' common' FROM generated",
    "UPDATE words SET body = 'changed in turn {}' WHERE rowid % 7 = {} % 7",
    "UPDATE notes SET body = body || ' again {}'",
    "UPDATE boxes SET x1 = x1 + 3 WHERE id % 2 = {} % 2",
    "DELETE FROM words WHERE rowid % 5 = {} % 5",
    "DELETE FROM notes WHERE id % 3 = {} % 3",
    "DELETE FROM boxes WHERE id % 4 = {} % 4",
    "INSERT INTO words(words, rank) VALUES ('merge', 8)",
    "INSERT INTO words(words) VALUES ('optimize')",
    "INSERT INTO words(words) VALUES ('rebuild')",
    "INSERT INTO outside(outside) VALUES ('rebuild')",
];

const TABLES: [&str; 15] = [
    "notes",
    "words_data",
    "words_idx",
    "words_content",
    "words_docsize",
    "words_config",
    "outside_data",
    "outside_idx",
    "outside_docsize",
    "outside_config",
    "boxes_node",
    "boxes_rowid",
    "boxes_parent",
    "boxes",
    "sqlite_schema",
];

fn everything(node: &Node) -> Vec<String> {
    let rows = |sql: &str| {
        let rows = node.select(sql);
        rows.iter()
            .map(|row| format!("{:?}", row.values()))
            .collect::<String>()
    };
    let found = "SELECT (SELECT group_concat(rowid) FROM words('changed OR common OR fox')),
                        (SELECT group_concat(rowid) FROM outside('dog OR again')),
                        (SELECT group_concat(id) FROM boxes WHERE x1 > 10)";
    TABLES
        .iter()
        .map(|table| rows(&format!("SELECT * FROM {table}")))
        .chain([rows(found)])
        .collect()
}

/// Looks at a copy: the node itself must not write here.
fn assert_sound(world: &World, node: &Node) {
    let path = world.path("copy");
    let path = path.to_str().unwrap();
    let options = BackupOptions {
        overwrite: true,
        ..BackupOptions::default()
    };
    block_on(node.cluster.database().backup(path, options)).unwrap();
    let copy = block_on(Database::open(path, Options::default())).unwrap();
    for table in ["words", "outside"] {
        let check = format!("INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)");
        block_on(copy.execute(&check, ())).unwrap();
    }
    for sql in ["PRAGMA integrity_check", "SELECT rtreecheck('boxes')"] {
        let rows = block_on(copy.select(sql, ())).unwrap();
        let said: Vec<_> = rows.iter().map(|row| row.values()[0].clone()).collect();
        assert_eq!(said, ["ok".into()], "{sql}");
    }
    block_on(copy.close()).unwrap();
}

/// A step of a node, which then writes itself, whoever has written before.
fn step(node: &Node, step: &str, turn: usize) {
    node.catch_up();
    let sql = step.replace("{}", &turn.to_string());
    let sql = sql.replace(
        "generated",
        "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 60) SELECT value FROM n)",
    );
    block_on(node.cluster.database().execute(&sql, ())).unwrap();
}

// G335
#[test]
fn virtual_tables_of_followers_that_write_in_turn_stay_sound_and_equal() {
    let (world, nodes) = World::of_three("CREATE TABLE t(a)");
    nodes[0].run("DROP TABLE t");
    block_on(nodes[0].cluster.exec(SCHEMA)).unwrap();
    // 14 and 3 have no common divisor: each node does each step.
    for turn in 0..3 * STEPS.len() {
        let writer = &nodes[turn % nodes.len()];
        step(writer, STEPS[turn % STEPS.len()], turn + 1);
        nodes.iter().for_each(Node::catch_up);
        let first = everything(&nodes[0]);
        for node in &nodes {
            assert!(everything(node) == first, "turn {turn}");
            assert_sound(&world, node);
        }
    }
}
