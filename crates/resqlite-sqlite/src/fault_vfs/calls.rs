//! The calls that SQLite makes on a file system, and how each can fail.

use std::ffi::c_int;

use libsqlite3_sys as ffi;

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

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Nothing is done, and SQLite gets this code.
    Refused(c_int),
    /// The first half of the bytes is read or written, then SQLite gets this code.
    Half(c_int),
    /// All is done, and SQLite gets this code all the same.
    Done(c_int),
    /// The file cannot be mapped into memory, which SQLite makes good by reading.
    Unmapped,
}

impl Failure {
    /// There is no room for a write.
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

    /// How calls of this kind fail; the first way is the plainest.
    ///
    /// A read is never cut short without an error: SQLite takes that for the end of the file, as it may, since no
    /// system ends a read early anywhere else. Locks are given back whatever a call says of it, since no system
    /// keeps them.
    pub fn failures(self) -> &'static [Failure] {
        match self {
            // What EMFILE, ENFILE and EACCES come to.
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
