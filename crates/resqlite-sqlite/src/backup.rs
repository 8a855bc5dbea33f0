//! Copies of whole databases, page by page: SQLite's online backup.
#![allow(unsafe_code)]

use std::{ffi::c_int, ptr::NonNull, rc::Rc};

use resqlite_sqlite_sys as ffi;

use crate::{
    error::{Error, Result},
    handle::Handle,
};

/// A copy under way, from the main database of one connection to that of another. Both connections stay open as long as
/// the copy lives.
///
/// If a read transaction is open on the source, all pages come from its snapshot, and commits meanwhile do not restart
/// the copy. While the copy lives, nothing else may use the target.
pub struct Backup {
    /// `None` after an error.
    raw: Option<NonNull<ffi::sqlite3_backup>>,
    to: Rc<Handle>,
    _from: Rc<Handle>,
}

impl Backup {
    pub(crate) fn begin(from: &Rc<Handle>, to: &Rc<Handle>) -> Result<Self> {
        // SAFETY: both handles are open, and stay open because the value owns a share of each. SQLite refuses two equal
        // ones.
        let raw = unsafe {
            let (target, source) = (to.db.as_ptr(), from.db.as_ptr());
            ffi::sqlite3_backup_init(target, c"main".as_ptr(), source, c"main".as_ptr())
        };
        match NonNull::new(raw) {
            Some(raw) => Ok(Self {
                raw: Some(raw),
                to: Rc::clone(to),
                _from: Rc::clone(from),
            }),
            // SAFETY: the handle is open.
            None => Err(to.error(unsafe { ffi::sqlite3_extended_errcode(to.db.as_ptr()) })),
        }
    }

    /// Copies up to `pages` pages. Returns whether these were the last pages; the copy is then complete.
    ///
    /// # Errors
    /// SQLite's, such as `SQLITE_FULL`. The target is then of no use, and every further call fails.
    pub fn step(&mut self, pages: u32) -> Result<bool> {
        let Some(raw) = self.raw else {
            return Err(Error::new(ffi::SQLITE_MISUSE, "the copy has failed already"));
        };
        let pages = c_int::try_from(pages).unwrap_or(c_int::MAX);
        // SAFETY: the backup has begun and is not finished.
        match unsafe { ffi::sqlite3_backup_step(raw.as_ptr(), pages) } {
            ffi::SQLITE_OK => Ok(false),
            ffi::SQLITE_DONE => Ok(true),
            code => {
                // Only the end of the backup stores the error in the target's connection.
                self.finish();
                Err(self.to.error(code))
            }
        }
    }

    /// Pages of the source, as of the last step; 0 before the first.
    pub fn pages(&self) -> u32 {
        // SAFETY: the backup has begun and is not finished.
        self.count(|raw| unsafe { ffi::sqlite3_backup_pagecount(raw) })
    }

    /// Pages that are still to be copied, as of the last step.
    pub fn remaining(&self) -> u32 {
        // SAFETY: the backup has begun and is not finished.
        self.count(|raw| unsafe { ffi::sqlite3_backup_remaining(raw) })
    }

    fn count(&self, read: impl FnOnce(*mut ffi::sqlite3_backup) -> c_int) -> u32 {
        self.raw
            .and_then(|raw| u32::try_from(read(raw.as_ptr())).ok())
            .unwrap_or(0)
    }

    fn finish(&mut self) {
        if let Some(raw) = self.raw.take() {
            // SAFETY: `take` makes this the only call. An error in it was the result of a step already.
            unsafe { ffi::sqlite3_backup_finish(raw.as_ptr()) };
        }
    }
}

impl Drop for Backup {
    fn drop(&mut self) {
        self.finish();
    }
}
