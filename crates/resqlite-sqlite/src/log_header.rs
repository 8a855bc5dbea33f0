//! The header of the index of a write-ahead log, in the memory that all processes share.
#![allow(unsafe_code)]

use std::{
    ffi::c_void,
    ptr::NonNull,
    sync::{Arc, Mutex},
};

use crate::sync::lock;

/// The state of a log: counts of commits and pages, salts and checksums. Every commit changes it.
pub type LogState = [u32; 12];

/// Returns how many pages a log has in this state.
pub fn log_pages(state: &LogState) -> u32 {
    state[4]
}

/// The header of the index of a log (`WalIndexHdr`). Any thread can read the header, without a call of SQLite, as long
/// as the connection from which it was taken is open.
#[derive(Debug, Clone)]
pub struct LogHeader(Arc<Mutex<Option<Mapped>>>);

#[derive(Debug)]
struct Mapped(NonNull<LogState>);

// SAFETY: other processes write to this memory at any time. Whatever reads it copies plain numbers.
unsafe impl Send for Mapped {}

impl LogHeader {
    /// The header at the beginning of an index.
    ///
    /// # Safety
    /// The index stays mapped until [`close`](Self::close) is called.
    pub(crate) unsafe fn of(index: NonNull<c_void>) -> Self {
        Self(Arc::new(Mutex::new(Some(Mapped(index.cast())))))
    }

    /// Returns the state of the log; `None` once the connection is closed. During a commit, the result may be a mixture
    /// of two states, which the next call does not return again.
    pub fn read(&self) -> Option<LogState> {
        let mapped = lock(&self.0);
        // SAFETY: the header is mapped until `close`, which waits for this lock. The memory is aligned for its numbers.
        mapped
            .as_ref()
            .map(|Mapped(state)| unsafe { state.read_volatile() })
    }

    /// Makes sure that nobody reads the header from now on. Call this before the connection closes.
    pub(crate) fn close(&self) {
        *lock(&self.0) = None;
    }
}
