//! Checkpoints: when the write-ahead log is copied into the database file, and how it is kept from growing without end.

use std::sync::atomic::Ordering;

use resqlite_live::fault::planted;
use resqlite_sqlite::{Checkpoint, Checkpointed};

use super::{Writer, WriterContext, job::CheckpointJob};
use crate::{
    connection::engine_connection::EngineConnection,
    core::{
        error::{Error, Result},
        limits,
        options::Checkpoints,
    },
};

/// Back-off: commits to let pass after an attempt to reset the log has failed.
const RESTART_PAUSE_COMMITS: u32 = 100;

impl Writer {
    /// Called after the replies, so that no caller waits for it.
    pub(super) fn checkpoint_if_due(&mut self) {
        if self.context.location.health.check().is_err() {
            return;
        }
        let pages = self.wal_pages.get();
        self.context.counters.wal_pages.store(pages, Ordering::Relaxed);
        if self.context.settings.checkpoints == Checkpoints::Manual {
            return self.attached_logs.borrow_mut().clear();
        }
        self.checkpoint_attached();
        // A copy of the database holds a snapshot. At its end, its own thread copies what has gathered in the log.
        if self.context.counters.copies.load(Ordering::SeqCst) > 0 {
            return;
        }
        if pages < self.checkpointed {
            // The log has been reset since.
            self.checkpointed = 0;
        }
        if pages - self.checkpointed >= limits::WAL_CHECKPOINT_PAGES {
            self.checkpoint_passive(pages);
        }
        // While a snapshot or a cursor is open the log cannot be reset, and pausing reads would not help.
        self.restart_pause = self.restart_pause.saturating_sub(1);
        if self.context.settings.checkpoints == Checkpoints::Auto
            && pages >= limits::WAL_RESTART_PAGES
            && self.restart_pause == 0
            && self.context.leases.status().busy == 0
        {
            self.restart_log();
        }
    }

    fn checkpoint_attached(&mut self) {
        let grown = std::mem::take(&mut *self.attached_logs.borrow_mut());
        for schema in grown {
            // As for the main database, a checkpoint that fails is tried again after a later commit.
            self.copy_log(&schema);
        }
    }

    /// Copies all pages that no reader needs in the log. When all are copied and no reader uses the log, the next commit
    /// resets it.
    fn checkpoint_passive(&mut self, pages: u32) {
        self.checkpointed = pages;
        // An I/O error here loses nothing; if it persists, the next commit reports it.
        if self.copy_log("main") {
            self.context.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn copy_log(&mut self, schema: &str) -> bool {
        self.connection.release_read();
        let copied = self.connection.sqlite.checkpoint(schema, Checkpoint::Passive);
        let copied = copied.map_err(Error::from);
        self.context.counters.note_sync(&copied);
        copied.is_ok_and(|copied| !copied.busy)
    }

    /// Ends checkpoint starvation: overlapping readers keep the log from being reset, so new reads are held back.
    fn restart_log(&mut self) {
        if self
            .checkpoint_in_pause(Checkpoint::Truncate)
            .is_ok_and(|done| !done.busy)
        {
            self.context
                .counters
                .wal_reset_pauses
                .fetch_add(1, Ordering::Relaxed);
        } else {
            // A long read, here or in another process, prevented it: the next attempt comes some commits later.
            self.restart_pause = RESTART_PAUSE_COMMITS;
        }
    }

    /// Makes the checkpoint that a caller asked for.
    pub(super) fn checkpoint_for(&mut self, job: CheckpointJob) {
        let checkpointed = self.context.location.health.check();
        let checkpointed = checkpointed.and_then(|()| self.checkpoint_in_pause(job.how));
        if checkpointed.as_ref().is_ok_and(|done| !done.busy) {
            self.context.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
        (job.done)(checkpointed);
    }

    /// Makes a checkpoint that readers may prevent, while new reads are held back. It waits for no lock of other
    /// processes, and for readers no longer than the pause may take.
    fn checkpoint_in_pause(&mut self, how: Checkpoint) -> Result<Checkpointed> {
        self.connection.release_read();
        let WriterContext {
            readers, background, ..
        } = &self.context;
        let EngineConnection { sqlite, guard, .. } = &self.connection;
        let checkpoint = |how| guard.interrupt.without_waiting(|| sqlite.checkpoint("main", how));
        let in_pause = readers.in_gap(limits::READER_GAP, || {
            background.in_gap(limits::READER_GAP, || checkpoint(how))
        });
        let done = in_pause.flatten().unwrap_or_else(|| {
            let copied = checkpoint(Checkpoint::Passive)?;
            Ok(Checkpointed { busy: true, ..copied })
        });
        let done = done.map_err(Error::from);
        self.context.counters.note_sync(&done);
        let resets = matches!(how, Checkpoint::Restart | Checkpoint::Truncate);
        if resets && done.as_ref().is_ok_and(|done| !done.busy) {
            self.wal_pages.set(0);
            self.checkpointed = 0;
            self.context.counters.wal_pages.store(0, Ordering::Relaxed);
        }
        done
    }

    /// Before a write of full durability: writes the logs again if a failed sync may have lost part of them.
    pub(super) fn restore_doubtful_logs(&mut self) -> Result<()> {
        if !self.context.counters.sync_failed.load(Ordering::Relaxed) || planted("trust_sync") {
            return Ok(());
        }
        // No process writes to a log while this one holds the write lock.
        self.take_write_lock()?;
        let attached = self.context.epoch.attached_names();
        let mut schemas = std::iter::once("main").chain(attached.iter().map(String::as_str));
        let rewritten = schemas.try_for_each(|schema| self.connection.sqlite.rewrite_log(schema));
        self.roll_back();
        rewritten?;
        self.context.counters.sync_failed.store(false, Ordering::Relaxed);
        Ok(())
    }
}
