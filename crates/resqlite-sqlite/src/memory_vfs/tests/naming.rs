//! Names, registration, and whether a file exists.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, CString, c_int},
    ptr,
};

use resqlite_sqlite_sys as ffi;

use super::{
    super::*,
    harness::{Connection, READ_WRITE, beside},
};

/// The answer to the question whether the database has a file with this suffix.
fn access(file: &MemoryFile, suffix: &str, question: c_int) -> c_int {
    let vfs = CString::new(VFS_NAME).unwrap();
    let name = CString::new(format!("{}{suffix}", file.name())).unwrap();
    let mut answer = -1;
    // SAFETY: a VFS is never freed, the strings are valid during the calls; `answer` receives the result.
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
fn registering_works_twice_and_does_not_change_the_default_vfs() {
    register().unwrap();
    register().unwrap();
    // SAFETY: a VFS and its name are never freed.
    let default = unsafe { CStr::from_ptr((*ffi::sqlite3_vfs_find(ptr::null())).zName) };
    assert_ne!(default.to_str(), Ok(VFS_NAME));
}

#[test]
fn sqlite_knows_the_vfs_by_its_name() {
    register().unwrap();
    let name = CString::new(VFS_NAME).unwrap();
    // SAFETY: the name is valid during the call.
    assert!(!unsafe { ffi::sqlite3_vfs_find(name.as_ptr()) }.is_null());
}

#[test]
fn each_memory_file_is_a_separate_database() {
    let (a, b) = (MemoryFile::create(), MemoryFile::create());
    assert_ne!(a.name(), b.name());
    Connection::to(&a).run("CREATE TABLE t(x)");
    assert_eq!(Connection::to(&b).number("SELECT count(*) FROM sqlite_schema"), 0);
}

#[test]
fn a_name_without_a_database_cannot_be_opened() {
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
fn an_empty_file_does_not_count_as_existing() {
    let file = MemoryFile::create();
    Connection::to(&file).run("PRAGMA journal_mode = TRUNCATE; CREATE TABLE t(x)");
    assert_eq!(beside(&file, "-journal"), Some(0));
    assert_eq!(access(&file, "-journal", ffi::SQLITE_ACCESS_EXISTS), 0);
    assert_eq!(access(&file, "-journal", ffi::SQLITE_ACCESS_READWRITE), 1);
    assert_eq!(access(&file, "-wal", ffi::SQLITE_ACCESS_READWRITE), 0);
    assert_eq!(access(&file, "", ffi::SQLITE_ACCESS_EXISTS), 1);
}
