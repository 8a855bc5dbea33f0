//! Writes to two files, on a disk that fails now and then. What was acknowledged is in both, and what was refused is in none; only what
//! may be there in part may be.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
};

use dice::Rng;
use resqlite::{Database, Options};
use resqlite_sqlite::fault_vfs::{Call, Plan, Tap, What, install};
use shuttle::{future::block_on, thread};

use crate::{
    attached::{COUNT_BOTH, LOOK, open_both},
    bank::integers,
};

#[derive(Default)]
struct Told {
    done: AtomicI64,
    /// So many may be there.
    doubtful: AtomicI64,
}

pub fn write_to_both(folder: &str, rng: &mut Rng) {
    install().unwrap();
    let tap = Arc::new(Tap::on(Path::new(folder)).unwrap());
    let (db, told) = (
        Arc::new(open_both(folder, Options::default())),
        Arc::<Told>::default(),
    );
    let writers = (0..rng.between(1, 3)).map(|_| write(&db, &told, &tap, rng.any()));
    let writers: Vec<_> = writers.collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    tap.heal();
    let rows = integers(block_on(db.select(LOOK, ())).unwrap().iter());
    let (done, doubtful) = (told.done.load(Relaxed), told.doubtful.load(Relaxed));
    let can_be = |n: &i64| (done..=done + doubtful).contains(n);
    assert!(rows[0].iter().all(can_be), "{rows:?} of {done} and {doubtful}");
    block_on(Arc::into_inner(db).expect("all have ended").close()).unwrap();
}

fn write(db: &Arc<Database>, told: &Arc<Told>, tap: &Arc<Tap>, seed: u64) -> thread::JoinHandle<()> {
    let (db, told, tap, mut rng) = (Arc::clone(db), Arc::clone(told), Arc::clone(tap), Rng(seed));
    thread::spawn(move || {
        for _ in 0..rng.between(1, 5) {
            if rng.one_in(2) {
                let call = rng.one_of(&[Call::Write, Call::Sync, Call::Delete]);
                let what = What::One(call, rng.one_of(call.failures()));
                let (after, times) = (rng.below(8), 1);
                tap.inject(Plan { what, after, times });
            }
            let count = match block_on(db.exec(COUNT_BOTH)) {
                Ok(()) => &told.done,
                Err(error) if error.to_string().contains("may have reached") => &told.doubtful,
                Err(_) => continue,
            };
            count.fetch_add(1, Relaxed);
        }
    })
}
