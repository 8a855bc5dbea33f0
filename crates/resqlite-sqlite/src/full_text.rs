//! MATCH and the other functions of full-text search, in views and triggers.
//!
//! SQLite registers placeholders for these functions, which virtual tables override, but does not mark the placeholders
//! as innocuous. Without that mark an untrusted schema may not use them, although full-text tables are allowed there.

use std::{
    ffi::{CStr, c_int},
    ptr,
};

use resqlite_sqlite_sys as ffi;

use crate::{error::Result, handle::Handle};

/// The functions with their number of arguments; -1 means any number.
const FUNCTIONS: [(&CStr, c_int); 7] = [
    (c"match", 2),
    (c"bm25", -1),
    (c"highlight", -1),
    (c"snippet", -1),
    (c"offsets", 1),
    (c"matchinfo", 1),
    (c"matchinfo", 2),
];

/// Registers the placeholders again, as innocuous. Virtual tables override them as before.
#[allow(unsafe_code)]
pub(crate) fn make_innocuous(handle: &Handle) -> Result<()> {
    let flags = ffi::SQLITE_UTF8 | ffi::SQLITE_INNOCUOUS;
    for (name, arguments) in FUNCTIONS {
        // SAFETY: the handle is open, the name is a static C string, and the function has no user data.
        let code = unsafe {
            let (db, name) = (handle.db.as_ptr(), name.as_ptr());
            let nothing = ptr::null_mut();
            ffi::sqlite3_create_function_v2(
                db,
                name,
                arguments,
                flags,
                nothing,
                Some(placeholder),
                None,
                None,
                None,
            )
        };
        handle.check(code)?;
    }
    Ok(())
}

/// Fails with an explanation. SQLite calls this if no full-text table overrides the function.
#[allow(unsafe_code)]
unsafe extern "C" fn placeholder(
    context: *mut ffi::sqlite3_context,
    _: c_int,
    _: *mut *mut ffi::sqlite3_value,
) {
    let message = c"MATCH and the functions of full-text search need a full-text table";
    // SAFETY: SQLite passes a valid context and copies the message.
    unsafe { ffi::sqlite3_result_error(context, message.as_ptr(), -1) };
}
