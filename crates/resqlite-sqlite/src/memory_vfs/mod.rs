//! Databases in memory that behave like files.
//!
//! This module is a SQLite VFS whose files live in this process. It has what WAL mode needs: connections on several
//! threads, locks between them, and a shared WAL index. SQLite itself has no such VFS: a `:memory:` database belongs to
//! one connection, and the connections of a shared in-memory database have no WAL, so that readers and the writer would
//! block each other.
//!
//! A temporary file with `synchronous = OFF` would need far less code. But opening and closing it takes 2 to 9 times as
//! long, and single statements and live queries take 10 to 60 % longer (experiment 029). It also needs a writable folder
//! and leaves files behind when the process crashes.
//!
//! A [`MemoryFile`] makes a database and names it. Connections open that name through [`VFS_NAME`]:
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
mod methods;
mod open_file;
mod regions;
mod shm;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use resqlite_sqlite_sys as ffi;

use crate::{
    error::{Error, Result},
    vfs::Registration,
};

use database::Database;

/// The VFS to open connections with, as the VFS argument of `sqlite3_open_v2`.
pub const VFS_NAME: &str = if cfg!(feature = "ciphers") {
    "multipleciphers-resqlite-memory"
} else {
    "resqlite-memory"
};

/// Registers the VFS with SQLite, not as the default one. Calls after the first do nothing.
///
/// # Errors
/// SQLite could not be initialised. Later calls return the same error.
pub fn register() -> Result<()> {
    static REGISTRATION: Registration = Registration::new(c"resqlite-memory");
    REGISTRATION.register(false, |_| methods::METHODS)
}

/// A database in memory, empty at first. The database lives as long as this value or a connection to it.
///
/// Dropping the last of them frees all its memory: the database, its journal or write-ahead log, and the WAL index.
/// Names are never reused.
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

    /// Makes a database of the bytes of a database file.
    ///
    /// # Errors
    /// `SQLITE_NOMEM`.
    pub fn with_bytes(bytes: &[u8]) -> Result<Self> {
        let file = Self::create();
        let written = file.database.main().write(0, bytes);
        written.map_err(|_| Error::new(ffi::SQLITE_NOMEM, "there is no memory for the database"))?;
        Ok(file)
    }

    /// Returns the bytes of the database file, without those in its write-ahead log, and frees it.
    pub fn into_bytes(self) -> Vec<u8> {
        self.database.main().take()
    }

    /// Returns the file name of the database for [`VFS_NAME`].
    pub fn name(&self) -> &str {
        self.database.name()
    }
}
