//! Opening a connection and setting it up.

use std::time::Duration;

use resqlite_sqlite::{Connection, codes};

use super::{engine_connection::EngineConnection, location::Location};
use crate::{
    core::{
        clock,
        error::{Error, Result},
        limits,
        options::{Settings, UNTRUSTED_PRAGMAS},
    },
    functions,
    guard::{
        Guard,
        authorizer::Role,
        pragmas::{self, Reach},
    },
};

/// Opens and sets up a connection. `hooks` runs before anything is prepared on the connection.
///
/// # Errors
/// `Error::Open` names the file and the reason.
pub(crate) fn open(
    location: &Location,
    settings: &Settings,
    role: Role,
    hooks: impl FnOnce(&Connection),
) -> Result<EngineConnection> {
    let connection = location.connect(role, settings.read_only)?;
    let guard = Guard::install(&connection, role, settings);
    hooks(&connection);
    let failed = |error| location.explain(error);
    guard.as_internal(|| {
        protect(&connection, settings).map_err(failed)?;
        functions::register(&connection, settings).map_err(failed)?;
        // The schema may use what extensions provide, so they are loaded before it is read.
        load_extensions(&connection, location, settings)?;
        set_up(&connection, settings, role).map_err(failed)
    })?;
    Ok(EngineConnection::new(
        connection,
        guard,
        location.clone(),
        settings.statement_cache_size,
    ))
}

/// Keeps hostile SQL and hostile files from doing harm. Must run before anything is read from the file.
fn protect(connection: &Connection, settings: &Settings) -> resqlite_sqlite::Result<()> {
    connection.set_defensive(settings.defensive)?;
    connection.set_trusted_schema(settings.trusted_schema)?;
    connection.set_double_quoted_strings(settings.double_quoted_strings)?;
    if settings.untrusted {
        for (limit, most) in limits::UNTRUSTED {
            connection.set_limit(limit, most);
        }
        for (name, value) in UNTRUSTED_PRAGMAS {
            set_pragma(connection, name, value)?;
        }
    }
    Ok(())
}

fn load_extensions(connection: &Connection, location: &Location, settings: &Settings) -> Result<()> {
    let mut loaded = settings
        .extensions
        .iter()
        .map(|extension| extension.load(connection));
    loaded.try_for_each(|loaded| {
        loaded.map_err(|reason| Error::Open {
            path: location.display_path().into(),
            reason,
            source: None,
        })
    })
}

/// Checks an untrusted file for damage, before anything else is read from it.
///
/// # Errors
/// `Error::Open` with the damage that was found.
pub(crate) fn check_file(location: &Location, settings: &Settings) -> Result<()> {
    let connection = location.connect(Role::Writer, settings.read_only)?;
    // With the guard, the connection waits for locks of other processes.
    let guard = Guard::install(&connection, Role::Writer, settings);
    let check = || {
        protect(&connection, settings)?;
        // A row that breaks a CHECK is wrong, but the file is not damaged. A read-only connection would not check such rows either.
        set_pragma(&connection, "ignore_check_constraints", "ON")?;
        match connection.query_text("PRAGMA quick_check(1)")? {
            Some(wrong) if wrong != "ok" => Err(resqlite_sqlite::Error::new(codes::CORRUPT, wrong)),
            _ => Ok(()),
        }
    };
    guard.as_internal(check).map_err(|error| location.explain(error))
}

fn set_up(connection: &Connection, settings: &Settings, role: Role) -> resqlite_sqlite::Result<()> {
    if role == Role::Writer {
        // Page size and encoding can only be chosen before the file has content, and other PRAGMAs give it content.
        set_pragmas(connection, settings, Reach::Creation)?;
        if cfg!(target_vendor = "apple") {
            // On Apple systems, an fsync leaves data in the cache of the drive, and a power cut would lose acknowledged commits.
            set_pragma(connection, "fullfsync", "ON")?;
        }
        set_pragmas(connection, settings, Reach::Writer)?;
        let mode = switch_to_log(connection, settings.busy_timeout)?.unwrap_or_default();
        if mode != "wal" {
            let reason = format!("no write-ahead log is possible here (journal mode stays {mode})");
            return Err(resqlite_sqlite::Error::new(codes::CANTOPEN, reason));
        }
        connection.execute_script("PRAGMA synchronous = NORMAL")?;
        connection.execute_script(&format!("PRAGMA journal_size_limit = {}", limits::WAL_FILE_KEPT))?;
    }
    set_foreign_keys(connection, settings.foreign_keys)?;
    set_pragmas(connection, settings, Reach::All)?;
    // The first read shows whether the file is a database at all.
    connection
        .query_text("SELECT count(*) FROM sqlite_schema")
        .map(drop)
}

/// Makes the database keep a write-ahead log from now on. SQLite does not wait for other connections that do the same at this moment.
fn switch_to_log(connection: &Connection, busy_timeout: Duration) -> resqlite_sqlite::Result<Option<String>> {
    let end = clock::now() + busy_timeout;
    loop {
        match connection.query_text("PRAGMA journal_mode = WAL") {
            Err(error) if error.primary() == codes::BUSY && clock::now() < end => {
                clock::sleep(limits::BUSY_PAUSE_MAX);
            }
            switched => return switched,
        }
    }
}

/// Resets the PRAGMAs that a script has set.
///
/// # Errors
/// SQLite's errors.
pub(crate) fn end_script(writer: &Connection, settings: &Settings) -> Result<()> {
    for (name, value) in pragmas::defaults() {
        set_pragma(writer, name, value)?;
    }
    set_foreign_keys(writer, settings.foreign_keys)?;
    Ok(set_pragmas(writer, settings, Reach::All)?)
}

/// Sets whether a connection enforces foreign keys. Inside a transaction, SQLite ignores this
/// setting.
pub(crate) fn set_foreign_keys(connection: &Connection, on: bool) -> resqlite_sqlite::Result<()> {
    set_pragma(connection, "foreign_keys", if on { "ON" } else { "OFF" })
}

/// Sets the user's PRAGMAs that have this reach.
fn set_pragmas(connection: &Connection, settings: &Settings, reach: Reach) -> resqlite_sqlite::Result<()> {
    let wanted = |name: &str| pragmas::as_option(name) == Ok(reach);
    let mut of_reach = settings.pragmas.iter().filter(|(name, _)| wanted(name));
    of_reach.try_for_each(|(name, value)| set_pragma(connection, name, value))
}

pub(crate) fn set_pragma(connection: &Connection, name: &str, value: &str) -> resqlite_sqlite::Result<()> {
    // A word with a hyphen, such as UTF-8, would be an expression.
    let is_number = value.parse::<f64>().is_ok();
    let quote = if value.contains('-') && !is_number {
        "'"
    } else {
        ""
    };
    connection.execute_script(&format!("PRAGMA {name} = {quote}{value}{quote}"))
}

#[cfg(test)]
mod tests {
    use resqlite_sqlite::{Rows, ValueRef};

    use super::open;
    use crate::{
        connection::location::Location,
        core::options::{Options, Settings},
        guard::authorizer::Role,
    };

    struct Number(i64);

    impl Rows for Number {
        fn len(&self) -> usize {
            1
        }
        fn rowid(&self, _: usize) -> Option<i64> {
            None
        }
        fn value(&self, _: usize, _: usize) -> Option<ValueRef<'_>> {
            Some(ValueRef::Integer(self.0))
        }
    }

    #[test]
    fn every_connection_may_read_rows_that_the_engine_gives() {
        for untrusted in [false, true] {
            let options = Options {
                untrusted: Some(untrusted),
                ..Options::default()
            };
            let location = Location::find(":memory:", &options).unwrap();
            let settings = Settings::decide(&options).unwrap();
            let _writer = open(&location, &settings, Role::Writer, |_| {}).unwrap();
            let reader = open(&location, &settings, Role::Reader, |_| {}).unwrap();
            let given = reader
                .sqlite
                .register_given_rows("sqlite_given", "n INTEGER")
                .unwrap();
            let sql = "SELECT n + 1 FROM sqlite_given WHERE n = '5'";
            let read = given.show(&Number(5), || reader.sqlite.query_text(sql));
            assert_eq!(read.unwrap().as_deref(), Some("6"));
        }
    }
}
