//! Files and their paths: checks whether a path still leads to the file that was opened by it.

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
    /// Returns the file to which the path leads now, if there is one.
    pub(crate) fn at(path: String) -> Option<Self> {
        let identity = identity_of(&path)?;
        Some(Self { path, identity })
    }

    /// Returns whether the path still leads to this file. Somebody must have the file open: once nobody does, the system may give the
    /// number of a deleted file to another file.
    pub(crate) fn is_there(&self) -> bool {
        identity_of(&self.path).as_ref() == Some(&self.identity)
    }
}

/// Returns the identity of a file, which is the same for all its paths: device and inode. The file is not opened, because closing it
/// would release SQLite's locks.
#[cfg(unix)]
pub(crate) fn identity_of(file: &str) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let data = fs::metadata(file).ok()?;
    Some((data.dev(), data.ino()))
}

/// Returns the identity of a file, which is the same for all its paths. Windows does not delete or
/// replace a file that is open.
#[cfg(not(unix))]
pub(crate) fn identity_of(file: &str) -> Option<Identity> {
    fs::canonicalize(file).ok()
}
