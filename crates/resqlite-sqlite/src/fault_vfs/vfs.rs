//! What SQLite calls to find, open and delete files, and how it comes to know of it.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_int},
    path::Path,
    ptr,
};

use libsqlite3_sys as ffi;

use super::{
    calls::{Call, Failure},
    io::{self, Opened},
    tap::{tapped, tapped_last},
};
use crate::platform;

/// Registers the VFS; to be called once. Returns SQLite's result code.
pub(super) fn register() -> c_int {
    // SAFETY: finding the default VFS initialises SQLite; what it returns stays for the process.
    let real = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    if real.is_null() {
        return ffi::SQLITE_ERROR;
    }
    // SAFETY: SQLite gave it, and nobody changes it.
    let (file_size, max_path) = unsafe { ((*real).szOsFile, (*real).mxPathname) };
    // SQLite keeps the address for as long as the process lives.
    let vfs = Box::leak(Box::new(ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: io::SHIM_SIZE + file_size,
        mxPathname: max_path,
        pNext: ptr::null_mut(),
        zName: c"resqlite-faults".as_ptr(),
        pAppData: real.cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: Some(platform::dl_open),
        xDlError: Some(platform::dl_error),
        xDlSym: Some(platform::dl_sym),
        xDlClose: Some(platform::dl_close),
        xRandomness: Some(platform::randomness),
        xSleep: Some(platform::sleep),
        xCurrentTime: Some(platform::current_time),
        xGetLastError: None,
        xCurrentTimeInt64: Some(platform::current_time_int64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }));
    // SAFETY: the structure is complete, lives for ever and is not used by Rust from here on.
    unsafe { ffi::sqlite3_vfs_register(vfs, 1) }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    target: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes this VFS, and null or a string that lives for as long as the file is open.
    let (real, path) = unsafe { (platform::default(vfs), text(name)) };
    // SAFETY: `real` is the platform's VFS, whose functions are all there.
    let real_open = unsafe { (*real).xOpen }.expect("a VFS opens files");
    let found = match path {
        Some(path) => tapped(path).map(|(tap, name)| (tap, Some(name))),
        None => tapped_last().map(|tap| (tap, None)),
    };
    let Some((tap, name_in_folder)) = found else {
        // SAFETY: SQLite's arguments go on as they are; there is more room than the platform needs.
        return unsafe { real_open(real, name, target, flags, out_flags) };
    };
    if let Some(Failure::Refused(code)) = tap.meets(Call::Open) {
        // SAFETY: SQLite has set the room aside; without methods it counts as not open.
        unsafe { (*target).pMethods = ptr::null() };
        return code;
    }
    // Locked, so that a file is never made between the look and the opening.
    let mut state = tap.state();
    let existed = path.is_some_and(|path| Path::new(path).exists());
    // SAFETY: the room for the platform's file stands behind our own.
    let code = unsafe { real_open(real, name, io::real(target), flags, out_flags) };
    let recorded = if code == ffi::SQLITE_OK {
        state.open_files += 1;
        // Temporary files outlive no power cut, and need not.
        let record = state.record.as_mut().zip(name_in_folder);
        record.map(|(record, name)| record.open(name, !existed))
    } else {
        None
    };
    drop(state);
    let opened = (code == ffi::SQLITE_OK).then(|| Opened::new(tap, recorded, flags));
    // SAFETY: the room is for one file of ours and one of the platform's, which is open if ours is.
    unsafe { io::install(target, opened) };
    code
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite passes this VFS and a string that lives during the call.
    let (real, path) = unsafe { (platform::default(vfs), text(name)) };
    // SAFETY: SQLite's arguments go on as they are.
    let go_on = || unsafe { (*real).xDelete.expect("a VFS deletes files")(real, name, sync) };
    let Some((tap, name_in_folder)) = path.and_then(tapped) else {
        return go_on();
    };
    let failure = tap.meets(Call::Delete);
    if let Some(Failure::Refused(code)) = failure {
        return code;
    }
    let mut state = tap.state();
    let code = go_on();
    if code == ffi::SQLITE_OK
        && let Some(record) = &mut state.record
    {
        record.delete(name_in_folder, sync != 0);
    }
    match failure {
        Some(Failure::Done(code)) => code,
        _ => code,
    }
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    result: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes this VFS and a string that lives during the call.
    let (real, path) = unsafe { (platform::default(vfs), text(name)) };
    if let Some((tap, _)) = path.and_then(tapped)
        && let Some(Failure::Refused(code)) = tap.meets(Call::Access)
    {
        return code;
    }
    // SAFETY: SQLite's arguments go on as they are.
    unsafe { (*real).xAccess.expect("a VFS knows files")(real, name, flags, result) }
}

unsafe extern "C" fn full_pathname(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    target: *mut c_char,
) -> c_int {
    // SAFETY: SQLite's arguments go on as they are, to the platform's VFS.
    unsafe {
        let real = platform::default(vfs);
        (*real).xFullPathname.expect("a VFS knows paths")(real, name, room, target)
    }
}

/// # Safety
/// `name` is null or points to a NUL-terminated string that lives during `'a`.
unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    if name.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}
