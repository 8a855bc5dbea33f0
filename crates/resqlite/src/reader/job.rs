//! The jobs of reader threads.

use std::{sync::Arc, time::Duration};

use super::{any::AnyStatement, lease::Lease, reading::Reader};
use crate::{
    core::error::{Error, Result},
    dependencies::Explanation,
    requests::request::{Query, ReplyGuard},
};

/// A job of a reader thread.
pub(crate) enum Job {
    Read(Query, ReplyGuard),
    Any(Box<AnyStatement>),
    Describe(Arc<str>, ReplyGuard),
    Lease(Lease),
    Explain(Query, Box<dyn FnOnce(Result<Explanation>) + Send>),
    /// A job of another room.
    Other(Arc<dyn ReaderJob>),
}

/// A job that a later room gives to a reader. It is shared, so that a frequent job needs no allocation.
pub(crate) trait ReaderJob: Send + Sync {
    /// Does the job.
    fn run(self: Arc<Self>, reader: &mut Reader);

    /// Called instead of [`run`](Self::run) if there is no reader for it.
    fn fail(self: Arc<Self>, error: Error);

    /// Whether it was cancelled.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Job {
    pub(super) fn fail(self, error: Error) {
        match self {
            Self::Read(_, reply) | Self::Describe(_, reply) => reply.fail(error),
            Self::Any(any) => any.reply.fail(error),
            Self::Lease(lease) => lease.fail(error),
            Self::Explain(_, done) => done(Err(error)),
            Self::Other(job) => job.fail(error),
        }
    }

    /// How long a lease has waited; zero for other jobs, which relief ignores.
    pub(super) fn waits_for(&self) -> Duration {
        match self {
            Self::Lease(lease) => lease.asked.elapsed(),
            Self::Read(..) | Self::Any(_) | Self::Describe(..) | Self::Explain(..) | Self::Other(_) => {
                Duration::ZERO
            }
        }
    }

    /// The distance of a lease from the last step of an idle session before it, in numbers of what callers ask of sessions. `None`
    /// if there is no such step. `idle_since`: the numbers of the last steps of all idle sessions.
    pub(super) fn follows(&self, idle_since: &[u64]) -> Option<u64> {
        let Self::Lease(lease) = self else { return None };
        let steps = idle_since.iter();
        steps
            .filter_map(|step| lease.inbox.asked.checked_sub(*step))
            .min()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        match self {
            Self::Read(query, _) => query.token.is_cancelled(),
            Self::Lease(lease) => lease.inbox.scope.is_cancelled(),
            Self::Any(any) => any.query.token.is_cancelled(),
            Self::Describe(..) | Self::Explain(..) => false,
            Self::Other(job) => job.is_cancelled(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::{
        requests::{
            request::{Outcome, Reply},
            session::Session,
        },
        rows::{ColumnLayout, RowBatch},
    };

    struct Unheard;

    impl Reply for Unheard {
        fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
            false
        }

        fn finish(self: Box<Self>, _: Result<Outcome<'_>>) {}
    }

    fn lease() -> Job {
        Job::Lease(Lease {
            inbox: Session::new().inbox.clone(),
            cursor: None,
            opened: ReplyGuard::new(Box::new(Unheard)),
            asked: Instant::now(),
        })
    }

    #[test]
    fn a_lease_follows_the_last_step_of_a_session_if_it_was_asked_for_after_it() {
        let session = Session::new();
        let before = lease();
        session.describe("SELECT 1".into(), Box::new(Unheard));
        let (next, later) = (lease(), lease());
        let idle_since = [session
            .inbox
            .last_asked
            .load(std::sync::atomic::Ordering::Relaxed)];
        assert_eq!(before.follows(&idle_since), None);
        assert!(next.follows(&idle_since).unwrap() < later.follows(&idle_since).unwrap());
        assert_eq!(next.follows(&[]), None, "no session is idle");
    }
}
