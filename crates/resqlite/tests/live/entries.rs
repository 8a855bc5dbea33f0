//! Entries: what a random script commits is applied to copies, which must then hold the same.
//!
//! One copy begins empty, and another as a backup from the middle of the script. Everything is compared, also what is
//! arranged as it happens: shadow tables, `sqlite_sequence`, statistics, rowids.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use dice::Rng;
use pollster::block_on;
use resqlite::{
    BackupOptions, Database, Options, Value,
    log::{Entry, EntryGate, Verdict},
};

use crate::{
    contents::{Row, rows, same_rows},
    generate::{Size, failing_script, script},
    key::keyed,
    script::{Script, Statement, Step},
    world::{World, Wrote, path_in},
};

const SIZE: Size = Size {
    steps: 60,
    streams: 1,
};
/// Entries of one run of the suite, about.
const ENTRIES: u64 = 3_000;

/// Keeps what is committed, and refuses now and then.
struct Log {
    entries: Arc<Mutex<Vec<Entry>>>,
    refusals: Rng,
}

impl EntryGate for Log {
    fn before_commit(&mut self, _: &Entry, verdict: Verdict) {
        if self.refusals.chance(5) {
            verdict.refuse("another was first");
        } else {
            verdict.pass();
        }
    }

    fn committed(&mut self, entry: &Entry) {
        self.entries.lock().unwrap().push(entry.clone());
    }
}

/// All that a main database holds.
type Everything = BTreeMap<String, Vec<Row>>;

fn everything(db: &Database) -> Everything {
    let select = |sql: &str| block_on(db.select(sql, ())).map(|found| rows(&found));
    let mut all = Everything::new();
    for sql in [
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2",
        "PRAGMA user_version",
        "PRAGMA application_id",
    ] {
        all.insert(sql.into(), select(sql).unwrap());
    }
    let tables = "SELECT name, wr FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema'";
    for table in select(tables).unwrap() {
        let [Value::Text(name), Value::Integer(without_rowid)] = &table[..] else {
            unreachable!("pragma_table_list has other columns: {table:?}")
        };
        let rowid = if *without_rowid == 1 { "" } else { "rowid, " };
        let sql = format!("SELECT {rowid}* FROM main.\"{name}\"");
        // A generated column may have no value: where it has none here, it has none there.
        let mut found = select(&sql).unwrap_or_else(|error| vec![vec![Value::Text(error.to_string())]]);
        // Plans may differ, and with them the order.
        found.sort_by_cached_key(|row| format!("{row:?}"));
        all.insert(name.clone(), found);
    }
    all
}

fn assert_same(copy: &Database, original: &Everything, what: &str) {
    let copy = everything(copy);
    assert_eq!(
        copy.keys().collect::<Vec<_>>(),
        original.keys().collect::<Vec<_>>(),
        "{what}"
    );
    for (name, rows) in original {
        let is = &copy[name];
        assert!(
            same_rows(is, rows),
            "{what}, {name}\nhas:         {is:?}\nshould have: {rows:?}"
        );
    }
}

fn is_sound(db: &Database) {
    let found = block_on(db.select("PRAGMA integrity_check", ())).unwrap();
    assert_eq!(rows(&found), [[Value::Text("ok".into())]]);
}

/// What the script does, without what nobody can do beside a gate, and with savepoints of SQL.
fn steps(script: Script, rng: &mut Rng) -> Vec<Step> {
    let write = |sql: &str| {
        Step::Write(Statement {
            sql: sql.into(),
            params: Vec::new(),
        })
    };
    let mut steps = Vec::new();
    for step in script.steps {
        match step {
            Step::Foreign(_)
            | Step::Attach
            | Step::Detach
            | Step::Subscribe { .. }
            | Step::Unsubscribe(_) => {}
            Step::Script(sql) if sql.starts_with("PRAGMA") => steps.push(write(&sql)),
            step => steps.push(step),
        }
        if rng.chance(12) {
            let savepoint: &&str = rng.pick(&[
                "SAVEPOINT a",
                "SAVEPOINT b",
                "ROLLBACK TO a",
                "ROLLBACK TO B",
                "RELEASE a",
                "RELEASE b",
            ]);
            steps.push(write(savepoint));
        }
        if rng.chance(4) {
            let own: &&str = rng.pick(&[
                "UPDATE sqlite_sequence SET seq = seq + 3",
                "DELETE FROM sqlite_sequence WHERE rowid % 2 = 1",
                "DELETE FROM sqlite_stat1 WHERE rowid % 2 = 1",
            ]);
            steps.push(write(own));
        }
        if rng.chance(2) {
            steps.push(write(
                "CREATE TABLE IF NOT EXISTS made AS SELECT random() AS a, hex(randomblob(3)) AS b",
            ));
            steps.push(write("DROP TABLE IF EXISTS made"));
        }
    }
    steps
}

/// Everything can be carried but VACUUM, and savepoints outside of a transaction.
fn is_carried(wrote: &Wrote, step: &Step) {
    if let Wrote::Failed(error) = wrote
        && error.code() == "RESQLITE_ENTRY_NOT_CARRIED"
    {
        let sql = match step {
            Step::Script(sql) | Step::Write(Statement { sql, .. }) => sql,
            step => panic!("{step}: {error}"),
        };
        let alone = ["VACUUM", "SAVEPOINT", "ROLLBACK TO", "RELEASE"];
        assert!(alone.iter().any(|word| sql.starts_with(word)), "{sql}: {error}");
    }
}

struct Copy {
    db: Database,
    applied: usize,
}

impl Copy {
    fn empty() -> Self {
        let db = block_on(Database::open(":memory:", Options::default())).unwrap();
        Self { db, applied: 0 }
    }

    fn is_same(&self, original: &Everything, what: &str) {
        // The position has a table from the first entry on.
        if self.applied > 0 {
            assert_same(&self.db, original, what);
        }
    }

    fn follow(&mut self, entries: &[Entry], what: &str) {
        for entry in &entries[self.applied..] {
            let entry = Entry::from_bytes(entry.as_bytes()).unwrap();
            if let Err(error) = block_on(self.db.apply(entry.clone())) {
                panic!("{what}: {error}\n{entry:?}");
            }
            self.applied += 1;
        }
    }
}

/// Runs the script of a seed; returns how many entries it made.
fn run(seed: u64) -> usize {
    let what = format!("seed {seed}");
    let mut rng = Rng(seed ^ 0xe9);
    let script = if rng.chance(25) {
        failing_script(seed, SIZE)
    } else {
        script(seed, SIZE)
    };
    let mut world = World::open(&script.setup).unwrap();
    let entries = Arc::<Mutex<Vec<Entry>>>::default();
    let log = Log {
        entries: Arc::clone(&entries),
        refusals: Rng(seed),
    };
    block_on(world.db.set_entry_gate(Some(Box::new(log)))).unwrap();
    let steps = steps(script, &mut rng);
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder, "copy.db");
    let half = rng.below(steps.len());
    let mut copies = vec![Copy::empty()];
    for (at, step) in steps.iter().enumerate() {
        is_carried(&world.run(step), step);
        if at == half {
            world.settle();
            block_on(world.db.backup(&path, BackupOptions::default())).unwrap();
            let db = block_on(Database::open(&path, keyed(Options::default()))).unwrap();
            let applied = entries.lock().unwrap().len();
            copies.push(Copy { db, applied });
        }
        if rng.chance(20) {
            world.settle();
            copies[0].follow(&entries.lock().unwrap(), &what);
            copies[0].is_same(&everything(&world.db), &what);
        }
    }
    world.settle();
    let entries = entries.lock().unwrap();
    let original = everything(&world.db);
    for copy in &mut copies {
        copy.follow(&entries, &what);
        copy.is_same(&original, &what);
        is_sound(&copy.db);
    }
    world.close();
    for copy in copies {
        block_on(copy.db.close()).unwrap();
    }
    entries.len()
}

// G300
#[test]
fn copies_that_apply_the_entries_of_random_scripts_hold_the_same() {
    let (wanted, first) = (dice::throws(ENTRIES), dice::first_seed());
    let (mut made, mut seed) = (0, first);
    while made < wanted {
        made += run(seed) as u64;
        seed += 1;
    }
    println!("seeds {first} to before {seed}, {made} entries");
}
