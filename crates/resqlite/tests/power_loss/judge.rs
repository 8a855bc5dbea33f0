//! Whether what a power cut has left is what was promised.

use std::{collections::BTreeMap, fs, path::Path};

use resqlite::{Database, Options};
use resqlite_sqlite::{Connection, ValueRef};

use crate::{
    disk::Files,
    key::{connect, keyed},
    workload::{FILE, KEYS, Told},
};

type Verdict<T = ()> = Result<T, String>;

/// The writes that are there, in order.
type Numbers = Vec<i64>;

/// Opens the files in an empty folder and looks at them; gives how many writes are there, and how many of them were
/// refused. `position`: how many events there had been. `by_engine`: it is
/// the engine that opens them, and goes on writing.
///
/// # Errors
/// The promise that is broken.
pub fn judge(
    folder: &Path,
    files: &Files,
    told: &[Told],
    position: usize,
    by_engine: bool,
) -> Verdict<(usize, usize)> {
    lay_out(folder, files)?;
    if by_engine {
        goes_on(folder)?;
    }
    let mut present = numbers(folder).map_err(|error| error.to_string())??;
    if by_engine {
        present.retain(|number| *number != NEW);
    }
    let promised = |write: &&Told| write.commit.is_some() && write.full && write.position <= position;
    let mut on_disk = 0;
    for write in told.iter().filter(promised) {
        if present.binary_search(&write.number).is_err() {
            return Err(format!("{write:?} is lost"));
        }
        on_disk = write.number;
    }
    let back = is_prefix(&present, told, on_disk)?;
    Ok((present.len(), back))
}

fn lay_out(folder: &Path, files: &Files) -> Verdict {
    let told = |error: std::io::Error| error.to_string();
    for old in fs::read_dir(folder).map_err(told)? {
        fs::remove_file(old.map_err(told)?.path()).map_err(told)?;
    }
    files
        .iter()
        .try_for_each(|(name, content)| fs::write(folder.join(name), content).map_err(told))
}

/// A write that the engine makes after the power cut.
const NEW: i64 = 1_000_003;

fn goes_on(folder: &Path) -> Verdict {
    let path = folder.join(FILE);
    let opened = async {
        let db = Database::open(path.to_str().expect("UTF-8"), keyed(Options::default())).await?;
        db.select("SELECT count(*) FROM sqlite_schema", ()).await?;
        if !db
            .select("SELECT 1 FROM sqlite_schema WHERE name = 'logged'", ())
            .await?
            .is_empty()
        {
            db.execute("INSERT INTO log VALUES (?, NULL)", [NEW.into()])
                .await?;
        }
        db.close().await
    };
    pollster::block_on(opened).map_err(|error| format!("the engine: {error} ({})", error.code()))
}

/// Checks that the file is whole and all rows belong to each other; gives the writes that are there.
fn numbers(folder: &Path) -> resqlite_sqlite::Result<Verdict<Numbers>> {
    let path = folder.join(FILE);
    let connection = connect(path.to_str().expect("UTF-8"))?;
    let verdict = connection.query_text("PRAGMA integrity_check")?;
    if verdict.as_deref() != Some("ok") {
        return Ok(Err(format!("{verdict:?}")));
    }
    let schema = integers(&connection, "SELECT count(*), 0 FROM sqlite_schema")?[0].0;
    if schema == 0 {
        return Ok(Ok(Numbers::new()));
    }
    let numbers: Numbers = integers(&connection, "SELECT id, 0 FROM log ORDER BY id")?
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    let expected: BTreeMap<i64, i64> = numbers.iter().map(|number| (number % KEYS, *number)).collect();
    let items: BTreeMap<i64, i64> = integers(&connection, "SELECT k, v FROM item")?
        .into_iter()
        .collect();
    let tally = integers(&connection, "SELECT n, total FROM tally")?;
    let texts = "SELECT count(*), 0 FROM item
                 WHERE pad IS NOT printf('%.*c', 20 + v * v * 31 % 2900, char(65 + v % 26))";
    let wrong = integers(&connection, texts)?[0].0;
    Ok(if items != expected {
        Err(format!("writes {numbers:?} with the rows {items:?}"))
    } else if tally != [(numbers.len() as i64, numbers.iter().sum())] {
        Err(format!("writes {numbers:?} with the sums {tally:?}"))
    } else if wrong > 0 {
        Err(format!("{wrong} rows hold what nobody has written"))
    } else {
        Ok(numbers)
    })
}

fn integers(connection: &Connection, sql: &str) -> resqlite_sqlite::Result<Vec<(i64, i64)>> {
    let mut select = connection.prepare(sql, false)?.statement.expect("a statement");
    let mut rows = Vec::new();
    while select.step()? {
        if let (ValueRef::Integer(one), ValueRef::Integer(two)) = (select.column(0), select.column(1)) {
            rows.push((one, two));
        }
    }
    Ok(rows)
}

/// Whether these are all writes up to some commit. Writes that were refused may be among them as long as nothing that
/// came later is sure to be on disk: their COMMIT may have failed after it was written to the log, in the same place
/// where later ones were written. Gives how many these are.
fn is_prefix(present: &[i64], told: &[Told], on_disk: i64) -> Verdict<usize> {
    let (refused, made): (Vec<&Told>, Vec<&Told>) = told.iter().partition(|write| write.commit.is_none());
    let newest = made
        .iter()
        .filter(|write| present.contains(&write.number))
        .map(|write| write.commit)
        .max();
    let (expected, missing): (Vec<&Told>, Vec<&Told>) = made
        .iter()
        .partition(|write| newest.is_some_and(|newest| write.commit <= newest));
    let next = missing.first().map_or(i64::MAX, |write| write.number);
    let may_be_there = |number: &i64| {
        let refused = refused.iter().any(|write| write.number == *number);
        refused && on_disk < *number && *number < next
    };
    let expected: Numbers = expected.iter().map(|write| write.number).collect();
    let (made, others): (Numbers, Numbers) = present.iter().partition(|number| expected.contains(number));
    if made == expected && others.iter().all(may_be_there) {
        Ok(others.len())
    } else {
        Err(format!(
            "up to commit {newest:?} there must be {expected:?}, and there are {present:?}"
        ))
    }
}
