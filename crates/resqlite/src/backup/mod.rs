//! Copies of a database while others write to it: into a file, or into bytes. And checkpoints that callers ask for.
//!
//! A copy is made by SQLite's online backup on a connection of its own, inside a read transaction: all pages are of one
//! committed state, commits meanwhile do not restart it, and the writer never waits for it. `VACUUM INTO` from
//! a reader would have these properties, too, but it is one statement that rebuilds every table and index: it takes
//! several times as long, during which the log cannot be reset, says nothing of its progress, and may change rowids.
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
    /// Replaces a file that exists. Without it, such a file is refused.
    pub overwrite: bool,
    /// The check of the copy before it gets its name.
    pub verify: Verify,
}

/// A backup that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackedUp {
    /// The size of the file.
    pub bytes: u64,
    /// Its pages.
    pub pages: u32,
    /// It holds this commit and all before it.
    pub commit: CommitId,
}

/// Receives the progress and the end of a backup, on the thread that makes it. Dropped without an end, it has failed.
pub trait BackupReply: Send {
    /// So many pages of `total` are copied. Called a few times per second at most.
    fn progress(&mut self, done: u32, total: u32);
    /// Takes the end; called exactly once.
    fn finish(self: Box<Self>, outcome: Result<BackedUp>);
}

/// Copies the database into a file that has no name yet. `publish` gives it its name.
///
/// # Errors
/// [`Error::Backup`], [`Error::Aborted`]; nothing is left of the file then.
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

/// Copies the database into bytes, as a file without a log would have them.
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

/// Marks an encrypted copy as one that has no log. SQLite does it: its first page is authenticated, so bytes of it cannot
/// be changed from outside.
fn mark_encrypted(encryption: &Encryption, copy: &Connection) -> resqlite_sqlite::Result<()> {
    if encryption.is_on() {
        copy.execute_script("PRAGMA journal_mode = DELETE")?;
    }
    Ok(())
}
