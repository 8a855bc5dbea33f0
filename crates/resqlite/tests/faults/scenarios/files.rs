//! What concerns whole files while the file system fails.

use resqlite::{Durability, Result, Transaction};

use super::{
    reading::{BEFORE, shows_what_was_before},
    writes::{ROLLED_BACK, group},
};
use crate::{
    ledger::Place,
    live,
    sweep::{sweep, sweep_each_call},
    world::{Setting, World},
};

// G191
#[test]
fn checkpoints_that_are_asked_for() {
    let setting = Setting {
        durability: Durability::Normal,
        ..Setting::default()
    };
    sweep("checkpoints", setting, |world| {
        for how in ["PASSIVE", "RESTART", "TRUNCATE"] {
            let _ = world.write();
            let _ = world.select("SELECT max(id) FROM log");
            let _ = world.run(&format!("PRAGMA wal_checkpoint({how})"));
            let _ = world.write();
        }
    });
}

// G191
#[test]
fn checkpoints_that_are_due() {
    // Three writes make the thousand pages after which the engine copies them.
    let setting = Setting {
        page_size: 512,
        pad: 70_000,
        ..Setting::default()
    };
    sweep("due_checkpoints", setting, |world| {
        for _ in 0..6 {
            let _ = world.write();
        }
    });
}

// G191
#[test]
fn vacuum() {
    sweep("vacuum", Setting::default(), |world| {
        world.live(live::COUNT);
        let _ = world.write();
        let _ = world.run("VACUUM");
        let _ = world.write();
    });
}

/// More than the caches hold: pages that are written before COMMIT, savepoints and sorting in temporary files.
// G191
#[test]
fn what_is_larger_than_the_caches() {
    let setting = Setting {
        pad: 6000,
        pragmas: &[("cache_size", "10")],
        ..Setting::default()
    };
    sweep("large", setting, |world| {
        let _ = world.batch_write();
        let sorted = "SELECT sum(length(pad)) FROM (SELECT pad FROM log ORDER BY pad DESC, part)";
        let _ = world.select(sorted);
        let Ok(transaction) = world.begin() else { return };
        let done = undoes_much(world, &transaction);
        let done = done.and_then(|()| world.note(world.wait("commit", transaction.commit())).map(drop));
        world.expect(done.is_ok() || world.failed.get() > 0, || format!("{done:?}"));
        let _ = world.run("VACUUM");
        let _ = world.write();
    });
}

fn undoes_much(world: &World, transaction: &Transaction) -> Result<()> {
    let change = "UPDATE log SET pad = lower(pad)";
    world.note(world.wait("savepoint", transaction.savepoint(1)))?;
    world.note(world.wait(change, transaction.execute(change, ())))?;
    world.note(world.wait("back to the savepoint", transaction.rollback_to(1)))?;
    // One that fails half-way.
    let fails = "UPDATE log SET id = CASE WHEN id = 9 THEN 1 ELSE id END, pad = 'x', part = CASE id WHEN 9 THEN 1 ELSE part END";
    let failed = world.wait(fails, transaction.execute(fails, ()));
    world.expect(failed.is_err(), || "there are duplicates".into());
    let rows = world.note(world.wait("a read in a transaction", transaction.select(BEFORE, ())))?;
    shows_what_was_before(world, &rows);
    Ok(())
}

// G191
#[test]
fn changes_of_the_schema() {
    sweep("schema", Setting::default(), |world| {
        world.live(live::COUNT);
        let _ = world.run("CREATE INDEX IF NOT EXISTS by_part ON log(part, id)");
        let _ = world.write();
        let _ = world.run("ANALYZE");
        let _ = world
            .select(BEFORE)
            .map(|rows| shows_what_was_before(world, &rows));
        let _ = world.run("DROP INDEX IF EXISTS by_part");
        let _ = world.write();
    });
}

// G192
#[test]
fn opening_and_closing() {
    let setting = Setting {
        opened: false,
        ..Setting::default()
    };
    sweep("opening", setting, |world| {
        for _ in 0..2 {
            if world.open().is_err() {
                continue;
            }
            let _ = world.write();
            let _ = world
                .select(BEFORE)
                .map(|rows| shows_what_was_before(world, &rows));
            world.close();
            // While the device fails, closing may leave a log behind, which may end with what was refused.
            world.ledger.borrow_mut().doubt_refusals();
        }
    });
}

// G192
#[test]
fn closing_with_requests_under_way() {
    sweep("closing", Setting::default(), |world| {
        let asked: Vec<_> = (0..4).map(|_| world.begin_write_of_engine()).collect();
        world.close();
        for writing in asked {
            world.end_write_of_engine(writing);
        }
        // While the device fails, closing may leave a log behind, which may end with what was refused.
        world.ledger.borrow_mut().doubt_refusals();
    });
}

// G193
#[test]
fn attached_files() {
    sweep("attached", Setting::default(), |world| {
        let other = world.file("other.db");
        if world.run(&format!("ATTACH '{other}' AS other")).is_err() {
            return;
        }
        world.live(live::COUNT);
        group(world, &[Place::Other, Place::Main, Place::Other]);
        let Ok(transaction) = world.begin() else { return };
        let (first, one) = world.write_in(&transaction, Place::Main);
        let (second, two) = world.write_in(&transaction, Place::Other);
        let done = match (&one, &two) {
            (Ok(()), Ok(())) => world.note(world.wait("commit", transaction.commit())).map(drop),
            _ => ROLLED_BACK,
        };
        world.tell(Place::Main, first, &done);
        world.tell(Place::Other, second, &done);
        let _ = world.select("SELECT count(*) FROM other.log");
    });
}

/// COMMIT goes to one file after the other, and undoes none of them.
#[test]
fn commits_that_reach_one_of_several_files() {
    sweep_each_call("parts", Setting::default(), |world| {
        let other = world.file("other.db");
        if world.run(&format!("ATTACH '{other}' AS other")).is_ok() {
            group(world, &[Place::Other, Place::Main, Place::Other]);
        }
    });
}
