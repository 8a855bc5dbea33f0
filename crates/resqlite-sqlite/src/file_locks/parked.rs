//! Descriptors that are not closed yet, because another copy of SQLite in this process has locks on their file.

use std::{
    ffi::{CString, c_char, c_int},
    fs, mem,
    os::unix::fs::MetadataExt,
    process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use libc::{F_OFD_GETLK, F_OFD_SETLK};

use super::{FileId, identify, whole_file};

struct Parked {
    fd: c_int,
    file: FileId,
    /// How it was opened: `O_RDONLY` or `O_RDWR`.
    access: c_int,
}

/// SQLite's byte at the end of a database's first gigabyte.
const PENDING_BYTE: libc::off_t = 0x4000_0000;
/// How often a lock is asked for that others hold for a moment.
const PENDING_ATTEMPTS: usize = 100;

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
    parked(|parked| match close_unlocked(fd) {
        Ok(closed) => closed,
        Err(stay) => {
            parked.extend(stay);
            0
        }
    })
}

/// Closes a descriptor if no other copy has a lock on the database that it belongs to, and none can get one meanwhile:
/// another description of the database, the shield, holds the lock that each begins with. Else gives those that stay.
fn close_unlocked(fd: c_int) -> Result<c_int, Vec<Parked>> {
    let Some(file) = identify(fd) else {
        return Ok(close_now(fd));
    };
    if is_locked_by_another_copy(fd, file) {
        return Err(vec![Parked::new(fd, file)]);
    }
    let Some(database) = database_of(fd) else {
        return Ok(close_now(fd));
    };
    if database.1 != file && is_among_all_locks(database.1) {
        return Err(vec![Parked::new(fd, file)]);
    }
    // Who may not write to the database has no lock on it that matters.
    let Some(shield) = open_path(&database.0, libc::O_RDWR) else {
        return Ok(close_now(fd));
    };
    let held = set_pending(shield, libc::F_WRLCK);
    if held && !is_among_all_locks(file) && !is_among_all_locks(database.1) {
        let closed = close_now(fd);
        // Its lock goes after those of the process.
        close_now(shield);
        return Ok(closed);
    }
    if held {
        set_pending(shield, libc::F_UNLCK);
    }
    Err(vec![Parked::new(fd, file), Parked::new(shield, database.1)])
}

impl Parked {
    fn new(fd: c_int, file: FileId) -> Self {
        // SAFETY: asks for the flags of an open descriptor.
        let access = unsafe { libc::fcntl(fd, libc::F_GETFL) } & libc::O_ACCMODE;
        Self { fd, file, access }
    }
}

/// The database that a descriptor belongs to: its file, or the one beside a `-shm` file. Others are never locked.
fn database_of(fd: c_int) -> Option<(CString, FileId)> {
    let path = fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
    let path = path.to_str()?;
    if path.ends_with("-wal") || path.ends_with("-journal") {
        return None;
    }
    let path = path.strip_suffix("-shm").unwrap_or(path);
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((CString::new(path).ok()?, (data.dev(), data.ino())))
}

/// Takes the lock on the byte that every connection locks before it locks the database, or lets it go. Whoever has it
/// just now lets it go in a moment.
fn set_pending(fd: c_int, kind: c_int) -> bool {
    let mut lock = whole_file();
    (lock.l_type, lock.l_start, lock.l_len) = (kind as _, PENDING_BYTE, 1);
    (0..PENDING_ATTEMPTS).any(|_| {
        // SAFETY: the descriptor is open; the lock lives during the call.
        let set = unsafe { libc::fcntl(fd, F_OFD_SETLK, &lock) } == 0;
        if !set {
            thread::yield_now();
        }
        set
    })
}

fn close_now(fd: c_int) -> c_int {
    // SAFETY: SQLite closes it, or it is ours.
    unsafe { libc::close(fd) }
}

/// Another description of the file that is open as `fd`.
pub(super) fn open_again(fd: c_int, access: c_int) -> Option<c_int> {
    open_path(&CString::new(format!("/proc/self/fd/{fd}")).ok()?, access)
}

fn open_path(path: &CString, access: c_int) -> Option<c_int> {
    // SAFETY: the path is NUL-terminated and lives during the call.
    let own = unsafe { libc::open(path.as_ptr(), access | libc::O_CLOEXEC) };
    (own >= 0).then_some(own)
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
        let others = mem::take(parked);
        parked.extend(
            others
                .into_iter()
                .flat_map(|parked| close_unlocked(parked.fd).err().unwrap_or_default()),
        );
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
