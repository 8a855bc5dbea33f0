//! SQL functions that every connection has, besides SQLite's own.

mod regexp;
mod uuid;

use resqlite_sqlite::{Connection, Result};

use crate::core::options::Settings;

/// Makes the built-in functions and those of the program known to a connection.
///
/// # Errors
/// The error of SQLite.
pub(crate) fn register(connection: &Connection, settings: &Settings) -> Result<()> {
    regexp::register(connection, settings.untrusted)?;
    uuid::register(connection)?;
    settings
        .functions
        .iter()
        .try_for_each(|function| function.register(connection))
}
