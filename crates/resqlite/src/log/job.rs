//! Jobs of the log of entries, which the writer serves between its transactions.

use crate::{
    core::{
        commit_id::CommitId,
        error::{Error, Result},
    },
    entries::{Entry, EntryBase, EntryGate, Position},
    requests::feed::FeedWork,
    writer::{HookJob, WriteJob},
};

/// A job of the log of entries.
pub(crate) enum LogJob {
    /// Another entry gate, or none. Answered with the position at which it begins.
    Gate {
        gate: Option<Box<dyn EntryGate>>,
        done: JobDone<Position>,
    },
    /// A question for the position; or before the first entry, what that will follow. Answered with the position.
    Position {
        base: Option<EntryBase>,
        done: JobDone<Position>,
    },
    /// An entry of another copy of the database. Answered with the id of the commit, which may have further entries.
    Apply { entry: Entry, done: JobDone<CommitId> },
    /// Work on change feeds. Answered with a position.
    Feed { work: FeedWork, done: JobDone<u64> },
}

/// Takes the answer to a job.
pub(crate) type JobDone<T> = Box<dyn FnOnce(Result<T>) + Send>;

impl From<LogJob> for WriteJob {
    fn from(job: LogJob) -> Self {
        Self::Hook(Box::new(job))
    }
}

impl HookJob for LogJob {
    /// Entries that are applied.
    fn shared_bytes(&self) -> Option<usize> {
        match self {
            Self::Apply { entry, .. } => Some(entry.as_bytes().len()),
            _ => None,
        }
    }

    fn fail(self: Box<Self>, error: Error) {
        match *self {
            Self::Gate { done, .. } | Self::Position { done, .. } => done(Err(error)),
            Self::Apply { done, .. } => done(Err(error)),
            Self::Feed { done, .. } => done(Err(error)),
        }
    }
}
