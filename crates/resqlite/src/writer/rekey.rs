//! Changing the key of an encrypted database.
//!
//! SQLite writes every page to the write-ahead log under the new key, in one transaction. Until its commit, the file and the log
//! are readable with the old key. From then on every page is in the log and readable with the new key, whatever has been copied
//! into the file. So after a crash at any time, one key opens everything.
//!
//! When the new key is committed, no page in the log may be under the old key: whoever reads or copies such a page would mistake it
//! for damaged. So the log is emptied first. This fails while another process reads from the log. In this process, nobody reads
//! meanwhile, and afterwards every connection takes the new key before its next read.

use std::sync::atomic::Ordering;

use resqlite_sqlite::{Checkpoint, Key};

use super::{job::RekeyJob, writing::Writing};
use crate::core::{
    error::{Error, Result},
    options::Durability,
};

impl Writing {
    pub(super) fn rekey(&mut self, job: RekeyJob) {
        (job.done)(self.try_to_rekey(&job.key));
    }

    fn try_to_rekey(&mut self, key: &Key) -> Result<()> {
        let context = self.context.clone();
        context.location.health.check()?;
        if let Some(reason) = self.reason_to_refuse() {
            return Err(self.key_stays(reason));
        }
        let time = context.settings.busy_timeout;
        let changed = context.background.in_pause(time, || {
            let changed = context.readers.in_pause(time, || {
                let inline = context.connections.inline();
                inline.in_pause(time, || {
                    context
                        .leases
                        .while_none_is_open(|| self.change_key(key))
                        .unwrap_or_else(|| Err(self.key_stays("a snapshot or an iterator is open")))
                })
            });
            changed
                .flatten()
                .unwrap_or_else(|| Err(self.key_stays("a query runs for too long")))
        });
        changed.unwrap_or_else(|| Err(self.key_stays("a live query runs for too long")))
    }

    fn reason_to_refuse(&self) -> Option<&'static str> {
        if !self.context.location.encryption.is_on() {
            return Some("the database has none, and cannot be encrypted in place");
        }
        if !self.context.epoch.has_no_attachments() {
            return Some("databases are attached, and their keys would not change");
        }
        let copies = self.context.counters.copies.load(Ordering::SeqCst);
        (copies > 0).then_some("a backup is under way")
    }

    fn key_stays(&self, reason: &str) -> Error {
        Error::EncryptionKey {
            path: self.context.location.display_path().into(),
            reason: format!("the key stays as it was: {reason}"),
        }
    }

    /// Changes the key while no other connection of this process reads.
    fn change_key(&mut self, key: &Key) -> Result<()> {
        self.restore_doubtful_logs()?;
        // The caller may throw the old key away afterwards, so no power cut may bring it back.
        self.set_synchronous(Durability::Full)?;
        if self.empty_log()? {
            return Err(self.key_stays("another process reads the database"));
        }
        let changed = self
            .connection
            .as_internal(|connection| connection.change_key(key));
        let changed = changed.map_err(Error::from);
        self.context.counters.note_sync(&changed);
        changed.map_err(|error| self.connection.explain_error(error))?;
        self.context.location.encryption.replace(key.clone());
        self.context.epoch.key_changed();
        // The log holds everything. If it cannot be emptied now, a later checkpoint empties it.
        let _ = self.empty_log();
        Ok(())
    }

    /// Copies the whole log into the file and truncates the log. Returns whether another connection prevented this.
    fn empty_log(&mut self) -> Result<bool> {
        self.connection.guard.interrupt.reset_busy_timer();
        let done = self.connection.sqlite.checkpoint("main", Checkpoint::Truncate);
        let done = done.map_err(Error::from);
        self.context.counters.note_sync(&done);
        let busy = done?.busy;
        if !busy {
            self.log_is_empty();
        }
        Ok(busy)
    }
}
