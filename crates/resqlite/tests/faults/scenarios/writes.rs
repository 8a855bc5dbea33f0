//! Writes while the file system fails.

use resqlite::{Durability, Error, Result, Transaction, log::EntryGate};

use super::reading::{BEFORE, shows_what_was_before};
use crate::{
    ledger::Place,
    sweep::sweep,
    world::{Setting, World},
};

// G191
#[test]
fn single_writes() {
    sweep("single_writes", Setting::default(), |world| {
        for _ in 0..4 {
            let _ = world.write();
        }
        let db = world.db();
        let refused = world.wait("a duplicate", db.execute("INSERT INTO log VALUES (1, 1, '')", ()));
        world.expect(refused.is_err(), || "there are duplicates".into());
        let _ = world.write();
    });
}

struct Passing;

impl EntryGate for Passing {}

#[test]
fn writes_beside_an_entry_gate_which_are_never_taken_for_those_of_strangers() {
    sweep("gated", Setting::default(), |world| {
        let db = world.db();
        let gated = db.set_entry_gate(Some(Box::new(Passing)));
        if world.wait("the gate", gated).is_err() {
            return;
        }
        for _ in 0..4 {
            let done = world.write();
            let is_refused = done.is_err_and(|error| error.code() == "RESQLITE_ENTRY_NOT_CARRIED");
            world.expect(!is_refused, || "an own write was taken for a stranger's".into());
        }
    });
}

/// Queues writes behind a transaction that holds the writer, so that they form one group.
pub fn group(world: &World, places: &[Place]) {
    let db = world.db();
    let holds_the_writer = world.begin();
    let asked: Vec<_> = places
        .iter()
        .map(|place| world.begin_write(&db, *place))
        .collect();
    let batch = world.begin_batch(&db);
    drop(holds_the_writer);
    for writing in asked {
        let _ = world.end_write(writing);
    }
    let _ = world.end_write(batch);
}

// G191
#[test]
fn groups() {
    sweep("groups", Setting::default(), |world| {
        group(world, &[Place::Main; 5]);
        group(world, &[Place::Main; 2]);
    });
}

// G191
#[test]
fn groups_that_are_not_on_disk_when_acknowledged() {
    let setting = Setting {
        durability: Durability::Normal,
        ..Setting::default()
    };
    sweep("groups_normal", setting, |world| {
        group(world, &[Place::Main; 4]);
        let _ = world.run("PRAGMA wal_checkpoint");
        group(world, &[Place::Main; 3]);
    });
}

// G191
#[test]
fn batches() {
    sweep("batches", Setting::default(), |world| {
        for _ in 0..4 {
            let _ = world.batch_write();
        }
    });
}

pub const ROLLED_BACK: Result<()> = Err(Error::Aborted);

/// A transaction with savepoints in it.
pub fn nested(world: &World, commits: bool) {
    let Ok(transaction) = world.begin() else { return };
    let (mut kept, mut undone) = (Vec::new(), Vec::new());
    let mut done = nested_steps(world, &transaction, &mut kept, &mut undone);
    if done.is_ok() && commits {
        done = world.note(world.wait("commit", transaction.commit())).map(drop);
    } else {
        let _ = world.note(world.wait("rollback", transaction.rollback()));
        done = done.and(ROLLED_BACK);
    }
    kept.iter()
        .for_each(|number| world.tell(Place::Main, *number, &done));
    undone
        .iter()
        .for_each(|number| world.tell(Place::Main, *number, &ROLLED_BACK));
}

/// Notes the writes that are there when the transaction commits, and those that are not.
fn nested_steps(
    world: &World,
    transaction: &Transaction,
    kept: &mut Vec<i64>,
    undone: &mut Vec<i64>,
) -> Result<()> {
    let write = |numbers: &mut Vec<i64>| {
        let (number, done) = world.write_in(transaction, Place::Main);
        if done.is_ok() {
            numbers.push(number);
        } else {
            world.tell(Place::Main, number, &done);
        }
        done
    };
    write(kept)?;
    world.note(world.wait("savepoint 1", transaction.savepoint(1)))?;
    write(kept)?;
    world.note(world.wait("savepoint 2", transaction.savepoint(2)))?;
    write(undone)?;
    world.note(world.wait("back to savepoint 2", transaction.rollback_to(2)))?;
    write(kept)?;
    world.note(world.wait("release of savepoint 1", transaction.release(1)))?;
    let read = transaction.select(BEFORE, ());
    let rows = world.note(world.wait("a read in a transaction", read))?;
    shows_what_was_before(world, &rows);
    write(kept)
}

// G191
#[test]
fn transactions_with_savepoints() {
    sweep("transactions", Setting::default(), |world| {
        nested(world, true);
        nested(world, false);
        nested(world, true);
    });
}
