//! The methods of an open file. Each method calls that of the platform's file, unless the call is to fail.
#![allow(unsafe_code)]

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    ptr, slice,
    sync::Arc,
};

use resqlite_sqlite_sys as ffi;

use super::{
    calls::{Call, Failure},
    record::{Event, FileId},
    tap::Shared,
};
use crate::vfs::file::{self, Slot};

/// An open file of a tapped folder. In memory, the platform's file follows its slot.
pub(super) struct Opened {
    tap: Arc<Shared>,
    /// The file in the record, if there is a record.
    recorded: Option<FileId>,
    /// The next sync is also a sync of the folder, which SQLite makes once for a new journal or write-ahead log.
    syncs_folder: Cell<bool>,
}

impl Opened {
    pub(super) fn new(tap: Arc<Shared>, recorded: Option<FileId>, flags: c_int) -> Self {
        let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
        let syncs_folder = flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & journals != 0;
        Self {
            tap,
            recorded,
            syncs_folder: Cell::new(syncs_folder),
        }
    }

    /// Adds an event to the record.
    fn record(&self, event: impl FnOnce(FileId) -> Event) {
        if let Some(file) = self.recorded
            && let Some(record) = &mut self.tap.state().record
        {
            record.events.push(event(file));
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.tap.state().open_files -= 1;
    }
}

/// The methods of database files, with shared memory and mapping.
static MAIN_METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 3,
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: Some(fetch),
    xUnfetch: Some(unfetch),
    ..METHODS
};

/// The methods of all other files.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    ..file::NO_METHODS
};

/// # Safety
/// `target` has room for a slot and the platform's file, which is open.
pub(super) unsafe fn install(target: *mut ffi::sqlite3_file, opened: Opened) {
    // SAFETY: promised by the caller.
    let has_shared_memory = unsafe { methods(real(target)) }.xShmMap.is_some();
    let methods = if has_shared_memory {
        &MAIN_METHODS
    } else {
        &METHODS
    };
    // SAFETY: promised by the caller.
    unsafe { file::install(target, opened, methods) };
}

/// Returns the platform's file.
///
/// # Safety
/// `file` has room for a slot and the platform's file.
pub(super) unsafe fn real(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: promised by the caller.
    unsafe { file.cast::<Slot<Opened>>().add(1).cast() }
}

/// # Safety
/// The platform's file is open.
unsafe fn methods<'a>(real: *mut ffi::sqlite3_file) -> &'a ffi::sqlite3_io_methods {
    // SAFETY: promised by the caller; an open file keeps its methods.
    unsafe { &*(*real).pMethods }
}

/// # Safety
/// `file` was installed and is not closed.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a Opened {
    // SAFETY: promised by the caller; only shared references to the value are made.
    unsafe { &*file::value::<Opened>(file) }
}

/// Calls a method of the platform's file with SQLite's arguments.
macro_rules! forward {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: SQLite calls methods of open files only. Its arguments are passed on, at most with a smaller length.
        unsafe {
            let real = real($file);
            (methods(real).$method.expect("every file has this method"))(real $(, $argument)*)
        }
    }};
}

/// Forwards a call, unless it is to fail. A call that fails is refused, or done but reported as failed.
macro_rules! call {
    ($call:expr, $file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: called by SQLite on an open file.
        match unsafe { opened($file) }.tap.begin($call) {
            Some(Failure::Refused(code)) => code,
            Some(Failure::Done(code)) => {
                let _ = forward!($file, $method $(, $argument)*);
                code
            }
            _ => forward!($file, $method $(, $argument)*),
        }
    }};
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let code = forward!(file, xClose);
    // SAFETY: SQLite closes a file once, after its last use.
    unsafe { file::close::<Opened>(file) };
    code
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    target: *mut c_void,
    len: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: called by SQLite on an open file.
    match unsafe { opened(file) }.tap.begin(Call::Read) {
        Some(Failure::Refused(code)) => code,
        Some(Failure::Half(code)) => {
            let _ = forward!(file, xRead, target, len / 2, offset);
            code
        }
        _ => forward!(file, xRead, target, len, offset),
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    source: *const c_void,
    len: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let opened = unsafe { opened(file) };
    let failure = opened.tap.begin(Call::Write);
    if let Some(Failure::Refused(code)) = failure {
        return code;
    }
    let len = if matches!(failure, Some(Failure::Half(_))) {
        len / 2
    } else {
        len
    };
    opened.record(|file| Event::Write {
        file,
        offset: offset as u64,
        // SAFETY: SQLite passes a buffer of at least `len` initialised bytes.
        data: unsafe { slice::from_raw_parts(source.cast::<u8>(), len as usize) }.to_vec(),
    });
    let code = forward!(file, xWrite, source, len, offset);
    match failure {
        Some(Failure::Half(code)) => code,
        _ => code,
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, len: ffi::sqlite3_int64) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let opened = unsafe { opened(file) };
    if let Some(Failure::Refused(code)) = opened.tap.begin(Call::Truncate) {
        return code;
    }
    let event = |file| Event::Truncate {
        file,
        len: len as u64,
    };
    opened.record(event);
    forward!(file, xTruncate, len)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let code = call!(Call::Sync, file, xSync, flags);
    // SAFETY: called by SQLite on an open file.
    let opened = unsafe { opened(file) };
    if code == ffi::SQLITE_OK {
        let full = flags & ffi::SQLITE_SYNC_FULL == ffi::SQLITE_SYNC_FULL;
        opened.record(|file| Event::Sync { file, full });
        if opened.syncs_folder.take() {
            opened.record(|_| Event::SyncFolder);
        }
    } else {
        opened.record(|file| Event::SyncFailed { file });
    }
    code
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
    call!(Call::FileSize, file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    call!(Call::Lock, file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    call!(Call::Unlock, file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, result: *mut c_int) -> c_int {
    call!(Call::CheckReserved, file, xCheckReservedLock, result)
}

unsafe extern "C" fn file_control(file: *mut ffi::sqlite3_file, op: c_int, arg: *mut c_void) -> c_int {
    forward!(file, xFileControl, op, arg)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    forward!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    forward!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    index: c_int,
    size: c_int,
    extend: c_int,
    result: *mut *mut c_void,
) -> c_int {
    call!(Call::ShmMap, file, xShmMap, index, size, extend, result)
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    let unlocks = flags & ffi::SQLITE_SHM_UNLOCK != 0;
    let kind = if unlocks { Call::ShmUnlock } else { Call::ShmLock };
    call!(kind, file, xShmLock, first, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    forward!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    forward!(file, xShmUnmap, delete)
}

unsafe extern "C" fn fetch(
    file: *mut ffi::sqlite3_file,
    offset: ffi::sqlite3_int64,
    len: c_int,
    result: *mut *mut c_void,
) -> c_int {
    // SAFETY: called by SQLite on an open file.
    match unsafe { opened(file) }.tap.begin(Call::Fetch) {
        Some(Failure::Refused(code)) => code,
        Some(Failure::Unmapped) => {
            // SAFETY: SQLite passes a valid out pointer.
            unsafe { result.write(ptr::null_mut()) };
            ffi::SQLITE_OK
        }
        _ => forward!(file, xFetch, offset, len, result),
    }
}

unsafe extern "C" fn unfetch(
    file: *mut ffi::sqlite3_file,
    offset: ffi::sqlite3_int64,
    page: *mut c_void,
) -> c_int {
    forward!(file, xUnfetch, offset, page)
}
