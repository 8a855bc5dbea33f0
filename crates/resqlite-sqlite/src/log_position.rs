//! The states of a database that a read transaction shows and that a commit makes, as positions in its write-ahead log.
//!
//! Both positions are read from the header of the log's index (`WalIndexHdr`): a snapshot is a copy of this header, and
//! the index itself, in shared memory, begins with it.
#![allow(unsafe_code)]

use std::{
    ffi::{c_int, c_void},
    ptr::{self, NonNull},
};

use resqlite_sqlite_sys as ffi;

use crate::{handle::Handle, log_header::LogHeader, main_file};

/// The position in the write-ahead log where a state of a database ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// The number of commits, by all processes, that the log has had; modulo 2³², counted from any start.
    pub commits: u32,
    /// The number of pages of the log; 0 after the log was reset.
    pub pages: u32,
}

/// The offset of `iChange` in the header.
const COMMITS: usize = 8;
/// The offset of `mxFrame` in the header.
const PAGES: usize = 16;
/// The number of bytes of the first part of the index.
const FIRST_PART: c_int = 1 << 15;

/// The position of the snapshot of the open read transaction of the main database.
pub(crate) fn of_snapshot(handle: &Handle) -> Option<LogPosition> {
    let mut snapshot = ptr::null_mut();
    // SAFETY: the handle is open, the name outlives the call, the out pointer is valid.
    let code = unsafe { ffi::sqlite3_snapshot_get(handle.db.as_ptr(), c"main".as_ptr(), &mut snapshot) };
    let snapshot = NonNull::new(snapshot).filter(|_| code == ffi::SQLITE_OK)?;
    // SAFETY: SQLite has just allocated and filled the snapshot.
    let header = unsafe { snapshot.as_ref() }.hidden;
    // SAFETY: the snapshot is freed once, and not used afterwards.
    unsafe { ffi::sqlite3_snapshot_free(snapshot.as_ptr()) };
    let number = |at| Some(u32::from_ne_bytes(*header.get(at..)?.first_chunk()?));
    Some(LogPosition {
        commits: number(COMMITS)?,
        pages: number(PAGES)?,
    })
}

/// The number of commits that the log of the main database has had before the open write transaction. `None` if it is unknown.
pub(crate) fn commits_before(handle: &Handle) -> Option<u32> {
    let header = index(handle)?;
    // SAFETY: the index is mapped until the transaction ends, and longer. Until the transaction ends, nobody else
    // writes to the header of the index, which is aligned.
    Some(unsafe { header.byte_add(COMMITS).cast::<u32>().read_volatile() })
}

/// Returns the header for other threads. The connection must have its log open.
pub(crate) fn header(handle: &Handle) -> Option<LogHeader> {
    // SAFETY: the handle closes the header before its connection.
    index(handle).map(|index| unsafe { LogHeader::of(index) })
}

/// Returns the address where the index of the main database's log is mapped. The index begins with its header. The
/// connection must have the log open; the index then stays mapped until the connection closes.
fn index(handle: &Handle) -> Option<NonNull<c_void>> {
    let (file, methods) = main_file::of(handle)?;
    let map = methods.xShmMap.filter(|_| methods.iVersion >= 2)?;
    let mut index = ptr::null_mut();
    // SAFETY: the file is open. Since the connection has its log open, it uses the index already, and this maps nothing new.
    let code = unsafe { map(file, 0, FIRST_PART, 0, &mut index) };
    NonNull::new(index.cast()).filter(|_| code == ffi::SQLITE_OK)
}
