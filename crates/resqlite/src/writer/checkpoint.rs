//! Checkpoints. Decides when the write-ahead log is copied into the database file, and keeps the log from growing without end.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use resqlite_sqlite::{Checkpoint, Checkpointed};

use super::{
    WriterContext,
    job::{CheckpointJob, WriteJob},
    log_pauses::read_pause,
    writing::Writing,
};
use crate::{
    connection::engine_connection::EngineConnection,
    core::{
        clock,
        error::{Error, Result},
        limits,
        options::Checkpoints,
    },
};

impl Writing {
    /// Makes a checkpoint if one is due. Called after the replies are sent, so that no caller waits for the checkpoint.
    pub(super) fn checkpoint_if_due(&mut self) {
        if self.context.location.health.check().is_err() {
            return;
        }
        let pages = self.wal.pages.get();
        self.context.counters.wal_pages.store(pages, Ordering::Relaxed);
        if self.context.settings.checkpoints == Checkpoints::Manual {
            return self.wal.attached.borrow_mut().clear();
        }
        self.checkpoint_attached();
        // A copy of the database holds a snapshot. At its end, whoever makes the copy checkpoints the pages that have gathered in
        // the log.
        if self.context.counters.copies.load(Ordering::SeqCst) > 0 {
            return;
        }
        if pages < self.wal.checkpointed.get() {
            // The log has been reset since.
            self.wal.checkpointed.set(0);
        }
        if pages - self.wal.checkpointed.get() >= limits::WAL_CHECKPOINT_PAGES {
            self.checkpoint_passive(pages);
        }
        if self.context.settings.checkpoints == Checkpoints::Auto {
            self.pause_if_due(pages);
        }
    }

    fn checkpoint_attached(&mut self) {
        let grown = std::mem::take(&mut *self.wal.attached.borrow_mut());
        for schema in grown {
            // As with the main database, a checkpoint that fails is tried again after a later commit.
            self.copy_log(&schema);
        }
    }

    /// Copies all pages that no reader still needs in the log. When all pages are copied and no reader uses the log, the next
    /// commit resets the log.
    fn checkpoint_passive(&mut self, pages: u32) {
        self.wal.checkpointed.set(pages);
        // An I/O error here loses nothing; if it persists, the next commit reports it.
        if self.copy_log("main") {
            self.context.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Copies all pages. Returns whether no page is left to be copied.
    pub(super) fn copy_whole_log(&mut self) -> bool {
        self.context.counters.copies.load(Ordering::SeqCst) == 0 && self.copy_log("main")
    }

    fn copy_log(&mut self, schema: &str) -> bool {
        self.connection.release_read();
        // The inline connection may hold an old state. Pages newer than this state could not be copied.
        self.context.connections.inline().in_pause(Duration::ZERO, || ());
        let copied = self.connection.sqlite.checkpoint(schema, Checkpoint::Passive);
        let copied = copied.map_err(Error::from);
        self.context.counters.note_sync(&copied);
        copied.is_ok_and(|copied| !copied.busy)
    }

    /// Begins or continues a pause in which the log can start anew, if one is due.
    fn pause_if_due(&mut self, pages: u32) {
        if pages < limits::WAL_RESTART_PAGES {
            return self.end_pause(); // it has started anew by itself
        }
        let WriterContext {
            leases,
            background,
            queue,
            ..
        } = &self.context;
        let oldest = leases.holders().oldest();
        let oldest = oldest.map(|since| since.elapsed().unwrap_or_default());
        let Some(until) = self.log_pauses.until(pages, oldest, clock::now()) else {
            return;
        };
        let queue = Arc::clone(queue);
        let look_again = move || drop(queue.push(WriteJob::Inspect(Box::new(|_| ()))));
        let leases_rest = leases.hold(until, look_again.clone());
        let all_rest = leases_rest && background.hold(until, look_again);
        if all_rest && self.restart_log(pages) {
            self.end_pause();
        } else if all_rest || clock::now() >= until {
            self.end_pause();
            self.log_pauses.failed(pages, !leases_rest);
        }
    }

    fn end_pause(&mut self) {
        if self.log_pauses.ended() {
            self.context.background.release();
            self.context.leases.release();
        }
    }

    /// Starts the log anew while new reads are held back. Returns whether no read, here or in another process, prevented it.
    fn restart_log(&mut self, pages: u32) -> bool {
        let done = self.checkpoint_in_pause(Checkpoint::Truncate, read_pause(pages));
        let is_new = done.is_ok_and(|done| !done.busy);
        let pauses = &self.context.counters.wal_reset_pauses;
        pauses.fetch_add(u64::from(is_new), Ordering::Relaxed);
        is_new
    }

    /// Makes a checkpoint for a caller.
    pub(super) fn checkpoint_for(&mut self, job: CheckpointJob) {
        let checkpointed = self.context.location.health.check();
        let checkpointed = checkpointed.and_then(|()| self.checkpoint_in_pause(job.how, limits::READ_PAUSE));
        if checkpointed.as_ref().is_ok_and(|done| !done.busy) {
            self.context.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
        (job.done)(checkpointed);
    }

    /// Makes a checkpoint that readers may prevent, while new reads are held back. Waits for no lock of other processes, and for
    /// readers no longer than the pause may take.
    fn checkpoint_in_pause(&mut self, how: Checkpoint, time: Duration) -> Result<Checkpointed> {
        self.connection.release_read();
        let WriterContext {
            readers,
            background,
            connections,
            ..
        } = &self.context;
        let EngineConnection { sqlite, guard, .. } = &self.connection;
        let checkpoint = |how| guard.interrupt.without_waiting(|| sqlite.checkpoint("main", how));
        let checkpoint_alone = || connections.inline().in_pause(time, || checkpoint(how));
        let done = background.in_pause(time, || readers.in_pause(time, checkpoint_alone));
        let done = done.flatten().flatten().unwrap_or_else(|| {
            let copied = checkpoint(Checkpoint::Passive)?;
            Ok(Checkpointed { busy: true, ..copied })
        });
        let done = done.map_err(Error::from);
        self.context.counters.note_sync(&done);
        let resets = matches!(how, Checkpoint::Restart | Checkpoint::Truncate);
        if resets && done.as_ref().is_ok_and(|done| !done.busy) {
            self.log_is_empty();
        }
        done
    }

    pub(super) fn log_is_empty(&self) {
        self.wal.pages.set(0);
        self.wal.checkpointed.set(0);
        self.context.counters.wal_pages.store(0, Ordering::Relaxed);
    }

    /// Writes the logs again if a failed sync may have lost part of them. Called before a write of full durability.
    pub(super) fn restore_doubtful_logs(&mut self) -> Result<()> {
        if !self.context.counters.sync_failed.load(Ordering::Relaxed) {
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
