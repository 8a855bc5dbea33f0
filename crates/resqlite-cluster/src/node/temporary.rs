//! The files beside the file of a node, while the node puts or gets a snapshot.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::core::error::{Error, Result};

/// The text that follows the name of the node's file. Nobody else would name a copy like this.
const MARK: &str = "-resqlite-snapshot-";
/// The endings of the files that SQLite may leave beside a file.
const OF_SQLITE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A file that is removed in the end, together with the files that SQLite has beside it.
pub(super) struct Temporary(pub(super) PathBuf);

impl Temporary {
    pub(super) fn beside(file: &Path) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let (process, made) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        Self(with_suffix(file, &format!("{MARK}{process}-{made}")))
    }

    pub(super) fn text(&self) -> Result<&str> {
        let not_text = || Error::File(format!("{:?} is no text", self.0));
        self.0.to_str().ok_or_else(not_text)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        for end in [""].iter().chain(&OF_SQLITE) {
            let _ = fs::remove_file(with_suffix(&self.0, end));
        }
    }
}

/// Returns the path of a file beside `file`, named by its name and a suffix.
pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Removes what killed processes have left beside the file of a node. It is called before the node is opened, when nobody else
/// has a right to such files.
pub(super) fn remove_left(file: &Path) {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (Some(of), Ok(names)) = (
        file.file_name().and_then(|name| name.to_str()),
        fs::read_dir(folder.unwrap_or(Path::new("."))),
    ) else {
        return;
    };
    for found in names.flatten() {
        if found
            .file_name()
            .to_str()
            .is_some_and(|name| is_temporary(name, of))
        {
            // A file that stays does no harm, except for its size.
            let _ = fs::remove_file(found.path());
        }
    }
}

/// Returns whether a name is that of a temporary file beside the file `of`, or of the file to which a backup into a temporary
/// file is written first.
fn is_temporary(name: &str, of: &str) -> bool {
    let Some(rest) = name.strip_prefix(of).and_then(|rest| rest.strip_prefix(MARK)) else {
        return false;
    };
    let rest = OF_SQLITE
        .iter()
        .find_map(|end| rest.strip_suffix(end))
        .unwrap_or(rest);
    match rest.split_once('.') {
        None => are_numbers(rest, 2, 10),
        Some((numbers, backup)) => {
            let backup = backup.strip_suffix(".partial");
            are_numbers(numbers, 2, 10) && backup.is_some_and(|numbers| are_numbers(numbers, 3, 16))
        }
    }
}

fn are_numbers(text: &str, count: usize, radix: u32) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix));
    text.split('-').count() == count && text.split('-').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: [&str; 4] = [
        "a.db-resqlite-snapshot-4711-0",
        "a.db-resqlite-snapshot-4711-0-wal",
        "a.db-resqlite-snapshot-4711-12.18f3a-1267-b.partial",
        "a.db-resqlite-snapshot-4711-12.18f3a-1267-b.partial-journal",
    ];
    const KEPT: [&str; 12] = [
        "a.db",
        "a.db-wal",
        "a.db-shm",
        "a.db-snapshot-2026-11",
        "a.db-resqlite-snapshot-",
        "a.db-resqlite-snapshot-4711",
        "a.db-resqlite-snapshot-4711-x",
        "a.db-resqlite-snapshot-4711-0.partial",
        "a.db-resqlite-snapshot-4711-0.18f3a-1267.partial",
        "a.db-resqlite-snapshot-4711-0.bak",
        "aa.db-resqlite-snapshot-4711-0",
        "a.db2-resqlite-snapshot-4711-0",
    ];

    // G327
    #[test]
    fn what_killed_processes_left_beside_a_file_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in LEFT.iter().chain(&KEPT) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_left(&folder.path().join("a.db"));
        for name in LEFT {
            assert!(!folder.path().join(name).exists(), "{name} is left");
        }
        for name in KEPT {
            assert!(folder.path().join(name).exists(), "{name} is gone");
        }
    }

    // G327
    #[test]
    fn a_temporary_file_is_known_by_its_name() {
        let copy = Temporary::beside(Path::new("a.db"));
        assert!(is_temporary(copy.text().unwrap(), "a.db"));
    }
}
