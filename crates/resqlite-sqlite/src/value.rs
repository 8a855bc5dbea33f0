//! Values as SQLite stores them.

use std::{ptr::NonNull, slice};

use libsqlite3_sys as ffi;

/// A value that SQLite still owns. Text may be invalid UTF-8 and may hold NUL bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// NULL.
    Null,
    /// INTEGER, 64 bits.
    Integer(i64),
    /// REAL. Never NaN: SQLite stores NaN as NULL.
    Real(f64),
    /// TEXT, as bytes.
    Text(&'a [u8]),
    /// BLOB.
    Blob(&'a [u8]),
}

/// Reads a value object.
///
/// # Safety
/// `value` is a live value of a connection that the current thread owns, and neither it nor what made it
/// (row, pre-update event) changes during `'a`.
#[allow(unsafe_code)]
#[inline]
pub(crate) unsafe fn read<'a>(value: NonNull<ffi::sqlite3_value>) -> ValueRef<'a> {
    let raw = value.as_ptr();
    // SAFETY: the caller promises a live value used by this thread only; the type decides which getter is
    // called, so none converts the value behind an earlier pointer.
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

/// # Safety
/// A non-null `start` is followed by `length` bytes that stay unchanged during `'a`.
#[allow(unsafe_code)]
unsafe fn bytes<'a>(start: *const u8, length: i32) -> &'a [u8] {
    // SQLite gives no text only when memory ran out: a wrong value must not pass for an empty one.
    assert!(!start.is_null(), "SQLite ran out of memory while reading a value");
    // SAFETY: promised by the caller.
    unsafe { slice::from_raw_parts(start, length.max(0) as usize) }
}
