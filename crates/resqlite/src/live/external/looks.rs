//! Looks at all watched files of the process together, so that an idle file costs one comparison, and a resting file costs
//! nothing.

use std::{
    sync::Arc,
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
    /// Returns whether the file is to be added to the files that are looked at.
    fn begins(&self) -> bool;
    /// Returns whether the file is to be removed from the files that are looked at.
    fn ends(&self) -> bool;
    fn look(&self) -> Look;
}

/// The result of a look.
#[derive(PartialEq, Eq)]
pub(super) enum Look {
    /// The file needs no look: the system reports when somebody else uses it.
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
    awake: Vec<Arc<dyn Looked>>,
    /// The files that rested when they were last looked at. Some may have woken if the count of wakes has changed.
    resting: Vec<Arc<dyn Looked>>,
    wakes: u64,
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
            state.awake.push(watch);
            if state.next.is_none() {
                self.plan(&mut state);
            }
        }
    }

    /// Removes a file, unless somebody has to know of its external commits.
    pub(super) fn remove(&self, watch: &dyn Looked) {
        let mut state = lock(&self.0);
        if watch.ends() {
            let is_other = |other: &Arc<dyn Looked>| !std::ptr::addr_eq(&raw const **other, watch);
            state.awake.retain(is_other);
            state.resting.retain(is_other);
            let is_empty = state.awake.is_empty() && state.resting.is_empty();
            state.next = state.next.filter(|_| !is_empty);
        }
    }

    fn plan(self: &Arc<Self>, state: &mut State) {
        let due = clock::now() + pause(state.awake.len());
        state.next = Some(due);
        Workers::of_process().at(due, self);
    }
}

impl State {
    /// Looks at all files that may be awake. Returns those that need a turn.
    fn look(&mut self) -> Vec<Arc<dyn Looked>> {
        // Read before the looks: a file that wakes after its look is counted after this.
        let wakes = rest::wakes();
        if wakes != self.wakes {
            self.wakes = wakes;
            self.awake.append(&mut self.resting);
        }
        let mut called = Vec::new();
        let rests = self.awake.extract_if(.., |watch| {
            let look = watch.look();
            called.extend((look == Look::MayBeNews).then(|| Arc::clone(watch)));
            look == Look::Rests
        });
        self.resting.extend(rests);
        called
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
        let called = state.look();
        self.plan(&mut state);
        drop(state);
        called
            .into_iter()
            .for_each(|watch| Workers::of_process().ready(watch));
    }
}

/// Returns the pause between two looks while `awake` files are awake.
fn pause(awake: usize) -> Duration {
    let times = match awake {
        // The system reports when others use a resting file.
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
