//! The methods that our VFSs leave to the platform's VFS: time, sleep, randomness, extensions, full paths.
#![allow(unsafe_code)]

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

use resqlite_sqlite_sys as ffi;

/// A function of a loaded extension.
type Symbol = unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *mut c_void, *const c_char);

/// Returns the platform's VFS.
///
/// # Safety
/// `vfs` is one of ours: its `pAppData` is the platform's VFS, which is never freed.
pub(crate) unsafe fn of(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    // SAFETY: promised by the caller.
    unsafe { (*vfs).pAppData.cast() }
}

/// Defines methods that call those of the platform with the same arguments. `else` gives the result if the platform has
/// no such method.
macro_rules! forward {
    ($($name:ident => $method:ident($($argument:ident: $type:ty),*) -> $result:ty, else $missing:expr;)*) => {$(
        pub(crate) unsafe extern "C" fn $name(vfs: *mut ffi::sqlite3_vfs $(, $argument: $type)*) -> $result {
            // SAFETY: SQLite passes the VFS that the method belongs to; the arguments are passed on unchanged.
            unsafe {
                let platform = of(vfs);
                match (*platform).$method {
                    Some(method) => method(platform $(, $argument)*),
                    None => $missing,
                }
            }
        }
    )*};
}

forward! {
    randomness => xRandomness(length: c_int, target: *mut c_char) -> c_int, else 0;
    sleep => xSleep(microseconds: c_int) -> c_int, else 0;
    current_time => xCurrentTime(target: *mut f64) -> c_int, else ffi::SQLITE_ERROR;
    dl_open => xDlOpen(name: *const c_char) -> *mut c_void, else ptr::null_mut();
    dl_error => xDlError(length: c_int, message: *mut c_char) -> (), else ();
    dl_sym => xDlSym(library: *mut c_void, name: *const c_char) -> Option<Symbol>, else None;
    dl_close => xDlClose(library: *mut c_void) -> (), else ();
}

#[cfg(feature = "testing")]
forward! {
    full_pathname => xFullPathname(name: *const c_char, room: c_int, target: *mut c_char) -> c_int,
        else ffi::SQLITE_CANTOPEN;
}

pub(crate) unsafe extern "C" fn current_time_int64(
    vfs: *mut ffi::sqlite3_vfs,
    target: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: as for the other methods; version 1 of the structure ends before this one.
    unsafe {
        let platform = of(vfs);
        let method = if (*platform).iVersion >= 2 {
            (*platform).xCurrentTimeInt64
        } else {
            None
        };
        method.map_or(ffi::SQLITE_ERROR, |method| method(platform, target))
    }
}

/// These VFSs report no error numbers of the system. SQLite can do without the method, but a VFS in front of ours cannot.
pub(crate) unsafe extern "C" fn no_last_error(_: *mut ffi::sqlite3_vfs, _: c_int, _: *mut c_char) -> c_int {
    0
}
