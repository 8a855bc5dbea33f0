//! What our VFSs leave to the platform's own one: time, sleep, randomness and loading of extensions.
#![allow(unsafe_code)]

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

use libsqlite3_sys as ffi;

/// A function of a loaded extension.
type Symbol = unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *mut c_void, *const c_char);

/// The default VFS.
///
/// # Safety
/// `vfs` is one of ours: the address of the default VFS stands in its `pAppData`.
pub(crate) unsafe fn default(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    // SAFETY: promised by the caller; the default VFS stays for the process.
    unsafe { (*vfs).pAppData.cast() }
}

pub(crate) unsafe extern "C" fn randomness(
    vfs: *mut ffi::sqlite3_vfs,
    len: c_int,
    target: *mut c_char,
) -> c_int {
    // SAFETY: SQLite's arguments go on as they are.
    unsafe {
        let vfs = default(vfs);
        (*vfs).xRandomness.map_or(0, |call| call(vfs, len, target))
    }
}

pub(crate) unsafe extern "C" fn sleep(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    // SAFETY: SQLite's arguments go on as they are.
    unsafe {
        let vfs = default(vfs);
        (*vfs).xSleep.map_or(0, |call| call(vfs, microseconds))
    }
}

pub(crate) unsafe extern "C" fn current_time(vfs: *mut ffi::sqlite3_vfs, target: *mut f64) -> c_int {
    // SAFETY: SQLite's arguments go on as they are.
    unsafe {
        let vfs = default(vfs);
        (*vfs)
            .xCurrentTime
            .map_or(ffi::SQLITE_ERROR, |call| call(vfs, target))
    }
}

pub(crate) unsafe extern "C" fn current_time_int64(
    vfs: *mut ffi::sqlite3_vfs,
    target: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's arguments go on as they are; older versions of the structure end before this function.
    unsafe {
        let vfs = default(vfs);
        let call = if (*vfs).iVersion >= 2 {
            (*vfs).xCurrentTimeInt64
        } else {
            None
        };
        call.map_or(ffi::SQLITE_ERROR, |call| call(vfs, target))
    }
}

pub(crate) unsafe extern "C" fn dl_open(vfs: *mut ffi::sqlite3_vfs, name: *const c_char) -> *mut c_void {
    // SAFETY: SQLite's arguments go on as they are.
    unsafe {
        let vfs = default(vfs);
        (*vfs).xDlOpen.map_or(ptr::null_mut(), |call| call(vfs, name))
    }
}

pub(crate) unsafe extern "C" fn dl_error(vfs: *mut ffi::sqlite3_vfs, len: c_int, message: *mut c_char) {
    // SAFETY: SQLite's arguments go on as they are.
    unsafe {
        let vfs = default(vfs);
        if let Some(call) = (*vfs).xDlError {
            call(vfs, len, message);
        }
    }
}

pub(crate) unsafe extern "C" fn dl_sym(
    vfs: *mut ffi::sqlite3_vfs,
    library: *mut c_void,
    name: *const c_char,
) -> Option<Symbol> {
    // SAFETY: SQLite's arguments go on as they are.
    unsafe {
        let vfs = default(vfs);
        (*vfs).xDlSym.and_then(|call| call(vfs, library, name))
    }
}

pub(crate) unsafe extern "C" fn dl_close(vfs: *mut ffi::sqlite3_vfs, library: *mut c_void) {
    // SAFETY: SQLite's arguments go on as they are.
    unsafe {
        let vfs = default(vfs);
        if let Some(call) = (*vfs).xDlClose {
            call(vfs, library);
        }
    }
}
