//! Names, registration and what SQLite asks about files.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, CString, c_int},
    ptr,
};

use libsqlite3_sys as ffi;

use super::{
    super::*,
    harness::{Connection, READ_WRITE, beside},
};

/// What SQLite is told when it asks whether the database has such a file beside it.
fn access(file: &MemoryFile, suffix: &str, question: c_int) -> c_int {
    let vfs = CString::new(VFS_NAME).unwrap();
    let name = CString::new(format!("{}{suffix}", file.name())).unwrap();
    let mut answer = -1;
    // SAFETY: the VFS lives as long as the process, the strings during the calls; `answer` takes the result.
    unsafe {
        let vfs = ffi::sqlite3_vfs_find(vfs.as_ptr());
        assert_eq!(
            (*vfs).xAccess.unwrap()(vfs, name.as_ptr(), question, &mut answer),
            ffi::SQLITE_OK
        );
    }
    answer
}

#[test]
fn registering_twice_does_nothing_and_does_not_make_it_the_default() {
    register().unwrap();
    register().unwrap();
    // SAFETY: the default VFS and its name live as long as the process.
    let default = unsafe { CStr::from_ptr((*ffi::sqlite3_vfs_find(ptr::null())).zName) };
    assert_ne!(default.to_str(), Ok(VFS_NAME));
}

#[test]
fn the_name_for_rust_is_the_name_for_sqlite() {
    register().unwrap();
    let name = CString::new(VFS_NAME).unwrap();
    // SAFETY: the name lives during the call.
    assert!(!unsafe { ffi::sqlite3_vfs_find(name.as_ptr()) }.is_null());
}

#[test]
fn every_file_is_a_database_of_its_own() {
    let (a, b) = (MemoryFile::create(), MemoryFile::create());
    assert_ne!(a.name(), b.name());
    Connection::to(&a).run("CREATE TABLE t(x)");
    assert_eq!(Connection::to(&b).number("SELECT count(*) FROM sqlite_schema"), 0);
}

#[test]
fn a_name_without_a_file_cannot_be_opened() {
    for name in [
        "/resqlite-memory/0",
        "/resqlite-memory/1-wal",
        "/nowhere.db",
        "nowhere.db",
    ] {
        assert_eq!(
            Connection::open(name, READ_WRITE).err(),
            Some(ffi::SQLITE_CANTOPEN),
            "{name}"
        );
    }
}

#[test]
fn a_file_without_contents_does_not_count_as_existing() {
    let file = MemoryFile::create();
    Connection::to(&file).run("PRAGMA journal_mode = TRUNCATE; CREATE TABLE t(x)");
    assert_eq!(beside(&file, "-journal"), Some(0));
    assert_eq!(access(&file, "-journal", ffi::SQLITE_ACCESS_EXISTS), 0);
    assert_eq!(access(&file, "-journal", ffi::SQLITE_ACCESS_READWRITE), 1);
    assert_eq!(access(&file, "-wal", ffi::SQLITE_ACCESS_READWRITE), 0);
    assert_eq!(access(&file, "", ffi::SQLITE_ACCESS_EXISTS), 1);
}
