//! Queries that take long, beside quick ones of another file.

use std::{sync::Arc, time::Duration};

use dice::Rng;
use resqlite::{Database, Function, Options, Value, binding::simulated};
use shuttle::{future::block_on, thread};

use crate::machine::be_punctual;

const LONG: Duration = Duration::from_secs(1);

pub fn answer_quick_ones(rng: &mut Rng) {
    be_punctual();
    let sleep = Function::scalar("sleep", Some(0), |_| {
        simulated::sleep(LONG);
        Ok(Value::Null)
    });
    let options = Options {
        readers: Some(16),
        ..Options::default()
    };
    let open = |options| Arc::new(block_on(Database::open(":memory:", options)).unwrap());
    let (slow, quick) = (open(options.register_function(sleep)), open(Options::default()));
    // The first time leaves workers that have nothing to do.
    for _ in 0..2 {
        let long = (0..rng.between(1, 8)).map(|_| ask(&slow, "SELECT sleep()", 5 * LONG));
        let mut threads: Vec<_> = long.collect();
        for _ in 0..rng.between(1, 4) {
            (0..rng.below(20)).for_each(|_| thread::yield_now());
            threads.push(ask(&quick, "SELECT 1", LONG / 2));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    for db in [slow, quick] {
        block_on(Arc::into_inner(db).expect("all have ended").close()).unwrap();
    }
}

/// Asks for something that is answered in less than `most`.
fn ask(db: &Arc<Database>, sql: &'static str, most: Duration) -> thread::JoinHandle<()> {
    let db = Arc::clone(db);
    thread::spawn(move || {
        let began = simulated::passed();
        block_on(db.select(sql, ())).unwrap();
        let took = simulated::passed() - began;
        assert!(took < most, "{sql}: {took:?}");
    })
}
