//! Jobs that are held back until no thread is busy, while whoever waits for that goes on with something else.
//!
//! A busy thread may never rest while jobs are held back: the session that it serves belongs to a caller who waits for a job of
//! his own before he ends it. Nobody can tell for sure which job that is. A caller who does one thing after the other asks for it
//! right after the last step of his session. So when nothing moves any more, the job goes through that was asked for soonest after
//! the last step of an idle session. A caller who does several things at a time may have asked before that step: when nothing has
//! moved for long, the job that has waited longest goes through. As long as its thread is busy, those that come later go through,
//! too, since most other callers wait. What goes through therefore comes to its end, and each round brings the busy threads nearer
//! to theirs. A hold ends by itself at its time.

use std::time::Instant;

use super::{Pool, State, hold::Hold, relief::Relief};
use crate::core::sync::lock;

/// After so many looks at which nothing has moved, any job is let through.
const LOOKS_FOR_ANY: u32 = 10;

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

    /// Lets a job through, if jobs are held back and nothing moves: every busy thread is one of the `resting`, which hold idle
    /// sessions, and `steps`, which counts those of all sessions, is what it was at the last call. `distance`: how long after the
    /// last step of an idle session a job was asked for; `None` if before all of them. Returns what must be done for the job;
    /// `None` if no jobs are held back.
    pub(super) fn let_through(
        &self,
        state: &mut State<J>,
        resting: usize,
        steps: u64,
        distance: impl Fn(&J) -> Option<u64>,
    ) -> Option<Relief<J>> {
        let most = self.resting_max.unwrap_or(self.threads_max);
        let hold = state.hold.as_mut().filter(|hold| !hold.is_over())?;
        let looks = hold.look(state.busy > 0 && resting == state.busy, steps);
        let ticket = match looks {
            0 => None,
            1..LOOKS_FOR_ANY => state.waiting.ticket_of_least(distance),
            LOOKS_FOR_ANY.. => state.waiting.first_ticket(),
        };
        let mut threads = 0;
        if let (Some(ticket), Some(last_ticket)) = (ticket, state.waiting.last_ticket()) {
            hold.let_through(ticket, last_ticket);
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
