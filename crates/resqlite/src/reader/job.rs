//! The jobs of reader threads.

use std::{sync::Arc, time::Duration};

use super::{any::AnyStatement, lease::Lease, reading::Reader};
use crate::{
    core::error::{Error, Result},
    maintain::Explanation,
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

    /// The number of requests from the nearest of those before it to a lease; `None` if all come later.
    pub(super) fn distance_from(&self, requests: &[u64]) -> Option<u64> {
        let Self::Lease(lease) = self else { return None };
        let distances = requests
            .iter()
            .filter_map(|request| lease.inbox.opening.checked_sub(*request));
        distances.min()
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
    use std::{sync::atomic::Ordering::Relaxed, time::Instant};

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
    fn a_lease_has_a_distance_from_a_request_that_came_before_it() {
        let session = Session::new();
        let before = lease();
        session.describe("SELECT 1".into(), Box::new(Unheard));
        let (next, later) = (lease(), lease());
        let request = [session.inbox.last_request.load(Relaxed)];
        assert_eq!(before.distance_from(&request), None);
        assert!(next.distance_from(&request).unwrap() < later.distance_from(&request).unwrap());
        assert_eq!(next.distance_from(&[]), None);
    }
}
