//! MATCH and the functions of full-text search, for views and triggers.
//!
//! SQLite declares them before any virtual table implements them, and forgets to say that they do no harm. So a schema
//! that is not trusted could not search, although the tables that it searches are fine to use.

use std::{
    ffi::{CStr, c_int},
    ptr,
};

use libsqlite3_sys as ffi;

use crate::{error::Result, handle::Handle};

/// Functions and how many arguments they take; -1: any number.
const FUNCTIONS: [(&CStr, c_int); 7] = [
    (c"match", 2),
    (c"bm25", -1),
    (c"highlight", -1),
    (c"snippet", -1),
    (c"offsets", 1),
    (c"matchinfo", 1),
    (c"matchinfo", 2),
];

/// Declares them anew. The virtual tables implement them as before.
#[allow(unsafe_code)]
pub(crate) fn make_innocuous(handle: &Handle) -> Result<()> {
    let flags = ffi::SQLITE_UTF8 | ffi::SQLITE_INNOCUOUS;
    for (name, arguments) in FUNCTIONS {
        // SAFETY: the handle is open, the name is a static C string, and the function holds on to nothing.
        let code = unsafe {
            let (db, name) = (handle.db.as_ptr(), name.as_ptr());
            let nothing = ptr::null_mut();
            ffi::sqlite3_create_function_v2(
                db,
                name,
                arguments,
                flags,
                nothing,
                Some(without_table),
                None,
                None,
                None,
            )
        };
        handle.check(code)?;
    }
    Ok(())
}

/// What they do where no full-text table implements them: they say so.
#[allow(unsafe_code)]
unsafe extern "C" fn without_table(
    context: *mut ffi::sqlite3_context,
    _: c_int,
    _: *mut *mut ffi::sqlite3_value,
) {
    let message = c"unable to search here: MATCH and its functions need a full-text table";
    // SAFETY: SQLite gives a live context and copies the message.
    unsafe { ffi::sqlite3_result_error(context, message.as_ptr(), -1) };
}
