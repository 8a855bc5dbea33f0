//! BEGIN, COMMIT and ROLLBACK of the writer, and what follows from each: schema epoch, commit log, file health.

use resqlite_live::CommitNumber;
use resqlite_sqlite::{Connection, LogPosition, codes, locks_survive_other_copies};

use super::writing::{Touched, Writing};
use crate::{
    commits::states::CommittedState,
    connection::{schemas, versions::Versions},
    core::{
        clock,
        commit_id::CommitId,
        error::{Error, Result},
        options::{Checkpoints, Durability},
        profile,
    },
    guard::effects::Effects,
};

impl Writing {
    /// Begins a transaction that holds the write lock. Returns whether the schema has changed since the last transaction. After an
    /// error the caller rolls back.
    pub(crate) fn begin(&mut self, durability: Durability) -> Result<bool> {
        self.context.location.health.check()?;
        self.set_synchronous(durability)?;
        if self.commits.changes_are_wanted() {
            self.begin_to_record_rows()?;
        }
        self.recorder.begin(&self.commits);
        self.touched = Touched {
            changes_before: self.connection.sqlite.total_changes(),
            ..Touched::default()
        };
        let timer = profile::start();
        let begun = self.take_write_lock();
        profile::writer_begin(timer);
        begun.map(|()| std::mem::take(&mut self.names_changed))
    }

    /// Records each row that changes from now on. If a transaction is open, it has changed nothing yet.
    pub(crate) fn begin_to_record_rows(&mut self) -> Result<()> {
        if self.recorder.records_rows() {
            return Ok(());
        }
        // A writer that replaces this one records rows from its first transaction on.
        self.commits.want_changes();
        self.connection.release_read();
        self.connection.clear();
        // Virtual tables keep statements of their own, with which they could empty a table unnoticed.
        self.connection.as_internal(Connection::forget_schemas)?;
        self.recorder.install(&self.connection.sqlite);
        Ok(())
    }

    pub(super) fn take_write_lock(&mut self) -> Result<()> {
        let end = clock::now() + self.context.settings.busy_timeout;
        loop {
            let (begun, was_held) = self.connection.begin_write();
            match begun {
                // Another process has committed since, or has the write lock. While a read is held, SQLite does not wait.
                Err(Error::Sqlite(error)) if was_held && error.primary() == codes::BUSY => {}
                // Another process committed after this one took its snapshot: begin again.
                Err(Error::Sqlite(error)) if error.code() == codes::BUSY_SNAPSHOT && clock::now() < end => {}
                Err(Error::Sqlite(error)) if error.primary() == codes::BUSY => {
                    let gave_up = self.connection.guard.interrupt.is_cancelled();
                    return Err(if gave_up {
                        Error::Aborted
                    } else {
                        locked(&error, "another process held the write lock")
                    });
                }
                Err(error) => return Err(error),
                // Nobody has committed since. Otherwise BEGIN would have failed.
                Ok(()) if was_held => return Ok(()),
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

    /// Notices a schema that another process has changed since the last transaction. While this process holds the write lock, no
    /// other can change one, so column positions stay valid even if SQLite re-prepares.
    fn notice_external_schema(&mut self) -> Result<()> {
        let attached = self.context.epoch.attached_names();
        let versions = Versions::of_schemas(attached, |sql| self.connection.internal(sql))?;
        if versions == self.schema_versions {
            return Ok(());
        }
        self.recorder.forget_tables();
        self.connection.clear();
        self.context.epoch.names_changed();
        // Makes SQLite read the schemas again. By itself, it does not check after every failed statement whether its copy is out of
        // date.
        self.connection.as_internal(schemas::touch_all)?;
        self.schema_versions = versions;
        self.names_changed = true;
        Ok(())
    }

    /// Commits. `id` is the commit's id for callers, if it is not the number of the commit.
    pub(crate) fn commit(&mut self, id: Option<CommitId>) -> Result<CommitId> {
        self.commits.begins();
        self.wal.wrote.set(false);
        let log_commits = self.log_commits_after();
        let own_commits = self.commits.in_main_log();
        self.hold_read();
        let timer = profile::start();
        let committed = self.run_untimed("COMMIT");
        self.context.counters.note_sync(&committed);
        if let Err(error) = committed {
            self.connection.release_read();
            return Err(match error {
                // SQLite locks all files before it writes to the first, and leaves the transaction open.
                Error::Sqlite(error)
                    if error.primary() == codes::BUSY && !self.connection.sqlite.is_autocommit() =>
                {
                    locked(&error, "a file that it changes was read")
                }
                error if self.may_be_in_part(&error) => self.committed_in_part(&error),
                error => error,
            });
        }
        profile::writer_commit(timer);
        if std::mem::take(&mut self.touched.schema) {
            self.context.epoch.names_changed();
        }
        if std::mem::take(&mut self.touched.statistics) {
            self.context.epoch.statistics_changed();
        }
        let wrote = self.wal.wrote.get() || self.has_changed_unrecorded_rows();
        let number = self.recorder.commit(&self.commits, wrote, id);
        self.last_own_commit = number;
        if self.commits.in_main_log() != own_commits {
            self.record_state(log_commits, number);
        }
        if self.wal.wrote.get() {
            self.look_after_files(self.durability == Durability::Full || !locks_survive_other_copies())?;
        }
        Ok(self.commits.id(number))
    }

    /// Returns whether the transaction has changed rows that are not recorded. These may be only rows of temporary tables, or of an
    /// attached database without a write-ahead log.
    fn has_changed_unrecorded_rows(&self) -> bool {
        !self.recorder.records_rows() && self.connection.sqlite.total_changes() != self.touched.changes_before
    }

    /// Holds the read of this transaction beyond its COMMIT, unless the read would be in the way. It would be in the way of the
    /// next BEGIN, which looks at a changed schema, and, where every row must be seen, at the commits of others. It would be in the
    /// way of re-runs, which use a reader of their own if databases are attached, and of another program that makes the
    /// checkpoints.
    fn hold_read(&mut self) {
        let may_hold = self.context.settings.checkpoints != Checkpoints::Manual
            && !self.touched.schema
            && self.context.epoch.has_no_attachments()
            && !self.recorder.has_sink();
        if may_hold {
            // If this fails, the next transaction takes its own locks.
            let _ = self.connection.hold_read();
        }
    }

    /// Returns the number of commits that the log of the main database will have had after this commit, if the number is wanted.
    fn log_commits_after(&self) -> Option<u32> {
        let before = self
            .commits
            .states
            .are_wanted()
            .then(|| self.connection.sqlite.log_commits_before());
        before.flatten().map(|before| before.wrapping_add(1))
    }

    /// Records the state of the main database that the commit with this number has made.
    fn record_state(&self, log_commits: Option<u32>, number: CommitNumber) {
        let Some(commits) = log_commits else {
            return;
        };
        let pages = self.wal.pages.get();
        self.commits.states.record(CommittedState {
            log: LogPosition { commits, pages },
            own_commits: self.commits.in_main_log(),
            number,
        });
    }

    /// Fails if the files were deleted or replaced. Call this before a commit is acknowledged, because no other process could see
    /// the commit.
    pub(super) fn look_after_files(&mut self, always: bool) -> Result<()> {
        let are_there = self.files.are_there(always);
        self.are_files_there(are_there)
    }

    /// Takes note of a check of the files. Fails if they are not there.
    pub(super) fn are_files_there(&self, are_there: bool) -> Result<()> {
        if !are_there {
            self.context.location.health.lose();
            // The frames of a deleted log must not overwrite what other processes have written since.
            self.connection.sqlite.keep_log();
        }
        self.context.location.health.check()
    }

    /// Returns whether a COMMIT that failed with this error may still have reached some of several files. SQLite commits to one
    /// file after the other, and undoes none of these commits.
    fn may_be_in_part(&self, error: &Error) -> bool {
        let refused = error
            .sqlite()
            .is_none_or(|error| error.primary() == codes::CONSTRAINT);
        !refused && !self.context.epoch.has_no_attachments()
    }

    /// Records that anything may have been committed. The write must not run again, because part of it may be in the files.
    fn committed_in_part(&mut self, error: &Error) -> Error {
        // Readers must know what names mean before they know of the commit.
        self.context.epoch.names_changed();
        self.recorder.everything_changed();
        self.recorder.commit(&self.commits, true, None);
        self.roll_back();
        // A file that was not reached may have a journal left. Readers cannot roll it back, since they may not write.
        let _ = self.connection.as_internal(schemas::touch_all);
        let message = format!("{error}; COMMIT may have reached some of the attached files, and others not");
        Error::transaction("commit", message)
    }

    /// Rolls back the open transaction, if there is one.
    pub(crate) fn roll_back(&mut self) {
        self.recorder.discard();
        self.connection.release_read();
        if !self.connection.sqlite.is_autocommit() {
            let done = self.control("ROLLBACK");
            // If ROLLBACK fails, the panic makes the writer replace this connection.
            assert!(
                self.connection.sqlite.is_autocommit(),
                "ROLLBACK failed: {done:?}"
            );
        }
        if std::mem::take(&mut self.touched.statistics) {
            // SQLite has loaded the results of ANALYZE, and keeps planning with them. If forgetting them fails, it goes on with
            // these results.
            self.connection.clear();
            let _ = self.connection.as_internal(Connection::forget_schemas);
        }
    }

    /// Finds out which tables exist, before rows of them change.
    pub(crate) fn know_tables(&self) -> Result<()> {
        self.recorder.know_tables(&self.connection.sqlite)
    }

    /// Takes note of the effects of a statement that has run, or has failed half-way.
    pub(crate) fn has_written(&mut self, effects: &Effects) {
        self.touched.statistics |= effects.statistics;
        if effects.schema {
            self.schema_changed();
        }
    }

    /// Notes that the open transaction has changed the meaning of names.
    pub(crate) fn schema_changed(&mut self) {
        self.touched.schema = true;
        self.recorder.schema_changed();
    }

    /// Runs one of resqlite's own statements for managing transactions.
    pub(crate) fn control(&mut self, sql: &str) -> Result<()> {
        let timer = profile::start();
        let done = self.run_untimed(sql);
        profile::writer_control(timer);
        done
    }

    /// Like [`control`](Self::control), for callers that time it themselves.
    fn run_untimed(&mut self, sql: &str) -> Result<()> {
        self.connection.internal(sql).map(drop)
    }

    pub(super) fn set_synchronous(&mut self, durability: Durability) -> Result<()> {
        if durability == Durability::Full {
            self.restore_doubtful_logs()?;
        }
        if durability != self.durability {
            self.control(match durability {
                Durability::Normal => "PRAGMA synchronous = NORMAL",
                Durability::Full => "PRAGMA synchronous = FULL",
            })?;
            self.durability = durability;
        }
        Ok(())
    }
}

fn locked(error: &resqlite_sqlite::Error, why: &str) -> Error {
    let message = format!("database is locked: {why} longer than the busy timeout");
    Error::Sqlite(resqlite_sqlite::Error::new(error.code(), message))
}
