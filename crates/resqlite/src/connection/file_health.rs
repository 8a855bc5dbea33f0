//! The health of the files of a database: they are still the files that were opened, or they are
//! lost.
//!
//! The files may be deleted or replaced while they are in use. A connection that notices this marks the files as lost here; from then on
//! all connections refuse to work.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::known_file::KnownFile;
use crate::core::{
    error::{Error, Result},
    sync::{Mutex, lock},
};

/// The health of the files of one database, shared by all connections of an engine.
#[derive(Clone)]
pub(crate) struct FileHealth {
    /// The path, as the caller wrote it.
    path: Arc<str>,
    lost: Arc<AtomicBool>,
    /// The write-ahead log, while there is a writer.
    log: Arc<Mutex<Option<KnownFile>>>,
}

impl FileHealth {
    pub(crate) fn new(path: &str) -> Self {
        Self {
            path: path.into(),
            lost: Arc::default(),
            log: Arc::default(),
        }
    }

    /// Returns the path, as the caller wrote it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Marks the files as lost.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// # Errors
    /// [`Error::FilesLost`] once the files were found to be lost.
    pub(crate) fn check(&self) -> Result<()> {
        if self.lost.load(Ordering::Acquire) {
            let path = self.path.as_ref().into();
            return Err(Error::FilesLost { path });
        }
        Ok(())
    }

    /// Sets the log of a writer that has opened the database; `None` if there is no writer any
    /// more.
    pub(crate) fn log_is(&self, log: Option<KnownFile>) {
        *lock(&self.log) = log;
    }

    /// Replaces an error with the file by [`Error::FilesLost`] if the log was deleted or replaced.
    pub(crate) fn explain(&self, error: Error) -> Error {
        if lock(&self.log).as_ref().is_some_and(|log| !log.is_there()) {
            self.lose();
        }
        self.check().err().unwrap_or(error)
    }
}
