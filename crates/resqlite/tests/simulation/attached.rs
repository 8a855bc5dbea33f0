//! Two files that are always changed together. Whoever reads both sees one state.

use std::{sync::Arc, time::Duration};

use dice::Rng;
use resqlite::{Database, Options};
use shuttle::{
    future::block_on,
    thread::{self, JoinHandle},
};

use crate::bank::integers;

pub const LOOK: &str = "SELECT a.n, b.n FROM a, b";
pub const COUNT_BOTH: &str = "UPDATE a SET n = n + 1; UPDATE b SET n = n + 1";

/// Opens two files, each with a number in a table.
pub fn open_both(folder: &str, options: Options) -> Database {
    let db = block_on(Database::open(&format!("{folder}/main.db"), options)).unwrap();
    block_on(db.execute(&format!("ATTACH '{folder}/other.db' AS other"), ())).unwrap();
    block_on(db.exec("CREATE TABLE a(n); INSERT INTO a VALUES (0)")).unwrap();
    block_on(db.exec("CREATE TABLE other.b(n); INSERT INTO b VALUES (0)")).unwrap();
    db
}

/// Writes both and looks at both, in several threads.
pub fn write_and_look(folder: &str, rng: &mut Rng) {
    // A file without a write-ahead log is locked for COMMIT while anybody reads it.
    let options = Options {
        busy_timeout: Some(Duration::from_secs(86_400)),
        ..Options::default()
    };
    let db = Arc::new(open_both(folder, options));
    let writes: Vec<_> = (0..rng.between(1, 3)).map(|_| rng.between(1, 5)).collect();
    let total = writes.iter().sum::<usize>() as i64;
    let mut threads: Vec<_> = writes.into_iter().map(|times| write(&db, times)).collect();
    threads.extend((0..rng.between(1, 3)).map(|_| look(&db, rng.any())));
    threads.push(follow(&db, total));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    block_on(Arc::into_inner(db).expect("all have ended").close()).unwrap();
}

fn write(db: &Arc<Database>, times: usize) -> JoinHandle<()> {
    let db = Arc::clone(db);
    thread::spawn(move || {
        for _ in 0..times {
            block_on(db.transaction(async |both| both.exec(COUNT_BOTH).await)).unwrap();
        }
    })
}

fn look(db: &Arc<Database>, seed: u64) -> JoinHandle<()> {
    let (db, mut rng) = (Arc::clone(db), Rng(seed));
    thread::spawn(move || {
        let mut before = 0;
        for _ in 0..rng.below(6) {
            let rows = match rng.one_in(2) {
                true => block_on(db.select(LOOK, ())).unwrap(),
                false => {
                    let snapshot = block_on(db.snapshot()).unwrap();
                    thread::yield_now();
                    block_on(snapshot.select(LOOK, ())).unwrap()
                }
            };
            before = is_one_state(&integers(rows.iter()), before);
        }
    })
}

fn follow(db: &Arc<Database>, total: i64) -> JoinHandle<()> {
    let db = Arc::clone(db);
    thread::spawn(move || {
        let mut live = db.stream(LOOK, ());
        let mut before = 0;
        while before < total {
            let emitted = block_on(live.next()).unwrap().unwrap();
            before = is_one_state(&integers(emitted.rows().iter()), before);
        }
    })
}

/// Returns the state that both files have.
fn is_one_state(rows: &[Vec<i64>], before: i64) -> i64 {
    let (a, b) = (rows[0][0], rows[0][1]);
    assert!(a == b && a >= before, "{a} and {b} after {before}");
    a
}
