//! The file of a backup. It is made under a temporary name in the same folder. It gets its final name in the last step, when it is
//! complete, checked and on the disk. Until then, the final name belongs to no file, or to the file that had it before.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use resqlite_sqlite::{Access, Connection, codes};

use crate::{
    connection::{
        encryption::Encryption,
        location::{JOURNAL_VERSIONS, Location, ROLLBACK_JOURNAL, canonical},
        open::open,
    },
    core::{
        error::{Error, Result},
        options::Options,
        token::Token,
    },
    guard::authorizer::Role,
    writer::WriterContext,
};

/// The way in which a copy is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verify {
    /// By `PRAGMA integrity_check`, which also compares every index with its table.
    #[default]
    Full,
    /// By `PRAGMA quick_check`, which does not compare indexes with tables.
    Quick,
    /// Not at all.
    Off,
}

/// A file that becomes a backup. If it is dropped before it is published, the file is removed.
pub(crate) struct TargetFile {
    /// The path, as the caller wrote it.
    given: String,
    path: PathBuf,
    partial: Partial,
    overwrite: bool,
    /// The final permissions of the file. While the file is written, its owner may also write to
    /// it.
    permissions: Option<Permissions>,
}

/// The file under its temporary name.
struct Partial {
    path: PathBuf,
    file: File,
}

impl TargetFile {
    /// Creates the file under its temporary name. `open` lists the files of the databases that are open in this process.
    ///
    /// # Errors
    /// [`Error::Backup`] gives the reason why there can be no such file, or says that the file
    /// exists already.
    pub(crate) fn create(given: &str, overwrite: bool, open: &[String]) -> Result<Self> {
        let fail = |reason| failed(given, reason);
        let path = canonical(given).map_err(fail)?;
        check_free(&path, overwrite, open).map_err(fail)?;
        let partial = Partial::create(&path).map_err(|error| fail(error.to_string()))?;
        Ok(Self {
            given: given.into(),
            path,
            partial,
            overwrite,
            permissions: None,
        })
    }

    /// Adds the name of the file to an error of SQLite.
    pub(super) fn explain(&self, error: Error) -> Error {
        match error {
            Error::Sqlite(source)
            | Error::Open {
                source: Some(source), ..
            } => Error::Backup {
                path: self.given.clone(),
                reason: source.message().into(),
                source: Some(source),
            },
            other => other,
        }
    }

    /// Gives other users only the permissions that both the database and the replaced file give them. So nobody can see the content of
    /// the copy who could not see it before.
    pub(super) fn restrict_like(&mut self, database: Option<&str>) -> Result<()> {
        let permissions_of = |path: &Path| fs::metadata(path).ok().map(|data| data.permissions());
        let database = database.and_then(|file| permissions_of(file.as_ref()));
        let permissions = match (database, permissions_of(&self.path)) {
            (Some(database), Some(replaced)) => common(database, &replaced),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return Ok(()),
        };
        self.io(self.partial.file.set_permissions(writable(&permissions)))?;
        self.permissions = Some(permissions);
        Ok(())
    }

    /// Opens the file as a database, with the key of its source.
    pub(super) fn connect(&self, encryption: &Encryption) -> Result<Connection> {
        let path = self.partial_path()?;
        let connection = Connection::open(path, Access::ReadWriteCreate, None);
        let unlocked = connection.and_then(|connection| encryption.unlock(&connection).map(|()| connection));
        unlocked.map_err(|error| self.explain(error.into()))
    }

    /// Writes everything copied so far to the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.io(self.partial.file.sync_data())
    }

    /// Completes the file once all pages are copied, and returns its size.
    pub(super) fn complete(&self, encryption: &Encryption) -> Result<u64> {
        let mut file = &self.partial.file;
        let mut mark = || -> io::Result<u64> {
            if !encryption.is_on() {
                file.seek(SeekFrom::Start(JOURNAL_VERSIONS.start as u64))?;
                file.write_all(&[ROLLBACK_JOURNAL; JOURNAL_VERSIONS.end - JOURNAL_VERSIONS.start])?;
            }
            if let Some(permissions) = &self.permissions {
                file.set_permissions(permissions.clone())?;
            }
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        self.io(mark())
    }

    /// Checks the file for damage. The connection is set up like those of the database, because an index may need what those have loaded.
    pub(super) fn verify(&self, verify: Verify, parts: &WriterContext, token: &Token) -> Result<()> {
        let check = match verify {
            Verify::Full => "PRAGMA integrity_check(1)",
            Verify::Quick => "PRAGMA quick_check(1)",
            Verify::Off => return Ok(()),
        };
        let options = Options {
            key: parts.location.encryption.key(),
            ..Options::default()
        };
        let location = Location::find(self.partial_path()?, &options)?;
        let connection =
            open(&location, &parts.settings, Role::Reader, |_| ()).map_err(|error| self.explain(error))?;
        // A row that breaks a CHECK is wrong, but the file is not damaged.
        let ignore_checks =
            |sqlite: &Connection| sqlite.execute_script("PRAGMA ignore_check_constraints = ON");
        connection.as_internal(ignore_checks)?;
        connection.guard.interrupt.start(token);
        let found = connection.sqlite.query_text(check);
        connection.guard.interrupt.stop();
        match found {
            Ok(Some(found)) if found != "ok" => {
                let damage =
                    resqlite_sqlite::Error::new(codes::CORRUPT, format!("the copy is damaged: {found}"));
                Err(self.explain(damage.into()))
            }
            Ok(_) => Ok(()),
            Err(_) if token.is_cancelled() => Err(Error::Aborted),
            Err(error) => Err(self.explain(error.into())),
        }
    }

    /// Gives the file its final name, in one step. `open` is as for [`create`](Self::create).
    ///
    /// # Errors
    /// [`Error::Backup`]; in that case a file that had the name before still has it.
    pub(crate) fn publish(&self, open: &[String]) -> Result<()> {
        check_free(&self.path, self.overwrite, open).map_err(|reason| failed(&self.given, reason))?;
        let renamed = if self.overwrite {
            fs::rename(&self.partial.path, &self.path)
        } else {
            rename_to_new(&self.partial.path, &self.path)
        };
        self.io(renamed)
    }

    /// Makes sure that the file keeps its final name.
    ///
    /// # Errors
    /// [`Error::Backup`]; the file has its final name nevertheless.
    pub(crate) fn sync_name(&self) -> Result<()> {
        self.io(sync_folder(&self.path))
    }

    fn partial_path(&self) -> Result<&str> {
        let no_text = || failed(&self.given, "the path is not valid UTF-8".into());
        self.partial.path.to_str().ok_or_else(no_text)
    }

    fn io<T>(&self, done: io::Result<T>) -> Result<T> {
        done.map_err(|error| failed(&self.given, error.to_string()))
    }
}

impl Partial {
    fn create(path: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let time = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| time.as_nanos());
            let (process, number) = (process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{time:x}-{process:x}-{number:x}.partial"));
            let path = PathBuf::from(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return opened.map(|file| Self { path, file }),
            }
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Once the file has its final name, there is nothing to remove.
        let _ = fs::remove_file(&self.path);
    }
}

fn failed(given: &str, reason: String) -> Error {
    Error::Backup {
        path: given.into(),
        reason,
        source: None,
    }
}

/// Returns the reason why a file cannot get this name, as an error.
fn check_free(path: &Path, overwrite: bool, open: &[String]) -> Result<(), String> {
    if open.iter().any(|file| path == Path::new(file)) {
        // A program that has this file open would go on with the old file.
        return Err("it is a database that is open in this process".into());
    }
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err("the file exists, and overwrite is not set".into());
    }
    if path.metadata().is_ok_and(|data| !data.is_file()) {
        return Err("it is no regular file".into());
    }
    if let Some(suffix) = reserved_suffix(path) {
        return Err(format!(
            "SQLite takes a file whose name ends with {suffix} for part of a database"
        ));
    }
    // SQLite would play the content of these files back into the new file.
    for suffix in ["-wal", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        if Path::new(&beside).symlink_metadata().is_ok() {
            return Err(format!(
                "{beside:?} exists: a database of this name is open elsewhere, or was not closed"
            ));
        }
    }
    Ok(())
}

/// Returns the suffix of the path, if it is one that SQLite uses for the files beside a database.
fn reserved_suffix(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.as_encoded_bytes();
    ["-wal", "-shm", "-journal"]
        .into_iter()
        .find(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Returns the permissions that both `one` and `other` give to other users. The owner gets the
/// permissions that `one` gives.
#[cfg(unix)]
fn common(one: Permissions, other: &Permissions) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(one.mode() & (other.mode() | 0o700))
}

#[cfg(not(unix))]
fn common(one: Permissions, _: &Permissions) -> Permissions {
    one
}

/// Returns the same permissions for other users, with the right of the owner to read and write.
#[cfg(unix)]
fn writable(permissions: &Permissions) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(permissions.mode() | 0o600)
}

#[cfg(not(unix))]
#[allow(
    clippy::permissions_set_readonly_false,
    reason = "it is an attribute there, and gives nobody a right"
)]
fn writable(permissions: &Permissions) -> Permissions {
    let mut permissions = permissions.clone();
    permissions.set_readonly(false);
    permissions
}

/// Renames a file, unless the new name is taken.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        // Dropping `Partial` removes the temporary name.
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has links. Between the check and this, another program may have taken the name.
        Err(_) => fs::rename(from, to),
    }
}

/// Syncs the folder of a file: the name of the file is on the disk only when its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}
