//! Work that waits for no disk and does not sleep, for a thread that must not block.
//!
//! SQLite reads through a function that this module puts in the place of `pread`. During `at_once`, this function reads
//! only what the system has in memory (`RWF_NOWAIT`). Any other read is an I/O error, after which a thread that may
//! wait tries again.
#![allow(unsafe_code)]

use std::{
    cell::Cell,
    ffi::{CString, c_int, c_long, c_void},
    mem::{self, MaybeUninit},
    sync::{Once, OnceLock},
};

use libc::{iovec, off_t, size_t, ssize_t};
use resqlite_sqlite_sys as ffi;

thread_local! {
    /// The number of reads that this thread may still make at once; `None` if the thread may wait.
    static READS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Runs `work`. In it, SQLite makes at most `reads` reads, none of which waits for a disk, and does not sleep between
/// attempts to lock.
pub fn at_once<R>(reads: u32, work: impl FnOnce() -> R) -> R {
    let before = READS_LEFT.replace(Some(reads));
    let _restored = Restored(before);
    work()
}

/// File systems whose calls may wait for another machine, or for another process.
const REMOTE: [i128; 9] = [
    0x0000_6969, // NFS
    0x0000_517b, // SMB
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB 2
    0x7375_7245, // Coda
    0x5346_414f, // AFS
    0x6573_5546, // FUSE
    0x00c3_6400, // Ceph
    0x0102_1997, // 9P
];

const TMPFS: i128 = 0x0102_1994;

/// Returns whether reads of this file can be made at once.
pub fn is_possible_at_once(path: &str) -> bool {
    let Ok(path) = CString::new(path) else {
        return false;
    };
    // SAFETY: the path outlives the call.
    let kind = kind_of(|found| unsafe { libc::statfs(path.as_ptr(), found) });
    kind.is_some_and(|kind| !REMOTE.contains(&kind))
}

/// Returns whether a file has no disk.
fn is_in_memory(fd: c_int) -> bool {
    // SAFETY: `fstatfs` fails if this is no descriptor.
    kind_of(|found| unsafe { libc::fstatfs(fd, found) }) == Some(TMPFS)
}

/// The kind of a file system. `ask` fills the structure if it returns 0.
fn kind_of(ask: impl FnOnce(*mut libc::statfs) -> c_int) -> Option<i128> {
    let mut found = MaybeUninit::<libc::statfs>::zeroed();
    let asked = ask(found.as_mut_ptr());
    // SAFETY: the structure is made of numbers, for which zeros are valid.
    let found = unsafe { found.assume_init() };
    // The type of the number differs between C libraries.
    (asked == 0).then(|| found.f_type.into())
}

struct Restored(Option<u32>);

impl Drop for Restored {
    fn drop(&mut self) {
        READS_LEFT.set(self.0);
    }
}

type Sleep = unsafe extern "C" fn(*mut ffi::sqlite3_vfs, c_int) -> c_int;

/// SQLite's own function for sleeping.
static SLEEP: OnceLock<Sleep> = OnceLock::new();

/// Replaces the functions with which SQLite reads and sleeps. To be called before a connection opens a file.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    type Read = unsafe extern "C" fn(c_int, *mut c_void, size_t, off_t) -> ssize_t;
    type Call = unsafe extern "C" fn();
    // SAFETY: SQLite calls `pread` with these arguments. It has no file open yet, so nobody uses the functions.
    ONCE.call_once(|| unsafe {
        let vfs = ffi::sqlite3_vfs_find(c"unix".as_ptr());
        if let Some(vfs) = vfs.as_mut()
            && let (Some(set), Some(original)) = (vfs.xSetSystemCall, vfs.xSleep)
        {
            set(vfs, c"pread".as_ptr(), Some(mem::transmute::<Read, Call>(read)));
            SLEEP.get_or_init(|| original);
            vfs.xSleep = Some(sleep);
        }
    });
}

unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
    let Some(left) = READS_LEFT.get() else {
        // SAFETY: passed on unchanged.
        return unsafe { libc::pread(fd, buffer, length, offset) };
    };
    let Some(left) = left.checked_sub(1) else {
        // SAFETY: the address of this thread's error number is always valid.
        unsafe { *libc::__errno_location() = libc::EAGAIN };
        return -1;
    };
    READS_LEFT.set(Some(left));
    let part = iovec {
        iov_base: buffer,
        iov_len: length,
    };
    // Older C libraries have no function for this call, and the module would not load there.
    // SAFETY: the buffer is SQLite's, and as long as it says. The address of this thread's error number is always valid.
    unsafe {
        let length = libc::syscall(
            libc::SYS_preadv2,
            fd,
            &raw const part,
            1 as c_long,
            offset as c_long,
            0 as c_long,
            c_long::from(libc::RWF_NOWAIT),
        );
        if length < 0 && *libc::__errno_location() == libc::EOPNOTSUPP && is_in_memory(fd) {
            return libc::pread(fd, buffer, part.iov_len, offset);
        }
        if length == 0 {
            // This means the end of the file. Linux 5.9 and 5.10 may also report it before the end, instead of waiting.
            *libc::__errno_location() = libc::EAGAIN;
            return -1;
        }
        length as ssize_t
    }
}

unsafe extern "C" fn sleep(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    let original = SLEEP.get().filter(|_| READS_LEFT.get().is_none());
    // SAFETY: passed on unchanged.
    original.map_or(0, |original| unsafe { original(vfs, microseconds) })
}

#[cfg(test)]
mod tests {
    use super::at_once;
    use crate::{Access, Connection, codes};

    const SUM: &str = "SELECT sum(length(v)) FROM t";

    fn folder_with_pages() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let rows = "CREATE TABLE t(v); WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO t SELECT zeroblob(3000) FROM n";
        open(&folder).execute_script(rows).unwrap();
        folder
    }

    fn open(folder: &tempfile::TempDir) -> Connection {
        let path = folder.path().join("test.db");
        Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap()
    }

    #[test]
    fn it_reads_what_the_system_has_in_memory() {
        let folder = folder_with_pages();
        let read = at_once(1000, || open(&folder).query_text(SUM));
        assert_eq!(read.unwrap().as_deref(), Some("300000"));
    }

    #[test]
    fn it_fails_after_as_many_reads_as_it_may_make_and_later_work_does_not() {
        let folder = folder_with_pages();
        let connection = open(&folder);
        let error = at_once(20, || connection.query_text(SUM)).unwrap_err();
        assert_eq!(error.primary(), codes::IOERR);
        assert_eq!(connection.query_text(SUM).unwrap().as_deref(), Some("300000"));
    }
}
