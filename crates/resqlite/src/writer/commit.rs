//! BEGIN, COMMIT and ROLLBACK of the writer, and what the engine must know of them.

use std::time::Instant;

use resqlite_live::fault::planted;
use resqlite_sqlite::{codes, locks_survive_other_copies};

use super::Writer;
use crate::{
    connection::{schema_epoch::SchemaVersions, schemas},
    core::{
        error::{Error, Result},
        profile,
    },
};

impl Writer {
    /// Begins a transaction that holds the write lock.
    pub(super) fn begin(&mut self, full: bool) -> Result<()> {
        self.parts.location.health.check()?;
        self.set_synchronous(full)?;
        self.recorder.begin(&self.commits);
        self.schema_touched = false;
        self.statistics_touched = false;
        let timer = profile::start();
        let begun = self.take_write_lock();
        profile::writer_begin(timer);
        begun
    }

    pub(super) fn take_write_lock(&mut self) -> Result<()> {
        let end = Instant::now() + self.parts.settings.busy_timeout;
        loop {
            match self.run_untimed("BEGIN IMMEDIATE") {
                // Another process committed in between: no lock to wait for, just a new start.
                Err(Error::Sqlite(error)) if error.code() == codes::BUSY_SNAPSHOT && Instant::now() < end => {
                }
                Err(Error::Sqlite(error)) if error.primary() == codes::BUSY => {
                    let gave_up = self.connection.guard.interrupt.is_cancelled();
                    return Err(if gave_up { Error::Aborted } else { locked(&error) });
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    let noticed = self.notice_external_schema();
                    if noticed.is_err() {
                        self.roll_back();
                    }
                    return noticed;
                }
            }
        }
    }

    /// Another process may have changed a schema since the last transaction. While this one holds the write lock none
    /// can, so column positions stay valid even if SQLite re-prepares.
    fn notice_external_schema(&mut self) -> Result<()> {
        let versions = SchemaVersions::read(&mut self.connection, &self.parts.epoch)?;
        if versions != self.schema_versions {
            self.recorder.forget_tables();
            self.connection.clear();
            self.parts.epoch.names_changed();
            // Makes SQLite read the schema again: not every error in a statement makes it check whether the
            // schema is out of date.
            self.connection.as_internal(schemas::touch_all)?;
            self.schema_versions = versions;
        }
        Ok(())
    }

    /// Commits; returns the number of the commit.
    pub(super) fn commit(&mut self) -> Result<u64> {
        self.commits.begins();
        self.wrote.set(false);
        let timer = profile::start();
        let committed = self.run_untimed("COMMIT");
        self.record_failed_sync(&committed);
        if let Err(error) = committed {
            let in_part = self.may_be_in_part(&error);
            return Err(if in_part {
                self.committed_in_part(&error)
            } else {
                error
            });
        }
        profile::writer_commit(timer);
        if std::mem::take(&mut self.schema_touched) {
            self.parts.epoch.names_changed();
        }
        if std::mem::take(&mut self.statistics_touched) {
            self.parts.epoch.statistics_changed();
        }
        let sequence = self.recorder.commit(&self.commits, self.wrote.get());
        if self.wrote.get() {
            self.look_after_files(self.synchronous_full || !locks_survive_other_copies())?;
        }
        Ok(sequence)
    }

    /// Before anything is acknowledged: whether others can find what was committed.
    pub(super) fn look_after_files(&mut self, always: bool) -> Result<()> {
        if !self.files.are_there(always) && !planted("deleted_log") {
            self.parts.location.health.lose();
            // What stands in a log that was deleted must not overwrite what others have written since.
            self.connection.sqlite.keep_log();
        }
        self.parts.location.health.check()
    }

    /// Whether a COMMIT that failed with this error may have been made all the same in some of several files: SQLite
    /// commits to one after the other, and takes nothing back.
    fn may_be_in_part(&self, error: &Error) -> bool {
        let refused = error
            .sqlite()
            .is_none_or(|error| error.primary() == codes::CONSTRAINT);
        !refused && !self.parts.epoch.has_no_attachments() && !planted("commit_again")
    }

    /// The log must report what may be there. It is not known what, so the write must not be tried again.
    fn committed_in_part(&mut self, error: &Error) -> Error {
        // Readers must know what names mean before they know of the commit.
        self.parts.epoch.names_changed();
        self.recorder.everything_changed();
        self.recorder.commit(&self.commits, true);
        self.roll_back();
        let message = format!("{error}; COMMIT may have reached some of the attached files, and others not");
        Error::transaction("commit", message)
    }

    /// Rolls back the open transaction, if there is one.
    pub(super) fn roll_back(&mut self) {
        self.recorder.discard();
        if !self.connection.sqlite.is_autocommit() {
            let done = self.control("ROLLBACK");
            // A connection that cannot be brought back to rest is replaced, as after any panic.
            assert!(
                self.connection.sqlite.is_autocommit(),
                "ROLLBACK failed: {done:?}"
            );
        }
    }

    /// Runs one of resqlite's own statements that manage transactions.
    pub(super) fn control(&mut self, sql: &str) -> Result<()> {
        let timer = profile::start();
        let done = self.run_untimed(sql);
        profile::writer_control(timer);
        done
    }

    /// The same, where it is timed as something else.
    fn run_untimed(&mut self, sql: &str) -> Result<()> {
        self.connection.internal(sql).map(drop)
    }

    pub(super) fn set_synchronous(&mut self, full: bool) -> Result<()> {
        if full {
            self.restore_doubtful_logs()?;
        }
        if full != self.synchronous_full && !planted("never_full") {
            let level = if full { "FULL" } else { "NORMAL" };
            self.control(&format!("PRAGMA synchronous = {level}"))?;
            self.synchronous_full = full;
        }
        Ok(())
    }
}
fn locked(error: &resqlite_sqlite::Error) -> Error {
    let message = "database is locked: another process held the write lock longer than busyTimeout";
    Error::Sqlite(resqlite_sqlite::Error::new(error.code(), message))
}
