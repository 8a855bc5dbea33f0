//! The parts that the VFSs of this crate share: registration, open files, and the methods that they leave to the
//! platform's VFS.
#![allow(unsafe_code)]

pub(crate) mod file;
pub(crate) mod platform;

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
    sync::OnceLock,
};

use resqlite_sqlite_sys as ffi;

use crate::{
    ciphers,
    error::{Error, Result},
};

/// The methods that a VFS implements itself, and the sizes that belong to them.
pub(crate) struct Methods {
    /// Bytes of an open file: SQLite allocates them, `open` fills them in.
    pub(crate) file_size: c_int,
    pub(crate) max_path: c_int,
    pub(crate) open: unsafe extern "C" fn(
        *mut ffi::sqlite3_vfs,
        ffi::sqlite3_filename,
        *mut ffi::sqlite3_file,
        c_int,
        *mut c_int,
    ) -> c_int,
    pub(crate) delete: unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *const c_char, c_int) -> c_int,
    pub(crate) access: unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *const c_char, c_int, *mut c_int) -> c_int,
    pub(crate) full_pathname:
        unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *const c_char, c_int, *mut c_char) -> c_int,
}

/// A VFS that is registered at most once per process.
pub(crate) struct Registration {
    name: &'static CStr,
    code: OnceLock<c_int>,
}

impl Registration {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            code: OnceLock::new(),
        }
    }

    /// Registers the VFS; does nothing after the first call. `methods` gets the platform's VFS.
    ///
    /// # Errors
    /// SQLite could not be initialised. Later calls return the same error.
    pub(crate) fn register(
        &self,
        as_default: bool,
        methods: impl FnOnce(&ffi::sqlite3_vfs) -> Methods,
    ) -> Result<()> {
        let code = self.code.get_or_init(|| register(self.name, as_default, methods));
        match *code {
            ffi::SQLITE_OK => Ok(()),
            code => {
                let name = self.name.to_string_lossy();
                Err(Error::new(
                    code,
                    format!("the VFS {name} could not be registered"),
                ))
            }
        }
    }
}

fn register(
    name: &'static CStr,
    as_default: bool,
    methods: impl FnOnce(&ffi::sqlite3_vfs) -> Methods,
) -> c_int {
    // SAFETY: finding the default VFS initialises SQLite; a VFS is never freed.
    let Some(platform) = (unsafe { ciphers::behind(ffi::sqlite3_vfs_find(ptr::null())).as_ref() }) else {
        return ffi::SQLITE_ERROR;
    };
    // SQLite keeps the address until the process ends.
    let vfs = Box::leak(Box::new(vfs(name, platform, methods(platform))));
    // SAFETY: the structure is complete, is never freed, and Rust does not use it from here on.
    match unsafe { ffi::sqlite3_vfs_register(vfs, c_int::from(as_default)) } {
        ffi::SQLITE_OK => ciphers::in_front_of(name, as_default),
        code => code,
    }
}

fn vfs(name: &'static CStr, platform: &ffi::sqlite3_vfs, methods: Methods) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: methods.file_size,
        mxPathname: methods.max_path,
        pNext: ptr::null_mut(),
        zName: name.as_ptr(),
        pAppData: (&raw const *platform).cast_mut().cast(),
        xOpen: Some(methods.open),
        xDelete: Some(methods.delete),
        xAccess: Some(methods.access),
        xFullPathname: Some(methods.full_pathname),
        xDlOpen: Some(platform::dl_open),
        xDlError: Some(platform::dl_error),
        xDlSym: Some(platform::dl_sym),
        xDlClose: Some(platform::dl_close),
        xRandomness: Some(platform::randomness),
        xSleep: Some(platform::sleep),
        xCurrentTime: Some(platform::current_time),
        xGetLastError: Some(platform::no_last_error),
        xCurrentTimeInt64: Some(platform::current_time_int64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}
