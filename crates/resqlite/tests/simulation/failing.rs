//! Live queries on a disk that fails now and then. They recover by themselves, and what a failed run has not shown, the next one
//! shows.

use std::{path::Path, time::Duration};

use dice::Rng;
use resqlite::{Database, Options, binding::simulated};
use resqlite_sqlite::fault_vfs::{Call, Plan, Tap, What, install};
use shuttle::{future::block_on, thread};

use crate::{bank::integers, watched::Watched};

const ROWS: i64 = 4;
const QUERY: &str = "SELECT id, n FROM t ORDER BY id";

pub fn recover(folder: &str, rng: &mut Rng) {
    install().unwrap();
    let tap = Tap::on(Path::new(folder)).unwrap();
    let db = block_on(Database::open(&format!("{folder}/main.db"), Options::default())).unwrap();
    let schema =
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (0, 0), (1, 0), (2, 0), (3, 0)";
    block_on(db.exec(schema)).unwrap();
    let watched = Watched::begin(&db, QUERY, |rows| rows.len() == ROWS as usize);
    watched.catch_up();
    for _ in 0..rng.between(1, 10) {
        if rng.one_in(2) {
            let times = rng.between(1, 3) as u64;
            let what = What::One(Call::Read, rng.one_of(Call::Read.failures()));
            let after = rng.below(6);
            tap.inject(Plan { what, after, times });
        }
        let id = rng.below(ROWS as u64);
        let written = block_on(db.execute(&format!("UPDATE t SET n = n + 1 WHERE id = {id}"), ()));
        written.map_or_else(|error| assert!(is_of_disk(error.code()), "{error}"), drop);
        (0..rng.below(60)).for_each(|_| thread::yield_now());
    }
    tap.heal();
    let fresh = integers(block_on(db.select(QUERY, ())).unwrap().iter());
    let end = simulated::passed() + Duration::from_secs(20);
    while watched.shows() != fresh {
        let shown = watched.shows();
        assert!(simulated::passed() < end, "{shown:?} is not {fresh:?}");
        simulated::sleep(Duration::from_millis(5));
    }
    drop(watched);
    block_on(db.close()).unwrap();
}

/// Returns true if an error with this code tells of a disk that has failed.
pub fn is_of_disk(code: &str) -> bool {
    code.starts_with("SQLITE_IOERR") || code == "SQLITE_CORRUPT" || code == "SQLITE_NOTADB"
}
