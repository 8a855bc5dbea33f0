//! What must hold after a run, whatever failed in it.

use std::{collections::BTreeMap, sync::mpsc};

use resqlite::{Result, Rows, Value};
use resqlite_sqlite::{Statement, ValueRef};

use crate::{
    key::connect,
    ledger::Place,
    resources,
    world::{World, explained},
};

/// What was found wrong.
pub type Checked = std::result::Result<(), String>;

/// Looks at everything. Nothing fails any more.
///
/// # Errors
/// The first thing that is not as it must be.
pub fn check(world: &World) -> Checked {
    if let Some(wrong) = world.wrong.borrow().first() {
        return Err(wrong.clone());
    }
    if !world.is_open() {
        served(world.open(), "open")?;
    }
    everything_is_served(world)?;
    rows_are_as_told(world, &|sql| world.select(sql))?;
    live_queries_are_fresh(world)?;
    nothing_is_held(world);
    world.close();
    nothing_stays_open(world)?;
    file_is_whole(world)
}

fn served<T>(result: Result<T>, what: &str) -> std::result::Result<T, String> {
    result.map_err(|error| format!("{what} fails after the faults are over: {}", explained(&error)))
}

fn everything_is_served(world: &World) -> Checked {
    served(world.write(), "a write")?;
    served(world.batch_write(), "a batch")?;
    let transaction = served(world.begin(), "a transaction")?;
    let (number, done) = world.write_in(&transaction, Place::Main);
    served(done, "a write in a transaction")?;
    served(world.wait("commit", transaction.commit()), "COMMIT")?;
    world.tell(Place::Main, number, &Ok(()));
    let snapshot = served(world.snapshot(), "a snapshot")?;
    let seen = world.wait("a read in a snapshot", snapshot.select("SELECT 1 FROM log", ()));
    served(seen, "a read in a snapshot")?;
    let mut cursor = served(world.iterate("SELECT id FROM log", 10), "a cursor")?;
    while served(world.wait("a batch", cursor.next_batch()), "a batch of a cursor")?.is_some() {}
    Ok(())
}

/// Reads the tables in some way, and compares them with what was told.
fn rows_are_as_told(world: &World, select: &dyn Fn(&str) -> Result<Rows>) -> Checked {
    let pad = world.setting.pad;
    let sql = format!(
        "SELECT id, count(*), sum(pad = printf('%.*c', {pad}, char(65 + id % 26))) FROM log GROUP BY id"
    );
    let rows = served(select(&sql), "a read")?;
    let rows = rows.iter().map(|row| {
        (
            integer(&row.values()[0]),
            integer(&row.values()[1]),
            integer(&row.values()[2]),
        )
    });
    compare(world, Place::Main, rows)?;
    let tally = served(
        select("SELECT (SELECT n FROM tally) - (SELECT count(*) FROM log)"),
        "a read",
    )?;
    match integer(&tally.first().ok_or("no row")?.values()[0]) {
        0 => Ok(()),
        difference => Err(format!("the trigger has run {difference} times too often")),
    }
}

fn compare(world: &World, place: Place, rows: impl Iterator<Item = (i64, i64, i64)>) -> Checked {
    let mut parts = BTreeMap::new();
    for (number, count, right) in rows {
        if count != right {
            return Err(format!(
                "write {number} to {place:?}: {} rows hold something else",
                count - right
            ));
        }
        parts.insert(number, count);
    }
    world.ledger.borrow().compare(place, &parts)
}

fn integer(value: &Value) -> i64 {
    match value {
        Value::Integer(value) => *value,
        other => panic!("{other:?} is no integer"),
    }
}

fn column(select: &Statement, column: usize) -> i64 {
    match select.column(column) {
        ValueRef::Integer(value) => value,
        other => panic!("{other:?} is no integer"),
    }
}

fn live_queries_are_fresh(world: &World) -> Checked {
    let db = world.db();
    let mut lives = world.lives.borrow_mut();
    // A run that began while the device failed may still tell of an error.
    quiet(world);
    lives.iter_mut().for_each(|live| live.heal(&db, &world.watch));
    quiet(world);
    lives.iter_mut().try_for_each(|live| live.is_fresh(&db))?;
    if lives.is_empty() {
        return Ok(());
    }
    // Another process commits, and is noticed.
    let number = world.number();
    let stranger = connect(&world.file("main.db"));
    let pad = world.setting.pad;
    let write = (1..=3).map(|part| {
        format!("INSERT INTO log VALUES ({number}, {part}, printf('%.*c', {pad}, char(65 + {number} % 26)));")
    });
    let write: String = write.collect();
    let wrote = stranger.and_then(|stranger| stranger.execute_script(&format!("BEGIN; {write} COMMIT")));
    wrote.map_err(|error| format!("another connection: {error}"))?;
    world.tell(Place::Main, number, &Ok(()));
    let lives = std::cell::RefCell::new(lives);
    world
        .watch
        .until("a live query to show what another process wrote", || {
            lives
                .borrow_mut()
                .iter_mut()
                .all(|live| live.is_fresh(&db).is_ok())
        });
    Ok(())
}

/// Waits until no live query runs or is due.
fn quiet(world: &World) {
    let (told, hear) = mpsc::channel();
    world.db().engine().when_quiet(Box::new(move || {
        let _ = told.send(());
    }));
    let heard = world.watch.wait("live queries to come to rest", || hear.recv());
    heard.expect("the engine lives");
}

fn nothing_is_held(world: &World) {
    let db = world.db();
    world
        .watch
        .until("snapshots and cursors to give their threads back", || {
            db.diagnostics().leases == 0
        });
    // The watch for external commits asks the writer now and then whether others have committed.
    world.watch.until("queues to be empty", || {
        let diagnostics = db.diagnostics();
        diagnostics.writes_queued + diagnostics.reads_queued == 0
    });
}

fn nothing_stays_open(world: &World) -> Checked {
    match (world.tap.open_files(), resources::open_files(world.folder())) {
        (0, 0) => Ok(()),
        (known, open) => Err(format!(
            "after closing {known} files are open to SQLite, {open} to the process"
        )),
    }
}

fn file_is_whole(world: &World) -> Checked {
    if std::fs::exists(world.file("main.db-wal")).unwrap_or(false) {
        return Err("closing left the log behind".into());
    }
    for (place, name) in [(Place::Main, "main.db"), (Place::Other, "other.db")] {
        let (verdict, rows) =
            plain_look(world, name).map_err(|error| format!("{name} opened again: {error}"))?;
        if verdict.as_deref() != Some("ok") {
            return Err(format!("{name}: {verdict:?}"));
        }
        compare(world, place, rows.into_iter())?;
    }
    Ok(())
}

/// What SQLite says of a file, and the writes in it with how many rows each has, and how many of them are right.
type Look = (Option<String>, Vec<(i64, i64, i64)>);

fn plain_look(world: &World, name: &str) -> resqlite_sqlite::Result<Look> {
    let connection = connect(&world.file(name))?;
    let verdict = connection.query_text("PRAGMA integrity_check")?;
    let sql = "SELECT id, count(*), sum(length(pad) = ?1) FROM log GROUP BY id";
    let mut select = connection.prepare(sql, false)?.statement.expect("a statement");
    select.bind(1, ValueRef::Integer(world.setting.pad))?;
    let mut rows = Vec::new();
    while select.step()? {
        rows.push((column(&select, 0), column(&select, 1), column(&select, 2)));
    }
    Ok((verdict, rows))
}
