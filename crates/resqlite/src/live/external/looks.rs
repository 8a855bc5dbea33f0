//! Looks at all watched files of the process together, so that an idle file costs one comparison.

use std::{
    sync::{Arc, LazyLock, Weak},
    time::{Duration, Instant},
};

use super::ExternalWatch;
use crate::core::{
    limits,
    sync::{Mutex, lock},
    workers::{Timed, Workers},
};

/// The files that are watched.
#[derive(Default)]
pub(super) struct Looks(Mutex<State>);

#[derive(Default)]
struct State {
    watches: Vec<Arc<ExternalWatch>>,
    /// The time of the next look. There is one while files are watched.
    next: Option<Instant>,
}

impl Looks {
    pub(super) fn of_process() -> Arc<Self> {
        static LOOKS: LazyLock<Arc<Looks>> = LazyLock::new(Arc::default);
        Arc::clone(&LOOKS)
    }

    /// Adds a file, unless it is closed or has been added.
    pub(super) fn add(self: &Arc<Self>, watch: &Arc<ExternalWatch>) {
        let mut state = lock(&self.0);
        if watch.begins() {
            state.watches.push(Arc::clone(watch));
            if state.next.is_none() {
                self.plan(&mut state);
            }
        }
    }

    /// Removes a file, unless somebody has to know of its external commits.
    pub(super) fn remove(&self, watch: &ExternalWatch) {
        let mut state = lock(&self.0);
        if watch.ends() {
            state.watches.retain(|other| !std::ptr::eq(&**other, watch));
            state.next = state.next.filter(|_| !state.watches.is_empty());
        }
    }

    fn plan(self: &Arc<Self>, state: &mut State) {
        let due = Instant::now() + pause(state.watches.len());
        state.next = Some(due);
        let looks: Weak<Self> = Arc::downgrade(self);
        Workers::of_process().at(due, looks);
    }
}

impl Timed for Looks {
    fn is_due(self: Arc<Self>) {
        let mut state = lock(&self.0);
        // Another look may have been planned since.
        if state.next.is_none_or(|next| Instant::now() < next) {
            return;
        }
        let called: Vec<_> = state
            .watches
            .iter()
            .filter(|watch| watch.look())
            .cloned()
            .collect();
        self.plan(&mut state);
        drop(state);
        called
            .into_iter()
            .for_each(|watch| Workers::of_process().ready(watch));
    }
}

/// The pause between two looks, while so many files are watched.
fn pause(watched: usize) -> Duration {
    let times = watched.div_ceil(limits::EXTERNAL_LOOKS).max(1);
    limits::EXTERNAL_LOOK * times as u32
}

#[cfg(test)]
mod tests {
    use super::pause;
    use crate::core::limits::{EXTERNAL_LOOK, EXTERNAL_LOOKS};

    #[test]
    fn a_file_is_looked_at_less_often_where_very_many_are_watched() {
        let pauses = [0, 1, EXTERNAL_LOOKS, 2 * EXTERNAL_LOOKS, 10 * EXTERNAL_LOOKS].map(pause);
        assert_eq!(pauses, [1, 1, 1, 2, 10].map(|times| EXTERNAL_LOOK * times));
    }
}
