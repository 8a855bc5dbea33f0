//! A thin safe layer over SQLite.
//!
//! It contains the `unsafe` code of the engine. A [`Connection`] and its [`Statement`]s are not `Send`: one thread at a
//! time uses them, so SQLite's mutexes are turned off. They move between threads together, in a [`Parcel`]. Callbacks
//! are Rust closures; a panic in a closure never unwinds through SQLite's frames. This crate knows nothing of threads,
//! queues, commits or live queries.
//!
//! ```
//! use resqlite_sqlite::{Access, Connection, ValueRef};
//!
//! # fn main() -> resqlite_sqlite::Result<()> {
//! let connection = Connection::open(":memory:", Access::ReadWriteCreate, None)?;
//! let mut statement = connection.prepare("SELECT ?1 * 2", true)?.statement.expect("one statement");
//! statement.bind(1, ValueRef::Integer(21))?;
//! assert!(statement.step()?);
//! assert_eq!(statement.column(0), ValueRef::Integer(42));
//! # Ok(()) }
//! ```

#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    path = "at_once_nowhere.rs"
)]
mod at_once;
mod backup;
mod c_text;
mod ciphers;
mod code;
mod connection;
mod environment;
mod error;
mod extensions;
#[cfg(feature = "testing")]
pub mod fault_vfs;
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    path = "file_locks/system.rs"
)]
mod file_locks;
mod full_text;
mod functions;
mod given_rows;
mod handle;
mod header;
mod hooks;
mod key;
mod log_header;
mod log_position;
mod log_rewrite;
mod main_file;
pub mod memory_vfs;
mod parcel;
mod random;
mod series;
mod statement;
mod sync;
mod value;
mod vfs;

/// SQLite's extended result codes.
pub mod codes {
    pub use resqlite_sqlite_sys::{
        SQLITE_ABORT as ABORT, SQLITE_AUTH as AUTH, SQLITE_BUSY as BUSY,
        SQLITE_BUSY_SNAPSHOT as BUSY_SNAPSHOT, SQLITE_CANTOPEN as CANTOPEN, SQLITE_CONSTRAINT as CONSTRAINT,
        SQLITE_CONSTRAINT_FOREIGNKEY as CONSTRAINT_FOREIGNKEY, SQLITE_CORRUPT as CORRUPT,
        SQLITE_ERROR as ERROR, SQLITE_FULL as FULL, SQLITE_INTERRUPT as INTERRUPT, SQLITE_IOERR as IOERR,
        SQLITE_IOERR_DIR_FSYNC as IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC as IOERR_FSYNC,
        SQLITE_LOCKED as LOCKED, SQLITE_MISMATCH as MISMATCH, SQLITE_MISUSE as MISUSE, SQLITE_NOMEM as NOMEM,
        SQLITE_NOTADB as NOTADB, SQLITE_PROTOCOL as PROTOCOL, SQLITE_READONLY as READONLY,
        SQLITE_TOOBIG as TOOBIG,
    };
}

/// The limits that [`Connection::set_limit`] sets.
pub mod limit {
    pub use resqlite_sqlite_sys::{
        SQLITE_LIMIT_ATTACHED as ATTACHED, SQLITE_LIMIT_COLUMN as COLUMN,
        SQLITE_LIMIT_COMPOUND_SELECT as COMPOUND_SELECT, SQLITE_LIMIT_EXPR_DEPTH as EXPR_DEPTH,
        SQLITE_LIMIT_FUNCTION_ARG as FUNCTION_ARG, SQLITE_LIMIT_LENGTH as LENGTH,
        SQLITE_LIMIT_LIKE_PATTERN_LENGTH as LIKE_PATTERN_LENGTH, SQLITE_LIMIT_SQL_LENGTH as SQL_LENGTH,
        SQLITE_LIMIT_TRIGGER_DEPTH as TRIGGER_DEPTH, SQLITE_LIMIT_VARIABLE_NUMBER as VARIABLE_NUMBER,
        SQLITE_LIMIT_VDBE_OP as VDBE_OP, SQLITE_LIMIT_WORKER_THREADS as WORKER_THREADS,
    };
}

pub use at_once::{at_once, is_possible_at_once};
pub use backup::Backup;
pub use ciphers::can_encrypt;
pub use code::name as code_name;
pub use connection::{
    Access, Checkpoint, Checkpointed, ColumnMetadata, Connection, Memory, Prepared, version,
};
pub use environment::is_switched_on;
pub use error::{Error, Result};
pub use file_locks::locks_survive_other_copies;
pub use functions::{Aggregate, Call, Signature};
pub use given_rows::{GivenRows, Rows};
pub use header::Header;
pub use hooks::{Action, PreUpdate, RowOperation, action};
pub use key::Key;
pub use log_header::{LogHeader, LogState, log_pages};
pub use log_position::LogPosition;
pub use parcel::{Confined, Parcel};
pub use random::random;
pub use statement::{ColumnOrigin, Statement};
pub use value::ValueRef;
