//! A file system for tests: SQLite's own one, which fails when it is told to and remembers what was written.
//!
//! [`install`] puts it in front of the default VFS of the process, so that whoever opens a file by its path goes
//! through it. It does nothing by itself. A [`Tap`] on a folder counts the calls on the files in it, lets some of
//! them fail as a [`Plan`] says, and keeps a record of every change, from which the states can be made in which a
//! power cut could have left the folder.
//!
//! ```
//! use resqlite_sqlite::{
//!     Access, Connection,
//!     fault_vfs::{self, Call, Failure, Plan, Tap},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! fault_vfs::install()?;
//! let folder = tempfile::tempdir()?;
//! let tap = Tap::on(folder.path())?;
//! let path = folder.path().join("a.db");
//! let connection = Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None)?;
//!
//! tap.inject(Plan::once(Call::Write, 0, Failure::DISK_FULL));
//! let error = connection.execute_script("CREATE TABLE t(a)").unwrap_err();
//! assert_eq!(error.name(), "SQLITE_FULL");
//! tap.heal();
//! connection.execute_script("CREATE TABLE t(a)")?;
//! # Ok(()) }
//! ```

mod calls;
mod io;
mod plan;
mod record;
mod tap;
mod vfs;

#[cfg(test)]
mod tests;

use std::{ffi::c_int, sync::OnceLock};

use libsqlite3_sys as ffi;

use crate::error::{Error, Result};

pub use calls::{Call, Failure};
pub use plan::{Plan, What};
pub use record::{Event, FileId};
pub use tap::Tap;

/// Makes the file system the default one of the process, in front of that which was. To be called before the files
/// in question are opened. Calls after the first do nothing.
///
/// # Errors
/// SQLite could not initialise itself; it stays that way for the process.
pub fn install() -> Result<()> {
    static CODE: OnceLock<c_int> = OnceLock::new();
    match *CODE.get_or_init(vfs::register) {
        ffi::SQLITE_OK => Ok(()),
        code => Err(Error::new(code, "the test file system could not be registered")),
    }
}
