//! The jobs that wait for a worker: first come, first served, and those that are delayed.

use std::{collections::VecDeque, time::Instant};

use crate::core::clock;

pub(super) struct Waiting<J> {
    /// Each with its ticket, which counts the jobs that were queued.
    queue: VecDeque<(u64, J)>,
    /// Delayed jobs, ordered by when they are due.
    later: VecDeque<(Instant, J)>,
    last_ticket: u64,
    peak: usize,
}

impl<J> Waiting<J> {
    pub(super) fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            later: VecDeque::new(),
            last_ticket: 0,
            peak: 0,
        }
    }

    /// The number of queued jobs. Delayed ones do not count.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The most jobs that were ever queued at once.
    pub(super) fn peak(&self) -> usize {
        self.peak
    }

    pub(super) fn push(&mut self, job: J) {
        self.last_ticket += 1;
        self.queue.push_back((self.last_ticket, job));
        self.peak = self.peak.max(self.queue.len());
    }

    pub(super) fn push_later(&mut self, due: Instant, job: J) {
        let at = self.later.partition_point(|(other, _)| *other <= due);
        self.later.insert(at, (due, job));
    }

    /// Queues the jobs whose time has come, and calls `queued` after each with the length of the queue.
    pub(super) fn take_due(&mut self, queued: impl Fn(usize)) {
        let now = clock::now();
        while self.later.front().is_some_and(|(due, _)| *due <= now) {
            let (_, job) = self.later.pop_front().expect("looked at above");
            self.push(job);
            queued(self.queue.len());
        }
    }

    pub(super) fn pop(&mut self) -> Option<J> {
        self.queue.pop_front().map(|(_, job)| job)
    }

    /// The first job, if its ticket is no later than `last`.
    pub(super) fn pop_up_to(&mut self, last: u64) -> Option<J> {
        let &(ticket, _) = self.queue.front()?;
        if ticket <= last { self.pop() } else { None }
    }

    /// The ticket of the last job in the queue; `None` if the queue is empty.
    pub(super) fn last_ticket(&self) -> Option<u64> {
        self.queue.back().map(|&(ticket, _)| ticket)
    }

    /// Takes the first queued job that matches.
    pub(super) fn take_first(&mut self, matches: impl Fn(&J) -> bool) -> Option<J> {
        let at = self.queue.iter().position(|(_, job)| matches(job))?;
        self.queue.remove(at).map(|(_, job)| job)
    }

    /// Takes all jobs, delayed ones too.
    pub(super) fn take_all(&mut self) -> Vec<J> {
        let queued = self.queue.drain(..).map(|(_, job)| job);
        queued.chain(self.later.drain(..).map(|(_, job)| job)).collect()
    }

    /// Takes the delayed jobs.
    pub(super) fn take_later(&mut self) -> Vec<J> {
        self.later.drain(..).map(|(_, job)| job).collect()
    }
}
