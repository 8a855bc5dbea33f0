//! Values that SQLite owns.

use std::{ffi::c_void, ptr::NonNull, slice};

use resqlite_sqlite_sys as ffi;

/// A borrowed value. Text may be invalid UTF-8 and may contain NUL bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL. Never NaN: SQLite stores NaN as NULL.
    Real(f64),
    /// TEXT, as bytes.
    Text(&'a [u8]),
    /// BLOB.
    Blob(&'a [u8]),
}

impl ValueRef<'_> {
    /// Returns whether a query gives the same result for both: `1` is not `1.0`, and `0.0` is not `-0.0`.
    pub fn is_same(self, other: ValueRef<'_>) -> bool {
        match (self, other) {
            (ValueRef::Real(left), ValueRef::Real(right)) => left.to_bits() == right.to_bits(),
            _ => self == other,
        }
    }
}

/// Reads an `sqlite3_value`.
///
/// # Safety
/// `value` belongs to a connection of the current thread, and the row or pre-update event that it is part of lasts
/// for `'a`.
#[allow(unsafe_code)]
#[inline]
pub(crate) unsafe fn read<'a>(value: NonNull<ffi::sqlite3_value>) -> ValueRef<'a> {
    let raw = value.as_ptr();
    // SAFETY: the caller promises a valid value that only this thread uses. Each getter fits the type, so none
    // converts the value, which would invalidate earlier pointers.
    unsafe {
        match ffi::sqlite3_value_type(raw) {
            ffi::SQLITE_INTEGER => ValueRef::Integer(ffi::sqlite3_value_int64(raw)),
            ffi::SQLITE_FLOAT => ValueRef::Real(ffi::sqlite3_value_double(raw)),
            ffi::SQLITE_TEXT => {
                let text = ffi::sqlite3_value_text(raw);
                ValueRef::Text(bytes(text, ffi::sqlite3_value_bytes(raw)))
            }
            ffi::SQLITE_BLOB => {
                let length = ffi::sqlite3_value_bytes(raw);
                if length == 0 {
                    return ValueRef::Blob(&[]);
                }
                ValueRef::Blob(bytes(ffi::sqlite3_value_blob(raw).cast(), length))
            }
            _ => ValueRef::Null,
        }
    }
}

/// Makes a value the result of a function or of a virtual table's column. SQLite copies it. Text and BLOBs that are too
/// large for the connection become an error.
///
/// # Safety
/// SQLite gave `context` to a callback that is under way.
#[allow(unsafe_code)]
pub(crate) unsafe fn set_result(context: *mut ffi::sqlite3_context, result: ValueRef<'_>) {
    let copy = ffi::SQLITE_TRANSIENT();
    // SAFETY: promised by the caller; text and BLOBs are copied before the function returns.
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

/// # Safety
/// `start` is null, or points to `length` bytes that do not change during `'a`.
#[allow(unsafe_code)]
pub(crate) unsafe fn bytes<'a>(start: *const u8, length: i32) -> &'a [u8] {
    // Null means that SQLite ran out of memory. This must not look like an empty value.
    assert!(!start.is_null(), "SQLite ran out of memory while reading a value");
    // SAFETY: promised by the caller.
    unsafe { slice::from_raw_parts(start, length.max(0) as usize) }
}
