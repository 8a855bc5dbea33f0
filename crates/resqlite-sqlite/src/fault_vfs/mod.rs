//! A VFS for tests: the platform's VFS with injected failures and a record of all changes.
//!
//! [`install`] puts it in front of the default VFS of the process, so that every file that is opened by its path goes
//! through it. By itself it only forwards calls. A [`Tap`] on a folder counts the calls on the files in that folder,
//! makes calls fail according to a [`Plan`] or wait ([`Tap::hang`]), and records every change. From the record a test
//! can build each state in which a power cut could have left the folder.
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
mod methods;
mod plan;
mod record;
mod tap;

#[cfg(test)]
mod tests;

use crate::{error::Result, vfs::Registration};

pub use calls::{Call, Failure};
pub use plan::{Plan, What};
pub use record::{Event, FileId};
pub use tap::{Hang, Tap};

/// Makes this VFS the default one of the process, in front of the previous default. Affects files that are opened
/// afterwards. Calls after the first do nothing.
///
/// # Errors
/// SQLite could not be initialised. Later calls return the same error.
pub fn install() -> Result<()> {
    static REGISTRATION: Registration = Registration::new(c"resqlite-faults");
    REGISTRATION.register(true, methods::methods)
}
