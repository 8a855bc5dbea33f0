//! Asking the writer whether a commit was an external one.

use std::sync::{Arc, atomic::Ordering};

use super::ExternalWatch;
use crate::{
    connection::{engine_connection::EngineConnection, schema_epoch::SchemaEpoch, versions::Versions},
    core::{error::Result, sync::lock},
};

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::live) enum Found {
    ExternalCommit,
    Nothing,
    /// The writer's connection could not be inspected.
    Unknown,
}

/// Gets the result of a check, on any thread.
pub(in crate::live) type Answer = Box<dyn FnOnce(Found) + Send>;

pub(super) fn data_versions(connection: &mut EngineConnection, epoch: &SchemaEpoch) -> Result<Versions> {
    Versions::of_data(epoch.attached_names(), |sql| connection.internal(sql))
}

/// A check that waits for the writer. If it is dropped unanswered, nothing is known.
pub(super) struct Check {
    watch: Arc<ExternalWatch>,
    answer: Option<Answer>,
}

impl Check {
    pub(super) fn new(watch: Arc<ExternalWatch>, answer: Answer) -> Self {
        let answer = Some(answer);
        Self { watch, answer }
    }

    /// In a turn of the writer: compares the versions of its connection with those of the last time.
    pub(super) fn inspect(self, connection: &mut EngineConnection) {
        // If the versions cannot be read, there may have been a commit.
        let versions = data_versions(connection, &self.watch.epoch).unwrap_or_default();
        let mut known = lock(&self.watch.writer_versions);
        let external = versions != *known || versions.is_unknown();
        *known = versions;
        drop(known);
        if external {
            self.watch.epoch.names_changed();
            self.finish(Found::ExternalCommit);
        } else {
            self.finish(Found::Nothing);
        }
    }

    pub(super) fn finish(mut self, found: Found) {
        if let Some(answer) = self.answer.take() {
            answer(found);
        }
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.watch.asking.store(false, Ordering::Release);
        if let Some(answer) = self.answer.take() {
            answer(Found::Unknown);
        }
    }
}
