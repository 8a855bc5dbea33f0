//! Functions of one row.
#![allow(unsafe_code)]

use std::ffi::c_int;

use resqlite_sqlite_sys as ffi;

use super::{call::Call, function::Function};

pub(super) type Body = Box<dyn Fn(&Call<'_>) -> Result<(), String>>;

pub(super) unsafe extern "C" fn call(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: SQLite calls this for functions that were registered with such a body, with valid arguments.
    let (function, call) = unsafe {
        (
            Function::<Body>::of(context),
            Call::new(context, count, arguments),
        )
    };
    function.run(&call, || (function.body)(&call));
}
