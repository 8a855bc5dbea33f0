//! Opening connections: where the database is, how each connection is set up.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use resqlite_live::fault::planted;
use resqlite_sqlite::{
    Access, Connection, codes,
    memory_vfs::{self, MemoryFile},
};

use crate::{
    connection::engine_connection::Statements,
    core::{
        error::{Error, Result},
        limits,
        options::{Settings, UNTRUSTED_PRAGMAS},
        pragmas::{self, Reach},
        sync::{Mutex, lock},
    },
    guard::{Guard, Role},
    writer::files,
};

/// Where a database is.
#[derive(Clone)]
pub(crate) struct Place {
    /// What the caller said.
    pub(crate) given: String,
    file: String,
    /// Keeps a database in memory alive.
    memory: Option<Arc<MemoryFile>>,
    /// Whether its files were found deleted or replaced; shared by all who know the place.
    lost: Arc<AtomicBool>,
    /// The write-ahead log, while there is a writer.
    log: Arc<Mutex<Option<File>>>,
}

impl Place {
    /// Finds the file; its folder must exist.
    ///
    /// # Errors
    /// [`Error::Open`] says which file and why.
    pub(crate) fn find(given: &str, must_exist: bool) -> Result<Self> {
        if given == ":memory:" {
            memory_vfs::register().map_err(|error| open_error(given, error))?;
            let memory = MemoryFile::create();
            return Ok(Self {
                given: given.into(),
                file: memory.name().into(),
                memory: Some(Arc::new(memory)),
                lost: Arc::default(),
                log: Arc::default(),
            });
        }
        let file = canonical(given, must_exist).map_err(|reason| Error::Open {
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
            given: given.into(),
            file,
            memory: None,
            lost: Arc::default(),
            log: Arc::default(),
        })
    }

    /// The files are not those any more that were opened.
    pub(crate) fn lose_files(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// # Errors
    /// [`Error::FilesLost`] once the files were found to be lost.
    pub(crate) fn check(&self) -> Result<()> {
        if self.lost.load(Ordering::Acquire) {
            let path = self.given.clone();
            return Err(Error::FilesLost { path });
        }
        Ok(())
    }

    /// The writer keeps this log for as long as it is open.
    pub(crate) fn keep_log(&self, log: File) {
        *lock(&self.log) = Some(log);
    }

    /// There is no writer any more.
    pub(crate) fn forget_log(&self) {
        *lock(&self.log) = None;
    }

    /// Says of an error with the file whether that is because its log was deleted.
    pub(crate) fn explain(&self, error: Error) -> Error {
        if lock(&self.log).as_ref().is_some_and(|log| !files::is_linked(log)) {
            self.lose_files();
        }
        self.check().err().unwrap_or(error)
    }

    /// The same for every way to write the path; `None` for a database in memory, which nobody can share.
    pub(crate) fn identity(&self) -> Option<&str> {
        self.memory.is_none().then_some(self.file.as_str())
    }

    /// Bytes of the database file and of its write-ahead log.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        let size = |suffix: &str| fs::metadata(format!("{}{suffix}", self.file)).map_or(0, |data| data.len());
        if self.memory.is_some() {
            (0, 0)
        } else {
            (size(""), size("-wal"))
        }
    }

    fn connect(&self, role: Role, read_only: bool) -> Result<Connection> {
        let access = if role == Role::Reader || read_only {
            Access::ReadOnly
        } else {
            Access::ReadWriteCreate
        };
        let vfs = self.memory.is_some().then_some(memory_vfs::VFS_NAME);
        Connection::open(&self.file, access, vfs).map_err(|error| open_error(&self.given, error))
    }
}

fn canonical(given: &str, must_exist: bool) -> Result<PathBuf, String> {
    let path = Path::new(given);
    if given.is_empty() {
        return Err("the path is empty".into());
    }
    match path.canonicalize() {
        Ok(path) if path.is_dir() => return Err("it is a folder".into()),
        Ok(path) => return Ok(path),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.to_string()),
        Err(_) => {}
    }
    if must_exist {
        return Err("the file does not exist, and a read-only database is not created".into());
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let name = path.file_name().ok_or("the path names no file")?;
    match folder.canonicalize() {
        Ok(folder) => Ok(folder.join(name)),
        Err(error) => Err(format!("its folder {folder:?} cannot be used: {error}")),
    }
}

fn open_error(path: &str, error: resqlite_sqlite::Error) -> Error {
    let reason = match (error.primary(), error.system()) {
        // SQLite tries again without the right to write, and then this is all that is left of the reason.
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
        codes::NOTADB => "the file is not a SQLite database".into(),
        codes::READONLY => format!("{message} (no permission to write)"),
        codes::CORRUPT => format!("the file is damaged: {message}"),
        _ => message.to_owned(),
    }
}

/// Opens and sets up a connection. `hooks` runs before anything is prepared on it.
///
/// # Errors
/// [`Error::Open`] says which file and why.
pub(crate) fn open(
    place: &Place,
    settings: &Settings,
    role: Role,
    hooks: impl FnOnce(&Connection),
) -> Result<Statements> {
    let connection = place.connect(role, settings.read_only)?;
    let guard = Guard::install(&connection, place, role, settings);
    hooks(&connection);
    guard
        .internally(|| protect(&connection, settings).and_then(|()| set_up(&connection, settings, role)))
        .map_err(|error| open_error(&place.given, error))?;
    Ok(Statements::new(connection, guard, settings.statement_cache_size))
}

/// What keeps hostile SQL and hostile files from doing harm. Comes before anything is read from the file.
fn protect(connection: &Connection, settings: &Settings) -> resqlite_sqlite::Result<()> {
    connection.set_defensive(settings.defensive)?;
    connection.set_trusted_schema(settings.trusted_schema)?;
    if settings.untrusted {
        for (limit, most) in limits::UNTRUSTED {
            connection.set_limit(limit, most);
        }
        for (name, value) in UNTRUSTED_PRAGMAS {
            set_pragma(connection, name, value)?;
        }
    }
    Ok(())
}

/// Looks through a file of strangers for damage, before anything else is asked of it.
///
/// # Errors
/// [`Error::Open`] with what is wrong.
pub(crate) fn check_file(place: &Place, settings: &Settings) -> Result<()> {
    let connection = place.connect(Role::Writer, settings.read_only)?;
    // With it, locks of other processes are waited for.
    let guard = Guard::install(&connection, place, Role::Writer, settings);
    let check = || {
        protect(&connection, settings)?;
        // Rows that break a CHECK are wrong, but no damage; a read-only connection would not look at them either.
        set_pragma(&connection, "ignore_check_constraints", "ON")?;
        match connection.query_text("PRAGMA quick_check(1)")? {
            Some(wrong) if wrong != "ok" => Err(resqlite_sqlite::Error::new(codes::CORRUPT, wrong)),
            _ => Ok(()),
        }
    };
    guard
        .internally(check)
        .map_err(|error| open_error(&place.given, error))
}

fn set_up(connection: &Connection, settings: &Settings, role: Role) -> resqlite_sqlite::Result<()> {
    if role == Role::Writer {
        // Page size and encoding can only be chosen before the file has content, which other PRAGMAs give it.
        set_pragmas(connection, settings, Reach::Creation)?;
        set_pragmas(connection, settings, Reach::Writer)?;
        let mode = connection
            .query_text("PRAGMA journal_mode = WAL")?
            .unwrap_or_default();
        if mode != "wal" {
            let reason = format!("no write-ahead log is possible here (journal mode stays {mode})");
            return Err(resqlite_sqlite::Error::new(codes::CANTOPEN, reason));
        }
        let synchronous = if planted("never_sync") { "OFF" } else { "NORMAL" };
        connection.execute_script(&format!("PRAGMA synchronous = {synchronous}"))?;
        connection.execute_script(&format!("PRAGMA journal_size_limit = {}", limits::WAL_FILE_KEPT))?;
    }
    set_foreign_keys(connection, settings)?;
    if !planted("reader_without_pragmas") || role == Role::Writer {
        set_pragmas(connection, settings, Reach::All)?;
    }
    // The first read shows whether the file is a database at all.
    connection
        .query_text("SELECT count(*) FROM sqlite_schema")
        .map(drop)
}

/// Takes back what a script has set for itself.
///
/// # Errors
/// What SQLite says.
pub(crate) fn end_script(writer: &Connection, settings: &Settings) -> Result<()> {
    for (name, value) in pragmas::defaults() {
        set_pragma(writer, name, value)?;
    }
    set_foreign_keys(writer, settings)?;
    Ok(set_pragmas(writer, settings, Reach::All)?)
}

fn set_foreign_keys(connection: &Connection, settings: &Settings) -> resqlite_sqlite::Result<()> {
    set_pragma(
        connection,
        "foreign_keys",
        if settings.foreign_keys { "ON" } else { "OFF" },
    )
}

/// Sets those of the user's PRAGMAs that are for these connections.
fn set_pragmas(connection: &Connection, settings: &Settings, reach: Reach) -> resqlite_sqlite::Result<()> {
    let wanted = |name: &str| pragmas::as_option(name) == Ok(reach);
    let mut of_reach = settings.pragmas.iter().filter(|(name, _)| wanted(name));
    of_reach.try_for_each(|(name, value)| set_pragma(connection, name, value))
}

fn set_pragma(connection: &Connection, name: &str, value: &str) -> resqlite_sqlite::Result<()> {
    connection.execute_script(&format!("PRAGMA {name} = {value}"))
}
