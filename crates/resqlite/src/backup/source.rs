//! The state that is copied.

use std::sync::atomic::Ordering;

use super::log;
use crate::{
    connection::{engine_connection::EngineConnection, open::open},
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        options::Checkpoints,
    },
    guard::authorizer::Role,
    writer::WriterContext,
};

/// One committed state, held by a read transaction. As long as the source lives, the log cannot be reset, and grows. Dropping the source
/// copies the log that has gathered into the file, so that the writer need not do so.
pub(super) struct Source<'a> {
    connection: EngineConnection,
    commit: CommitId,
    /// Dropped last: until then the writer makes no checkpoints.
    _log: HeldLog<'a>,
}

impl<'a> Source<'a> {
    pub(super) fn open(parts: &'a WriterContext) -> Result<Self> {
        parts.location.health.check()?;
        let log = HeldLog::hold(parts);
        let mut connection = open(&parts.location, &parts.settings, Role::Reader, |_| ())?;
        let commit = parts.commits.last_id();
        connection.internal("BEGIN")?;
        connection.take_snapshot()?;
        Ok(Self {
            connection,
            commit,
            _log: log,
        })
    }

    pub(super) fn connection(&self) -> &resqlite_sqlite::Connection {
        &self.connection.sqlite
    }

    /// Returns the number of a commit: the state contains this commit and all before it.
    pub(super) fn commit(&self) -> CommitId {
        self.commit
    }

    /// Returns the size of the database.
    pub(super) fn bytes(&self) -> Result<u64> {
        Ok(self.number("PRAGMA page_count")? * self.number("PRAGMA page_size")?)
    }

    fn number(&self, pragma: &str) -> Result<u64> {
        let text = self.connection().query_text(pragma)?;
        text.and_then(|text| text.parse().ok())
            .ok_or_else(|| Error::Statement(format!("{pragma} gave no number")))
    }
}

/// Keeps the writer from making checkpoints. They would be of no use while the snapshot is held, and would take long afterwards.
struct HeldLog<'a>(&'a WriterContext);

impl<'a> HeldLog<'a> {
    fn hold(parts: &'a WriterContext) -> Self {
        parts.counters.copies.fetch_add(1, Ordering::SeqCst);
        Self(parts)
    }
}

impl Drop for HeldLog<'_> {
    fn drop(&mut self) {
        let settings = &self.0.settings;
        if !settings.read_only && settings.checkpoints != Checkpoints::Manual {
            // If this fails, the writer tries again and reports the error.
            let _ = log::catch_up(self.0);
        }
        self.0.counters.copies.fetch_sub(1, Ordering::SeqCst);
    }
}
