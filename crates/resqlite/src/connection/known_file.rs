//! Which file a path meant when it was opened.

use std::fs;

/// A file that others may delete, rename or replace.
#[derive(Debug, Clone)]
pub(crate) struct KnownFile {
    path: String,
    identity: Identity,
}

/// Device and inode.
type Identity = (u64, u64);

impl KnownFile {
    /// The file that the path means now, if there is one.
    pub(crate) fn at(path: String) -> Option<Self> {
        let identity = identity_at(&path)?;
        Some(Self { path, identity })
    }

    /// Whether the path still means this file. Somebody must have it open, since the system gives the number of a deleted file to
    /// another once nobody has.
    pub(crate) fn is_there(&self) -> bool {
        identity_at(&self.path) == Some(self.identity)
    }
}

#[cfg(unix)]
fn identity_at(path: &str) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let data = fs::metadata(path).ok()?;
    Some((data.dev(), data.ino()))
}

/// Windows deletes and replaces no file that is open.
#[cfg(not(unix))]
fn identity_at(path: &str) -> Option<Identity> {
    fs::metadata(path).ok().map(|_| (0, 0))
}
