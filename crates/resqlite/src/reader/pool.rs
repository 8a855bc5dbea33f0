//! The queue between callers and the workers that read: one call of a worker per job, and at most a given number of workers at
//! a time. The order of the jobs is in [`waiting`].
//!
//! One lock guards everything here. Its condition `quiet` is met when no worker is busy, or one has left.

mod waiting;

use std::time::{Duration, Instant};

use self::waiting::Waiting;
use super::hold::{Hold, Quiet};
use crate::core::{
    clock, limits, profile,
    spin::{ArrivalHistory, Arrivals},
    sync::{Condvar, Mutex, lock, wait, wait_for},
};

pub(crate) struct Pool<J> {
    state: Mutex<State<J>>,
    quiet: Condvar,
    /// For workers that spin before they leave.
    arrivals: Arrivals,
    workers_max: usize,
    queued_max: usize,
    dispatcher: profile::Dispatcher,
}

struct State<J> {
    waiting: Waiting<J>,
    /// Workers that take jobs, including the `called` ones, which have not come yet.
    workers: usize,
    called: usize,
    arrivals: ArrivalHistory,
    /// Workers that have a job or a read transaction.
    busy: usize,
    held_back: bool,
    hold: Option<Hold>,
    closed: bool,
}

/// Numbers for diagnostics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PoolStatus {
    pub(crate) busy: usize,
    pub(crate) queued: usize,
    pub(crate) queued_peak: usize,
}

/// The fate of a job.
pub(crate) enum Submitted<J> {
    /// It is queued.
    Queued(Calls),
    /// Too many wait.
    Full(J),
    /// The pool is closed.
    Closed(J),
}

/// The number of workers that must be called. They are already counted as called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) struct Calls(pub(super) usize);

/// The next thing that a worker does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<J> {
    /// Run this job. `snapshot`: if more jobs wait, the last ticket that a read transaction begun now may serve.
    Job { job: J, snapshot: Option<u64> },
    /// End the read transaction, then ask again without one.
    EndSnapshot,
    /// Put the connection back, say [`Pool::left`], and serve others.
    Leave,
}

impl<J> Pool<J> {
    /// `workers_max`: the most workers at a time.
    pub(crate) fn new(workers_max: usize, queued_max: usize) -> Self {
        let state = State {
            waiting: Waiting::new(),
            workers: 0,
            called: 0,
            arrivals: ArrivalHistory::default(),
            busy: 0,
            held_back: false,
            hold: None,
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            quiet: Condvar::new(),
            arrivals: Arrivals::new(),
            workers_max,
            queued_max,
            dispatcher: profile::Dispatcher::none(),
        }
    }

    /// Makes the pool count its jobs for `dispatcher`.
    pub(crate) fn counted(self, dispatcher: profile::Dispatcher) -> Self {
        Self { dispatcher, ..self }
    }

    /// Queues a job. Never waits.
    pub(crate) fn submit(&self, job: J) -> Submitted<J> {
        let mut state = lock(&self.state);
        if state.closed {
            return Submitted::Closed(job);
        }
        if state.waiting.len() >= self.queued_max {
            return Submitted::Full(job);
        }
        state.arrivals.arrived();
        state.waiting.push(job);
        let calls = self.calls(&mut state, 0);
        self.dispatcher.queued(state.waiting.len(), state.free());
        drop(state);
        self.arrivals.arrived();
        Submitted::Queued(calls)
    }

    /// Queues a job for later; [`come_due`](Self::come_due) is to be called at that time. Returns the job if the pool is closed.
    pub(crate) fn submit_at(&self, due: Instant, job: J) -> Result<(), J> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(job);
        }
        state.waiting.push_later(due, job);
        Ok(())
    }

    /// Queues the jobs whose time has come. Must also be called when a hold is over.
    pub(crate) fn come_due(&self) -> Calls {
        let mut state = lock(&self.state);
        let free = state.free();
        state
            .waiting
            .take_due(|length| self.dispatcher.queued(length, free));
        self.calls(&mut state, 0)
    }

    /// Counts the workers that are to be called for the waiting jobs, besides those that take a job now. Workers that come call
    /// the rest, so that a file with many jobs stands only a few times in the queue of all files.
    fn calls(&self, state: &mut State<J>, take_one: usize) -> Calls {
        if state.is_held_back() {
            return Calls(0);
        }
        let unserved = state
            .waiting
            .len()
            .saturating_sub(state.called + state.arrivals.spinning + take_one);
        let calls = unserved
            .min(self.workers_max - state.workers)
            .min(limits::CALLED_MAX.saturating_sub(state.called));
        state.workers += calls;
        state.called += calls;
        Calls(calls)
    }

    /// Notes that a worker that was called has come. Returns the further workers to call.
    pub(crate) fn came(&self) -> Calls {
        let mut state = lock(&self.state);
        state.called -= 1;
        self.calls(&mut state, 1)
    }

    /// Returns what a worker does next. `was_busy`: the worker has finished a job. `snapshot`: the worker still holds a read
    /// transaction, which may serve jobs up to this ticket because they were queued before the transaction began.
    pub(crate) fn next(&self, was_busy: bool, snapshot: Option<u64>) -> Next<J> {
        let mut state = lock(&self.state);
        if let Some(last) = snapshot {
            if state.is_held_back() {
                return Next::EndSnapshot;
            }
            let job = state.waiting.pop_up_to(last);
            return job.map_or(Next::EndSnapshot, |job| Next::Job { job, snapshot });
        }
        if was_busy && let Some(quiet) = self.rest(&mut state) {
            drop(state);
            quiet();
            state = lock(&self.state);
        }
        let mut may_spin = true;
        loop {
            let is_held = state.is_held_back();
            if !is_held && let Some(job) = state.waiting.pop() {
                state.busy += 1;
                let snapshot = state.waiting.last_ticket();
                return Next::Job { job, snapshot };
            }
            if may_spin && !is_held && !state.closed {
                may_spin = false;
                let (relocked, did_spin) =
                    self.arrivals
                        .spin(&self.state, state, |state| &mut state.arrivals, true);
                state = relocked;
                if did_spin {
                    continue;
                }
            }
            if !was_busy {
                self.dispatcher.came_in_vain();
            }
            return Next::Leave;
        }
    }

    /// Notes that a worker is done with its job, and leaves although other jobs may wait.
    pub(crate) fn gives_way(&self) {
        let mut state = lock(&self.state);
        let quiet = self.rest(&mut state);
        drop(state);
        quiet.into_iter().for_each(|quiet| quiet());
    }

    /// Notes that a worker has put its connection back. Returns the workers to call for jobs that have come meanwhile.
    pub(crate) fn left(&self) -> Calls {
        let mut state = lock(&self.state);
        state.workers -= 1;
        self.quiet.notify_all();
        self.calls(&mut state, 0)
    }

    /// Notes that no worker could be started, and that there is none. Returns the waiting jobs, which the caller must fail.
    pub(crate) fn unserved(&self) -> Vec<J> {
        let mut state = lock(&self.state);
        state.called -= 1;
        state.workers -= 1;
        self.quiet.notify_all();
        state.waiting.take_all()
    }

    /// Notes that a worker is no longer busy. Returns the callback that must be called without the lock.
    fn rest(&self, state: &mut State<J>) -> Option<Quiet> {
        state.busy -= 1;
        let is_quiet = state.busy == 0;
        if is_quiet {
            self.quiet.notify_all();
        }
        Hold::rests(&mut state.hold, is_quiet)
    }

    /// Holds new jobs back and waits up to `time` until no worker is busy. If none is, runs `action`; otherwise its result is
    /// `None`. Then jobs may run again. Also returns the workers to call for them.
    pub(crate) fn in_pause<R>(&self, time: Duration, action: impl FnOnce() -> R) -> (Option<R>, Calls) {
        let end = clock::now() + time;
        let mut state = lock(&self.state);
        state.held_back = true;
        while state.busy > 0 {
            let rest = end.saturating_duration_since(clock::now());
            if rest.is_zero() {
                break;
            }
            state = wait_for(&self.quiet, state, rest);
        }
        let quiet = state.busy == 0;
        drop(state);
        let result = quiet.then(action);
        let mut state = lock(&self.state);
        state.held_back = false;
        (result, self.calls(&mut state, 0))
    }

    /// Holds new jobs back until [`release`](Self::release), or at most until `until`, when [`come_due`](Self::come_due) is to
    /// be called; a hold that has begun already stays as it is. Returns whether no worker is busy. Otherwise `quiet` is called
    /// as soon as none is busy.
    pub(crate) fn hold(&self, until: Instant, quiet: impl FnOnce() + Send + 'static) -> bool {
        let mut state = lock(&self.state);
        let is_quiet = state.busy == 0;
        Hold::begin(&mut state.hold, until, is_quiet, quiet);
        is_quiet
    }

    /// Lets all jobs run again, in their order. Returns the workers to call for them.
    pub(crate) fn release(&self) -> Calls {
        let mut state = lock(&self.state);
        state.hold = None;
        self.calls(&mut state, 0)
    }

    /// Takes out the first waiting job that matches.
    pub(crate) fn remove(&self, matches: impl Fn(&J) -> bool) -> Option<J> {
        lock(&self.state).waiting.take_first(matches)
    }

    /// Refuses further jobs. Queued jobs are still run, delayed ones are dropped.
    pub(crate) fn close(&self) -> Calls {
        let mut state = lock(&self.state);
        state.closed = true;
        state.hold = None;
        let unwanted = state.waiting.take_later();
        let calls = self.calls(&mut state, 0);
        drop(state);
        drop(unwanted);
        calls
    }

    /// Waits until all workers have left.
    pub(crate) fn join(&self) {
        let mut state = lock(&self.state);
        while state.workers > 0 {
            state = wait(&self.quiet, state);
        }
    }

    pub(crate) fn status(&self) -> PoolStatus {
        let state = lock(&self.state);
        PoolStatus {
            busy: state.busy,
            queued: state.waiting.len(),
            queued_peak: state.waiting.peak(),
        }
    }
}

impl<J> State<J> {
    /// Workers that have no job.
    fn free(&self) -> usize {
        self.workers - self.busy
    }

    /// Returns whether jobs are held back, now.
    fn is_held_back(&mut self) -> bool {
        self.hold.take_if(|hold| hold.is_over());
        self.held_back || self.hold.is_some()
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
