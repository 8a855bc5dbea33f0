//! The file of the main database in SQLite's own layer for files.
#![allow(unsafe_code)]

use std::{ffi::c_void, ptr};

use resqlite_sqlite_sys as ffi;

use crate::handle::Handle;

/// The open file of the main database and its methods. Both live as long as the connection.
pub(crate) fn of(handle: &Handle) -> Option<(*mut ffi::sqlite3_file, &ffi::sqlite3_io_methods)> {
    let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
    // SAFETY: the handle is open; the answer is the file of the main database, which lives as long as the connection, and
    // has no methods if it is not open.
    unsafe {
        let answer: *mut c_void = (&raw mut file).cast();
        let code = ffi::sqlite3_file_control(
            handle.db.as_ptr(),
            c"main".as_ptr(),
            ffi::SQLITE_FCNTL_FILE_POINTER,
            answer,
        );
        let methods = file.as_ref()?.pMethods.as_ref()?;
        (code == ffi::SQLITE_OK).then_some((file, methods))
    }
}
