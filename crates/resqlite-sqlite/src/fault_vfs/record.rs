//! The record of all changes in a folder, in order.

use std::collections::HashMap;

/// The identity of a file: a file that is deleted and created again gets a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u64);

/// A change, or a request to make changes durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An empty file was created.
    Create {
        /// Its name in the folder.
        name: String,
        /// Its identity.
        file: FileId,
    },
    /// A name was deleted; the file still exists where it is open.
    Delete {
        /// The name in the folder.
        name: String,
    },
    /// Bytes were written.
    Write {
        /// The file.
        file: FileId,
        /// The position of the first byte.
        offset: u64,
        /// The bytes.
        data: Vec<u8>,
    },
    /// The length was set.
    Truncate {
        /// The file.
        file: FileId,
        /// The new length in bytes.
        len: u64,
    },
    /// All earlier changes of the file survive a power cut from here on; on Apple's systems, only if `full` is true.
    Sync {
        /// The file.
        file: FileId,
        /// SQLite asked to empty the drive's cache as well, which only matters on Apple's systems.
        full: bool,
    },
    /// A sync failed: changes of the file since the last sync may be lost, even if a later sync succeeds.
    SyncFailed {
        /// The file.
        file: FileId,
    },
    /// All earlier creations and deletions survive a power cut from here on.
    SyncFolder,
}

/// The record of a folder that was empty at first.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) events: Vec<Event>,
    names: HashMap<String, FileId>,
    files: u64,
}

impl Record {
    /// Returns the file of this name, which is new or in the record.
    pub(super) fn open(&mut self, name: &str, is_new: bool) -> FileId {
        if !is_new {
            let known = self.names.get(name);
            return *known.expect("a record begins with an empty folder");
        }
        self.files += 1;
        let file = FileId(self.files);
        self.names.insert(name.to_owned(), file);
        self.events.push(Event::Create {
            name: name.to_owned(),
            file,
        });
        file
    }

    pub(super) fn delete(&mut self, name: &str, lasts: bool) {
        if self.names.remove(name).is_some() {
            self.events.push(Event::Delete {
                name: name.to_owned(),
            });
        }
        if lasts {
            self.events.push(Event::SyncFolder);
        }
    }
}
