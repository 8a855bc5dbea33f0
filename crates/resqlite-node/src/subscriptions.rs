//! The open live queries of a realm, and the frames of them that JavaScript has got.

use std::sync::Mutex;

use resqlite::live::{StreamStats, Subscription};

use crate::{
    frames::ReplyHeader,
    protocol::{ReplyFlags, ReplyKind},
    sync::lock,
};

/// The open live queries of a realm. Only the realm's thread uses it, so the lock is never contended.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<ByRequest>);

/// Indexed by the number of the request that opened the query. These numbers are reused, so they stay small.
type ByRequest = Vec<Option<Subscription>>;

impl Subscriptions {
    pub(crate) fn keep(&self, request: u32, subscription: Subscription) {
        // An earlier query with this number has ended. It is dropped after the lock is released.
        let _ended = self.with(|open| {
            let at = request as usize;
            if at >= open.len() {
                open.resize_with(at + 1, || None);
            }
            open[at].replace(subscription)
        });
    }

    /// The counters of a live query, if it is open.
    pub(crate) fn stats(&self, request: u32) -> Option<StreamStats> {
        self.with(|open| find(open, request).map(Subscription::stats))
    }

    /// The number of emissions of a live query, if it is open and the last emission shows all that is committed now.
    pub(crate) fn caught_up_with(&self, request: u32) -> Option<u64> {
        self.with(|open| find(open, request)?.caught_up_with())
    }

    /// Calls `done` when a live query has caught up, or at once if it is not open. The call may happen under the lock,
    /// so `done` must not use these subscriptions.
    pub(crate) fn catch_up(&self, request: u32, done: Box<dyn FnOnce() + Send>) {
        self.with(|open| match find(open, request) {
            Some(subscription) => subscription.when_caught_up(done),
            None => done(),
        });
    }

    /// Ends a live query, if it is open.
    pub(crate) fn end(&self, request: u32) {
        let _ended = self.with(|open| take(open, request));
    }

    /// Notes that JavaScript has consumed these deliveries, so that their queries may emit again.
    pub(crate) fn consumed(&self, deliveries: &[Delivery]) {
        if deliveries.is_empty() {
            return;
        }
        let _ended: Vec<_> = self.with(|open| {
            Subscription::all_delivered(deliveries.iter().filter_map(|delivery| match *delivery {
                Delivery::Value(request) => find(open, request),
                Delivery::End(_) => None,
            }));
            let ended = deliveries.iter().filter_map(|delivery| match *delivery {
                Delivery::Value(_) => None,
                Delivery::End(request) => take(open, request),
            });
            ended.collect()
        });
    }

    /// Ends all live queries.
    pub(crate) fn end_all(&self) {
        let _ended = self.with(std::mem::take);
    }

    fn with<T>(&self, action: impl FnOnce(&mut ByRequest) -> T) -> T {
        action(&mut lock(&self.0))
    }
}

fn find(open: &ByRequest, request: u32) -> Option<&Subscription> {
    open.get(request as usize)?.as_ref()
}

fn take(open: &mut ByRequest, request: u32) -> Option<Subscription> {
    open.get_mut(request as usize)?.take()
}

/// A frame of a live query that JavaScript has got and may not have consumed yet.
#[derive(Clone, Copy)]
pub(crate) enum Delivery {
    /// An emission or an error.
    Value(u32),
    /// The last frame.
    End(u32),
}

impl Delivery {
    /// Returns a frame as a delivery, if it can belong to a live query. (An error can belong to any request; a number
    /// that no live query has is ignored.)
    pub(crate) fn of(header: &ReplyHeader) -> Option<Self> {
        match header.kind {
            ReplyKind::Ok | ReplyKind::Error if header.flags.has(ReplyFlags::LAST) => {
                Some(Self::End(header.request))
            }
            ReplyKind::Emit | ReplyKind::Error => Some(Self::Value(header.request)),
            _ => None,
        }
    }

    pub(crate) fn request(self) -> u32 {
        match self {
            Self::Value(request) | Self::End(request) => request,
        }
    }
}
