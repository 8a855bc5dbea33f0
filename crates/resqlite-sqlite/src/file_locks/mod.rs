//! File locks that survive another copy of SQLite in the same process, and leave those of the other copy alone.
//!
//! POSIX locks belong to the process: they do not conflict within it, and closing *any* descriptor of a file drops
//! them all. So another copy of SQLite (node:sqlite, better-sqlite3, a second copy of resqlite) that closes the file
//! takes our locks away, believes to be the last, and deletes the write-ahead log under us. Open file description locks
//! belong to what was opened: they conflict with all other locks and go only with their own description. On Linux,
//! SQLite's calls of `fcntl`, `open` and `close` are led here:
//!
//! - **Locks** are those of descriptions. SQLite locks and unlocks a database through any of its descriptors of that
//!   file, since the process has the lock. Here the description has it, so all calls for one file go through a
//!   descriptor of our own, its *keeper* ([`keepers`]). The `-shm` file has one descriptor anyway.
//! - **Closing** a descriptor would drop the locks that another copy has on the file. As long as it has some, the
//!   descriptor is *parked*, and used again when SQLite opens the file again ([`parked`]).
#![allow(unsafe_code)]

mod keepers;
mod parked;

use std::{
    env,
    ffi::{c_char, c_int, c_long, c_void},
    mem,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use libc::{F_GETLK, F_OFD_GETLK, F_OFD_SETLK, F_SETLK, dev_t, flock, ino_t, off_t};
use libsqlite3_sys as ffi;

/// The locks of the `-shm` file stand at its start (bytes 120 to 128), those of a database beyond its first gigabyte.
const SHM_LOCKS_END: off_t = 4096;

/// A file, whatever it is called.
type FileId = (dev_t, ino_t);

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether another copy of SQLite in the process leaves our locks, and so the write-ahead log, alone. Known once a
/// connection has been opened.
pub fn locks_survive_other_copies() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

/// Makes SQLite use these locks from now on, where the system has them. With `RESQLITE_POSIX_LOCKS` set it keeps its
/// own, for file systems that know no others, and for tests.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if env::var_os("RESQLITE_POSIX_LOCKS").is_none() && are_possible() {
            replace_calls();
        }
    });
}

/// Old kernels, and some sandboxes, do not know them.
fn are_possible() -> bool {
    // SAFETY: a descriptor of our own is made, probed and closed; the lock structure lives during the call.
    unsafe {
        let fd = libc::memfd_create(c"resqlite-locks".as_ptr(), libc::MFD_CLOEXEC);
        let possible = fd >= 0 && libc::fcntl(fd, F_OFD_SETLK, &whole_file()) == 0;
        if fd >= 0 {
            libc::close(fd);
        }
        possible
    }
}

fn replace_calls() {
    // SAFETY: SQLite calls `fcntl` as `int (*)(int, int, ...)` with one argument after the command, a pointer or an
    // int; `open` as `int (*)(const char*, int, int)`, `close` as `int (*)(int)`. On the architectures that this module
    // is compiled for, variadic arguments travel as others do. No file is open yet through this copy of SQLite:
    // installing is the first thing that opening does.
    unsafe {
        let vfs = ffi::sqlite3_vfs_find(c"unix".as_ptr());
        let Some(set) = vfs.as_ref().and_then(|vfs| vfs.xSetSystemCall) else {
            return;
        };
        type Fcntl = unsafe extern "C" fn(c_int, c_int, *mut c_void) -> c_int;
        type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;
        type Close = unsafe extern "C" fn(c_int) -> c_int;
        type Call = unsafe extern "C" fn();
        set(vfs, c"fcntl".as_ptr(), Some(mem::transmute::<Fcntl, Call>(fcntl)));
        set(vfs, c"open".as_ptr(), Some(mem::transmute::<Open, Call>(open)));
        set(vfs, c"close".as_ptr(), Some(mem::transmute::<Close, Call>(close)));
        INSTALLED.store(true, Ordering::Relaxed);
    }
}

unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    let command = match command {
        F_SETLK => F_OFD_SETLK,
        F_GETLK => F_OFD_GETLK,
        // SAFETY: handed on as it came: an int for these commands.
        other => return unsafe { libc::fcntl(fd, other, argument as c_long) },
    };
    let lock: *mut flock = argument.cast();
    // SAFETY: SQLite passes a lock structure that lives during the call; with these commands the process id must be 0.
    unsafe {
        (*lock).l_pid = 0;
        let of_shm = (*lock).l_len > 0 && (*lock).l_start < SHM_LOCKS_END;
        let keeper = if of_shm { fd } else { keepers::of(fd) };
        libc::fcntl(keeper, command, lock)
    }
}

unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: SQLite passes a path that lives during the call; what is not parked is opened as it asks.
    unsafe { parked::take_at(path, flags).unwrap_or_else(|| libc::open(path, flags, mode)) }
}

unsafe extern "C" fn close(fd: c_int) -> c_int {
    // Before it is closed: a moment later another thread may have a file with the same number.
    keepers::forget(fd);
    parked::close(fd)
}

fn identify(fd: c_int) -> Option<FileId> {
    // SAFETY: the structure is plain data and lives during the call.
    unsafe {
        let mut data: libc::stat = mem::zeroed();
        (libc::fstat(fd, &mut data) == 0).then_some((data.st_dev, data.st_ino))
    }
}

/// A write lock on everything.
fn whole_file() -> flock {
    // SAFETY: the structure is plain data; zeros mean from the start to the end.
    let mut lock: flock = unsafe { mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock
}
