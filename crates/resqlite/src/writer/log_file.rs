//! Whether the write-ahead logs that SQLite writes to are still there for others.
//!
//! SQLite opens a log once and goes on writing to it even if somebody has deleted it since. Then nobody else ever sees
//! what it commits, and the process takes it along when it ends. So it must not be acknowledged.

use std::fs::{File, Metadata};

/// The write-ahead logs of the main database and of those attached. SQLite must have opened them: it keeps each until
/// the database is closed or detached. A database in memory, or in another journal mode, has none.
#[derive(Debug)]
pub(super) struct LogFiles {
    main: Option<File>,
    attached: Vec<File>,
}

impl LogFiles {
    /// The log of the main database.
    pub(super) fn of(main: Option<&str>) -> Self {
        Self {
            main: main.and_then(find),
            attached: Vec::new(),
        }
    }

    /// These databases are attached now.
    pub(super) fn attach(&mut self, databases: &[String]) {
        self.attached = databases.iter().filter_map(|file| find(file)).collect();
    }

    /// Whether all logs have a name still. Takes a fraction of a microsecond.
    pub(super) fn are_linked(&self) -> bool {
        let mut logs = self.main.iter().chain(&self.attached);
        logs.all(|log| log.metadata().is_ok_and(|data| is_linked(&data)))
    }
}

fn find(database: &str) -> Option<File> {
    File::open(format!("{database}-wal")).ok()
}

#[cfg(unix)]
fn is_linked(data: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(data) > 0
}

/// Windows deletes no file that is open.
#[cfg(not(unix))]
fn is_linked(_: &Metadata) -> bool {
    true
}
