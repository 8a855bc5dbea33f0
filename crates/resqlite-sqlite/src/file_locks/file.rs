//! The identity of a file, and the lock structure that covers all of it.
#![allow(unsafe_code)]

use std::{ffi::c_int, mem};

use libc::{dev_t, flock, ino_t};

/// Device and inode: the same under every name of the file.
pub(super) type FileId = (dev_t, ino_t);

/// Returns which file is open as `fd`; `None` if the descriptor is not open.
pub(super) fn identify(fd: c_int) -> Option<FileId> {
    // SAFETY: the structure is plain data and valid during the call.
    unsafe {
        let mut data: libc::stat = mem::zeroed();
        (libc::fstat(fd, &mut data) == 0).then_some((data.st_dev, data.st_ino))
    }
}

/// Returns a write lock on every byte of a file.
pub(super) fn whole_file() -> flock {
    // SAFETY: the structure is plain data; zeros mean from the start to the end of the file.
    let mut lock: flock = unsafe { mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock
}
