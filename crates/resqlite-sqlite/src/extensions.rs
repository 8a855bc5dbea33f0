//! Extensions in shared libraries.

use std::{ffi::c_char, ptr};

use resqlite_sqlite_sys as ffi;

use crate::{
    c_text::{self, c_string},
    connection::Connection,
    error::{Error, Result},
};

#[allow(unsafe_code)]
impl Connection {
    /// Loads an extension: runs the entry point of a shared library, which registers what the library provides. Without
    /// the name of an entry point, SQLite tries `sqlite3_extension_init`, and then a name that it makes from the name
    /// of the file. SQL cannot load extensions, before or afterwards.
    ///
    /// The library runs as part of the program and must be trusted like it.
    ///
    /// # Errors
    /// The library cannot be loaded, has no such entry point, or refuses. The error says why.
    pub fn load_extension(&self, file: &str, entry_point: Option<&str>) -> Result<()> {
        let file = c_string(file)?;
        let entry_point = entry_point.map(c_string).transpose()?;
        self.configure(ffi::SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, true)?;
        let mut message = ptr::null_mut();
        // SAFETY: the handle is open, the strings outlive the call, the out pointer is valid. That the library is sound
        // is up to whoever names it.
        let code = unsafe {
            let entry_point = entry_point.as_ref().map_or(ptr::null(), |name| name.as_ptr());
            let db = self.handle().db.as_ptr();
            ffi::sqlite3_load_extension(db, file.as_ptr(), entry_point, &mut message)
        };
        self.configure(ffi::SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false)?;
        let message = take(message);
        match self.handle().check(code) {
            Err(error) if !message.is_empty() => Err(Error::new(error.code(), message)),
            result => result,
        }
    }
}

/// Takes over a message that SQLite has allocated.
#[allow(unsafe_code)]
fn take(message: *mut c_char) -> String {
    // SAFETY: the message is null, or a string that SQLite leaves to the caller, who frees it once.
    unsafe {
        let text = c_text::owned(message);
        ffi::sqlite3_free(message.cast());
        text
    }
}
