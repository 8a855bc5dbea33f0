//! Deferred closes: descriptors that stay open because another copy of SQLite in this process has locks on their file.

use std::{
    ffi::{CString, c_char, c_int},
    fs, mem,
    os::unix::fs::MetadataExt,
    process,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use libc::{F_OFD_GETLK, F_OFD_SETLK};

use super::file::{FileId, identify, whole_file};
use crate::sync::lock;

struct Deferred {
    fd: c_int,
    file: FileId,
    /// `O_RDONLY` or `O_RDWR`.
    access: c_int,
}

/// SQLite's byte at the end of a database's first gigabyte.
const PENDING_BYTE: libc::off_t = 0x4000_0000;
/// The number of attempts to get a lock that others hold only for a moment.
const PENDING_ATTEMPTS: usize = 100;

/// Locked only to add and remove entries: nothing is closed and no lock is looked up meanwhile.
static DEFERRED: Mutex<Vec<Deferred>> = Mutex::new(Vec::new());

/// True if `DEFERRED` has entries, which is rare.
static ANY: AtomicBool = AtomicBool::new(false);

/// Closes of one database take turns. Otherwise the shield of one close could keep another close from getting its own
/// shield, and the other close would keep descriptors open for no reason. The inode of the database selects the mutex,
/// so that closes of different databases rarely wait for each other.
static TURNS: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

fn with_deferred<R>(action: impl FnOnce(&mut Vec<Deferred>) -> R) -> R {
    let mut deferred = lock(&DEFERRED);
    let result = action(&mut deferred);
    ANY.store(!deferred.is_empty(), Ordering::Release);
    result
}

/// Closes descriptors of one file, now or later. Returns the result of closing the first descriptor; 0 if the close is
/// deferred.
pub(super) fn close(fds: &[c_int]) -> c_int {
    close_unlocked(fds).unwrap_or_else(|kept| {
        with_deferred(|deferred| deferred.extend(kept));
        0
    })
}

/// Closes descriptors of one file if no other copy has a lock on the database that they belong to. No copy can get a
/// lock meanwhile: the *shield*, a descriptor of our own, holds the lock that every connection takes first. Otherwise
/// returns the descriptors that must stay open.
fn close_unlocked(fds: &[c_int]) -> Result<c_int, Vec<Deferred>> {
    let Some(file) = identify(fds[0]) else {
        return Ok(close_now(fds));
    };
    let kept = || fds.iter().map(|fd| Deferred::new(*fd, file));
    // Checked before the shield is opened, because the shield could not be closed either.
    if is_locked_by_another_copy(fds[0], file) {
        return Err(kept().collect());
    }
    let Some((path, database)) = database_of(fds[0]) else {
        return Ok(close_now(fds));
    };
    let _turn = lock(&TURNS[database.1 as usize % TURNS.len()]);
    // A process that may not write to the database has no lock on it that matters.
    let shield = take(database, libc::O_RDWR).or_else(|| open_path(&path, libc::O_RDWR));
    let Some(shield) = shield else {
        return Ok(close_now(fds));
    };
    let is_shielded = set_pending(shield, libc::F_WRLCK);
    // The shield's lock does not conflict with the shield's own descriptor.
    let is_locked = || {
        is_locked_by_another_copy(shield, database)
            || (file != database && is_locked_by_another_copy(fds[0], file))
    };
    if is_shielded && !is_locked() {
        let code = close_now(fds);
        // The shield is closed last, because closing it drops its lock.
        close_now(&[shield]);
        return Ok(code);
    }
    if is_shielded {
        set_pending(shield, libc::F_UNLCK);
    }
    Err(kept().chain([Deferred::new(shield, database)]).collect())
}

impl Deferred {
    fn new(fd: c_int, file: FileId) -> Self {
        // SAFETY: reads the flags of an open descriptor.
        let access = unsafe { libc::fcntl(fd, libc::F_GETFL) } & libc::O_ACCMODE;
        Self { fd, file, access }
    }
}

/// Returns the database that a descriptor belongs to: its own file, or the one beside its `-shm` file. SQLite never
/// locks other files.
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

/// Locks or unlocks the byte that every connection locks before it locks the database. A connection keeps this lock
/// only for a moment.
fn set_pending(fd: c_int, kind: c_int) -> bool {
    let mut lock = whole_file();
    (lock.l_type, lock.l_start, lock.l_len) = (kind as _, PENDING_BYTE, 1);
    (0..PENDING_ATTEMPTS).any(|_| {
        // SAFETY: the descriptor is open; the lock structure is valid during the call.
        let set = unsafe { libc::fcntl(fd, F_OFD_SETLK, &lock) } == 0;
        if !set {
            thread::yield_now();
        }
        set
    })
}

/// Closes all descriptors; returns the result for the first one.
fn close_now(fds: &[c_int]) -> c_int {
    // SAFETY: SQLite closes the descriptor, or it is one of ours.
    let codes = fds.iter().map(|fd| unsafe { libc::close(*fd) });
    codes.reduce(|first, _| first).unwrap_or(0)
}

/// Opens again the file that is open as `fd`.
pub(super) fn open_again(fd: c_int, access: c_int) -> Option<c_int> {
    open_path(&CString::new(format!("/proc/self/fd/{fd}")).ok()?, access)
}

fn open_path(path: &CString, access: c_int) -> Option<c_int> {
    // SAFETY: the path is NUL-terminated and valid during the call.
    let own = unsafe { libc::open(path.as_ptr(), access | libc::O_CLOEXEC) };
    (own >= 0).then_some(own)
}

/// Takes a descriptor of the file at `path` whose close is deferred and that was opened with the same access. Then makes
/// the deferred closes that need not wait any longer.
///
/// # Safety
/// `path` is NUL-terminated and valid during the call.
pub(super) unsafe fn take_at(path: *const c_char, flags: c_int) -> Option<c_int> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    // SAFETY: promised by the caller; the structure is plain data.
    let file = unsafe {
        let mut data: libc::stat = mem::zeroed();
        (libc::stat(path, &mut data) == 0).then_some((data.st_dev, data.st_ino))
    };
    let wants_new = flags & (libc::O_EXCL | libc::O_TRUNC) != 0;
    let taken = file
        .filter(|_| !wants_new)
        .and_then(|file| take(file, flags & libc::O_ACCMODE));
    close_released();
    taken
}

/// Closes the descriptors whose database no other copy has locked any more. The others are not removed from the
/// list meanwhile: a thread that opens their file must find them, or descriptors would add up.
fn close_released() {
    let candidates: Vec<_> = with_deferred(|deferred| {
        deferred
            .iter()
            .map(|deferred| (deferred.fd, deferred.file))
            .collect()
    });
    for (fd, file) in candidates {
        let is_released = identify(fd) == Some(file) && !must_stay_open(fd, file);
        if is_released && with_deferred(|deferred| remove(deferred, |kept| kept.fd == fd)).is_some() {
            close(&[fd]);
        }
    }
}

/// Takes a descriptor of the file whose close is deferred and that was opened with this access.
pub(super) fn take(file: FileId, access: c_int) -> Option<c_int> {
    let fits = |kept: &Deferred| kept.file == file && kept.access == access;
    with_deferred(|deferred| remove(deferred, fits)).map(|taken| taken.fd)
}

fn remove(deferred: &mut Vec<Deferred>, fits: impl FnMut(&Deferred) -> bool) -> Option<Deferred> {
    let at = deferred.iter().position(fits)?;
    Some(deferred.swap_remove(at))
}

/// Returns whether another copy has a lock on the file, or on the database beside its `-shm` file.
fn must_stay_open(fd: c_int, file: FileId) -> bool {
    is_locked_by_another_copy(fd, file)
        || database_of(fd).is_some_and(|(_, database)| database != file && have_posix_locks(database))
}

/// Returns whether this process has POSIX locks on the file. Such locks belong to another copy, because ours are OFD
/// locks. The kernel is first asked about this one file, because reading `/proc/locks` takes longer if there are more
/// locks in the system.
fn is_locked_by_another_copy(fd: c_int, file: FileId) -> bool {
    let mut lock = whole_file();
    // SAFETY: the structure is valid during the call, which fails if the descriptor is not that of a file.
    let asked = unsafe { libc::fcntl(fd, F_OFD_GETLK, &mut lock) };
    if asked != 0 || i32::from(lock.l_type) == libc::F_UNLCK {
        return false;
    }
    // The kernel names one holder; there may be others.
    lock.l_pid as u32 == process::id() || have_posix_locks(file)
}

/// Returns whether this process has a POSIX lock on the file, according to `/proc/locks`.
fn have_posix_locks(file: FileId) -> bool {
    // `1: POSIX  ADVISORY  READ  4711 fe:01:131 128 128`: process, device and inode, first and last byte. The device is
    // not compared, since `stat` reports another one on some file systems.
    let is_ours = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "POSIX");
        let (process, place) = (words.nth(3)?.parse::<u32>().ok()?, words.next()?);
        let inode = place.rsplit(':').next()?.parse::<libc::ino_t>().ok()?;
        (process == process::id() && file.1 == inode).then_some(())
    };
    fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.lines().any(|line| is_ours(line).is_some()))
}
