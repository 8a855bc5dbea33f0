//! What SQLite calls to find, open and delete files, and how it comes to know of it.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
    sync::Arc,
};

use libsqlite3_sys as ffi;

use super::{
    contents::Contents,
    database::{self, Creation, Database},
    io::{self, FileSlot, caught},
    open_file::{MainFile, OpenFile},
};
use crate::platform;

/// [`VFS_NAME`](super::VFS_NAME) for C.
const NAME: &CStr = c"resqlite-memory";

/// More than any name of this file system has, with what SQLite adds to it.
const MAX_PATH: c_int = 512;

/// Registers the VFS; to be called once. Returns SQLite's result code.
pub(super) fn register() -> c_int {
    // SAFETY: finding the default VFS initialises SQLite; what it returns stays for the process.
    let default = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    if default.is_null() {
        return ffi::SQLITE_ERROR;
    }
    // SQLite keeps the address for as long as the process lives.
    let vfs = Box::leak(Box::new(memory_vfs(default)));
    // SAFETY: the structure is complete, lives for ever and is not used by Rust from here on.
    unsafe { ffi::sqlite3_vfs_register(vfs, 0) }
}

fn memory_vfs(default: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: size_of::<FileSlot>() as c_int,
        mxPathname: MAX_PATH,
        pNext: ptr::null_mut(),
        zName: NAME.as_ptr(),
        pAppData: default.cast(),
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
    }
}

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    target: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    caught(ffi::SQLITE_CANTOPEN, || {
        // SAFETY: SQLite passes null or a string that lives during the call.
        let name = (!name.is_null()).then(|| unsafe { text(name) });
        let file = name.map_or_else(|| Some(anonymous()), |name| find(name?, flags));
        let opened = file.is_some();
        // SAFETY: SQLite sets `szOsFile` bytes aside, which is the size of a slot.
        unsafe { io::install(target, file) };
        if !out_flags.is_null() {
            // SAFETY: SQLite passes where to put the result.
            unsafe { out_flags.write(flags) };
        }
        if opened {
            ffi::SQLITE_OK
        } else {
            ffi::SQLITE_CANTOPEN
        }
    })
}

unsafe extern "C" fn delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, _sync: c_int) -> c_int {
    caught(ffi::SQLITE_IOERR_DELETE, || {
        // SAFETY: SQLite passes a string that lives during the call.
        match unsafe { text(name) }.and_then(locate) {
            // The database itself goes with its last owner.
            Some((_, "")) => ffi::SQLITE_IOERR_DELETE,
            Some((database, suffix)) if database.delete_beside(suffix) => ffi::SQLITE_OK,
            _ => ffi::SQLITE_IOERR_DELETE_NOENT,
        }
    })
}

/// As on disk, a file without contents does not count as existing: SQLite asks whether a journal is of interest.
unsafe extern "C" fn access(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    result: *mut c_int,
) -> c_int {
    caught(ffi::SQLITE_IOERR_ACCESS, || {
        // SAFETY: SQLite passes a string that lives during the call.
        let contents = unsafe { text(name) }
            .and_then(locate)
            .and_then(|(database, suffix)| existing(&database, suffix));
        let yes = contents.is_some_and(|contents| flags != ffi::SQLITE_ACCESS_EXISTS || contents.len() > 0);
        // SAFETY: SQLite passes where to put the result.
        unsafe { result.write(c_int::from(yes)) };
        ffi::SQLITE_OK
    })
}

/// All names are full ones.
unsafe extern "C" fn full_pathname(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    target: *mut c_char,
) -> c_int {
    // SAFETY: SQLite passes a string that lives during the call.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if usize::try_from(room).is_ok_and(|room| name.len() <= room) {
        // SAFETY: `target` has `room` bytes, and SQLite does not pass overlapping buffers.
        unsafe { ptr::copy_nonoverlapping(name.as_ptr().cast(), target, name.len()) };
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_CANTOPEN
    }
}

/// # Safety
/// `name` points to a NUL-terminated string that lives during `'a`.
unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

/// The live database that the name belongs to, and what it adds to that of the database.
fn locate(name: &str) -> Option<(Arc<Database>, &str)> {
    let (database, suffix) = database::split(name)?;
    Some((Database::find(database)?, suffix))
}

fn existing(database: &Database, suffix: &str) -> Option<Arc<Contents>> {
    if suffix.is_empty() {
        Some(database.main())
    } else {
        database.beside(suffix)
    }
}

/// The file of this name, opened as the flags say. A database must be there; files beside it may be made.
fn find(name: &str, flags: c_int) -> Option<OpenFile> {
    let (database, suffix) = locate(name)?;
    let wants_database = flags & ffi::SQLITE_OPEN_MAIN_DB != 0;
    match (wants_database, suffix) {
        (true, "") => Some(main(database, flags & ffi::SQLITE_OPEN_READONLY != 0)),
        (false, suffix) if !suffix.is_empty() => beside(&database, suffix, flags),
        _ => None,
    }
}

fn main(database: Arc<Database>, read_only: bool) -> OpenFile {
    OpenFile {
        contents: database.main(),
        main: Some(MainFile::new(database, read_only)),
    }
}

fn beside(database: &Database, suffix: &str, flags: c_int) -> Option<OpenFile> {
    if flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0 {
        return Some(anonymous());
    }
    let creation = Creation {
        allowed: flags & ffi::SQLITE_OPEN_CREATE != 0,
        required: flags & ffi::SQLITE_OPEN_EXCLUSIVE != 0,
    };
    let contents = database.open_beside(suffix, creation)?;
    Some(OpenFile { contents, main: None })
}

/// A temporary file, gone when it is closed.
fn anonymous() -> OpenFile {
    OpenFile {
        contents: Arc::default(),
        main: None,
    }
}
