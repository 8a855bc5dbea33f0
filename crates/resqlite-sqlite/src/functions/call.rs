//! One call of a function: its arguments and its result.
#![allow(unsafe_code)]

use std::{
    ffi::{c_int, c_void},
    marker::PhantomData,
    ptr::NonNull,
    slice,
};

use resqlite_sqlite_sys as ffi;

use crate::value::{self, ValueRef};

/// One call of a function.
pub struct Call<'a> {
    context: *mut ffi::sqlite3_context,
    arguments: &'a [*mut ffi::sqlite3_value],
    call: PhantomData<&'a mut ffi::sqlite3_context>,
}

impl<'a> Call<'a> {
    /// # Safety
    /// SQLite gave these to a callback that lasts for `'a`.
    pub(super) unsafe fn new(
        context: *mut ffi::sqlite3_context,
        count: c_int,
        arguments: *mut *mut ffi::sqlite3_value,
    ) -> Self {
        let arguments = match usize::try_from(count) {
            // SAFETY: promised by the caller.
            Ok(count) if count > 0 => unsafe { slice::from_raw_parts(arguments, count) },
            _ => &[],
        };
        Self {
            context,
            arguments,
            call: PhantomData,
        }
    }

    /// Returns the arguments.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = ValueRef<'a>> {
        self.arguments.iter().map(|&raw| {
            let raw = NonNull::new(raw).expect("SQLite has a value for each argument");
            // SAFETY: the arguments last as long as the call, on this thread.
            unsafe { value::read(raw) }
        })
    }

    /// Returns an argument as SQLite writes it as text: numbers in decimal, BLOBs as the bytes they are. `None` for NULL,
    /// and if there is no such argument.
    pub fn text(&self, index: usize) -> Option<&'a [u8]> {
        let raw = NonNull::new(*self.arguments.get(index)?)?;
        // SAFETY: as above. Of a number no pointer was handed out that writing it as text could invalidate, and the
        // text stays until the call ends.
        unsafe {
            match value::read(raw) {
                ValueRef::Null => None,
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
                ValueRef::Integer(_) | ValueRef::Real(_) => {
                    let start = ffi::sqlite3_value_text(raw.as_ptr());
                    Some(value::bytes(start, ffi::sqlite3_value_bytes(raw.as_ptr())))
                }
            }
        }
    }

    /// Sets the result. SQLite copies it. Text and BLOBs that are too large for the connection become an error.
    pub fn set(&self, result: ValueRef<'_>) {
        let (context, copy) = (self.context, ffi::SQLITE_TRANSIENT());
        // SAFETY: the call is under way; text and BLOBs are copied before the function returns.
        unsafe {
            match result {
                ValueRef::Null => ffi::sqlite3_result_null(context),
                ValueRef::Integer(integer) => ffi::sqlite3_result_int64(context, integer),
                ValueRef::Real(real) => ffi::sqlite3_result_double(context, real),
                ValueRef::Text(bytes) => {
                    let (start, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
                    ffi::sqlite3_result_text64(context, start, length, copy, ffi::SQLITE_UTF8 as u8);
                }
                ValueRef::Blob(bytes) => {
                    let start = bytes.as_ptr().cast::<c_void>();
                    ffi::sqlite3_result_blob64(context, start, bytes.len() as u64, copy);
                }
            }
        }
    }

    pub(super) fn fail(&self, message: &str) {
        let length = c_int::try_from(message.len()).unwrap_or(c_int::MAX);
        // SAFETY: as in `set`; the message has `length` bytes.
        unsafe { ffi::sqlite3_result_error(self.context, message.as_ptr().cast(), length) };
    }
}
