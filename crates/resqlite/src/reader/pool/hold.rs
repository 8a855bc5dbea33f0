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
    /// If nothing moved at the last look: the steps of all sessions, and at how many looks in a row before they were the same.
    stuck_at: Option<(u64, u32)>,
    through: Option<Through>,
}

/// The job with this ticket is let through.
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

    /// Looks whether anything moves, and returns the number of looks in a row before this one since which nothing has: every busy
    /// thread waits for its caller (`all_wait`), no job is let through, and `steps`, which grows with all that sessions do, is the
    /// same.
    pub(super) fn look(&mut self, all_wait: bool, steps: u64) -> u32 {
        let before = self.stuck_at.take().filter(|&(then, _)| then == steps);
        if !all_wait || self.through.is_some() {
            return 0;
        }
        let looks = before.map_or(0, |(_, looks)| looks + 1);
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
