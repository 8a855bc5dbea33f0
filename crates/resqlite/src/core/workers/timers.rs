//! Timers: objects that wait for a time.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Instant,
};

/// An object that waits for a time.
pub(crate) trait Timed: Send + Sync {
    /// Notes that the time has come. Called by the watcher, for which others wait.
    fn is_due(self: Arc<Self>);
}

/// The timers by their times. Timers of the same time are in the order in which they were added.
#[derive(Default)]
pub(super) struct Timers {
    waiting: BTreeMap<(Instant, u64), Weak<dyn Timed>>,
    added: u64,
}

impl Timers {
    /// Adds a timer, and returns whether it is the next one.
    pub(super) fn add(&mut self, due: Instant, timed: Weak<dyn Timed>) -> bool {
        self.added += 1;
        let is_next = self.next().is_none_or(|next| due < next);
        self.waiting.insert((due, self.added), timed);
        is_next
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|(&(due, _), _)| due)
    }

    /// Takes the timers whose time has come.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Weak<dyn Timed>> {
        let later = self.waiting.split_off(&(now, u64::MAX));
        std::mem::replace(&mut self.waiting, later)
            .into_values()
            .collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
