//! The header of the index of a write-ahead log, in the memory that all processes share.
#![allow(unsafe_code)]

use std::{
    ffi::{c_int, c_void},
    ptr::{self, NonNull},
    sync::{Arc, Mutex},
};

use resqlite_sqlite_sys as ffi;

use crate::{handle::Handle, main_file, sync::lock};

/// Bytes of the first part of the index.
const FIRST_PART: c_int = 1 << 15;

/// The state of a log: counts of commits and pages, salts and checksums. Every commit changes it.
pub type LogState = [u32; 12];

/// The header of the index of a log (`WalIndexHdr`). Any thread can read it, without a call of SQLite, as long as the connection is
/// open that it was taken from.
#[derive(Debug, Clone)]
pub struct LogHeader(Arc<Mutex<Option<Mapped>>>);

#[derive(Debug)]
struct Mapped(NonNull<LogState>);

// SAFETY: it is memory that other processes write to at any time. Whatever reads it copies plain numbers.
unsafe impl Send for Mapped {}

impl LogHeader {
    /// Returns the state of the log; `None` once the connection is closed. Beside a commit it may be a mixture of two states, which
    /// the next call does not return again.
    pub fn read(&self) -> Option<LogState> {
        let mapped = lock(&self.0);
        // SAFETY: the connection unmaps nothing before `close`, which waits for this lock. The memory is aligned for its numbers.
        mapped
            .as_ref()
            .map(|Mapped(state)| unsafe { state.read_volatile() })
    }

    /// From now on nobody reads it. Call it before the connection closes.
    pub(crate) fn close(&self) {
        *lock(&self.0) = None;
    }
}

/// The header for a connection that has a log open.
pub(crate) fn of(handle: &Handle) -> Option<LogHeader> {
    let mapped = Mapped(mapped(handle)?.cast());
    Some(LogHeader(Arc::new(Mutex::new(Some(mapped)))))
}

/// Where the index of the log of the main database is mapped, which begins with its header. The connection has the log open. So the
/// index stays mapped until the connection closes.
pub(crate) fn mapped(handle: &Handle) -> Option<NonNull<c_void>> {
    let (file, methods) = main_file::of(handle)?;
    let map = methods.xShmMap.filter(|_| methods.iVersion >= 2)?;
    let mut index = ptr::null_mut();
    // SAFETY: the file is open. Since the connection has its log open, it uses the index already, and this maps nothing new.
    let code = unsafe { map(file, 0, FIRST_PART, 0, &mut index) };
    NonNull::new(index.cast()).filter(|_| code == ffi::SQLITE_OK)
}
