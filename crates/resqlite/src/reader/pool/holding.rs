//! Jobs that are held back until no thread is busy, while whoever waits for that goes on with something else.
//!
//! A busy thread may never rest while jobs are held back: the session that it serves belongs to a caller who waits for a job of
//! his own before he ends it. Nobody can tell whose job that is. So once nothing moves any more, the job that has waited longest
//! is let through; and as long as its thread is busy, so are those that come later: everybody else waits, so they can only be of
//! the same caller. What is let through therefore comes to its end, and each round brings each of the busy threads nearer to its
//! own. A hold ends by itself at its time.

use std::time::Instant;

use super::{Pool, State, hold::Hold, relief::Relief};
use crate::core::sync::lock;

impl<J> Pool<J> {
    /// Holds new jobs back until [`release`](Self::release), or at most until `until`; if they are held back already, that stays as
    /// it is. Returns whether no thread is busy. Otherwise `quiet` is called when none is any more.
    pub(crate) fn hold(&self, until: Instant, quiet: impl FnOnce() + Send + 'static) -> bool {
        let mut state = lock(&self.state);
        let is_quiet = state.busy == 0;
        state.hold.take_if(|hold| hold.is_over());
        let hold = state.hold.get_or_insert_with(|| Hold::new(until));
        if !is_quiet && hold.quiet.is_none() {
            hold.quiet = Some(Box::new(quiet));
        }
        is_quiet
    }

    /// Lets all jobs run again, in their order.
    pub(crate) fn release(&self) {
        let released = lock(&self.state).hold.take();
        if released.is_some() {
            self.work.notify_all();
        }
    }

    /// Lets the job through that has waited longest, if jobs are held back and nothing moves: `resting` threads hold idle sessions,
    /// which have taken so many `steps`, as many as at the last call. Returns what to do for it; `None` if no job is held back.
    pub(super) fn let_through(&self, state: &mut State<J>, resting: usize, steps: u64) -> Option<Relief<J>> {
        let most = self.resting_max.unwrap_or(self.threads_max);
        let hold = state.hold.as_mut().filter(|hold| !hold.is_over())?;
        let is_stuck = hold.is_stuck(state.busy > 0 && resting == state.busy, steps);
        let mut threads = 0;
        if is_stuck && let Some(last_ticket) = state.waiting.last_ticket() {
            hold.let_through(last_ticket);
            threads = usize::from(state.idle == 0 && state.threads < most);
            state.threads += threads;
            state.alive += threads;
            self.wake_one(state);
        }
        Some(Relief {
            threads,
            refused: Vec::new(),
        })
    }
}
