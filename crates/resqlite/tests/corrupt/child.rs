//! The process that is sacrificed: it opens mutants and uses them in all ways.

use std::{fs, panic, path::Path, process};

use dice::Rng;
use pollster::block_on;
use resqlite::{Database, Error, Options, Result};

use crate::{
    damage::damage,
    key::keyed,
    specimen::{self, Specimen},
};

/// What it is told: the first seed and how many.
pub const SEEDS: &str = "RESQLITE_CORRUPT_CHILD";
/// What it says after each mutant, with the seed.
pub const DONE: &str = "done ";

const READS: [&str; 9] = [
    "SELECT type, name, sql FROM sqlite_schema",
    "SELECT * FROM t",
    "SELECT count(*), max(a) FROM t",
    "SELECT a FROM t ORDER BY a DESC LIMIT 5",
    "SELECT b FROM t WHERE a = '7' OR b > 3",
    "SELECT * FROM t WHERE t MATCH 'red OR fish'",
    "SELECT * FROM late, v",
    "SELECT x, y FROM s WHERE x BETWEEN 3 AND 9",
    "PRAGMA integrity_check(5)",
];
const WRITES: [&str; 8] = [
    "INSERT INTO t(a, b) VALUES ('red fish', 12), ('blue', 13)",
    "INSERT INTO t(id, a, b) VALUES (500, 2, 3)",
    "UPDATE t SET b = a",
    "DELETE FROM t WHERE b = 5",
    "INSERT INTO late VALUES (3)",
    "CREATE TABLE new(x); DROP TABLE new",
    "INSERT INTO t(t) VALUES ('optimize')",
    "PRAGMA incremental_vacuum; VACUUM",
];

/// Does what the environment says, in a process that was started for that.
pub fn run(seeds: &str) {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        process::abort();
    }));
    let (first, count) = seeds.split_once('+').expect("a seed and a count");
    let first: u64 = first.parse().expect("a seed");
    let count: u64 = count.parse().expect("a count");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let specimens = specimen::all(folder.path());
    // The test runner may have begun a line.
    println!();
    for seed in first..first + count {
        let answered = mutant(&specimens, seed, folder.path());
        println!("{DONE}{seed} {answered}");
    }
}

/// Opens and uses the mutant of a seed; gives how many requests were answered with data.
fn mutant(specimens: &[Specimen], seed: u64, folder: &Path) -> usize {
    let mut rng = Rng(seed);
    let mut specimen = specimens[rng.below(specimens.len())].clone();
    damage(&mut rng, &mut specimen);
    let path = folder.join(format!("mutant-{seed}.db"));
    let path = path.to_str().expect("a path in UTF-8");
    fs::write(path, &specimen.file).expect("a file can be written");
    fs::write(format!("{path}-wal"), &specimen.log).expect("a log can be written");
    let answered = used(path, rng.below(2) == 0);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        // Some are not there.
        let _ = fs::remove_file(format!("{path}{suffix}"));
    }
    answered
}

fn used(path: &str, writes_first: bool) -> usize {
    let options = Options {
        readers: Some(2),
        ..Options::default()
    };
    let Some(db) = data(block_on(Database::open(path, keyed(options)))) else {
        return 0;
    };
    let mut live: Vec<_> = READS[1..4].iter().map(|sql| db.stream(sql, ())).collect();
    let mut answered = 0;
    for round in 0..2 {
        if (round == 0) == writes_first {
            answered += write(&db);
        } else {
            answered += read(&db);
        }
        for query in &mut live {
            // Its first answer; later ones may come or not.
            answered +=
                usize::from(round == 0 && block_on(query.next()).is_some_and(|next| data(next).is_some()));
        }
    }
    drop(live);
    data(block_on(db.close()));
    answered
}

fn read(db: &Database) -> usize {
    let mut answered = 0;
    for sql in READS {
        answered += usize::from(data(block_on(db.select(sql, ()))).is_some());
        let Some(mut cursor) = data(block_on(db.iterate(sql, (), 7))) else {
            continue;
        };
        while let Some(Some(_)) = data(block_on(cursor.next_batch())) {}
    }
    answered + usize::from(data(block_on(db.select_json(READS[1], ()))).is_some())
}

fn write(db: &Database) -> usize {
    let written = WRITES.map(|sql| usize::from(data(block_on(db.exec(sql))).is_some()));
    let answered: usize = written.iter().sum();
    let done = block_on(db.transaction(async |transaction| {
        transaction
            .execute("UPDATE t SET a = b WHERE rowid = 3", ())
            .await?;
        transaction.select("SELECT count(*) FROM t", ()).await
    }));
    answered + usize::from(data(done).is_some())
}

/// What was answered, if it is no error. An error has to say what is wrong; a thread that died does not.
fn data<T>(answer: Result<T>) -> Option<T> {
    match answer {
        Ok(data) => Some(data),
        Err(Error::WorkerDied) => panic!("a thread of the engine died"),
        Err(error) if error.to_string().is_empty() || error.code() == "SQLITE_MISUSE" => {
            panic!("an error that says nothing: {error:?}")
        }
        Err(_) => None,
    }
}
