//! Writing a write-ahead log once more, so that a sync makes it last.
//!
//! A system whose sync has failed may take the pages that it was to write for written: they are right in its memory,
//! and no later sync writes them. Writing the same bytes again makes them due.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
};

use libsqlite3_sys as ffi;

use crate::{
    error::{Error, Result},
    handle::Handle,
};

/// Bytes that are read and written at once. SQLite takes less than 128 KiB.
const CHUNK: usize = 1 << 16;

/// Writes the log of a schema again and syncs it. The caller holds the write lock, so that nobody else writes to it.
pub(crate) fn rewrite(handle: &Handle, schema: &CStr) -> Result<()> {
    let mut log: *mut ffi::sqlite3_file = ptr::null_mut();
    // SAFETY: the handle is open, the name and the place for the answer live during the call.
    let code = unsafe {
        let answer: *mut c_void = (&raw mut log).cast();
        ffi::sqlite3_file_control(
            handle.db.as_ptr(),
            schema.as_ptr(),
            ffi::SQLITE_FCNTL_JOURNAL_POINTER,
            answer,
        )
    };
    handle.check(code)?;
    // SAFETY: what SQLite answers with is its own file, or none, which stays open during the transaction that the
    // caller has open; no method makes one that was never opened.
    match unsafe { log.as_ref().and_then(|file| file.pMethods.as_ref()) } {
        Some(methods) => Log { file: log, methods }.rewrite(),
        None => Ok(()),
    }
}

struct Log<'a> {
    file: *mut ffi::sqlite3_file,
    methods: &'a ffi::sqlite3_io_methods,
}

impl Log<'_> {
    fn rewrite(&self) -> Result<()> {
        let (Some(size), Some(read), Some(write), Some(sync)) = (
            self.methods.xFileSize,
            self.methods.xRead,
            self.methods.xWrite,
            self.methods.xSync,
        ) else {
            return Err(Error::new(ffi::SQLITE_IOERR, "the file system lacks a method"));
        };
        let mut bytes = 0;
        // SAFETY: each method gets the file that it is of, and memory that lives during the call and is as long as it
        // is told.
        unsafe {
            succeeded(size(self.file, &mut bytes))?;
            let mut chunk = vec![0_u8; CHUNK];
            for at in (0..bytes).step_by(CHUNK) {
                let length = (bytes - at).min(CHUNK as i64) as c_int;
                succeeded(read(self.file, chunk.as_mut_ptr().cast(), length, at))?;
                succeeded(write(self.file, chunk.as_ptr().cast(), length, at))?;
            }
            succeeded(sync(self.file, ffi::SQLITE_SYNC_FULL))
        }
    }
}

fn succeeded(code: c_int) -> Result<()> {
    if code == ffi::SQLITE_OK {
        return Ok(());
    }
    Err(Error::new(code, "the write-ahead log could not be written again"))
}
