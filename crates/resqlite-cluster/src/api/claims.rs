//! The files that are open as nodes in this process. A file is one node at a time.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
};

use crate::core::error::{Error, Result};

static CLAIMED: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);

/// A claim to a file: the file is a node for as long as the claim lives.
pub(super) struct Claim(PathBuf);

impl Claim {
    /// # Errors
    /// The file is a node of this process already.
    pub(super) fn of(path: &str) -> Result<Self> {
        let file = canonical(Path::new(path));
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        if claimed.insert(file.clone()) {
            return Ok(Self(file));
        }
        Err(Error::File(format!(
            "\"{path}\" is open as a node in this process already: close it first; another thread can open the file as a database"
        )))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        CLAIMED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.0);
    }
}

/// Returns the only name of a file, which need not exist yet.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(file) = fs::canonicalize(path) {
        return file;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
