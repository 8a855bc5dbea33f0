//! Files by their paths: whether a path still means the file that was opened by it.

use std::fs;

/// A file that others may delete, rename or replace.
#[derive(Debug, Clone)]
pub(crate) struct KnownFile {
    path: String,
    identity: Identity,
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = std::path::PathBuf;

impl KnownFile {
    /// The file that the path means now, if there is one.
    pub(crate) fn at(path: String) -> Option<Self> {
        let identity = identity_of(&path)?;
        Some(Self { path, identity })
    }

    /// Returns whether the path still means this file. Somebody must have it open, since the system gives the number of a deleted file to
    /// another once nobody has.
    pub(crate) fn is_there(&self) -> bool {
        identity_of(&self.path).as_ref() == Some(&self.identity)
    }
}

/// The same for all paths of a file: device and inode. The file is not opened: closing it would take SQLite's locks away.
#[cfg(unix)]
pub(crate) fn identity_of(file: &str) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let data = fs::metadata(file).ok()?;
    Some((data.dev(), data.ino()))
}

/// The same for all paths of a file. Windows deletes and replaces no file that is open.
#[cfg(not(unix))]
pub(crate) fn identity_of(file: &str) -> Option<Identity> {
    fs::canonicalize(file).ok()
}
