//! A hold of the jobs of a pool: see [`holding`](super::holding).

use std::{
    thread::{self, ThreadId},
    time::Instant,
};

use super::waiting::Waiting;

/// Called once no thread is busy.
pub(super) type Quiet = Box<dyn FnOnce() + Send>;

/// Jobs are held back.
pub(super) struct Hold {
    pub(super) until: Instant,
    pub(super) quiet: Option<Quiet>,
    /// The steps of all sessions at the last look at which all of them waited for their callers.
    stuck_at: Option<u64>,
    through: Option<Through>,
}

/// A job is let through.
struct Through {
    /// The last job that was queued before.
    last_ticket: u64,
    /// The thread that has it; `None` until one has taken it.
    thread: Option<ThreadId>,
}

impl Hold {
    pub(super) fn new(until: Instant) -> Self {
        Self {
            until,
            quiet: None,
            stuck_at: None,
            through: None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Takes the next job, if one is let through.
    pub(super) fn pop<J>(&mut self, waiting: &mut Waiting<J>) -> Option<J> {
        let through = self.through.as_mut()?;
        if through.thread.is_some() {
            return waiting.pop_after(through.last_ticket);
        }
        let job = waiting.pop()?;
        through.thread = Some(thread::current().id());
        Some(job)
    }

    /// The calling thread is no longer busy.
    pub(super) fn rests(&mut self) {
        let own = thread::current().id();
        self.through.take_if(|through| through.thread == Some(own));
    }

    /// Nothing moves, and nothing was let through for that. `all_wait`: every busy thread waits for its caller. `steps` grows
    /// with all that sessions do, and was the same at the last call.
    pub(super) fn is_stuck(&mut self, all_wait: bool, steps: u64) -> bool {
        let is_idle = all_wait && self.through.is_none();
        let before = std::mem::replace(&mut self.stuck_at, is_idle.then_some(steps));
        is_idle && before == Some(steps)
    }

    /// Lets the first job through of those that wait, the last of which has this ticket.
    pub(super) fn let_through(&mut self, last_ticket: u64) {
        self.through = Some(Through {
            last_ticket,
            thread: None,
        });
    }
}
