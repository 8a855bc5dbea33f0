//! The owned `sqlite3*` with the hooks that are registered on it.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeSet,
    ptr::NonNull,
};

use resqlite_sqlite_sys as ffi;

use crate::{
    c_text,
    error::{Error, Result},
    hooks::Hooks,
    log_header::LogHeader,
};

/// One database handle. A connection and its statements share it; it closes when the last of them is dropped.
pub(crate) struct Handle {
    pub(crate) db: NonNull<ffi::sqlite3>,
    /// Boxed because SQLite keeps its address.
    pub(crate) hooks: Box<Hooks>,
    /// The names of the tables of given rows, in lower case.
    pub(crate) given_rows: RefCell<BTreeSet<String>>,
    /// The header of the write-ahead log, once somebody has asked for it.
    pub(crate) log_header: OnceCell<LogHeader>,
}

impl Handle {
    /// Turns a result code into a result with the latest message of the connection. Resumes a panic of a hook.
    pub(crate) fn check(&self, code: i32) -> Result<()> {
        self.hooks.resume_panic();
        if code == ffi::SQLITE_OK {
            Ok(())
        } else {
            Err(self.error(code))
        }
    }

    /// Returns the error that SQLite has stored for this connection. If the stored error is not `code`, returns the
    /// text of `code`.
    #[allow(unsafe_code)]
    pub(crate) fn error(&self, code: i32) -> Error {
        let db = self.db.as_ptr();
        // SAFETY: `db` stays open while `self` lives; the message is copied before the next call.
        unsafe {
            let extended = ffi::sqlite3_extended_errcode(db);
            if extended & 0xff != code & 0xff {
                return Error::new(code, c_text::owned(ffi::sqlite3_errstr(code)));
            }
            let offset = usize::try_from(ffi::sqlite3_error_offset(db)).ok();
            // Only these errors set the system's error number; for others it belongs to an earlier failure.
            let has_number = matches!(code & 0xff, ffi::SQLITE_CANTOPEN | ffi::SQLITE_IOERR);
            let system = if has_number {
                ffi::sqlite3_system_errno(db)
            } else {
                0
            };
            Error::new(
                extended,
                without_parameters(c_text::owned(ffi::sqlite3_errmsg(db))),
            )
            .at(offset)
            .because(system)
        }
    }
}

/// Removes the parameters of the URL from a message that names a file by a URL, because a parameter may be a key.
fn without_parameters(mut message: String) -> String {
    if message.starts_with("unable to open database: file:")
        && let Some(at) = message.find('?')
    {
        message.truncate(at);
    }
    message
}

impl Drop for Handle {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        if let Some(header) = self.log_header.get() {
            header.close();
        }
        // SAFETY: this is the last owner, so no statement is left and closing cannot fail. Closing may run callbacks:
        // `hooks` is dropped after this.
        unsafe { ffi::sqlite3_close(self.db.as_ptr()) };
    }
}
