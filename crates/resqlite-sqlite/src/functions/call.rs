//! One call of a function: its arguments and its result.
#![allow(unsafe_code)]

use std::{ffi::c_int, marker::PhantomData, ptr::NonNull, slice};

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

    /// Returns an argument as the text that SQLite makes of it: numbers in decimal, BLOBs as their bytes. `None` for
    /// NULL, and if there is no such argument.
    pub fn text(&self, index: usize) -> Option<&'a [u8]> {
        let raw = NonNull::new(*self.arguments.get(index)?)?;
        // SAFETY: as above. Writing a number as text invalidates no pointer, because none to a number was handed out.
        // The text stays until the call ends.
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
        // SAFETY: the call is under way.
        unsafe { value::set_result(self.context, result) };
    }

    pub(super) fn fail(&self, message: &str) {
        let length = c_int::try_from(message.len()).unwrap_or(c_int::MAX);
        // SAFETY: as in `set`; the message has `length` bytes.
        unsafe { ffi::sqlite3_result_error(self.context, message.as_ptr().cast(), length) };
    }
}
