//! The owned `sqlite3*` and what its C callbacks need.

use std::{any::Any, cell::RefCell, ffi::CStr, panic, ptr::NonNull};

use libsqlite3_sys as ffi;

use crate::{
    error::{Error, Result},
    hooks::Hooks,
};

/// One database handle. Connection and statements share it, so it closes after the last of them.
pub(crate) struct Handle {
    pub(crate) db: NonNull<ffi::sqlite3>,
    /// Boxed because SQLite keeps its address.
    pub(crate) hooks: Box<Hooks>,
    /// A panic caught in a callback, to go on unwinding once SQLite's frames are left.
    pub(crate) panic: RefCell<Option<Box<dyn Any + Send>>>,
}

impl Handle {
    /// Turns a result code into a result; the message is the connection's latest.
    pub(crate) fn check(&self, code: i32) -> Result<()> {
        self.rethrow();
        if code == ffi::SQLITE_OK {
            Ok(())
        } else {
            Err(self.error(code))
        }
    }

    /// Goes on with a panic that a callback caught.
    pub(crate) fn rethrow(&self) {
        if let Some(payload) = self.panic.borrow_mut().take() {
            panic::resume_unwind(payload);
        }
    }

    /// The error that SQLite holds for this connection, or a bare one if it holds another.
    #[allow(unsafe_code)]
    pub(crate) fn error(&self, code: i32) -> Error {
        let db = self.db.as_ptr();
        // SAFETY: `db` is open for as long as `self` lives; the message is copied before any other call.
        unsafe {
            let extended = ffi::sqlite3_extended_errcode(db);
            if extended & 0xff != code & 0xff {
                return Error::new(code, text(ffi::sqlite3_errstr(code)));
            }
            let offset = usize::try_from(ffi::sqlite3_error_offset(db)).ok();
            // SQLite asks the system why at these errors only; else the number is that of an earlier one.
            let asked = matches!(code & 0xff, ffi::SQLITE_CANTOPEN | ffi::SQLITE_IOERR);
            let system = if asked { ffi::sqlite3_system_errno(db) } else { 0 };
            Error::new(extended, text(ffi::sqlite3_errmsg(db)))
                .at(offset)
                .because(system)
        }
    }
}

impl Drop for Handle {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the last owner goes, so no statement is left and closing cannot fail;
        // callbacks that closing may cause still find `hooks`, which is dropped after this.
        unsafe { ffi::sqlite3_close(self.db.as_ptr()) };
    }
}

/// # Safety
/// `message` is null or a NUL-terminated string that lives during the call.
#[allow(unsafe_code)]
pub(crate) unsafe fn text(message: *const std::ffi::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}
