//! Open files: the Rust value behind an `sqlite3_file`.
#![allow(unsafe_code)]

use std::{ffi::c_int, ptr};

use resqlite_sqlite_sys as ffi;

/// An `sqlite3_file` of this crate. SQLite allocates it.
#[repr(C)]
pub(crate) struct Slot<T> {
    base: ffi::sqlite3_file,
    /// From `Box::into_raw`; freed by [`close`].
    value: *mut T,
}

impl<T> Slot<T> {
    pub(crate) const SIZE: c_int = size_of::<Self>() as c_int;
}

/// A method table of version 1 without methods, to be completed.
pub(crate) const NO_METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: None,
    xRead: None,
    xWrite: None,
    xTruncate: None,
    xSync: None,
    xFileSize: None,
    xLock: None,
    xUnlock: None,
    xCheckReservedLock: None,
    xFileControl: None,
    xSectorSize: None,
    xDeviceCharacteristics: None,
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// Makes `target` an open file with this value and these methods.
///
/// # Safety
/// `target` has room for a `Slot<T>`.
pub(crate) unsafe fn install<T>(
    target: *mut ffi::sqlite3_file,
    value: T,
    methods: &'static ffi::sqlite3_io_methods,
) {
    let slot = Slot {
        base: ffi::sqlite3_file { pMethods: methods },
        value: Box::into_raw(Box::new(value)),
    };
    // SAFETY: promised by the caller.
    unsafe { target.cast::<Slot<T>>().write(slot) };
}

/// Marks a file as not open: SQLite calls no method of it.
///
/// # Safety
/// `target` has room for an `sqlite3_file`.
pub(crate) unsafe fn install_none(target: *mut ffi::sqlite3_file) {
    // SAFETY: promised by the caller.
    unsafe { (*target).pMethods = ptr::null() };
}

/// Returns the address of the value behind an open file.
///
/// # Safety
/// `file` was installed with a `T` and is not closed.
pub(crate) unsafe fn value<T>(file: *mut ffi::sqlite3_file) -> *mut T {
    // SAFETY: promised by the caller.
    unsafe { (*file.cast::<Slot<T>>()).value }
}

/// Drops the value behind an open file.
///
/// # Safety
/// As for [`value`]; neither the file nor its value is used afterwards.
pub(crate) unsafe fn close<T>(file: *mut ffi::sqlite3_file) {
    // SAFETY: promised by the caller; the slot has the pointer that `Box::into_raw` returned.
    drop(unsafe { Box::from_raw(value::<T>(file)) });
}
