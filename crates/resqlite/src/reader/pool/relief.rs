//! More threads, or a refusal, for jobs that wait while idle sessions hold the threads.

use super::Pool;
use crate::core::sync::lock;

/// What must be done for jobs that wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Relief<J> {
    /// Threads to start, which were counted already.
    pub(crate) threads: usize,
    /// Jobs to refuse.
    pub(crate) refused: Vec<J>,
}

impl<J> Pool<J> {
    /// Allows up to `resting_max` threads while sessions are idle.
    pub(crate) fn relieved(self, resting_max: usize) -> Self {
        let resting_max = Some(resting_max);
        Self { resting_max, ..self }
    }

    /// Records that no thread could be started for [`Pool::relieve`]; the next job that waits requests one again.
    pub(crate) fn unrelieved(&self) {
        lock(&self.state).relieved = false;
    }

    /// Keeps jobs from waiting for ever for idle sessions. The `resting` threads, which hold those, do not count against the
    /// bound for jobs that are `late`. Where no more threads are allowed, jobs that are `too_late` are refused. `None`: no
    /// job waits, and this need not be called again. `steps` and `distance`: see [`Pool::let_through`].
    pub(crate) fn relieve(
        &self,
        resting: usize,
        steps: u64,
        distance: impl Fn(&J) -> Option<u64>,
        late: impl Fn(&J) -> bool,
        too_late: impl Fn(&J) -> bool,
    ) -> Option<Relief<J>> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if state.waiting.is_empty() || state.closed {
            state.relieved = false;
            return None;
        }
        if let Some(relief) = self.let_through(state, resting, steps, distance) {
            return Some(relief);
        }
        let most = self.resting_max.unwrap_or(self.threads_max);
        let wanted = state.waiting.count(late);
        let allowed = (self.threads_max + resting)
            .min(most)
            .saturating_sub(state.threads);
        let threads = wanted.min(allowed);
        state.threads += threads;
        state.alive += threads;
        let mut refused = Vec::new();
        if state.threads >= most && resting > most - self.threads_max {
            refused = state.waiting.take_all(too_late);
        }
        Some(Relief { threads, refused })
    }
}
