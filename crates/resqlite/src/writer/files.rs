//! Whether other processes can still find the files that SQLite writes to.
//!
//! SQLite opens a file once and goes on writing to it even if it has been deleted or replaced since. Then no other process
//! sees its commits, and they are lost when this process ends. So such a commit must not be acknowledged.

use std::{
    fs::{self, File},
    time::Instant,
};

use crate::{connection::file_health::is_linked, core::limits};

/// The files of the main database, and the write-ahead logs of those attached. SQLite must have opened them: it keeps
/// each until the database is closed or detached. A database in memory, or in another journal mode, has no log.
#[derive(Debug)]
pub(super) struct Files {
    /// The paths of the main database's files, each with the identity of the file when it was opened.
    main: Vec<(String, Identity)>,
    /// When they were last checked.
    looked: Instant,
    main_log: Option<File>,
    attached_logs: Vec<File>,
}

/// Device and inode.
type Identity = (u64, u64);

impl Files {
    /// The files of the main database.
    pub(super) fn of(main: Option<&str>) -> Self {
        Self {
            main: main.into_iter().flat_map(of_database).collect(),
            looked: Instant::now(),
            main_log: main.and_then(log_of),
            attached_logs: Vec::new(),
        }
    }

    /// Returns another handle to the log of the main database.
    pub(super) fn main_log(&self) -> Option<File> {
        self.main_log.as_ref()?.try_clone().ok()
    }

    /// Opens the logs of the attached databases, in place of the earlier ones.
    pub(super) fn attach(&mut self, databases: &[String]) {
        self.attached_logs = databases.iter().filter_map(|file| log_of(file)).collect();
    }

    /// Whether all logs still have a name, and the main database's files are those that were opened. A check costs a
    /// lone insert 5 % (experiment 027), so it is made once a millisecond. `always` checks the logs each time.
    pub(super) fn are_there(&mut self, always: bool) -> bool {
        let is_due = self.looked.elapsed() >= limits::FILE_LOOK;
        let mut logs = self.main_log.iter().chain(&self.attached_logs);
        if (is_due || always) && !logs.all(is_linked) {
            return false;
        }
        !is_due || self.main_is_there()
    }

    fn main_is_there(&mut self) -> bool {
        self.looked = Instant::now();
        let is_there = |(path, identity): &(String, Identity)| identity_at(path).as_ref() == Some(identity);
        self.main.iter().all(is_there)
    }
}

/// The database file, its write-ahead log and its `-shm` file, those that exist.
fn of_database(path: &str) -> impl Iterator<Item = (String, Identity)> {
    let paths = ["", "-wal", "-shm"].map(|suffix| format!("{path}{suffix}"));
    paths.into_iter().filter_map(|path| {
        let identity = identity_at(&path)?;
        Some((path, identity))
    })
}

/// SQLite holds no locks on a log, so closing a descriptor of it drops none. On Windows, a log that is open cannot be
/// deleted, so there is nothing to look for, and a handle would keep SQLite from deleting it when it closes the database.
fn log_of(database: &str) -> Option<File> {
    cfg!(unix).then(|| File::open(format!("{database}-wal")).ok())?
}

#[cfg(unix)]
fn identity_at(path: &str) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let data = fs::metadata(path).ok()?;
    Some((data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn identity_at(path: &str) -> Option<Identity> {
    fs::metadata(path).ok().map(|_| (0, 0))
}
