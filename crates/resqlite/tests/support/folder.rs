//! Folders for files.

use std::path::Path;

use tempfile::TempDir;

/// In memory where that is possible.
pub fn temp_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).expect("a temporary folder")
    } else {
        tempfile::tempdir().expect("a temporary folder")
    }
}
