//! The caller's end of a live query.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use resqlite_live::LiveQueryId;

use super::{
    coordinator::LiveCoordinator,
    live_query::LiveQuery,
    request::{Listener, LiveQueryRequest},
    stats::StreamStats,
};

/// An open live query. Dropping it ends it; a call of its listener that is under way is finished.
pub struct Subscription {
    pub(super) coordinator: Arc<LiveCoordinator>,
    /// Copy of `live_query.id`, so that `delivered` need not touch the query's cache line.
    id: LiveQueryId,
    pub(super) live_query: Arc<LiveQuery>,
}

impl Subscription {
    /// Begins a live query.
    pub(crate) fn begin(
        coordinator: &Arc<LiveCoordinator>,
        request: LiveQueryRequest,
        listener: Box<dyn Listener>,
    ) -> Self {
        let live_query = coordinator.begin(request, listener);
        Self {
            coordinator: Arc::clone(coordinator),
            id: live_query.id,
            live_query,
        }
    }

    /// Confirms that the last emission or error has arrived, so that the next may follow. Until then the query
    /// does not run again, so there is never more than one on its way.
    pub fn delivered(&self) {
        Self::all_delivered([self]);
    }

    /// Like [`delivered`](Self::delivered) for several queries, which is quicker than one by one.
    pub fn all_delivered<'a>(subscriptions: impl IntoIterator<Item = &'a Self>) {
        let mut subscriptions = subscriptions.into_iter().peekable();
        while let Some(coordinator) = subscriptions.peek().map(|first| &first.coordinator) {
            let same = std::iter::from_fn(|| {
                subscriptions.next_if(|next| Arc::ptr_eq(&next.coordinator, coordinator))
            });
            coordinator.delivered(same.map(|subscription| subscription.id));
        }
    }

    /// Calls `done` once, as soon as the listener has got a result, or an error, that shows every commit of this engine before
    /// this call, or the query has ended. `done` may be called during this call. The emission itself need not be delivered yet.
    pub fn when_caught_up(&self, done: Box<dyn FnOnce() + Send>) {
        self.coordinator.when_caught_up(self.id, done);
    }

    /// The number of emissions so far, if it is known that the last one, or the error after it, shows all that is committed now.
    pub fn caught_up_with(&self) -> Option<u64> {
        let is_caught_up = self.coordinator.is_caught_up(self.id);
        is_caught_up.then(|| self.live_query.counters.emitted.load(Relaxed))
    }

    /// Numbers about the query.
    pub fn stats(&self) -> StreamStats {
        self.coordinator.stats(&self.live_query)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.coordinator.end(&self.live_query);
    }
}
