//! The jobs of readers.

use std::sync::Arc;

use super::{any::AnyStatement, reading::Reader};
use crate::{
    core::{
        error::{Error, Result},
        workers::Turn,
    },
    maintain::Explanation,
    requests::request::{Query, ReplyGuard},
};

/// A job of a reader.
pub(crate) enum Job {
    Read(Query, ReplyGuard),
    Any(Box<AnyStatement>),
    Describe(Arc<str>, ReplyGuard),
    Explain(Query, Box<dyn FnOnce(Result<Explanation>) + Send>),
    /// A job of another room.
    Other(Arc<dyn ReaderJob>),
}

/// A job that a later room gives to a reader. It is shared, so that a frequent job needs no allocation.
pub(crate) trait ReaderJob: Send + Sync {
    /// Does the job, in this turn.
    fn run(self: Arc<Self>, reader: &mut Reader, turn: &Turn<'_>);

    /// Called instead of [`run`](Self::run) if there is no reader for the job.
    fn fail(self: Arc<Self>, error: Error);

    /// Returns whether the job was cancelled.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Job {
    pub(super) fn fail(self, error: Error) {
        match self {
            Self::Read(_, reply) | Self::Describe(_, reply) => reply.fail(error),
            Self::Any(any) => any.reply.fail(error),
            Self::Explain(_, done) => done(Err(error)),
            Self::Other(job) => job.fail(error),
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        match self {
            Self::Read(query, _) => query.token.is_cancelled(),
            Self::Any(any) => any.query.token.is_cancelled(),
            Self::Describe(..) | Self::Explain(..) => false,
            Self::Other(job) => job.is_cancelled(),
        }
    }
}
