//! Copies a database into a file or into bytes, while others write to the database; and makes the checkpoints that callers ask for.
//!
//! A copy is made by SQLite's online backup on a connection of its own, inside a read transaction: all pages come from one committed
//! state, commits meanwhile do not restart the copy, and the writer never waits for it. `VACUUM INTO` from a reader would have these
//! properties, too, but it is one statement that rebuilds every table and index. It takes several times as long, and the log cannot be
//! reset during that time. It reports no progress, and may change rowids.
//!
//! ```text
//! log      copies the write-ahead log into the file, without the writer
//! source   one committed state, as long as it takes to copy it
//! copy     page by page from the source to another connection
//! target   the file of a backup: made under another name, checked, synced, renamed
//! ```

mod copy;
pub(crate) mod log;
mod source;
mod target;

use resqlite_sqlite::{
    Access, Connection,
    memory_vfs::{self, MemoryFile, VFS_NAME},
};

pub(crate) use self::target::TargetFile;
pub use self::target::Verify;
use self::{copy::Copy, source::Source};
use crate::{
    connection::{
        encryption::Encryption,
        location::{JOURNAL_VERSIONS, ROLLBACK_JOURNAL},
    },
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        limits,
        token::Token,
    },
    writer::WriterContext,
};

/// The options of a backup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupOptions {
    /// States that a file that exists is replaced. Otherwise such a file is refused.
    pub overwrite: bool,
    /// The check of the copy before it gets its name.
    pub verify: Verify,
}

/// A backup that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackedUp {
    /// The size of the file.
    pub bytes: u64,
    /// The number of pages of the file.
    pub pages: u32,
    /// The number of a commit: the file contains this commit and all before it.
    pub commit: CommitId,
}

/// Receives the progress and the end of a backup, on the thread that makes it. If it is dropped without an end, the backup has failed.
pub trait BackupReply: Send {
    /// Reports that `done` pages of `total` are copied. Called a few times per second at most.
    fn progress(&mut self, done: u32, total: u32);
    /// Receives the outcome; called exactly once.
    fn finish(self: Box<Self>, outcome: Result<BackedUp>);
}

/// Copies the database into a file that does not have its final name yet. `publish` gives the file
/// this name.
///
/// # Errors
/// [`Error::Backup`], [`Error::Aborted`]; in that case nothing is left of the file.
pub(crate) fn to_file(
    parts: &WriterContext,
    mut target: TargetFile,
    verify: Verify,
    token: &Token,
    reply: &mut dyn BackupReply,
    publish: impl FnOnce(TargetFile) -> Result<()>,
) -> Result<BackedUp> {
    let source = Source::open(parts)?;
    target.restrict_like(parts.location.identity())?;
    let encryption = &parts.location.encryption;
    let connection = target.connect(encryption)?;
    let mut copy = Copy::begin(&source, &connection, token).map_err(|error| target.explain(error))?;
    copy.on_progress(|done, total| reply.progress(done, total));
    let pages = copy
        .run(|| target.sync())
        .map_err(|error| target.explain(error))?;
    mark_encrypted(encryption, &connection).map_err(|error| target.explain(error.into()))?;
    let commit = source.commit();
    parts.location.health.check()?;
    drop((connection, source));
    let bytes = target.complete(encryption)?;
    target.verify(verify, parts, token)?;
    publish(target)?;
    Ok(BackedUp { bytes, pages, commit })
}

/// Copies the database into bytes: the bytes of a file that has no log.
///
/// # Errors
/// SQLite's, [`Error::Limit`], [`Error::Aborted`].
pub(crate) fn to_bytes(parts: &WriterContext, token: &Token) -> Result<Vec<u8>> {
    let source = Source::open(parts)?;
    let bytes = source.bytes()?;
    if bytes > limits::SERIALIZED_MAX {
        let most = limits::SERIALIZED_MAX;
        return Err(Error::Limit {
            limit: "bytes",
            message: format!(
                "the database has {bytes} bytes, and at most {most} can be returned; back it up to a file"
            ),
        });
    }
    memory_vfs::register()?;
    let file = MemoryFile::create();
    let connection = Connection::open(file.name(), Access::ReadWriteCreate, Some(VFS_NAME))?;
    let encryption = &parts.location.encryption;
    encryption.unlock(&connection)?;
    Copy::begin(&source, &connection, token)?.run(|| Ok(()))?;
    mark_encrypted(encryption, &connection)?;
    drop((connection, source));
    let mut bytes = file.into_bytes();
    if !encryption.is_on() {
        bytes[JOURNAL_VERSIONS].fill(ROLLBACK_JOURNAL);
    }
    Ok(bytes)
}

/// Marks an encrypted copy as one that has no log. SQLite makes the mark: the first page is authenticated, so its bytes cannot be changed
/// from outside.
fn mark_encrypted(encryption: &Encryption, copy: &Connection) -> resqlite_sqlite::Result<()> {
    if encryption.is_on() {
        copy.execute_script("PRAGMA journal_mode = DELETE")?;
    }
    Ok(())
}
