//! When the write-ahead log is copied into the database file, and how it is kept from growing without end.

use std::sync::atomic::Ordering;

use resqlite_sqlite::Checkpoint;

use super::thread::Writer;
use crate::limits;

impl Writer {
    /// Called after writes were answered, so that no caller waits for it.
    pub(super) fn checkpoint_if_due(&mut self) {
        let pages = self.wal_pages.get();
        self.parts.counters.wal_pages.store(pages, Ordering::Relaxed);
        if pages < self.checkpointed {
            // The log has started anew since.
            self.checkpointed = 0;
        }
        if pages - self.checkpointed < limits::WAL_CHECKPOINT_PAGES {
            return;
        }
        self.checkpoint_passive(pages);
        if pages >= limits::WAL_RESTART_PAGES {
            self.restart_log();
        }
    }

    /// Copies what no reader stands in the way of. When all is copied and no reader looks into the log, the next
    /// commit starts it anew.
    fn checkpoint_passive(&mut self, pages: u32) {
        self.checkpointed = pages;
        // An I/O error here loses nothing; the next commit will report what lasts.
        if self.statements.connection.checkpoint(Checkpoint::Passive).is_ok() {
            self.parts.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Readers that follow each other without a gap keep the log from starting anew: hold new ones back for a moment.
    fn restart_log(&mut self) {
        let guard = self.statements.guard.clone();
        let readers = std::sync::Arc::clone(&self.parts.readers);
        let connection = &self.statements.connection;
        let truncate = || guard.without_waiting(|| connection.checkpoint(Checkpoint::Truncate));
        let done = readers.in_gap(limits::READER_GAP, truncate);
        if let Some(Ok(_)) = done {
            self.parts.counters.reader_gaps.fetch_add(1, Ordering::Relaxed);
            self.wal_pages.set(0);
            self.checkpointed = 0;
        }
    }
}
