//! Everything together while the file system fails.

use dice::Rng;

use super::{
    reading::{BEFORE, shows_what_was_before},
    writes::{group, nested},
};
use crate::{
    ledger::Place,
    live,
    sweep::sweep,
    world::{Setting, World},
};

const TIDYING: [&str; 4] = ["VACUUM", "ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)", "REINDEX"];
const QUERIES: [&str; 2] = [live::COUNT, live::TAIL];

/// Everything in turn, while cursors, snapshots and live queries stay open.
fn at_random(world: &World, seed: u64) {
    let mut rng = Rng(seed);
    let (mut cursors, mut snapshots) = (Vec::new(), Vec::new());
    for _ in 0..25 {
        match rng.below(14) {
            0..3 => group(world, &[Place::Main; 3]),
            3 => drop(world.write()),
            4 => drop(world.batch_write()),
            5 => nested(world, true),
            6 => nested(world, false),
            7 => cursors.extend(world.iterate(BEFORE, 4)),
            8 => snapshots.extend(world.snapshot()),
            9 => drop(snapshots.pop()),
            10 => {
                let _ = world.run(TIDYING[rng.below(4)]);
            }
            11 => world.live(QUERIES[rng.below(2)]),
            12 => drop(world.lives.borrow_mut().pop()),
            _ => drop(
                world
                    .select(BEFORE)
                    .map(|rows| shows_what_was_before(world, &rows)),
            ),
        }
        for cursor in &mut cursors {
            let _ = world.note(world.wait("a batch", cursor.next_batch()));
        }
        for snapshot in &snapshots {
            let read = world.note(world.wait("a read in a snapshot", snapshot.select(BEFORE, ())));
            read.iter().for_each(|rows| shows_what_was_before(world, rows));
        }
    }
}

// G191
#[test]
fn everything_at_random() {
    for seed in [1, 2, 3] {
        let name = format!("everything_at_random {seed}");
        sweep(&name, Setting::default(), |world| at_random(world, seed));
    }
}
