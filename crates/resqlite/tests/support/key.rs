//! The key of the databases of all tests: they are encrypted where `RESQLITE_TEST_KEY` holds one, of 32 characters.

use std::env;

use resqlite::{Key, Options};
use resqlite_sqlite::{Access, Connection, Result};

/// The key, if there is one.
pub fn of_tests() -> Option<Key> {
    let text = env::var("RESQLITE_TEST_KEY").ok()?;
    Some(Key::raw(text.as_bytes()).expect("a key of 32 characters"))
}

/// The options with the key, unless they have one.
pub fn keyed(options: Options) -> Options {
    Options {
        key: options.key.clone().or_else(of_tests),
        ..options
    }
}

/// A connection as another process would have one.
pub fn connect(path: &str) -> Result<Connection> {
    let connection = Connection::open(path, Access::ReadWriteCreate, None)?;
    if path != ":memory:" {
        of_tests().map_or(Ok(()), |key| connection.set_key(&key))?;
    }
    Ok(connection)
}
