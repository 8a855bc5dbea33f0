//! The methods of the VFS: find, open and delete files.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
    sync::Arc,
};

use resqlite_sqlite_sys as ffi;

use super::{
    contents::Contents,
    database::{self, Creation, Database},
    io::{self, caught},
    open_file::{MainFile, OpenFile},
};
use crate::{
    c_text,
    vfs::{self, file::Slot},
};

pub(super) const METHODS: vfs::Methods = vfs::Methods {
    file_size: Slot::<OpenFile>::SIZE,
    // More than the longest name of this VFS with the longest suffix of SQLite.
    max_path: 512,
    open,
    delete,
    access,
    full_pathname,
};

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    target: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    caught(ffi::SQLITE_CANTOPEN, || {
        let file = if name.is_null() {
            Some(anonymous())
        } else {
            // SAFETY: SQLite passes a string that is valid during the call.
            unsafe { c_text::borrowed(name) }.and_then(|name| find(name, flags))
        };
        let Some(file) = file else {
            // SAFETY: SQLite allocates `file_size` bytes, the size of a slot.
            unsafe { vfs::file::install_none(target) };
            return ffi::SQLITE_CANTOPEN;
        };
        // SAFETY: as above.
        unsafe { io::install(target, file) };
        if !out_flags.is_null() {
            // SAFETY: SQLite passes a valid out pointer.
            unsafe { out_flags.write(flags) };
        }
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, _sync: c_int) -> c_int {
    caught(ffi::SQLITE_IOERR_DELETE, || {
        // SAFETY: SQLite passes a string that is valid during the call.
        match unsafe { c_text::borrowed(name) }.and_then(locate) {
            // A database lives as long as its owners.
            Some((_, "")) => ffi::SQLITE_IOERR_DELETE,
            Some((database, suffix)) if database.delete_beside(suffix) => ffi::SQLITE_OK,
            _ => ffi::SQLITE_IOERR_DELETE_NOENT,
        }
    })
}

/// As in SQLite's own VFSs, an empty file does not count as existing: SQLite uses this to look for journals.
unsafe extern "C" fn access(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    result: *mut c_int,
) -> c_int {
    caught(ffi::SQLITE_IOERR_ACCESS, || {
        // SAFETY: SQLite passes a string that is valid during the call.
        let contents = unsafe { c_text::borrowed(name) }
            .and_then(locate)
            .and_then(|(database, suffix)| existing(&database, suffix));
        let exists =
            contents.is_some_and(|contents| flags != ffi::SQLITE_ACCESS_EXISTS || contents.len() > 0);
        // SAFETY: SQLite passes a valid out pointer.
        unsafe { result.write(c_int::from(exists)) };
        ffi::SQLITE_OK
    })
}

/// Names of this VFS are full paths already.
unsafe extern "C" fn full_pathname(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    target: *mut c_char,
) -> c_int {
    // SAFETY: SQLite passes a string that is valid during the call.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if usize::try_from(room).is_ok_and(|room| name.len() <= room) {
        // SAFETY: `target` has `room` bytes and does not overlap `name`.
        unsafe { ptr::copy_nonoverlapping(name.as_ptr().cast(), target, name.len()) };
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_CANTOPEN
    }
}

/// Splits a file name into its database, which must be alive, and the suffix.
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

/// Opens the file of this name as the flags ask. A database must exist; a file beside it may be created.
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

/// A temporary file, freed when it is closed.
fn anonymous() -> OpenFile {
    OpenFile {
        contents: Arc::default(),
        main: None,
    }
}
