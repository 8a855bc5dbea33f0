//! Rewrites a write-ahead log after a failed sync, so that the next sync makes it durable.
//!
//! After a failed fsync, Linux and other systems mark as clean the pages that they could not write. The page cache is
//! right, but no later fsync writes them to disk. Writing the same bytes again marks the pages dirty.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
};

use resqlite_sqlite_sys as ffi;

use crate::{
    error::{Error, Result},
    handle::Handle,
};

/// The most bytes per read and write. SQLite allows less than 128 KiB.
const CHUNK: usize = (1 << 16) - 1;

/// Rewrites the log of a schema and syncs it. The caller holds the write lock, so no other connection writes to the log.
pub(crate) fn rewrite(handle: &Handle, schema: &CStr) -> Result<()> {
    let mut log: *mut ffi::sqlite3_file = ptr::null_mut();
    // SAFETY: the handle is open; the name and the out pointer are valid during the call.
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
    // SAFETY: the answer is null or a file of SQLite, which stays open during the caller's transaction. A file that is
    // not open has no methods.
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
            return Err(Error::new(ffi::SQLITE_IOERR, "the VFS cannot rewrite files"));
        };
        let mut bytes = 0;
        // SAFETY: the methods belong to this file; the buffers are valid during the calls and have the given length.
        unsafe {
            succeeded(size(self.file, &mut bytes))?;
            let mut chunk = vec![0_u8; CHUNK];
            let mut at = 0;
            while at < bytes {
                // An odd length is never the length of a page. The VFS that encrypts would take a piece of that length
                // for a page, and decrypt it.
                let length = ((bytes - at).min(CHUNK as i64) - 1) | 1;
                succeeded(read(self.file, chunk.as_mut_ptr().cast(), length as c_int, at))?;
                succeeded(write(self.file, chunk.as_ptr().cast(), length as c_int, at))?;
                at += length;
            }
            succeeded(sync(self.file, ffi::SQLITE_SYNC_FULL))
        }
    }
}

fn succeeded(code: c_int) -> Result<()> {
    if code == ffi::SQLITE_OK {
        return Ok(());
    }
    Err(Error::new(code, "the write-ahead log could not be rewritten"))
}
