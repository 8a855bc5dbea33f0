//! The calls that SQLite makes on a VFS, and how each can fail.

use std::ffi::c_int;

use resqlite_sqlite_sys as ffi;

/// A kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are SQLite's")]
pub enum Call {
    Open,
    Read,
    Write,
    Truncate,
    Sync,
    FileSize,
    Delete,
    Access,
    Lock,
    Unlock,
    CheckReserved,
    ShmMap,
    ShmLock,
    ShmUnlock,
    Fetch,
}

/// A way in which a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Nothing is done, and SQLite gets this code.
    Refused(c_int),
    /// Half of the bytes are read or written, and SQLite gets this code.
    Half(c_int),
    /// The call is carried out, but SQLite gets this code.
    Done(c_int),
    /// The file cannot be mapped into memory; SQLite reads it instead.
    Unmapped,
}

impl Failure {
    /// The disk has no room for a write.
    pub const DISK_FULL: Self = Self::Refused(ffi::SQLITE_FULL);
}

use Failure::{Done, Half, Refused, Unmapped};

impl Call {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Open,
        Self::Read,
        Self::Write,
        Self::Truncate,
        Self::Sync,
        Self::FileSize,
        Self::Delete,
        Self::Access,
        Self::Lock,
        Self::Unlock,
        Self::CheckReserved,
        Self::ShmMap,
        Self::ShmLock,
        Self::ShmUnlock,
        Self::Fetch,
    ];

    /// Returns how calls of this kind fail, the simplest way first.
    ///
    /// No read is cut short without an error, because systems do that only at the end of a file, and SQLite relies on it.
    /// Unlocking always succeeds, even if it reports an error, because no system keeps the locks.
    pub fn failures(self) -> &'static [Failure] {
        match self {
            // SQLite reports EMFILE, ENFILE and EACCES like this.
            Self::Open => &[Refused(ffi::SQLITE_CANTOPEN)],
            Self::Read => &[Refused(ffi::SQLITE_IOERR_READ), Half(ffi::SQLITE_IOERR_READ)],
            Self::Write => &[
                Refused(ffi::SQLITE_IOERR_WRITE),
                Half(ffi::SQLITE_IOERR_WRITE),
                Failure::DISK_FULL,
                Half(ffi::SQLITE_FULL),
            ],
            Self::Truncate => &[Refused(ffi::SQLITE_IOERR_TRUNCATE)],
            Self::Sync => &[Refused(ffi::SQLITE_IOERR_FSYNC), Done(ffi::SQLITE_IOERR_FSYNC)],
            Self::FileSize => &[Refused(ffi::SQLITE_IOERR_FSTAT)],
            Self::Delete => &[
                Refused(ffi::SQLITE_IOERR_DELETE),
                Done(ffi::SQLITE_IOERR_DIR_FSYNC),
            ],
            Self::Access => &[Refused(ffi::SQLITE_IOERR_ACCESS)],
            Self::Lock => &[Refused(ffi::SQLITE_IOERR_LOCK), Refused(ffi::SQLITE_BUSY)],
            Self::Unlock => &[Done(ffi::SQLITE_IOERR_UNLOCK)],
            Self::CheckReserved => &[Refused(ffi::SQLITE_IOERR_CHECKRESERVEDLOCK)],
            Self::ShmMap => &[
                Refused(ffi::SQLITE_IOERR_SHMMAP),
                Refused(ffi::SQLITE_IOERR_SHMSIZE),
                Refused(ffi::SQLITE_IOERR_SHMOPEN),
            ],
            Self::ShmLock => &[Refused(ffi::SQLITE_IOERR_SHMLOCK), Refused(ffi::SQLITE_BUSY)],
            Self::ShmUnlock => &[Done(ffi::SQLITE_IOERR_SHMLOCK)],
            Self::Fetch => &[Unmapped, Refused(ffi::SQLITE_IOERR_MMAP)],
        }
    }
}
