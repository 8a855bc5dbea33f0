//! Jobs of the log of entries, which the writer serves between its transactions.

use crate::{
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        position::Position,
    },
    entries::{Entry, EntryBase, EntryGate, Head},
    requests::feed::FeedRequest,
    writer::{HookJob, WriteJob},
};

/// A job of the log of entries.
pub(crate) enum LogJob {
    /// A request to set another entry gate, or none. Answered with the head at which it begins.
    Gate {
        gate: Option<Box<dyn EntryGate>>,
        done: JobDone<Head>,
    },
    /// A question for the head. Before the first entry, it can also give the base that this entry will follow. Answered with
    /// the head.
    Head {
        base: Option<EntryBase>,
        done: JobDone<Head>,
    },
    /// An entry of another copy of the database. Answered with the id of the commit, which may have further entries.
    Apply { entry: Entry, done: JobDone<CommitId> },
    /// A request to change feeds. Answered with a position.
    Feed {
        request: FeedRequest,
        done: JobDone<Position>,
    },
    /// A search for commits of programs that keep no feeds, if the feed of this name is there. Answered with `false` if another
    /// process has the lock, so that nothing could be found out.
    LookForExternal { name: String, done: JobDone<bool> },
}

/// Takes the answer to a job.
pub(super) type JobDone<T> = Box<dyn FnOnce(Result<T>) + Send>;

impl From<LogJob> for WriteJob {
    fn from(job: LogJob) -> Self {
        Self::Hook(Box::new(job))
    }
}

impl HookJob for LogJob {
    /// Returns the bytes of an entry that is to be applied; `None` for other jobs.
    fn shared_bytes(&self) -> Option<usize> {
        match self {
            Self::Apply { entry, .. } => Some(entry.as_bytes().len()),
            _ => None,
        }
    }

    fn fail(self: Box<Self>, error: Error) {
        match *self {
            Self::Gate { done, .. } | Self::Head { done, .. } => done(Err(error)),
            Self::Apply { done, .. } => done(Err(error)),
            Self::Feed { done, .. } => done(Err(error)),
            Self::LookForExternal { done, .. } => done(Err(error)),
        }
    }
}
