//! The jobs of the writer.

use std::{any::Any, sync::Arc};

use resqlite_live::CommitNumber;
use resqlite_sqlite::{Checkpoint, Checkpointed, Key};

use crate::{
    connection::engine_connection::EngineConnection,
    core::{
        error::{Error, Result},
        options::Durability,
    },
    requests::{
        request::{ReplyGuard, TransactionOptions, Write},
        session::Inbox,
    },
};

/// A job of the writer.
pub(crate) enum WriteJob {
    Write(Write, ReplyGuard),
    Begin(Begin),
    /// Inspects the writer's connection between two transactions. The job is dropped if the writer has no connection.
    Inspect(Box<dyn FnOnce(&mut EngineConnection) + Send>),
    /// Closes the connections, if nothing was committed after this commit.
    Rest(CommitNumber),
    Checkpoint(CheckpointJob),
    Rekey(RekeyJob),
    Hook(Box<dyn HookJob>),
}

/// A job for the hook. It waits in the queue of the writer's jobs.
pub(crate) trait HookJob: Any + Send {
    /// Returns the size of the job in bytes, if it is done together with jobs of the same kind that wait behind it.
    fn shared_bytes(&self) -> Option<usize>;

    /// Replies with this error.
    fn fail(self: Box<Self>, error: Error);
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

impl WriteJob {
    /// Returns whether the job writes in the way that callers do.
    pub(super) fn writes_as_callers_do(&self) -> bool {
        matches!(self, Self::Write(..) | Self::Begin(_) | Self::Rekey(_))
    }

    /// Returns the size of the job in bytes, if it is done together with jobs of the same kind that wait behind it.
    pub(super) fn shared_bytes(&self) -> Option<usize> {
        match self {
            Self::Hook(job) => job.shared_bytes(),
            _ => None,
        }
    }

    /// Returns whether the job is a write or a transaction. Writes release the held read themselves, when they begin.
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
            Self::Rest(_) => (),
            Self::Checkpoint(job) => (job.done)(Err(error)),
            Self::Rekey(job) => (job.done)(Err(error)),
            Self::Hook(job) => job.fail(error),
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        match self {
            Self::Write(write, _) => write.token.is_cancelled(),
            Self::Begin(begin) => begin.inbox.scope.is_cancelled(),
            Self::Inspect(_) | Self::Rest(_) | Self::Checkpoint(_) | Self::Rekey(_) | Self::Hook(_) => false,
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
