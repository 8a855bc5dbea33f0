//! Asking the writer whether a commit was an external one.

use std::sync::Arc;

use crate::{
    connection::{engine_connection::EngineConnection, schema_epoch::SchemaEpoch, versions::Versions},
    core::{
        error::Result,
        sync::{
            Mutex,
            atomic::{AtomicBool, Ordering},
            lock,
        },
    },
};

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::live) enum Found {
    ExternalCommit,
    Nothing,
    /// The writer's connection could not be inspected.
    Unknown,
}

/// A callback that gets the result of a check, on any thread.
pub(in crate::live) type Answer = Box<dyn FnOnce(Found) + Send>;

/// The checks of a file.
pub(super) struct Checks {
    epoch: Arc<SchemaEpoch>,
    /// A look waits for a check.
    is_pending: AtomicBool,
    /// The versions on the writer's connection at the last check.
    versions: Mutex<Versions>,
}

/// A check that waits for the writer. If it is dropped unanswered, the answer is [`Found::Unknown`].
pub(super) struct Check {
    checks: Arc<Checks>,
    answer: Option<Answer>,
}

impl Checks {
    pub(super) fn new(epoch: Arc<SchemaEpoch>) -> Arc<Self> {
        Arc::new(Self {
            epoch,
            is_pending: AtomicBool::new(false),
            versions: Mutex::default(),
        })
    }

    /// Returns SQLite's counts of commits by connections other than this one.
    pub(super) fn versions(&self, connection: &mut EngineConnection) -> Result<Versions> {
        Versions::of_data(self.epoch.attached_names(), |sql| connection.internal(sql))
    }

    /// Takes all commits after these versions for external ones from now on.
    pub(super) fn begin_with(&self, versions: Versions) {
        *lock(&self.versions) = versions;
    }

    pub(super) fn is_pending(&self) -> bool {
        self.is_pending.load(Ordering::Acquire)
    }

    /// Begins a check. Returns `false` if one is pending already.
    pub(super) fn may_begin(&self) -> bool {
        !self.is_pending.swap(true, Ordering::AcqRel)
    }

    /// In a turn of the writer: compares the versions of its connection with those at the last check.
    pub(super) fn look(&self, connection: &mut EngineConnection) -> Found {
        // If the versions cannot be read, there may have been a commit.
        let now = self.versions(connection).unwrap_or_default();
        let mut known = lock(&self.versions);
        let is_external = now != *known || now.is_unknown();
        *known = now;
        drop(known);
        if !is_external {
            return Found::Nothing;
        }
        self.epoch.names_changed();
        Found::ExternalCommit
    }

    pub(super) fn check(self: &Arc<Self>, answer: Answer) -> Check {
        Check {
            checks: Arc::clone(self),
            answer: Some(answer),
        }
    }
}

impl Check {
    /// Makes the check, in a turn of the writer.
    pub(super) fn inspect(self, connection: &mut EngineConnection) {
        let found = self.checks.look(connection);
        self.finish(found);
    }

    pub(super) fn finish(mut self, found: Found) {
        if let Some(answer) = self.answer.take() {
            answer(found);
        }
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.checks.is_pending.store(false, Ordering::Release);
        if let Some(answer) = self.answer.take() {
            answer(Found::Unknown);
        }
    }
}
