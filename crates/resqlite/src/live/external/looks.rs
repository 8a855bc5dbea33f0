//! Looks at all watched files of the process together, so that an idle file costs one comparison.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use crate::{
    connection::rest,
    core::{
        clock, limits,
        sync::{Mutex, OfProcess, lock},
        workers::{Task, Timed, Workers},
    },
};

/// A file that can be looked at.
pub(super) trait Looked: Task {
    /// Returns whether it is to be added to those that are looked at.
    fn begins(&self) -> bool;
    /// Returns whether it is to be removed from them.
    fn ends(&self) -> bool;
    fn look(&self) -> Look;
}

/// What a look has shown.
#[derive(PartialEq, Eq)]
pub(super) enum Look {
    /// The file needs no look: the system tells when somebody else uses it.
    Rests,
    NothingNew,
    /// The file needs a turn.
    MayBeNews,
}

/// The files that are looked at.
#[derive(Default)]
pub(super) struct Looks(Mutex<State>);

#[derive(Default)]
struct State {
    watches: Vec<Arc<dyn Looked>>,
    /// The time of the next look. There is one while files are watched.
    next: Option<Instant>,
}

impl Looks {
    pub(super) fn of_process() -> Arc<Self> {
        static LOOKS: OfProcess<Arc<Looks>> = OfProcess::new(Arc::default);
        Arc::clone(LOOKS.get())
    }

    /// Adds a file, unless it is closed or has been added.
    pub(super) fn add(self: &Arc<Self>, watch: Arc<dyn Looked>) {
        let mut state = lock(&self.0);
        if watch.begins() {
            state.watches.push(watch);
            if state.next.is_none() {
                let files = state.watches.len();
                self.plan(&mut state, files);
            }
        }
    }

    /// Removes a file, unless somebody has to know of its external commits.
    pub(super) fn remove(&self, watch: &dyn Looked) {
        let mut state = lock(&self.0);
        if watch.ends() {
            state
                .watches
                .retain(|other| !std::ptr::addr_eq(&raw const **other, watch));
            state.next = state.next.filter(|_| !state.watches.is_empty());
        }
    }

    /// `awake`: the files that do not rest.
    fn plan(self: &Arc<Self>, state: &mut State, awake: usize) {
        let due = clock::now() + pause(awake);
        state.next = Some(due);
        let looks: Weak<Self> = Arc::downgrade(self);
        Workers::of_process().at(due, looks);
    }
}

impl Timed for Looks {
    fn is_due(self: Arc<Self>) {
        rest::tell_of_touched_files();
        let mut state = lock(&self.0);
        // Another look may have been planned since.
        if state.next.is_none_or(|next| clock::now() < next) {
            return;
        }
        let (mut awake, mut called) = (0, Vec::new());
        for watch in &state.watches {
            let look = watch.look();
            awake += usize::from(look != Look::Rests);
            called.extend((look == Look::MayBeNews).then(|| Arc::clone(watch)));
        }
        self.plan(&mut state, awake);
        drop(state);
        called
            .into_iter()
            .for_each(|watch| Workers::of_process().ready(watch));
    }
}

/// The pause between two looks, while so many files are awake.
fn pause(awake: usize) -> Duration {
    let times = match awake {
        // Of files that rest, the system tells.
        0 => 2,
        _ => awake.div_ceil(limits::EXTERNAL_LOOKS),
    };
    limits::EXTERNAL_LOOK * times as u32
}

#[cfg(test)]
mod tests {
    use super::pause;
    use crate::core::limits::{EXTERNAL_LOOK, EXTERNAL_LOOKS};

    #[test]
    fn a_file_is_looked_at_less_often_where_very_many_are_awake() {
        let pauses = [1, EXTERNAL_LOOKS, 2 * EXTERNAL_LOOKS, 10 * EXTERNAL_LOOKS].map(pause);
        assert_eq!(pauses, [1, 1, 2, 10].map(|times| EXTERNAL_LOOK * times));
    }
}
