//! Which state of a database a read transaction shows, and which one a commit makes: where its write-ahead log ends.
//!
//! Both are read from the header of the log's index (`WalIndexHdr`): a snapshot is a copy of it, and the index itself, in
//! shared memory, begins with it.
#![allow(unsafe_code)]

use std::ptr::{self, NonNull};

use resqlite_sqlite_sys as ffi;

use crate::{handle::Handle, log_header};

/// Where a state of a database ends in its write-ahead log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// How many commits, by all processes, the log has had; modulo 2³², from any start.
    pub commits: u32,
    /// How many pages it has. There are none after it was reset.
    pub pages: u32,
}

/// Where the header has its `iChange`.
const COMMITS: usize = 8;
/// Where it has its `mxFrame`.
const PAGES: usize = 16;

/// The position of the snapshot of the open read transaction of the main database.
pub(crate) fn of_snapshot(handle: &Handle) -> Option<LogPosition> {
    let mut snapshot = ptr::null_mut();
    // SAFETY: the handle is open, the name outlives the call, the out pointer is valid.
    let code = unsafe { ffi::sqlite3_snapshot_get(handle.db.as_ptr(), c"main".as_ptr(), &mut snapshot) };
    let snapshot = NonNull::new(snapshot).filter(|_| code == ffi::SQLITE_OK)?;
    // SAFETY: SQLite has just allocated and filled it.
    let header = unsafe { snapshot.as_ref() }.hidden;
    // SAFETY: it is freed once, and not used afterwards.
    unsafe { ffi::sqlite3_snapshot_free(snapshot.as_ptr()) };
    let number = |at| Some(u32::from_ne_bytes(*header.get(at..)?.first_chunk()?));
    Some(LogPosition {
        commits: number(COMMITS)?,
        pages: number(PAGES)?,
    })
}

/// How many commits the log of the main database has had before the open write transaction. `None` if that is unknown.
pub(crate) fn commits_before(handle: &Handle) -> Option<u32> {
    let header = log_header::mapped(handle)?;
    // SAFETY: the index is mapped until the transaction ends, and longer. Nobody else writes to its header, which is aligned, before
    // that.
    Some(unsafe { header.byte_add(COMMITS).cast::<u32>().read_volatile() })
}
