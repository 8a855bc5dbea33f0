//! The place of a database, in whatever way the caller writes its path.

use std::{
    fs,
    io::{self, Read},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use resqlite_sqlite::{
    Access, Connection, Header, codes,
    memory_vfs::{self, MemoryFile},
};

use super::{encryption::Encryption, file_health::FileHealth, known_file::identity_of, rest::Rest};
use crate::{
    core::{
        error::{Error, Result},
        options::Options,
    },
    guard::authorizer::Role,
};

/// The path of every database in memory.
const MEMORY: &str = ":memory:";

/// The bytes of a database file that say which journal it needs. A file that has no journal beside it should say [`ROLLBACK_JOURNAL`]. A
/// file that says that it has a write-ahead log can only be read if the log can be created.
pub(crate) const JOURNAL_VERSIONS: Range<usize> = 18..20;
/// See [`JOURNAL_VERSIONS`].
pub(crate) const ROLLBACK_JOURNAL: u8 = 1;

/// The place of a database.
#[derive(Clone)]
pub(crate) struct Location {
    /// The health of the files, and the path that the caller wrote.
    pub(crate) health: FileHealth,
    /// The key of all connections.
    pub(crate) encryption: Encryption,
    pub(crate) rest: Arc<Rest>,
    file: String,
    /// States that nobody changes the file.
    immutable: bool,
    /// Keeps a database in memory alive.
    memory: Option<Arc<MemoryFile>>,
}

impl Location {
    /// Finds the file; its folder must exist.
    ///
    /// # Errors
    /// [`Error::Open`] names the file and the reason; [`Error::EncryptionKey`] if this build cannot use a key.
    pub(crate) fn find(given: &str, options: &Options) -> Result<Self> {
        let encryption = Encryption::new(given, options)?;
        if given == MEMORY {
            memory_vfs::register().map_err(|error| open_error(given, error))?;
            return Ok(Self::in_memory(MemoryFile::create(), encryption));
        }
        let health = FileHealth::new(given);
        let file = find_file(given, options).map_err(|reason| Error::Open {
            path: given.into(),
            reason,
            source: None,
        })?;
        let file = file.to_str().map(str::to_owned).ok_or_else(|| Error::Open {
            path: given.into(),
            reason: "the path is not valid UTF-8".into(),
            source: None,
        })?;
        Ok(Self {
            health,
            encryption,
            rest: Rest::new(file.clone()),
            file,
            immutable: options.immutable,
            memory: None,
        })
    }

    /// Makes a database in memory from the bytes of a database file.
    ///
    /// # Errors
    /// [`Error::Open`] if the bytes are not those of a database, or do not fit into memory; [`Error::EncryptionKey`] if the key does not
    /// match the bytes.
    pub(crate) fn of_bytes(mut bytes: Vec<u8>, options: &Options) -> Result<Self> {
        let encryption = Encryption::new(MEMORY, options)?;
        let header = Header::of(&bytes);
        let other = header.filter(|header| header.is_encrypted() != encryption.is_on());
        if let Some(error) = other.and_then(|header| encryption.mismatch(MEMORY, header)) {
            return Err(error);
        }
        if !header.is_some_and(|header| header.is_database()) {
            let found = bytes.len();
            return Err(Error::Open {
                path: MEMORY.into(),
                reason: format!("the {found} bytes are not those of a SQLite database"),
                source: None,
            });
        }
        memory_vfs::register().map_err(|error| open_error(MEMORY, error))?;
        if !encryption.is_on() {
            bytes[JOURNAL_VERSIONS].fill(ROLLBACK_JOURNAL);
        }
        let memory = MemoryFile::with_bytes(&bytes).map_err(|error| open_error(MEMORY, error))?;
        Ok(Self::in_memory(memory, encryption))
    }

    fn in_memory(memory: MemoryFile, encryption: Encryption) -> Self {
        Self {
            health: FileHealth::new(MEMORY),
            encryption,
            rest: Rest::new(memory.name().into()),
            file: memory.name().into(),
            immutable: false,
            memory: Some(Arc::new(memory)),
        }
    }

    /// Returns the path, as the caller wrote it.
    pub(crate) fn display_path(&self) -> &str {
        self.health.path()
    }

    /// Returns the canonical path, equal for every spelling. Returns `None` for a database in memory, which cannot be shared.
    pub(crate) fn identity(&self) -> Option<&str> {
        self.memory.is_none().then_some(self.file.as_str())
    }

    /// Refuses a hard link to one of these files. Each name would have a write-ahead log of its own. Each would show the database without
    /// the commits made under the other name, and a checkpoint would destroy the database.
    ///
    /// # Errors
    /// [`Error::Open`] names the file.
    pub(crate) fn refuse_link_to(&self, open: &[String]) -> Result<()> {
        if self.memory.is_some() || !has_several_names(&self.file) {
            return Ok(());
        }
        let identity = identity_of(&self.file);
        let is_other_name = |file: &&String| **file != self.file && identity_of(file) == identity;
        let Some(file) = open.iter().find(is_other_name) else {
            return Ok(());
        };
        Err(self.refused(&format!(
            "it is a hard link to \"{file}\", which is open; open it by that name, because its write-ahead log lies \
             beside that name"
        )))
    }

    /// Returns the error that the database cannot be opened, for a reason that is not SQLite's.
    pub(crate) fn refused(&self, reason: &str) -> Error {
        Error::Open {
            path: self.display_path().into(),
            reason: reason.into(),
            source: None,
        }
    }

    /// Refuses to open a file as immutable if the journal beside it may have commits that the file lacks.
    pub(crate) fn refuse_journal(&self) -> Result<()> {
        if !self.immutable || !self.has_journal() {
            return Ok(());
        }
        Err(self.refused(
            "it cannot be opened as immutable, because the journal beside it (-wal or -journal) may have commits that \
             the file lacks: open it once for writing and close it, or copy it by a backup",
        ))
    }

    /// Refuses a file that needs no log but has one beside it. The header of a database says that it has a log before the log exists, and
    /// until the log is gone. So this file was put in the place of another file, as a copy made by a backup may be. SQLite would write
    /// the log of the other file into this one.
    fn refuse_log_of_another(&self, connection: &Connection) -> Result<()> {
        let log = format!("{}-wal", self.file);
        let is_used = |log: fs::Metadata| log.is_file() && log.len() > 0;
        let has_log = || self.memory.is_none() && !self.immutable && fs::metadata(&log).is_ok_and(is_used);
        let needs_none = || {
            let header = connection.header();
            header.is_some_and(|header| header.is_database() && !header.has_log())
        };
        // The last check is made because another process may have removed the log meanwhile.
        if !(has_log() && needs_none() && has_log()) {
            return Ok(());
        }
        Err(self.refused(
            "the write-ahead log beside it (-wal) belongs to another file that stood here before, and would be written into this one: \
             delete the -wal and -shm files if this one is to take its place",
        ))
    }

    /// Returns whether a journal beside the file may have content that the file lacks. A journal that is not in use is empty, or begins
    /// with a zero.
    fn has_journal(&self) -> bool {
        ["-wal", "-journal"].iter().any(|suffix| {
            let (path, mut first) = (format!("{}{suffix}", self.file), [0]);
            if !Path::new(&path).is_file() {
                return false;
            }
            match fs::File::open(&path).and_then(|mut journal| journal.read_exact(&mut first)) {
                Ok(()) => first != [0],
                Err(error) => error.kind() != io::ErrorKind::UnexpectedEof,
            }
        })
    }

    /// Returns the sizes, in bytes, of the database file and its write-ahead log.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        let size = |suffix: &str| fs::metadata(format!("{}{suffix}", self.file)).map_or(0, |data| data.len());
        if self.memory.is_some() {
            (0, 0)
        } else {
            (size(""), size("-wal"))
        }
    }

    /// Opens a connection, and sets nothing on it except the key.
    ///
    /// # Errors
    /// [`Error::Open`] names the file and the reason.
    pub(crate) fn connect(&self, role: Role, read_only: bool) -> Result<Connection> {
        if !self.rest.end() {
            self.health.lose();
        }
        self.health.check()?;
        let access = if self.immutable {
            Access::Immutable
        } else if role == Role::Reader || read_only {
            Access::ReadOnly
        } else {
            Access::ReadWriteCreate
        };
        let failed = |error| open_error(self.display_path(), error);
        let connection = Connection::open(&self.file, access, self.vfs()).map_err(failed)?;
        self.refuse_log_of_another(&connection)?;
        self.encryption.unlock(&connection).map_err(failed)?;
        Ok(connection)
    }

    fn vfs(&self) -> Option<&str> {
        self.memory.is_some().then_some(memory_vfs::VFS_NAME)
    }

    /// Returns the reason why the database could not be opened or read, as an error that names the
    /// file.
    pub(crate) fn explain(&self, error: resqlite_sqlite::Error) -> Error {
        let known = match error.primary() {
            codes::NOTADB => self.wrong_key(),
            codes::CANTOPEN | codes::READONLY => self.without_log(&error),
            _ => None,
        };
        known.unwrap_or_else(|| open_error(self.display_path(), error))
    }

    /// Returns the error to report if SQLite refused the files of the log, and not the database.
    fn without_log(&self, error: &resqlite_sqlite::Error) -> Option<Error> {
        self.header().filter(Header::has_log)?;
        let cause = error
            .system()
            .map_or_else(|| error.message().into(), |cause| cause.to_string());
        let or_else = match self.has_journal() {
            true => "",
            false => ", or, if nobody changes it, open it read-only and immutable",
        };
        Some(Error::Open {
            path: self.display_path().into(),
            reason: format!(
                "the file is there and has a write-ahead log, but the files of the log (-wal and -shm) can be neither \
                 made nor used beside it ({cause}): give the process permission to write in the folder, or put a copy \
                 there that a backup has made, which needs no log{or_else}"
            ),
            source: Some(error.clone()),
        })
    }

    /// Returns the error to report if SQLite reports on an open connection that a file is no
    /// database.
    pub(crate) fn wrong_key_since_opened(&self) -> Option<Error> {
        let connection = self.connect(Role::Reader, true).ok()?;
        match connection.query_text("SELECT 1 FROM sqlite_schema") {
            // The main database can be read, so SQLite means another file.
            Ok(_) => self.encryption.attached_mismatch(self.display_path()),
            Err(_) => self.wrong_key(),
        }
    }

    /// Returns the error to report if SQLite takes the main database for no database only because
    /// of its key.
    fn wrong_key(&self) -> Option<Error> {
        self.encryption.mismatch(self.display_path(), self.header()?)
    }

    fn header(&self) -> Option<Header> {
        // Without a key, a connection reads the bytes as they are in the file.
        let raw = Connection::open(&self.file, Access::ReadOnly, self.vfs()).ok()?;
        raw.header()
    }
}

fn find_file(given: &str, options: &Options) -> Result<PathBuf, String> {
    let file = canonical(given)?;
    match file.exists() {
        true => Ok(file),
        false if options.read_only => {
            Err("the file does not exist, and a read-only database is not created".into())
        }
        false if options.file_must_exist => Err("the file does not exist, and shall not be created".into()),
        false => Ok(file),
    }
}

/// Returns whether a file has several hard links.
#[cfg(unix)]
fn has_several_names(file: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(file).is_ok_and(|data| data.nlink() > 1)
}

#[cfg(not(unix))]
fn has_several_names(_: &str) -> bool {
    false
}

/// Returns the canonical path of a file. The file need not exist, but its folder must.
///
/// # Errors
/// The reason why there can be no such file.
pub(crate) fn canonical(given: &str) -> Result<PathBuf, String> {
    let path = Path::new(given);
    if given.is_empty() {
        return Err("the path is empty".into());
    }
    match path.canonicalize() {
        Ok(path) if path.is_dir() => return Err("it is a folder".into()),
        // Opening a pipe would wait for its other end.
        Ok(path) if !path.is_file() => return Err("it is a device or a pipe, and no file".into()),
        Ok(path) => return Ok(path),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.to_string()),
        Err(_) => {}
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let name = path.file_name().ok_or("the path names no file")?;
    match folder.canonicalize() {
        Ok(folder) => Ok(folder.join(name)),
        Err(error) => Err(format!(
            "its folder \"{}\" cannot be used: {error}",
            folder.display()
        )),
    }
}

fn open_error(path: &str, error: resqlite_sqlite::Error) -> Error {
    let reason = match (error.primary(), error.system()) {
        // SQLite tries again without the right to write. After that, this is all that is left of the reason.
        (codes::CANTOPEN, Some(cause)) if cause.kind() == io::ErrorKind::NotFound => {
            "there is no such file, and its folder takes no new one".into()
        }
        (codes::CANTOPEN | codes::IOERR, Some(cause)) => format!("{}: {cause}", error.message()),
        (primary, _) => reason(primary, error.message()),
    };
    Error::Open {
        path: path.into(),
        reason,
        source: Some(error),
    }
}

fn reason(primary: i32, message: &str) -> String {
    match primary {
        codes::NOTADB => "the file is not a SQLite database, or it is damaged or encrypted".into(),
        codes::READONLY => format!("{message} (no permission to write)"),
        codes::CORRUPT => format!("the file is damaged: {message}"),
        _ => message.to_owned(),
    }
}
