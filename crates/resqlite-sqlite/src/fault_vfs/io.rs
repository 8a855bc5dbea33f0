//! What SQLite calls to work with an open file. All of it goes on to the platform's file, unless it is to fail.
#![allow(unsafe_code)]

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    ptr, slice,
    sync::Arc,
};

use libsqlite3_sys as ffi;

use super::{
    calls::{Call, Failure},
    record::{Event, FileId},
    tap::Shared,
};

/// `sqlite3_file` as this VFS fills it in. The platform's one stands behind it.
#[repr(C)]
struct Shim {
    base: ffi::sqlite3_file,
    /// From `Box::into_raw`, until it is closed.
    opened: *mut Opened,
}

/// Bytes that come before the platform's part of a file.
pub(super) const SHIM_SIZE: c_int = size_of::<Shim>() as c_int;

/// A file that is open.
pub(super) struct Opened {
    tap: Arc<Shared>,
    /// Which file it is in the record, if there is one.
    recorded: Option<FileId>,
    /// The first sync is one of the folder, too: so SQLite makes new journals and write-ahead logs last.
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

    /// Enters what happens to the file in the record.
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

/// For database files: with shared memory and mapping.
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

/// For all other files.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
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
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// Puts an open file into what SQLite has set aside for it, or marks that as not open.
///
/// # Safety
/// `target` has room for our part and the platform's; the platform's file is open if `opened` is some.
pub(super) unsafe fn install(target: *mut ffi::sqlite3_file, opened: Option<Opened>) {
    let Some(opened) = opened else {
        // SAFETY: promised by the caller.
        unsafe { (*target).pMethods = ptr::null() };
        return;
    };
    // SAFETY: the platform's file is open, so its methods are set.
    let has_shared_memory = unsafe { methods(real(target)) }.xShmMap.is_some();
    let methods = if has_shared_memory {
        &raw const MAIN_METHODS
    } else {
        &raw const METHODS
    };
    let shim = Shim {
        base: ffi::sqlite3_file { pMethods: methods },
        opened: Box::into_raw(Box::new(opened)),
    };
    // SAFETY: promised by the caller.
    unsafe { target.cast::<Shim>().write(shim) };
}

/// The platform's part of a file.
///
/// # Safety
/// `file` has room for our part and the platform's.
pub(super) unsafe fn real(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: promised by the caller.
    unsafe { file.cast::<Shim>().add(1).cast() }
}

/// # Safety
/// The platform's file is open.
unsafe fn methods<'a>(real: *mut ffi::sqlite3_file) -> &'a ffi::sqlite3_io_methods {
    // SAFETY: promised by the caller; the methods of a file stay while it is open.
    unsafe { &*(*real).pMethods }
}

/// # Safety
/// `file` was installed and is not closed.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a Opened {
    // SAFETY: promised by the caller; the box lives until the file is closed.
    unsafe { &*(*file.cast::<Shim>()).opened }
}

/// Calls a method of the platform's file with SQLite's arguments.
macro_rules! go_on {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: SQLite calls methods of open files only, and its arguments go on as they are, or are a part of them.
        unsafe {
            let real = real($file);
            (methods(real).$method.expect("SQLite calls what there is"))(real $(, $argument)*)
        }
    }};
}

/// Makes a call that is refused, or done (and may be reported as failed all the same).
macro_rules! call {
    ($call:expr, $file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: called by SQLite on an open file.
        match unsafe { opened($file) }.tap.meets($call) {
            Some(Failure::Refused(code)) => code,
            Some(Failure::Done(code)) => {
                let _ = go_on!($file, $method $(, $argument)*);
                code
            }
            _ => go_on!($file, $method $(, $argument)*),
        }
    }};
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let code = go_on!(file, xClose);
    // SAFETY: SQLite closes a file once, after its last use; the shim holds what `Box::into_raw` gave.
    drop(unsafe { Box::from_raw((*file.cast::<Shim>()).opened) });
    code
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    target: *mut c_void,
    len: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: called by SQLite on an open file.
    match unsafe { opened(file) }.tap.meets(Call::Read) {
        Some(Failure::Refused(code)) => code,
        Some(Failure::Half(code)) => {
            let _ = go_on!(file, xRead, target, len / 2, offset);
            code
        }
        _ => go_on!(file, xRead, target, len, offset),
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
    let failure = opened.tap.meets(Call::Write);
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
        // SAFETY: SQLite lends at least `len` initialised bytes.
        data: unsafe { slice::from_raw_parts(source.cast::<u8>(), len as usize) }.to_vec(),
    });
    let code = go_on!(file, xWrite, source, len, offset);
    match failure {
        Some(Failure::Half(code)) => code,
        _ => code,
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, len: ffi::sqlite3_int64) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let opened = unsafe { opened(file) };
    if let Some(Failure::Refused(code)) = opened.tap.meets(Call::Truncate) {
        return code;
    }
    let event = |file| Event::Truncate {
        file,
        len: len as u64,
    };
    opened.record(event);
    go_on!(file, xTruncate, len)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let code = call!(Call::Sync, file, xSync, flags);
    // SAFETY: called by SQLite on an open file.
    let opened = unsafe { opened(file) };
    if code == ffi::SQLITE_OK {
        opened.record(|file| Event::Sync { file });
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
    go_on!(file, xFileControl, op, arg)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    go_on!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    go_on!(file, xDeviceCharacteristics)
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
    go_on!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    go_on!(file, xShmUnmap, delete)
}

unsafe extern "C" fn fetch(
    file: *mut ffi::sqlite3_file,
    offset: ffi::sqlite3_int64,
    len: c_int,
    result: *mut *mut c_void,
) -> c_int {
    // SAFETY: called by SQLite on an open file.
    match unsafe { opened(file) }.tap.meets(Call::Fetch) {
        Some(Failure::Refused(code)) => code,
        Some(Failure::Unmapped) => {
            // SAFETY: SQLite passes where to put the result.
            unsafe { result.write(ptr::null_mut()) };
            ffi::SQLITE_OK
        }
        _ => go_on!(file, xFetch, offset, len, result),
    }
}

unsafe extern "C" fn unfetch(
    file: *mut ffi::sqlite3_file,
    offset: ffi::sqlite3_int64,
    page: *mut c_void,
) -> c_int {
    go_on!(file, xUnfetch, offset, page)
}
