//! When the write-ahead log is copied into the database file, and how it is kept from growing without end.

use std::sync::{Arc, atomic::Ordering};

use resqlite_sqlite::Checkpoint;

use super::thread::Writer;
use crate::limits;

/// Commits between two attempts to hold readers back when the first was in vain.
const RESTART_PAUSE_COMMITS: u32 = 100;

impl Writer {
    /// Called after writes were answered, so that no caller waits for it.
    pub(super) fn checkpoint_if_due(&mut self) {
        if self.log_lost {
            return;
        }
        self.checkpoint_attached();
        let pages = self.wal_pages.get();
        self.parts.counters.wal_pages.store(pages, Ordering::Relaxed);
        if pages < self.checkpointed {
            // The log has started anew since.
            self.checkpointed = 0;
        }
        if pages - self.checkpointed >= limits::WAL_CHECKPOINT_PAGES {
            self.checkpoint_passive(pages);
        }
        // While a snapshot or a cursor is open the log cannot start anew, and holding readers back would be in vain.
        self.restart_pause = self.restart_pause.saturating_sub(1);
        if pages >= limits::WAL_RESTART_PAGES
            && self.restart_pause == 0
            && self.parts.leases.status().busy == 0
        {
            self.restart_log();
        }
    }

    fn checkpoint_attached(&mut self) {
        let grown = std::mem::take(&mut *self.attached_logs.borrow_mut());
        for schema in grown {
            // As for the main database: what fails now is tried again after a later commit.
            let _ = self
                .statements
                .connection
                .checkpoint(&schema, Checkpoint::Passive);
        }
    }

    /// Copies what no reader stands in the way of. When all is copied and no reader looks into the log, the next
    /// commit starts it anew.
    fn checkpoint_passive(&mut self, pages: u32) {
        self.checkpointed = pages;
        // An I/O error here loses nothing; the next commit will report what lasts.
        if self
            .statements
            .connection
            .checkpoint("main", Checkpoint::Passive)
            .is_ok()
        {
            self.parts.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Readers that follow each other without a gap keep the log from starting anew: hold new ones back for a moment.
    fn restart_log(&mut self) {
        let guard = self.statements.guard.clone();
        let (readers, reruns) = (Arc::clone(&self.parts.readers), Arc::clone(&self.parts.reruns));
        let connection = &self.statements.connection;
        let truncate = || guard.without_waiting(|| connection.checkpoint("main", Checkpoint::Truncate));
        let done = readers.in_gap(limits::READER_GAP, || reruns.in_gap(limits::READER_GAP, truncate));
        if let Some(Some(Ok(_))) = done {
            self.parts.counters.reader_gaps.fetch_add(1, Ordering::Relaxed);
            self.wal_pages.set(0);
            self.checkpointed = 0;
        } else {
            // A reader of another process, or one here that takes long: not again before the next commits.
            self.restart_pause = RESTART_PAUSE_COMMITS;
        }
    }
}
