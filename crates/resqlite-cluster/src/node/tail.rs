//! What the log tells, as it comes.

use std::sync::Arc;

use futures_util::StreamExt;

use super::Node;
use crate::{
    core::{log::LogError, options::RETRY},
    protocol::Source,
};

/// How far the tail may be ahead of the database.
const AHEAD_MAX: u64 = 1024;

impl Node {
    /// Reads the log from where the database is, for as long as the node runs.
    pub(super) async fn follow(self: Arc<Self>) {
        let mut purged = None;
        loop {
            // From the last entry that is here: if another stands there, the histories differ.
            let applied = *self.applied.borrow();
            let from = if purged == Some(applied + 1) {
                applied + 1
            } else {
                applied.max(1)
            };
            purged = self.follow_from(from).await;
            if let Some(first) = purged.filter(|first| *first > applied + 1) {
                self.tell(|state, _| state.protocol.purged(first));
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Reads until the tail must be begun anew; returns where the log begins if it was purged.
    async fn follow_from(self: &Arc<Self>, from: u64) -> Option<u64> {
        let mut tail = self.log.tail(from);
        loop {
            let next = tokio::select! {
                next = tail.next() => next?,
                () = self.restart_tail.notified() => return None,
            };
            match next {
                Ok((position, bytes)) => {
                    self.tell(|state, now| state.has_read(now, Source::Tail, position, bytes));
                    let mut applied = self.applied.subscribe();
                    let near = applied.wait_for(|applied| applied + AHEAD_MAX > position);
                    tokio::select! {
                        near = near => drop(near.ok()?),
                        () = self.restart_tail.notified() => return None,
                    }
                }
                Err(LogError::Purged { first }) => return Some(first),
                Err(_) => return None,
            }
        }
    }
}
