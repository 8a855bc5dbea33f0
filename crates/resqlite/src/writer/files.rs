//! Checks that the files that SQLite writes to are the files that other processes find.
//!
//! SQLite opens a file once and goes on writing to it even if the file has been deleted or replaced since. Then no other process
//! sees SQLite's commits, and they are lost when this process ends. So such a commit must not be acknowledged.

use std::time::Instant;

use crate::{
    connection::known_file::KnownFile,
    core::{clock, limits},
};

/// The files of the main database, and the write-ahead logs of the attached databases. SQLite must have opened them: it keeps each
/// open until the database is closed or detached. A database in memory, or in another journal mode, has no log.
#[derive(Debug)]
pub(super) struct Files {
    /// The main database and its `-shm` file.
    main: Vec<KnownFile>,
    main_log: Option<KnownFile>,
    attached_logs: Vec<KnownFile>,
    /// The time of the last check.
    looked: Instant,
}

impl Files {
    /// Returns the files of the main database.
    pub(super) fn of(main: Option<&str>) -> Self {
        let paths = main.map(|path| [path.to_owned(), format!("{path}-shm")]);
        Self {
            main: paths.into_iter().flatten().filter_map(KnownFile::at).collect(),
            main_log: main.and_then(log_of),
            attached_logs: Vec::new(),
            looked: clock::now(),
        }
    }

    pub(super) fn main_log(&self) -> Option<&KnownFile> {
        self.main_log.as_ref()
    }

    /// Looks for the logs of the attached databases. They replace the logs found earlier.
    pub(super) fn attach(&mut self, databases: &[String]) {
        self.attached_logs = databases.iter().filter_map(|file| log_of(file)).collect();
    }

    /// Returns whether all files are still the ones that were opened. A check costs a lone insert 5 % (experiment 027), so it is
    /// made once a millisecond. With `always`, the logs are checked each time.
    pub(super) fn are_there(&mut self, always: bool) -> bool {
        let is_due = clock::since(self.looked) >= limits::FILE_LOOK;
        if is_due {
            self.looked = clock::now();
        }
        let logs = self.logs().filter(|_| is_due || always);
        let main = self.main.iter().filter(|_| is_due);
        logs.chain(main).all(KnownFile::is_there)
    }

    /// Checks now whether all files are still the ones that were opened.
    pub(super) fn are_all_there(&self) -> bool {
        self.logs().chain(&self.main).all(KnownFile::is_there)
    }

    fn logs(&self) -> impl Iterator<Item = &KnownFile> {
        self.main_log.iter().chain(&self.attached_logs)
    }
}

fn log_of(database: &str) -> Option<KnownFile> {
    KnownFile::at(format!("{database}-wal"))
}
