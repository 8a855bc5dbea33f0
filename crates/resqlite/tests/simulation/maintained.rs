//! Results that are maintained, beside writers, another program, and commits to another file. What changed rows tell must lead from
//! one state to another, whoever made them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};

use dice::Rng;
use resqlite::{Database, Options, binding::simulated};
use shuttle::{
    future::block_on,
    thread::{self, JoinHandle},
};

use crate::{
    bank::{integers, retried},
    support::connect,
    watched::Watched,
};

const ACCOUNTS: i64 = 4;
const TOTAL: i64 = 100 * ACCOUNTS;
const WRITERS: usize = 3;

const SCHEMA: &str = "
    CREATE TABLE account(id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
    INSERT INTO account VALUES (0, 100), (1, 100), (2, 100), (3, 100);
    CREATE TABLE written(writer INTEGER PRIMARY KEY, n INTEGER NOT NULL);
    INSERT INTO written VALUES (0, 0), (1, 0), (2, 0)";
const WRITTEN: &str = "SELECT writer, n FROM written ORDER BY writer";

/// A question, and what holds for each answer.
type Question = (&'static str, fn(&[Vec<i64>]) -> bool);

const QUESTIONS: [Question; 4] = [
    ("SELECT id, amount FROM account ORDER BY id", |rows| {
        sum(rows) == TOTAL
    }),
    ("SELECT count(*), sum(amount) FROM account", |rows| {
        rows == [[ACCOUNTS, TOTAL]]
    }),
    ("SELECT id % 2, sum(amount) FROM account GROUP BY 1", |rows| {
        sum(rows) == TOTAL
    }),
    (WRITTEN, |rows| rows.len() == WRITERS),
];

/// The sum of the second column.
fn sum(rows: &[Vec<i64>]) -> i64 {
    rows.iter().map(|row| row[1]).sum()
}

struct World {
    db: Database,
    has_other_file: bool,
    /// The number of writes of each writer that were told to be done.
    written: [AtomicI64; WRITERS],
}

pub fn write_and_watch(folder: &str, rng: &mut Rng) {
    let path = format!("{folder}/main.db");
    let db = block_on(Database::open(&path, Options::default())).unwrap();
    block_on(db.exec(SCHEMA)).unwrap();
    let has_other_file = rng.one_in(2);
    if has_other_file {
        block_on(db.execute(&format!("ATTACH '{folder}/other.db' AS other"), ())).unwrap();
        block_on(db.exec("CREATE TABLE other.b(n); INSERT INTO b VALUES (0)")).unwrap();
    }
    let world = Arc::new(World {
        db,
        has_other_file,
        written: Default::default(),
    });
    let mut threads: Vec<_> = (0..rng.between(1, WRITERS))
        .map(|writer| world.write(writer, rng.any()))
        .collect();
    let is_alone = rng.one_in(2);
    if !is_alone {
        threads.push(intrude(path, rng.any()));
    }
    let watching: Vec<_> = (0..rng.between(1, 3)).map(|_| world.watch(rng.any())).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let watched: Vec<_> = watching
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    for (sql, watched) in watched {
        world.comes_to_show_all(sql, &watched, is_alone);
    }
    let world = Arc::into_inner(world).expect("all have ended");
    block_on(world.db.close()).unwrap();
}

fn pause(rng: &mut Rng, most: u64) {
    (0..rng.below(most)).for_each(|_| thread::yield_now());
}

/// Moves money.
fn transfer(rng: &mut Rng) -> String {
    let (from, amount) = (rng.below(ACCOUNTS as u64), rng.below(50_u64));
    let to = (from + 1 + rng.below(3_u64)) % ACCOUNTS as u64;
    format!(
        "UPDATE account SET amount = amount + iif(id = {from}, -{amount}, {amount}) WHERE id IN ({from}, {to})"
    )
}

/// Another program moves money.
fn intrude(path: String, seed: u64) -> JoinHandle<()> {
    thread::spawn(move || {
        let (stranger, mut rng) = (connect(&path).unwrap(), Rng(seed));
        for _ in 0..rng.between(1, 12) {
            pause(&mut rng, 20);
            retried(&stranger, &transfer(&mut rng));
        }
    })
}

impl World {
    fn write(self: &Arc<Self>, writer: usize, seed: u64) -> JoinHandle<()> {
        let (world, mut rng) = (Arc::clone(self), Rng(seed));
        thread::spawn(move || {
            let (sql, holds) = QUESTIONS[3];
            let watched = rng.one_in(2).then(|| Watched::begin(&world.db, sql, holds));
            for _ in 0..rng.between(1, 12) {
                pause(&mut rng, 10);
                match rng.below(6) {
                    0 | 1 => world.execute(&transfer(&mut rng)),
                    2 | 3 if world.has_other_file => world.execute("UPDATE b SET n = n + 1"),
                    _ => world.counts(writer, watched.as_ref()),
                }
            }
        })
    }

    fn execute(&self, sql: &str) {
        block_on(self.db.execute(sql, ())).unwrap();
    }

    fn counts(&self, writer: usize, watched: Option<&Watched>) {
        self.execute(&format!("UPDATE written SET n = n + 1 WHERE writer = {writer}"));
        self.written[writer].fetch_add(1, Relaxed);
        watched.into_iter().for_each(|watched| self.is_shown(watched));
    }

    /// Watches something for a while. Returns what is watched last.
    fn watch(self: &Arc<Self>, seed: u64) -> JoinHandle<(&'static str, Watched)> {
        let (world, mut rng) = (Arc::clone(self), Rng(seed));
        thread::spawn(move || {
            loop {
                pause(&mut rng, 40);
                let (sql, holds) = rng.one_of(&QUESTIONS);
                let watched = Watched::begin(&world.db, sql, holds);
                for _ in 0..rng.below(4) {
                    pause(&mut rng, 20);
                    if sql == WRITTEN {
                        world.is_shown(&watched);
                    }
                }
                if rng.one_in(2) {
                    return (sql, watched);
                }
            }
        })
    }

    /// Asserts that all earlier writes are shown.
    fn is_shown(&self, watched: &Watched) {
        let least = self.written.each_ref().map(|n| n.load(Relaxed));
        watched.catch_up();
        let shown = watched.shows();
        for (row, least) in shown.iter().zip(least) {
            assert!(row[1] >= least, "{shown:?} is not {least}");
        }
    }

    /// Nobody writes any more. The commits of another program are noticed in a while.
    fn comes_to_show_all(&self, sql: &str, watched: &Watched, is_alone: bool) {
        watched.catch_up();
        let fresh = integers(block_on(self.db.select(sql, ())).unwrap().iter());
        let end = simulated::passed() + Duration::from_secs(1);
        while watched.shows() != fresh {
            let shown = watched.shows();
            assert!(
                !is_alone && simulated::passed() < end,
                "{sql}: {shown:?} is not {fresh:?}"
            );
            simulated::sleep(Duration::from_millis(5));
        }
    }
}
