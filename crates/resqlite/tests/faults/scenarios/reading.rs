//! Reads of all kinds while the file system fails. What they give must be right, if they give anything.

use resqlite::{Database, Options, Rows, Value};

use super::writes::{group, nested};
use crate::key::keyed;
use crate::{
    asked::ask,
    ledger::Place,
    live::{self, Live},
    sweep::sweep,
    world::{Setting, World},
};

pub const BEFORE: &str = "SELECT id, pad FROM log WHERE id <= 12 ORDER BY id, part";

/// Whether a read shows the writes that the scenario found done, which nobody changes.
pub fn shows_what_was_before(world: &World, rows: &Rows) {
    let numbers: Vec<_> = rows.iter().map(|row| row.values()[0].clone()).collect();
    let right = (1..=12)
        .flat_map(|number| [(); 3].map(|()| Value::Integer(number)))
        .collect::<Vec<_>>();
    world.expect(numbers == right, || format!("a read gave {numbers:?}"));
}

// G191
#[test]
fn reads() {
    sweep("reads", Setting::default(), |world| {
        let db = world.db();
        for _ in 0..3 {
            let asked: Vec<_> = (0..5).map(|_| ask(db.select(BEFORE, ()))).collect();
            let _ = world.write();
            for asked in asked {
                let rows = world.note(world.watch.wait("a read", || asked.wait()));
                rows.iter().for_each(|rows| shows_what_was_before(world, rows));
            }
            let _ = world.run("PRAGMA wal_checkpoint(TRUNCATE)");
        }
    });
}

// G191
#[test]
fn reads_of_a_mapped_file() {
    let setting = Setting {
        pragmas: &[("mmap_size", "1000000")],
        ..Setting::default()
    };
    sweep("mapped", setting, |world| {
        for _ in 0..3 {
            if let Ok(rows) = world.select(BEFORE) {
                shows_what_was_before(world, &rows);
            }
            let _ = world.write();
            let _ = world.run("PRAGMA wal_checkpoint(TRUNCATE)");
        }
    });
}

// G191
#[test]
fn reading_only() {
    sweep("reading_only", Setting::default(), |world| {
        let options = Options {
            read_only: true,
            ..Options::default()
        };
        for _ in 0..2 {
            let path = world.file("main.db");
            let opened = world.wait("open for reading", Database::open(&path, keyed(options.clone())));
            let Ok(db) = world.note(opened) else { continue };
            let _ = world.write();
            let mut live = Live::begin(&db, live::COUNT);
            let read = world.note(world.wait("a read", db.select(BEFORE, ())));
            read.iter().for_each(|rows| shows_what_was_before(world, rows));
            live.follow();
            drop(live);
            world.wait("close", db.close()).expect("closing never fails");
        }
    });
}

// G191
#[test]
fn cursors() {
    // Each batch reads pages that the one before did not.
    let setting = Setting {
        pad: 900,
        ..Setting::default()
    };
    sweep("cursors", setting, |world| {
        // One is dropped half-way.
        if let Ok(mut cursor) = world.iterate(BEFORE, 5) {
            let _ = world.note(world.wait("a batch", cursor.next_batch()));
            let _ = world.write();
            let _ = world.note(world.wait("a batch", cursor.next_batch()));
        }
        let _ = world.run("PRAGMA wal_checkpoint(TRUNCATE)");
        let Ok(mut cursor) = world.iterate("SELECT pad FROM log WHERE id <= 12", 7) else {
            return;
        };
        let mut rows = 0;
        while let Ok(Some(batch)) = world.note(world.wait("a batch", cursor.next_batch())) {
            rows += batch.len();
            let _ = world.write();
        }
        // One that has failed has nobody who serves it any more, and says so.
        let after = world.wait("a batch after the end", cursor.next_batch());
        world.expect(rows == 36 || after.is_err(), || {
            format!("a cursor gave {rows} rows of 36")
        });
    });
}

// G191
#[test]
fn snapshots() {
    sweep("snapshots", Setting::default(), |world| {
        for _ in 0..3 {
            let Ok(snapshot) = world.snapshot() else { continue };
            let count = || world.note(world.wait("a read in a snapshot", snapshot.select(live::COUNT, ())));
            let before = count();
            let _ = world.write();
            if let (Ok(before), Ok(after)) = (before, count()) {
                world.expect(
                    before.first().map(|row| row.values().to_vec())
                        == after.first().map(|row| row.values().to_vec()),
                    || format!("a snapshot has moved from {before:?} to {after:?}"),
                );
            }
        }
    });
}

// G191
#[test]
fn live_queries() {
    sweep("live_queries", Setting::default(), |world| {
        world.live(live::COUNT);
        let _ = world.write();
        world.live(live::TAIL);
        group(world, &[Place::Main; 3]);
        let _ = world.run("PRAGMA wal_checkpoint(TRUNCATE)");
        let _ = world.write();
        nested(world, true);
    });
}
