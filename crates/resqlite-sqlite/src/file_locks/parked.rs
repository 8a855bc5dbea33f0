//! Descriptors that are not closed yet, because another copy of SQLite in this process has locks on their file.

use std::{
    ffi::{c_char, c_int},
    fs, mem, process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use libc::F_OFD_GETLK;

use super::{FileId, identify, whole_file};

struct Parked {
    fd: c_int,
    file: FileId,
    /// How it was opened: `O_RDONLY` or `O_RDWR`.
    access: c_int,
}

static PARKED: Mutex<Vec<Parked>> = Mutex::new(Vec::new());

/// Whether there may be any; mostly there are none.
static ANY: AtomicBool = AtomicBool::new(false);

fn parked<R>(action: impl FnOnce(&mut Vec<Parked>) -> R) -> R {
    let mut parked = PARKED.lock().unwrap_or_else(PoisonError::into_inner);
    let result = action(&mut parked);
    ANY.store(!parked.is_empty(), Ordering::Release);
    result
}

/// Closes a descriptor, or parks it.
pub(super) fn close(fd: c_int) -> c_int {
    match identify(fd) {
        Some(file) if is_locked_by_another_copy(fd, file) => {
            // SAFETY: asks for the flags of an open descriptor.
            let access = unsafe { libc::fcntl(fd, libc::F_GETFL) } & libc::O_ACCMODE;
            parked(|parked| parked.push(Parked { fd, file, access }));
            0
        }
        // SAFETY: handed on as it came.
        _ => unsafe { libc::close(fd) },
    }
}

/// A parked descriptor of the file at `path` that was opened in this way.
///
/// # Safety
/// `path` is NUL-terminated and lives during the call.
pub(super) unsafe fn take_at(path: *const c_char, flags: c_int) -> Option<c_int> {
    if !ANY.load(Ordering::Acquire) || flags & (libc::O_EXCL | libc::O_TRUNC) != 0 {
        return None;
    }
    // SAFETY: promised by the caller; the structure is plain data.
    let file = unsafe {
        let mut data: libc::stat = mem::zeroed();
        (libc::stat(path, &mut data) == 0).then_some((data.st_dev, data.st_ino))
    };
    take(file?, flags & libc::O_ACCMODE)
}

/// A parked descriptor of a file that was opened in this way. Those whose file nobody else here has locked any more are
/// closed.
pub(super) fn take(file: FileId, access: c_int) -> Option<c_int> {
    parked(|parked| {
        let wanted = |parked: &Parked| parked.file == file && parked.access == access;
        let found = parked.iter().position(wanted);
        let taken = found.map(|at| parked.swap_remove(at).fd);
        parked.retain(|Parked { fd, file, .. }| {
            let stays = is_locked_by_another_copy(*fd, *file);
            if !stays {
                // SAFETY: the descriptor is ours alone since SQLite closed it.
                unsafe { libc::close(*fd) };
            }
            stays
        });
        taken
    })
}

/// Whether this process has POSIX locks on the file. Ours are of the other kind.
fn is_locked_by_another_copy(fd: c_int, file: FileId) -> bool {
    let mut lock = whole_file();
    // SAFETY: the structure lives during the call. What is no file gives an error.
    let asked = unsafe { libc::fcntl(fd, F_OFD_GETLK, &mut lock) };
    if asked != 0 || i32::from(lock.l_type) == libc::F_UNLCK {
        return false;
    }
    lock.l_pid as u32 == process::id() || is_among_all_locks(file)
}

/// The kernel names one holder only, which may stand before one of this process: look at all.
fn is_among_all_locks((_, inode): FileId) -> bool {
    let (process, inode) = (process::id().to_string(), inode.to_string());
    // `1: POSIX  ADVISORY  READ  4711 fe:01:131 128 128`; the device is not compared, since some file systems have two.
    let matches = |line: &str| {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| *word != "POSIX")
            .skip(3);
        let (holder, place) = (words.next(), words.next());
        holder == Some(&process) && place.and_then(|place| place.rsplit(':').next()) == Some(&inode)
    };
    fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.lines().any(matches))
}
