//! The methods of the VFS: find, open and delete files.
#![allow(unsafe_code)]

use std::{
    ffi::{c_char, c_int},
    path::Path,
};

use resqlite_sqlite_sys as ffi;

use super::{
    calls::{Call, Failure},
    io::{self, Opened},
    tap::{tapped, tapped_last},
};
use crate::{
    c_text,
    vfs::{self, file::Slot, platform},
};

pub(super) fn methods(real: &ffi::sqlite3_vfs) -> vfs::Methods {
    vfs::Methods {
        file_size: Slot::<Opened>::SIZE + real.szOsFile,
        max_path: real.mxPathname,
        open,
        delete,
        access,
        full_pathname: platform::full_pathname,
    }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    target: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes this VFS, and null or a string that is valid as long as the file is open.
    let (real, path) = unsafe { (platform::of(vfs), c_text::borrowed(name)) };
    // SAFETY: `real` is the platform's VFS.
    let real_open = unsafe { (*real).xOpen }.expect("every VFS has xOpen");
    let found = match path {
        Some(path) => tapped(path).map(|(tap, name)| (tap, Some(name))),
        None => tapped_last().map(|tap| (tap, None)),
    };
    let Some((tap, name_in_folder)) = found else {
        // SAFETY: the arguments are passed on unchanged; `target` is larger than the platform's file.
        return unsafe { real_open(real, name, target, flags, out_flags) };
    };
    if let Some(Failure::Refused(code)) = tap.begin(Call::Open) {
        // SAFETY: SQLite allocates `file_size` bytes.
        unsafe { vfs::file::install_none(target) };
        return code;
    }
    // Locked until the file is open, so that no other thread creates it after the check.
    let mut state = tap.state();
    let existed = path.is_some_and(|path| Path::new(path).exists());
    // SAFETY: the platform's file is stored behind our slot.
    let code = unsafe { real_open(real, name, io::real(target), flags, out_flags) };
    let recorded = if code == ffi::SQLITE_OK {
        state.open_files += 1;
        // Temporary files are not recorded: they need not survive a power cut.
        let record = state.record.as_mut().zip(name_in_folder);
        record.map(|(record, name)| record.open(name, !existed))
    } else {
        None
    };
    drop(state);
    // SAFETY: `target` has room for both files; the platform's is open if `code` says so.
    unsafe {
        if code == ffi::SQLITE_OK {
            io::install(target, Opened::new(tap, recorded, flags));
        } else {
            vfs::file::install_none(target);
        }
    }
    code
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite passes this VFS and a string that is valid during the call.
    let (real, path) = unsafe { (platform::of(vfs), c_text::borrowed(name)) };
    // SAFETY: the arguments are passed on unchanged.
    let real_delete = || unsafe { (*real).xDelete.expect("every VFS has xDelete")(real, name, sync) };
    let Some((tap, name_in_folder)) = path.and_then(tapped) else {
        return real_delete();
    };
    let failure = tap.begin(Call::Delete);
    if let Some(Failure::Refused(code)) = failure {
        return code;
    }
    let mut state = tap.state();
    let code = real_delete();
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
    // SAFETY: SQLite passes this VFS and a string that is valid during the call.
    let (real, path) = unsafe { (platform::of(vfs), c_text::borrowed(name)) };
    if let Some((tap, _)) = path.and_then(tapped)
        && let Some(Failure::Refused(code)) = tap.begin(Call::Access)
    {
        return code;
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { (*real).xAccess.expect("every VFS has xAccess")(real, name, flags, result) }
}
