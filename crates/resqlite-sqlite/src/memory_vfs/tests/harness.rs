//! A bare connection through the VFS.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr, slice,
};

use resqlite_sqlite_sys as ffi;

use super::super::*;

pub(super) const READ_WRITE: c_int = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE;

/// A connection that is used by one thread.
pub(super) struct Connection(pub(super) *mut ffi::sqlite3);

impl Connection {
    pub(super) fn open(name: &str, flags: c_int) -> Result<Self, c_int> {
        register().unwrap();
        let name = CString::new(name).unwrap();
        let vfs = CString::new(VFS_NAME).unwrap();
        let mut db = ptr::null_mut();
        // SAFETY: the strings are valid during the call; `db` receives the handle.
        let code = unsafe {
            ffi::sqlite3_open_v2(
                name.as_ptr(),
                &mut db,
                flags | ffi::SQLITE_OPEN_NOMUTEX,
                vfs.as_ptr(),
            )
        };
        let connection = Self(db);
        if code == ffi::SQLITE_OK {
            Ok(connection)
        } else {
            Err(code)
        }
    }

    pub(super) fn to(file: &MemoryFile) -> Self {
        Self::open(file.name(), READ_WRITE).unwrap()
    }

    /// A connection in WAL mode that waits for locks.
    pub(super) fn wal(file: &MemoryFile) -> Self {
        let connection = Self::to(file);
        connection.wait_for_locks();
        assert_eq!(connection.texts("PRAGMA journal_mode = WAL"), ["wal"]);
        connection
    }

    pub(super) fn wait_for_locks(&self) {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_busy_timeout(self.0, 60_000) };
    }

    /// Runs statements; returns the first column of all rows as text.
    pub(super) fn query(&self, sql: &str) -> Result<Vec<String>, c_int> {
        let sql = CString::new(sql).unwrap();
        let mut rows: Vec<String> = Vec::new();
        // SAFETY: the connection is open, the string is valid during the call, and `first_column` gets a `Vec<String>`.
        let code = unsafe {
            ffi::sqlite3_exec(
                self.0,
                sql.as_ptr(),
                Some(first_column),
                (&raw mut rows).cast(),
                ptr::null_mut(),
            )
        };
        if code == ffi::SQLITE_OK {
            Ok(rows)
        } else {
            Err(code)
        }
    }

    #[track_caller]
    pub(super) fn texts(&self, sql: &str) -> Vec<String> {
        self.query(sql)
            .unwrap_or_else(|code| panic!("{sql}: code {code}"))
    }

    #[track_caller]
    pub(super) fn number(&self, sql: &str) -> i64 {
        self.texts(sql)[0].parse().unwrap()
    }

    #[track_caller]
    pub(super) fn run(&self, sql: &str) {
        self.texts(sql);
    }

    pub(super) fn insert_blob(&self, sql: &str, blob: &[u8]) {
        let statement = self.prepare(sql);
        // SAFETY: the statement is live; the blob is valid until it is finalized.
        unsafe {
            ffi::sqlite3_bind_blob64(statement, 1, blob.as_ptr().cast(), blob.len() as u64, None);
            assert_eq!(ffi::sqlite3_step(statement), ffi::SQLITE_DONE);
            ffi::sqlite3_finalize(statement);
        }
    }

    pub(super) fn blob(&self, sql: &str) -> Vec<u8> {
        let statement = self.prepare(sql);
        // SAFETY: the statement is live; the bytes are copied before the next call.
        unsafe {
            assert_eq!(ffi::sqlite3_step(statement), ffi::SQLITE_ROW);
            let start = ffi::sqlite3_column_blob(statement, 0).cast::<u8>();
            let len = ffi::sqlite3_column_bytes(statement, 0) as usize;
            let blob = slice::from_raw_parts(start, len).to_vec();
            ffi::sqlite3_finalize(statement);
            blob
        }
    }

    fn prepare(&self, sql: &str) -> *mut ffi::sqlite3_stmt {
        let sql = CString::new(sql).unwrap();
        let mut statement = ptr::null_mut();
        // SAFETY: the connection is open; the string is valid during the call.
        let code =
            unsafe { ffi::sqlite3_prepare_v2(self.0, sql.as_ptr(), -1, &mut statement, ptr::null_mut()) };
        assert_eq!(code, ffi::SQLITE_OK);
        statement
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the connection is open; all its statements are finalized.
        let code = unsafe { ffi::sqlite3_close(self.0) };
        assert_eq!(code, ffi::SQLITE_OK);
    }
}

/// # Safety
/// `rows` points to a `Vec<String>`, `values` to one string or null per column.
unsafe extern "C" fn first_column(
    rows: *mut c_void,
    _columns: c_int,
    values: *mut *mut c_char,
    _names: *mut *mut c_char,
) -> c_int {
    // SAFETY: promised by the caller.
    unsafe {
        let text = if (*values).is_null() {
            String::new()
        } else {
            CStr::from_ptr(*values).to_string_lossy().into()
        };
        (*rows.cast::<Vec<String>>()).push(text);
    }
    ffi::SQLITE_OK
}

/// The length of a file beside the database; `None` if it does not exist.
pub(super) fn beside(file: &MemoryFile, suffix: &str) -> Option<usize> {
    file.database.beside(suffix).map(|contents| contents.len())
}

pub(super) fn is_sound(connection: &Connection) -> bool {
    connection.texts("PRAGMA integrity_check") == ["ok"]
}
