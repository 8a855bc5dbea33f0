//! The listener's end of a live query.

use std::sync::Arc;

use resqlite_live::StreamId;

use super::{Hub, StreamStats, stream::Stream};

/// An open live query. Dropping it ends it; a call of its listener that is under way is finished.
pub struct Subscription {
    hub: Arc<Hub>,
    /// That of the stream; read often, and by a thread that reads nothing else of it.
    id: StreamId,
    stream: Arc<Stream>,
}

impl Subscription {
    pub(super) fn new(hub: Arc<Hub>, stream: Arc<Stream>) -> Self {
        Self {
            hub,
            id: stream.id,
            stream,
        }
    }

    /// Whoever consumes the emissions has taken the last one, or an error; the next may come. Until then the query
    /// does not run again, so there is never more than one on its way.
    pub fn delivered(&self) {
        Self::all_delivered([self]);
    }

    /// The same for several queries, which is quicker than one by one.
    pub fn all_delivered<'a>(subscriptions: impl IntoIterator<Item = &'a Self>) {
        let mut subscriptions = subscriptions.into_iter().peekable();
        while let Some(hub) = subscriptions.peek().map(|first| &first.hub) {
            let same = std::iter::from_fn(|| subscriptions.next_if(|next| Arc::ptr_eq(&next.hub, hub)));
            hub.delivered(same.map(|subscription| subscription.id));
        }
    }

    /// Numbers about the query.
    pub fn stats(&self) -> StreamStats {
        self.hub.stats(&self.stream)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.end(&self.stream);
    }
}
