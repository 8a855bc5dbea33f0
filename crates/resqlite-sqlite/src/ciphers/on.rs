//! A build that can encrypt.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use resqlite_sqlite_sys as ffi;

use crate::{error::Result, handle::Handle, key::Key};

/// The start of the name of a VFS that encrypts; the rest is the name of the VFS behind it.
const PREFIX: &[u8] = b"multipleciphers-";

type Keyed = unsafe extern "C" fn(*mut ffi::sqlite3, *const c_char, *const c_void, c_int) -> c_int;

/// The functions that SQLite3 Multiple Ciphers adds, with their numbers of arguments: they configure ciphers, and show salts.
const FUNCTIONS: [(&CStr, c_int); 6] = [
    (c"sqlite3mc_config", 1),
    (c"sqlite3mc_config", 2),
    (c"sqlite3mc_config", 3),
    (c"sqlite3mc_codec_data", 1),
    (c"sqlite3mc_codec_data", 2),
    (c"sqlite3mc_version", 0),
];

/// Removes the functions with which SQL could configure ciphers.
pub(crate) fn remove_functions(handle: &Handle) -> Result<()> {
    for (name, arguments) in FUNCTIONS {
        // SAFETY: the handle is open, the name is a static C string; without callbacks the function is removed.
        let code = unsafe {
            ffi::sqlite3_create_function_v2(
                handle.db.as_ptr(),
                name.as_ptr(),
                arguments,
                ffi::SQLITE_UTF8,
                ptr::null_mut(),
                None,
                None,
                None,
                None,
            )
        };
        handle.check(code)?;
    }
    Ok(())
}

/// Sets the key with which a connection reads and writes its main database.
pub(crate) fn set_key(handle: &Handle, key: &Key) -> Result<()> {
    call(ffi::sqlite3_key_v2, handle, key)
}

/// Encrypts the main database with another key, in one transaction.
pub(crate) fn change_key(handle: &Handle, key: &Key) -> Result<()> {
    call(ffi::sqlite3_rekey_v2, handle, key)
}

fn call(keyed: Keyed, handle: &Handle, key: &Key) -> Result<()> {
    let bytes = key.bytes();
    let length = c_int::try_from(bytes.len()).unwrap_or(c_int::MAX);
    // SAFETY: the handle is open; the key has at least `length` bytes, which SQLite3 Multiple Ciphers does not keep.
    let code = unsafe {
        keyed(
            handle.db.as_ptr(),
            c"main".as_ptr(),
            bytes.as_ptr().cast(),
            length,
        )
    };
    handle.check(code)
}

/// Returns the VFS behind one that encrypts, or `vfs` itself if it does not encrypt.
///
/// # Safety
/// `vfs` is null or a registered VFS, which is never freed.
pub(crate) unsafe fn behind(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    // SAFETY: promised by the caller. A VFS of SQLite3 Multiple Ciphers has the one behind it as its data.
    unsafe {
        match vfs.as_ref() {
            Some(front) if CStr::from_ptr(front.zName).to_bytes().starts_with(PREFIX) => {
                front.pAppData.cast()
            }
            _ => vfs,
        }
    }
}

/// Registers a VFS that encrypts in front of the one of this name. Returns SQLite's code.
pub(crate) fn in_front_of(vfs: &CStr, as_default: bool) -> c_int {
    // SAFETY: the name is NUL-terminated and copied.
    unsafe { ffi::sqlite3mc_vfs_create(vfs.as_ptr(), c_int::from(as_default)) }
}
