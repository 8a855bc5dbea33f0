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
    /// The steps of all sessions at the last look at which all of them waited for their callers, and how many looks before had
    /// found the same.
    stuck_at: Option<(u64, u32)>,
    through: Option<Through>,
}

/// A job is let through.
struct Through {
    ticket: u64,
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
        let job = waiting.take(through.ticket);
        match job {
            Some(_) => through.thread = Some(thread::current().id()),
            None => self.through = None, // it was cancelled
        }
        job
    }

    /// The calling thread is no longer busy.
    pub(super) fn rests(&mut self) {
        let own = thread::current().id();
        self.through.take_if(|through| through.thread == Some(own));
    }

    /// The calls before this one since which nothing has moved, nor was anything let through for that. `all_wait`: every busy thread
    /// waits for its caller. `steps` grows with all that sessions do.
    pub(super) fn stuck_looks(&mut self, all_wait: bool, steps: u64) -> u32 {
        let before = self.stuck_at.take();
        if !all_wait || self.through.is_some() {
            return 0;
        }
        let looks = before.map_or(0, |(then, looks)| if then == steps { looks + 1 } else { 0 });
        self.stuck_at = Some((steps, looks));
        looks
    }

    /// Lets a job through of those that wait, the last of which has this ticket.
    pub(super) fn let_through(&mut self, ticket: u64, last_ticket: u64) {
        self.through = Some(Through {
            ticket,
            last_ticket,
            thread: None,
        });
    }
}
