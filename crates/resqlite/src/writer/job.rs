//! The jobs of the writer.

use std::sync::Arc;

use resqlite_sqlite::{Checkpoint, Checkpointed, Key};

use crate::{
    connection::engine_connection::EngineConnection,
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        options::Durability,
    },
    entries::{Entry, EntryBase, EntryGate, Position},
    requests::{
        feed::FeedWork,
        request::{ReplyGuard, TransactionOptions, Write},
        session::Inbox,
    },
};

/// A job of the writer.
pub(crate) enum WriteJob {
    Write(Write, ReplyGuard),
    Begin(Begin),
    /// Inspects the writer's connection between two transactions. Dropped if the writer has no connection.
    Inspect(Box<dyn FnOnce(&mut EngineConnection) + Send>),
    Checkpoint(CheckpointJob),
    Rekey(RekeyJob),
    Gate(GateJob),
    Position(PositionJob),
    Apply(ApplyJob),
    Feed(FeedJob),
}

/// A checkpoint that a caller asked for.
pub(crate) struct CheckpointJob {
    pub(crate) how: Checkpoint,
    pub(crate) done: Box<dyn FnOnce(Result<Checkpointed>) + Send>,
}

/// A change of the key.
pub(crate) struct RekeyJob {
    pub(crate) key: Key,
    pub(crate) done: Box<dyn FnOnce(Result<()>) + Send>,
}

/// Another entry gate, or none. Answered with the position at which it begins.
pub(crate) struct GateJob {
    pub(crate) gate: Option<Box<dyn EntryGate>>,
    pub(crate) done: Box<dyn FnOnce(Result<Position>) + Send>,
}

/// A question for the position; or before the first entry, what that will follow. Answered with the position.
pub(crate) struct PositionJob {
    pub(crate) base: Option<EntryBase>,
    pub(crate) done: Box<dyn FnOnce(Result<Position>) + Send>,
}

/// An entry of another copy of the database. Answered with the number of the commit, which may have further entries.
pub(crate) struct ApplyJob {
    pub(crate) entry: Entry,
    pub(crate) done: Box<dyn FnOnce(Result<CommitId>) + Send>,
}

/// Work on change feeds. Answered with a position.
pub(crate) struct FeedJob {
    pub(crate) work: FeedWork,
    pub(crate) done: Box<dyn FnOnce(Result<u64>) + Send>,
}

impl WriteJob {
    /// Whether it must find the connection as it is set up outside of [`ApplyJob`]s.
    pub(crate) fn writes_as_always(&self) -> bool {
        !matches!(
            self,
            Self::Apply(_) | Self::Inspect(_) | Self::Checkpoint(_) | Self::Feed(_)
        )
    }

    /// Whether it is a write. Writes release the held read themselves, when they begin.
    pub(super) fn begins_a_write(&self) -> bool {
        matches!(self, Self::Write(..) | Self::Begin(_))
    }

    pub(crate) fn fail(self, error: Error) {
        match self {
            Self::Write(_, reply) => reply.fail(error),
            Self::Begin(begin) => {
                begin.inbox.end(Some(error.clone()));
                begin.opened.fail(error);
            }
            Self::Inspect(inspect) => drop(inspect),
            Self::Checkpoint(job) => (job.done)(Err(error)),
            Self::Rekey(job) => (job.done)(Err(error)),
            Self::Gate(job) => (job.done)(Err(error)),
            Self::Position(job) => (job.done)(Err(error)),
            Self::Apply(job) => (job.done)(Err(error)),
            Self::Feed(job) => (job.done)(Err(error)),
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        match self {
            Self::Write(write, _) => write.token.is_cancelled(),
            Self::Begin(begin) => begin.inbox.scope.is_cancelled(),
            Self::Inspect(_)
            | Self::Checkpoint(_)
            | Self::Rekey(_)
            | Self::Gate(_)
            | Self::Position(_)
            | Self::Apply(_)
            | Self::Feed(_) => false,
        }
    }
}

/// A transaction that waits for the writer.
pub(crate) struct Begin {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) options: TransactionOptions,
    pub(crate) durability: Durability,
    pub(crate) opened: ReplyGuard,
}
