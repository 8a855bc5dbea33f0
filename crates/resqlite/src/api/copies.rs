//! Copies of a database, and checkpoints.

use futures_channel::oneshot;
use resqlite_sqlite::{Checkpoint, Checkpointed};

use crate::{
    api::{
        answers::{CancelOnDrop, Done, answer},
        database::Database,
        engine::{Engine, push},
        handle::among_open_files,
    },
    backup::{self, BackedUp, BackupOptions, BackupReply, TargetFile, log},
    core::{
        error::{Error, Result},
        token::Token,
    },
    writer::{CheckpointJob, WriteJob},
};

/// The extent of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointMode {
    /// Copies the pages that no reader needs in the log. Neither reads nor writes wait.
    Passive,
    /// Copies everything. Writes wait meanwhile, and new reads for at most [`limits::READ_PAUSE`](crate::limits).
    Full,
    /// As `Full`, and the next commit starts the log over.
    Restart,
    /// As `Restart`, and the log is truncated to nothing.
    Truncate,
}

impl Engine {
    /// Copies the database into a new file, on a connection of its own: neither reads nor writes wait.
    pub fn backup(&self, path: &str, options: BackupOptions, token: Token, reply: Box<dyn BackupReply>) {
        let (parts, path) = (self.parts.clone(), path.to_owned());
        let work = move |mut reply: Box<dyn BackupReply>| {
            let target = among_open_files(|open| TargetFile::create(&path, options.overwrite, open));
            let publish = |target: TargetFile| {
                among_open_files(|open| target.publish(open))?;
                // Whoever opens a database meanwhile does not wait for the disk.
                target.sync_name()
            };
            let done = target.and_then(|target| {
                backup::to_file(&parts, target, options.verify, &token, &mut *reply, publish)
            });
            drop(parts);
            reply.finish(done);
        };
        if let Err((reply, error)) = self.run(reply, work) {
            reply.finish(Err(error));
        }
    }

    /// Copies the database into bytes, on a connection of its own.
    pub fn serialize(&self, token: Token, done: Done<Vec<u8>>) {
        let parts = self.parts.clone();
        let work = move |done: Done<Vec<u8>>| {
            let bytes = backup::to_bytes(&parts, &token);
            drop(parts);
            done(bytes);
        };
        if let Err((done, error)) = self.run(done, work) {
            done(Err(error));
        }
    }

    /// Makes a checkpoint of the main database. A worker with a connection of its own first copies the pages that can be copied without
    /// holding anybody up. The writer does the rest.
    pub fn checkpoint(&self, mode: CheckpointMode, done: Done<Checkpointed>) {
        if let Some(refusal) = self.refusal_of_writes() {
            return done(Err(refusal));
        }
        let how = match mode {
            CheckpointMode::Passive => None,
            CheckpointMode::Full => Some(Checkpoint::Full),
            CheckpointMode::Restart => Some(Checkpoint::Restart),
            CheckpointMode::Truncate => Some(Checkpoint::Truncate),
        };
        let (parts, queue) = (self.parts.clone(), self.parts.queue.clone());
        let work = move |done: Done<Checkpointed>| {
            let copied = log::copy_log(&parts);
            drop(parts);
            match (copied, how) {
                (Ok(_), Some(how)) => {
                    let job = WriteJob::Checkpoint(CheckpointJob { how, done });
                    push(&queue, job);
                }
                (copied, _) => done(copied),
            }
        };
        if let Err((done, error)) = self.run(done, work) {
            done(Err(error));
        }
    }

    fn run<R: Send + 'static>(
        &self,
        reply: R,
        work: impl FnOnce(R) + Send + 'static,
    ) -> Result<(), (R, Error)> {
        self.long_work.run(self.parts.connections.workers(), reply, work)
    }
}

impl Database {
    /// Copies the database into a new file while others write to the database. The copy is one committed state, without attached
    /// databases. The file gets its name only when it is complete, checked and on the disk. Dropping the future cancels the backup.
    ///
    /// ```
    /// # use resqlite::{BackupOptions, Database, Options};
    /// # pollster::block_on(async {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("copy.db");
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// let made = db.backup(path.to_str().unwrap(), BackupOptions::default()).await?;
    /// assert!(made.bytes > 0);
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Error::Backup`] names the file and the reason; in that case nothing is left of the copy.
    pub async fn backup(&self, path: &str, options: BackupOptions) -> Result<BackedUp> {
        let (sender, receiver) = oneshot::channel();
        let token = Token::default();
        let _cancel = CancelOnDrop(token.clone());
        self.engine()
            .backup(path, options, token, Box::new(Finished(sender)));
        receiver.await.unwrap_or(Err(Error::WorkerDied))
    }

    /// Returns the bytes of a database file that holds the latest commit. [`open_bytes`](Self::open_bytes) opens them.
    ///
    /// # Errors
    /// [`Error::Limit`] if there are more bytes than [`limits::SERIALIZED_MAX`](crate::limits::SERIALIZED_MAX).
    pub async fn serialize(&self) -> Result<Vec<u8>> {
        let token = Token::default();
        let _cancel = CancelOnDrop(token.clone());
        answer(|done| self.engine().serialize(token, done)).await
    }

    /// Copies the write-ahead log into the database file, for programs that have [`Checkpoints`](crate::Checkpoints) of their own. The
    /// checkpoint waits neither for snapshots and cursors nor for other processes: if one of them is in its way, the result is busy.
    ///
    /// # Errors
    /// I/O errors; [`Error::ReadOnly`].
    pub async fn checkpoint(&self, mode: CheckpointMode) -> Result<Checkpointed> {
        answer(|done| self.engine().checkpoint(mode, done)).await
    }
}

/// Takes the outcome of a backup, and ignores its progress.
struct Finished(oneshot::Sender<Result<BackedUp>>);

impl BackupReply for Finished {
    fn progress(&mut self, _: u32, _: u32) {}

    fn finish(self: Box<Self>, outcome: Result<BackedUp>) {
        // The caller may have dropped the future.
        let _ = self.0.send(outcome);
    }
}
