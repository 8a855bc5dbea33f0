//! A build that cannot encrypt.

use std::ffi::{CStr, c_int};

use resqlite_sqlite_sys as ffi;

use crate::{
    error::{Error, Result},
    handle::Handle,
    key::Key,
};

/// Does nothing: there are no functions that could configure ciphers.
pub(crate) fn remove_functions(_: &Handle) -> Result<()> {
    Ok(())
}

pub(crate) fn set_key(_: &Handle, _: &Key) -> Result<()> {
    Err(refusal())
}

pub(crate) fn change_key(_: &Handle, _: &Key) -> Result<()> {
    Err(refusal())
}

fn refusal() -> Error {
    Error::new(ffi::SQLITE_ERROR, "this build cannot encrypt databases")
}

/// Returns `vfs` itself: no VFS encrypts.
///
/// # Safety
/// Nothing is required.
#[allow(unsafe_code)]
pub(crate) unsafe fn behind(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    vfs
}

/// Puts nothing in front of a VFS.
pub(crate) fn in_front_of(_: &CStr, _: bool) -> c_int {
    ffi::SQLITE_OK
}
