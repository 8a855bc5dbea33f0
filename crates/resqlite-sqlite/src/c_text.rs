//! Strings to and from C.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};

use resqlite_sqlite_sys as ffi;

use crate::error::{Error, Result};

/// Copies a name or path for SQLite.
///
/// # Errors
/// `SQLITE_MISUSE` if it contains a NUL character.
pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(ffi::SQLITE_MISUSE, "a name must not contain a NUL character"))
}

/// Copies a string of SQLite; null gives the empty string.
///
/// # Safety
/// `text` is null or a NUL-terminated string that is valid during the call.
pub(crate) unsafe fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Copies a string of SQLite; null gives `None`.
///
/// # Safety
/// As [`owned`].
pub(crate) unsafe fn owned_or_none(text: *const c_char) -> Option<String> {
    // SAFETY: promised by the caller.
    (!text.is_null()).then(|| unsafe { owned(text) })
}

/// Borrows a string of SQLite; null and invalid UTF-8 give `None`.
///
/// # Safety
/// `text` is null or a NUL-terminated string that is valid for `'a`.
pub(crate) unsafe fn borrowed<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}
