//! File locks that survive another copy of SQLite in the same process, and that do not break the locks of that copy.
//!
//! POSIX locks belong to the process: they do not conflict within it, and closing *any* descriptor of a file drops all
//! its locks. If another copy of SQLite (node:sqlite, better-sqlite3, a second copy of resqlite) closes the file, our
//! locks are gone. That copy then takes itself for the last user of the file and deletes the write-ahead log that we
//! still write to. Open file description (OFD) locks belong to one opening of a file: they conflict with all other
//! locks, and only closing that opening drops them. On Linux this module replaces the `fcntl`, `open` and `close` that
//! SQLite calls:
//!
//! - **Locks** become OFD locks. SQLite locks and unlocks a database through any of its descriptors of the file, because
//!   POSIX locks belong to the process. All calls for one file are therefore redirected to one descriptor of our own,
//!   its *keeper* ([`keepers`]). SQLite opens a `-shm` file only once per process, so that file needs no keeper.
//! - **Closing** a descriptor would drop the POSIX locks of another copy on the file. While there are such locks, the
//!   close is *deferred*, and the descriptor is used again if SQLite opens the file again ([`deferred`]).
#![allow(unsafe_code)]

mod deferred;
mod file;
mod keepers;

use std::{
    ffi::{c_char, c_int, c_long, c_void},
    mem,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use libc::{F_GETLK, F_OFD_GETLK, F_OFD_SETLK, F_SETLK, flock, off_t};
use resqlite_sqlite_sys as ffi;

use file::whole_file;

use crate::environment::is_switched_on;

/// A `-shm` file is locked near its start (bytes 120 to 128), a database beyond its first gigabyte.
const SHM_LOCKS_END: off_t = 4096;

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Returns whether our locks survive another copy of SQLite in the process, so that it cannot delete the write-ahead
/// log. Known as soon as a connection has been opened.
pub fn locks_survive_other_copies() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

/// Makes SQLite use these locks from now on, if the system has them. With `RESQLITE_POSIX_LOCKS=1`, SQLite keeps
/// using POSIX locks: for file systems without OFD locks, and for tests.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !is_switched_on("RESQLITE_POSIX_LOCKS") && are_possible() {
            replace_calls();
        }
    });
}

/// Old kernels and some sandboxes have no OFD locks.
fn are_possible() -> bool {
    // SAFETY: the descriptor is made, probed and closed here; the lock structure is valid during the call.
    unsafe {
        // glibc before 2.27 has no function for this call, and the module would not load there.
        let made = libc::syscall(
            libc::SYS_memfd_create,
            c"resqlite-locks".as_ptr(),
            libc::MFD_CLOEXEC,
        );
        let fd = made as c_int;
        let possible = fd >= 0 && libc::fcntl(fd, F_OFD_SETLK, &whole_file()) == 0;
        if fd >= 0 {
            libc::close(fd);
        }
        possible
    }
}

fn replace_calls() {
    // SAFETY: SQLite calls `fcntl` as `int (*)(int, int, ...)` with one argument after the command, a pointer or an
    // int; `open` as `int (*)(const char*, int, int)`, `close` as `int (*)(int)`. The architectures that this module is
    // compiled for pass variadic arguments like others. This copy of SQLite has no file open yet: a connection installs
    // the calls before it opens a file.
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
        // SAFETY: passed on unchanged; for these commands the argument is an int.
        other => return unsafe { libc::fcntl(fd, other, argument as c_long) },
    };
    let lock: *mut flock = argument.cast();
    // SAFETY: SQLite passes a lock structure that is valid during the call. These commands require process id 0.
    unsafe {
        (*lock).l_pid = 0;
        let of_shm = (*lock).l_len > 0 && (*lock).l_start < SHM_LOCKS_END;
        let keeper = if of_shm { fd } else { keepers::of(fd) };
        libc::fcntl(keeper, command, lock)
    }
}

unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: SQLite passes a path that is valid during the call; if no descriptor of the file can be used again, the
    // file is opened as asked.
    unsafe { deferred::take_at(path, flags).unwrap_or_else(|| libc::open(path, flags, mode)) }
}

unsafe extern "C" fn close(fd: c_int) -> c_int {
    // The keeper is forgotten first, because another thread may open a file under the same number as soon as `fd` is
    // closed.
    match keepers::forget(fd) {
        Some(keeper) => deferred::close(&[fd, keeper]),
        None => deferred::close(&[fd]),
    }
}
