//! The facts that the first bytes of a database file state.
#![allow(unsafe_code)]

use resqlite_sqlite_sys as ffi;

use crate::{handle::Handle, main_file};

/// The first bytes of every database file that is not encrypted.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The number of bytes of a header that are read.
const LENGTH: usize = 24;

/// The first bytes of a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header([u8; LENGTH]);

impl Header {
    /// Returns the header of a file with this content, if the content is long enough.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().copied().map(Self)
    }

    /// Returns whether the file is a database that is not encrypted.
    pub fn is_plain(&self) -> bool {
        self.0.starts_with(MAGIC)
    }

    /// Returns whether the file is a database, encrypted or not.
    pub fn is_database(&self) -> bool {
        self.is_plain() || self.is_encrypted()
    }

    /// Returns whether the file is a database that is read together with a write-ahead log.
    pub fn has_log(&self) -> bool {
        self.is_database() && self.0[19] == 2
    }

    /// Returns whether the file is an encrypted database. In place of `MAGIC`, such a file has a random salt. The page
    /// size, the journal versions and three numbers that never change stay readable.
    pub fn is_encrypted(&self) -> bool {
        let page_size = u16::from_be_bytes([self.0[16], self.0[17]]);
        let size_fits = page_size == 1 || (page_size >= 512 && page_size.is_power_of_two());
        let versions_fit = self.0[18..20].iter().all(|version| matches!(version, 1 | 2));
        !self.is_plain() && size_fits && versions_fit && self.0[21..24] == [64, 32, 32]
    }
}

/// Reads the header of the main database file.
pub(crate) fn read(handle: &Handle) -> Option<Header> {
    let (file, methods) = main_file::of(handle)?;
    let read = methods.xRead?;
    let mut header = [0; LENGTH];
    // SAFETY: the file is open, and the buffer has the length that is read.
    let code = unsafe { read(file, header.as_mut_ptr().cast(), LENGTH as i32, 0) };
    (code == ffi::SQLITE_OK).then_some(Header(header))
}
