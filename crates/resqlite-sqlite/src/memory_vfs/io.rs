//! The methods of an open file.
#![allow(unsafe_code)]

use std::{
    ffi::{c_int, c_void},
    mem::MaybeUninit,
    panic::{self, AssertUnwindSafe},
    ptr, slice,
    sync::atomic::{self, Ordering},
};

use resqlite_sqlite_sys as ffi;

use super::{
    contents::{Contents, OutOfMemory},
    locks::{Busy, Level},
    open_file::{MainFile, OpenFile, SlotRequest},
    regions::NoRegion,
    shm::Slots,
};
use crate::vfs::file;

/// The size of a sector, which is also the default page size.
const SECTOR_SIZE: c_int = 4096;

/// A crash leaves nothing of a file, so every write is atomic and in order.
const CHARACTERISTICS: c_int = ffi::SQLITE_IOCAP_ATOMIC
    | ffi::SQLITE_IOCAP_SAFE_APPEND
    | ffi::SQLITE_IOCAP_SEQUENTIAL
    | ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
    | ffi::SQLITE_IOCAP_SUBPAGE_READ;

/// The methods of database files, with locks and shared memory.
static MAIN_METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
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

/// Runs `body`. A panic must not unwind into C: it becomes `failure`.
pub(super) fn caught<T>(failure: T, body: impl FnOnce() -> T) -> T {
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or(failure)
}

/// # Safety
/// `target` has room for a slot.
pub(super) unsafe fn install(target: *mut ffi::sqlite3_file, opened: OpenFile) {
    let methods = if opened.main.is_some() {
        &MAIN_METHODS
    } else {
        &METHODS
    };
    // SAFETY: promised by the caller.
    unsafe { file::install(target, opened, methods) };
}

/// Returns the open file behind SQLite's pointer.
///
/// # Safety
/// `file` was installed and is not closed, and nothing else uses it during `'a`. SQLite guarantees this inside a method:
/// a file belongs to one connection, and a connection makes one call at a time.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a mut OpenFile {
    // SAFETY: promised by the caller.
    unsafe { &mut *file::value::<OpenFile>(file) }
}

/// Returns the database file behind SQLite's pointer; `None` for other files.
///
/// # Safety
/// As for [`opened`].
unsafe fn main_file<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a mut MainFile> {
    // SAFETY: promised by the caller.
    unsafe { opened(file) }.main.as_mut()
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    caught(ffi::SQLITE_IOERR_CLOSE, || {
        // SAFETY: SQLite closes a file once, after its last use.
        unsafe { file::close::<OpenFile>(file) };
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    target: *mut c_void,
    len: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    caught(ffi::SQLITE_IOERR_READ, || {
        let (Ok(len), Ok(offset)) = (usize::try_from(len), usize::try_from(offset)) else {
            return ffi::SQLITE_IOERR_READ;
        };
        // SAFETY: called by SQLite on an open file.
        let contents = unsafe { contents(file) };
        // SAFETY: SQLite passes a buffer of `len` bytes, which may be uninitialised.
        let target = unsafe { slice::from_raw_parts_mut(target.cast::<MaybeUninit<u8>>(), len) };
        if contents.read(offset, target) < len {
            ffi::SQLITE_IOERR_SHORT_READ
        } else {
            ffi::SQLITE_OK
        }
    })
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    source: *const c_void,
    len: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    caught(ffi::SQLITE_IOERR_WRITE, || {
        let (Ok(len), Ok(offset)) = (usize::try_from(len), usize::try_from(offset)) else {
            return ffi::SQLITE_IOERR_WRITE;
        };
        // SAFETY: called by SQLite on an open file.
        if unsafe { is_read_only(file) } {
            return ffi::SQLITE_READONLY;
        }
        // SAFETY: as above; SQLite passes a buffer of `len` initialised bytes.
        let (contents, source) = unsafe { (contents(file), slice::from_raw_parts(source.cast::<u8>(), len)) };
        stored(contents.write(offset, source))
    })
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, len: ffi::sqlite3_int64) -> c_int {
    caught(ffi::SQLITE_IOERR_TRUNCATE, || {
        let Ok(len) = usize::try_from(len) else {
            return ffi::SQLITE_IOERR_TRUNCATE;
        };
        // SAFETY: called by SQLite on an open file.
        if unsafe { is_read_only(file) } {
            return ffi::SQLITE_READONLY;
        }
        // SAFETY: as above.
        stored(unsafe { contents(file) }.resize(len))
    })
}

/// Memory has nothing to sync to.
unsafe extern "C" fn sync(_file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
    caught(ffi::SQLITE_IOERR, || {
        // SAFETY: called by SQLite on an open file.
        let len = unsafe { contents(file) }.len();
        let Ok(len) = len.try_into() else {
            return ffi::SQLITE_IOERR;
        };
        // SAFETY: SQLite passes a valid out pointer.
        unsafe { size.write(len) };
        ffi::SQLITE_OK
    })
}

/// A file other than a database has only one user, so it needs no locks.
unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    caught(ffi::SQLITE_IOERR_LOCK, || {
        // SAFETY: called by SQLite on an open file.
        let Some(main) = (unsafe { main_file(file) }) else {
            return ffi::SQLITE_OK;
        };
        match level_of(level) {
            None => ffi::SQLITE_IOERR_LOCK,
            Some(wanted) if main.read_only && wanted > Level::Shared => ffi::SQLITE_READONLY,
            Some(wanted) => granted(main.lock(wanted)),
        }
    })
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    caught(ffi::SQLITE_IOERR_UNLOCK, || {
        // SAFETY: called by SQLite on an open file.
        let Some(main) = (unsafe { main_file(file) }) else {
            return ffi::SQLITE_OK;
        };
        let Some(kept) = level_of(level) else {
            return ffi::SQLITE_IOERR_UNLOCK;
        };
        main.unlock(kept);
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, result: *mut c_int) -> c_int {
    caught(ffi::SQLITE_IOERR_CHECKRESERVEDLOCK, || {
        // SAFETY: called by SQLite on an open file.
        let reserved = unsafe { main_file(file) }.is_some_and(|main| main.is_reserved());
        // SAFETY: SQLite passes a valid out pointer.
        unsafe { result.write(c_int::from(reserved)) };
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn file_control(_file: *mut ffi::sqlite3_file, _op: c_int, _arg: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_file: *mut ffi::sqlite3_file) -> c_int {
    SECTOR_SIZE
}

unsafe extern "C" fn device_characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    CHARACTERISTICS
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    index: c_int,
    size: c_int,
    extend: c_int,
    result: *mut *mut c_void,
) -> c_int {
    caught(ffi::SQLITE_IOERR_SHMMAP, || {
        // SAFETY: called by SQLite on an open file.
        let Some(main) = (unsafe { main_file(file) }) else {
            return ffi::SQLITE_IOERR_SHMMAP;
        };
        let (Ok(index), Ok(size)) = (usize::try_from(index), usize::try_from(size)) else {
            return ffi::SQLITE_IOERR_SHMSIZE;
        };
        let region = match main.map(index, size, extend != 0) {
            Ok(region) => region,
            Err(NoRegion::OutOfMemory) => return ffi::SQLITE_IOERR_NOMEM,
            Err(NoRegion::WrongSize) => return ffi::SQLITE_IOERR_SHMSIZE,
        };
        // SAFETY: SQLite passes a valid out pointer.
        unsafe { result.write(region.map_or(ptr::null_mut(), |region| region.as_ptr().cast())) };
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    caught(ffi::SQLITE_IOERR_SHMLOCK, || {
        // SAFETY: called by SQLite on an open file.
        let main = unsafe { main_file(file) };
        let changed = main
            .zip(slot_request(first, count, flags))
            .and_then(|(main, request)| main.change_slots(request));
        changed.map_or(ffi::SQLITE_IOERR_SHMLOCK, granted)
    })
}

unsafe extern "C" fn shm_barrier(_file: *mut ffi::sqlite3_file) {
    atomic::fence(Ordering::SeqCst);
}

/// `delete` makes no difference: the shared memory is freed with its last user in any case.
unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _delete: c_int) -> c_int {
    caught(ffi::SQLITE_IOERR, || {
        // SAFETY: called by SQLite on an open file; it does not use the mapped memory afterwards.
        if let Some(main) = unsafe { main_file(file) } {
            main.unmap();
        }
        ffi::SQLITE_OK
    })
}

/// # Safety
/// As for [`opened`].
unsafe fn contents<'a>(file: *mut ffi::sqlite3_file) -> &'a Contents {
    // SAFETY: promised by the caller.
    &unsafe { opened(file) }.contents
}

/// # Safety
/// As for [`opened`].
unsafe fn is_read_only(file: *mut ffi::sqlite3_file) -> bool {
    // SAFETY: promised by the caller.
    unsafe { main_file(file) }.is_some_and(|main| main.read_only)
}

fn stored(result: Result<(), OutOfMemory>) -> c_int {
    if result.is_ok() {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_IOERR_NOMEM
    }
}

fn granted(result: Result<(), Busy>) -> c_int {
    if result.is_ok() {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_BUSY
    }
}

fn level_of(code: c_int) -> Option<Level> {
    match code {
        ffi::SQLITE_LOCK_NONE => Some(Level::Unlocked),
        ffi::SQLITE_LOCK_SHARED => Some(Level::Shared),
        ffi::SQLITE_LOCK_RESERVED => Some(Level::Reserved),
        ffi::SQLITE_LOCK_PENDING => Some(Level::Pending),
        ffi::SQLITE_LOCK_EXCLUSIVE => Some(Level::Exclusive),
        _ => None,
    }
}

fn slot_request(first: c_int, count: c_int, flags: c_int) -> Option<SlotRequest> {
    let range = Slots::range(first.try_into().ok()?, count.try_into().ok()?)?;
    match (
        flags & ffi::SQLITE_SHM_UNLOCK != 0,
        flags & ffi::SQLITE_SHM_EXCLUSIVE != 0,
    ) {
        (true, _) => Some(SlotRequest::Release(range)),
        (false, true) => Some(SlotRequest::Exclude(range)),
        (false, false) => Some(SlotRequest::Share(range)),
    }
}
