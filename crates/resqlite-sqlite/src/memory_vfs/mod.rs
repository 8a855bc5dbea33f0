//! Databases in memory that behave like files.
//!
//! A SQLite VFS whose files live in this process and that has what WAL mode needs: several connections on several
//! threads, locks among them and a shared WAL index. SQLite's own `:memory:` databases belong to one connection,
//! and its shared in-memory databases know no WAL, so a reader would see the writer's locks.
//!
//! A [`MemoryFile`] makes a database and gives it a name; connections open that name through [`VFS_NAME`]:
//!
//! ```
//! use resqlite_sqlite::{
//!     Access, Connection,
//!     memory_vfs::{self, MemoryFile, VFS_NAME},
//! };
//!
//! # fn main() -> resqlite_sqlite::Result<()> {
//! memory_vfs::register()?;
//! let file = MemoryFile::create();
//! let writer = Connection::open(file.name(), Access::ReadWriteCreate, Some(VFS_NAME))?;
//! let reader = Connection::open(file.name(), Access::ReadOnly, Some(VFS_NAME))?;
//! # Ok(()) }
//! ```

mod contents;
mod database;
mod io;
mod locks;
mod open_file;
mod regions;
mod shm;
mod vfs;

#[cfg(test)]
mod tests;

use std::{
    ffi::c_int,
    sync::{Arc, OnceLock},
};

use libsqlite3_sys as ffi;

use crate::error::{Error, Result};

use database::Database;

/// The name to open connections with, as the VFS argument of `sqlite3_open_v2`.
pub const VFS_NAME: &str = "resqlite-memory";

/// Makes the VFS known to SQLite, not as the default one. Calls after the first do nothing.
///
/// # Errors
/// SQLite could not initialise itself; it stays that way for the process.
pub fn register() -> Result<()> {
    static CODE: OnceLock<c_int> = OnceLock::new();
    match *CODE.get_or_init(vfs::register) {
        ffi::SQLITE_OK => Ok(()),
        code => Err(Error::new(
            code,
            "the in-memory file system could not be registered",
        )),
    }
}

/// A database in memory: empty at first, kept for as long as this value or a connection to it lives.
///
/// When both are gone all its memory is freed: the database, its journal or write-ahead log, and the WAL index.
/// Names are never used twice.
#[derive(Debug)]
pub struct MemoryFile {
    database: Arc<Database>,
}

impl MemoryFile {
    /// Makes an empty database.
    pub fn create() -> Self {
        Self {
            database: Database::create(),
        }
    }

    /// The file name to open it by, through [`VFS_NAME`].
    pub fn name(&self) -> &str {
        self.database.name()
    }
}
