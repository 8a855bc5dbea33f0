//! What happened to the files of a folder, in order.

use std::collections::HashMap;

/// A file, whatever its name: one that was deleted and made anew is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u64);

/// A change, or the order to make changes last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A new, empty file.
    Create {
        /// Its name in the folder.
        name: String,
        /// Which it is.
        file: FileId,
    },
    /// The name is gone; the file is as long as somebody has it open.
    Delete {
        /// The name in the folder.
        name: String,
    },
    /// Bytes were written.
    Write {
        /// To which file.
        file: FileId,
        /// From where on.
        offset: u64,
        /// What.
        data: Vec<u8>,
    },
    /// The length was set.
    Truncate {
        /// Of which file.
        file: FileId,
        /// To how many bytes.
        len: u64,
    },
    /// What was done to the file before outlives a power cut from here on.
    Sync {
        /// Which file.
        file: FileId,
    },
    /// A sync has failed: what was done to the file since the last one may be lost, even if a later one succeeds.
    SyncFailed {
        /// Which file.
        file: FileId,
    },
    /// Names made and deleted before outlive a power cut from here on.
    SyncFolder,
}

/// The record of a folder, which was empty at first.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) events: Vec<Event>,
    names: HashMap<String, FileId>,
    files: u64,
}

impl Record {
    /// The file of this name, which is new or known.
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
