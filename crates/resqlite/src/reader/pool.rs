//! The queue between callers and reader threads: one wake per job; threads start when they are first needed. The order of
//! the jobs is in [`waiting`], more threads for idle sessions in [`relief`], jobs that are held back in [`holding`].
//!
//! One lock guards everything here. Two conditions: `work` (a job came, readers may go on, the pool closed) and
//! `quiet` (no reader is busy, or a thread has ended).

mod hold;
mod holding;
mod relief;
mod waiting;

use std::time::{Duration, Instant};

use self::{
    hold::{Hold, Quiet},
    waiting::Waiting,
};
use crate::core::{
    profile,
    spin::{ArrivalHistory, Arrivals},
    sync::{Condvar, Mutex, lock, wait, wait_for},
};

pub(crate) struct Pool<J> {
    state: Mutex<State<J>>,
    work: Condvar,
    quiet: Condvar,
    /// For threads that spin before they park.
    arrivals: Option<Arrivals>,
    threads_max: usize,
    queued_max: usize,
    /// How long an idle thread lives; `None`: until the pool closes.
    idle_max: Option<Duration>,
    /// The most threads while some of them hold idle sessions; see [`Pool::relieve`].
    resting_max: Option<usize>,
    dispatcher: profile::Dispatcher,
}

struct State<J> {
    waiting: Waiting<J>,
    /// Threads that take jobs.
    threads: usize,
    /// Threads that exist, including those that are closing their connection.
    alive: usize,
    /// Threads that wait for work.
    idle: usize,
    /// Idle threads that were woken and have not run yet. Waking a thread twice would waste a system call.
    waking: usize,
    arrivals: ArrivalHistory,
    /// Threads that hold a job or a read transaction.
    busy: usize,
    held_back: bool,
    hold: Option<Hold>,
    closed: bool,
    /// A thread calls [`Pool::relieve`] repeatedly.
    relieved: bool,
}

/// Numbers for diagnostics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PoolStatus {
    pub(crate) threads: usize,
    pub(crate) busy: usize,
    pub(crate) queued: usize,
    pub(crate) queued_peak: usize,
}

/// What became of a job.
pub(crate) enum Submitted<J> {
    /// It is queued and a thread will take it.
    Queued,
    /// It is queued; the caller must start a thread, which was counted already.
    NeedsThread,
    /// It is queued, and all threads are taken; the caller must have [`Pool::relieve`] called repeatedly
    /// until it returns `None`.
    NeedsRelief,
    /// Too many wait.
    Full(J),
    /// The pool is closed.
    Closed(J),
}

/// What a thread does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<J> {
    /// Run this job. `snapshot`: if more jobs wait, the last ticket that a read transaction begun now may serve.
    /// `needs_thread`: start a thread first, which was counted already.
    Job {
        job: J,
        snapshot: Option<u64>,
        needs_thread: bool,
    },
    /// End the read transaction, then ask again without one.
    EndSnapshot,
    /// Close the connection, report [`Pool::left`] and end.
    Quit,
}

impl<J> Pool<J> {
    pub(crate) fn new(threads_max: usize, queued_max: usize, idle_max: Option<Duration>) -> Self {
        let state = State {
            waiting: Waiting::new(),
            threads: 0,
            alive: 0,
            idle: 0,
            waking: 0,
            arrivals: ArrivalHistory::default(),
            busy: 0,
            held_back: false,
            hold: None,
            closed: false,
            relieved: false,
        };
        let (work, quiet) = (Condvar::new(), Condvar::new());
        Self {
            state: Mutex::new(state),
            work,
            quiet,
            arrivals: None,
            threads_max,
            queued_max,
            idle_max,
            resting_max: None,
            dispatcher: profile::Dispatcher::none(),
        }
    }

    /// Lets its threads spin before they park.
    pub(crate) fn spinning(self) -> Self {
        let arrivals = Some(Arrivals::new());
        Self { arrivals, ..self }
    }

    /// Counts its jobs.
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
        let spinning = state.arrivals.spinning;
        // While something is to come later, one idle thread must stay and watch the clock.
        let takers = state.idle.saturating_sub(usize::from(state.waiting.has_later()));
        if state.waiting.len() > takers + spinning && self.try_count_thread(&mut state) {
            self.dispatcher.queued(state.waiting.len(), state.free());
            return Submitted::NeedsThread;
        }
        self.dispatcher.queued(state.waiting.len(), state.free());
        let wake = state.waking < state.idle && state.waiting.len() > state.waking + spinning;
        state.waking += usize::from(wake);
        let waits = state.waiting.len() > state.idle + spinning || state.hold.is_some();
        let unrelieved = self.resting_max.is_some() && waits && !state.relieved;
        state.relieved |= unrelieved;
        drop(state);
        if let Some(arrivals) = &self.arrivals {
            arrivals.arrived();
        }
        if wake {
            self.work.notify_one();
        }
        if unrelieved {
            Submitted::NeedsRelief
        } else {
            Submitted::Queued
        }
    }

    /// Queues a job for later. Never waits.
    pub(crate) fn submit_after(&self, pause: Duration, job: J) -> Submitted<J> {
        let mut state = lock(&self.state);
        if state.closed {
            return Submitted::Closed(job);
        }
        let due = Instant::now() + pause;
        state.waiting.push_later(due, job);
        // Busy threads may be so for ever.
        if state.busy == state.threads && self.try_count_thread(&mut state) {
            return Submitted::NeedsThread;
        }
        // An idle thread must learn how long it may sleep. If all are taken, one looks after its job.
        self.wake_one(&mut state);
        Submitted::Queued
    }

    /// The next job for a thread. `was_busy`: it has finished one. `snapshot`: it still holds a read transaction
    /// that may serve jobs up to this ticket, because they were queued before it began.
    pub(crate) fn next(&self, was_busy: bool, snapshot: Option<u64>) -> Next<J> {
        let mut state = lock(&self.state);
        if let Some(last) = snapshot {
            if state.held_back || state.hold.is_some() {
                return Next::EndSnapshot;
            }
            let job = state.waiting.pop_up_to(last);
            return job.map_or(Next::EndSnapshot, |job| Next::Job {
                job,
                snapshot,
                needs_thread: false,
            });
        }
        if was_busy && let Some(quiet) = self.rest(&mut state) {
            drop(state);
            quiet();
            state = lock(&self.state);
        }
        let idle_since = Instant::now();
        let mut looking = self.dispatcher.looks();
        let mut spun = false;
        loop {
            let (free, queued) = (state.free(), state.waiting.len());
            let due = state
                .waiting
                .take_due(|length| self.dispatcher.queued(length, free));
            let came_due = state.waiting.len() > queued;
            // More than the one that is taken here.
            let others_come = due.is_some() || came_due && state.waiting.len() > 1;
            if !state.held_back
                && let Some(taken) = self.take(&mut state, others_come)
            {
                return taken;
            }
            if state.closed && state.waiting.is_empty() {
                state.threads -= 1;
                return Next::Quit;
            }
            let life_left = self.idle_max.map(|max| max.saturating_sub(idle_since.elapsed()));
            let is_over = life_left.is_some_and(|left| left.is_zero());
            if is_over && state.waiting.is_empty() && due.is_none() {
                state.threads -= 1;
                return Next::Quit;
            }
            if !spun
                && due.is_none()
                && let Some(arrivals) = &self.arrivals
            {
                spun = true;
                let (relocked, did_spin) = arrivals.spin(&self.state, state, |state| &mut state.arrivals);
                state = relocked;
                if did_spin {
                    continue;
                }
            }
            looking.sleeps();
            state.idle += 1;
            // When it is over, the thread stays for what is due later.
            let life_left = life_left.filter(|_| !is_over);
            let hold = state.hold.as_ref().filter(|_| !state.waiting.is_empty());
            let held = hold.map(|hold| hold.until.saturating_duration_since(Instant::now()));
            state = match [life_left, due, held].into_iter().flatten().min() {
                None => wait(&self.work, state),
                Some(time) => wait_for(&self.work, state, time),
            };
            state.idle -= 1;
            state.waking = state.waking.saturating_sub(1);
        }
    }

    /// Takes a job for a thread. `others_come`: further jobs have come due with it, or will. As the thread may be busy for ever,
    /// another one must watch the clock.
    fn take(&self, state: &mut State<J>, others_come: bool) -> Option<Next<J>> {
        if state.hold.take_if(|hold| hold.is_over()).is_some() {
            self.work.notify_all();
        }
        let waiting = &mut state.waiting;
        let job = match &mut state.hold {
            Some(hold) => hold.pop(waiting),
            None => waiting.pop(),
        }?;
        state.busy += 1;
        Some(Next::Job {
            job,
            snapshot: state.waiting.last_ticket(),
            needs_thread: others_come && self.have_clock_watched(state),
        })
    }

    /// Wakes an idle thread. Returns whether the caller must start one instead, which is counted here.
    fn have_clock_watched(&self, state: &mut State<J>) -> bool {
        self.wake_one(state);
        // A thread that is free is enough: if it takes a job, it comes here in turn.
        state.busy == state.threads && self.try_count_thread(state)
    }

    /// Wakes an idle thread, if there is one that was not woken.
    fn wake_one(&self, state: &mut State<J>) {
        if state.waking < state.idle {
            state.waking += 1;
            self.work.notify_one();
        }
    }

    /// Counts a thread that the caller is to start, if there may be one more.
    fn try_count_thread(&self, state: &mut State<J>) -> bool {
        let may_start = state.threads < self.threads_max;
        state.threads += usize::from(may_start);
        state.alive += usize::from(may_start);
        may_start
    }

    /// Returns what must be called without the lock.
    fn rest(&self, state: &mut State<J>) -> Option<Quiet> {
        state.busy -= 1;
        let is_quiet = state.busy == 0;
        if is_quiet {
            self.quiet.notify_all();
        }
        let hold = state.hold.as_mut()?;
        hold.rests();
        hold.quiet.take_if(|_| is_quiet)
    }

    /// Uncounts a thread that could not start. If none is left, returns the waiting jobs, which the caller must fail.
    pub(crate) fn lost_thread(&self) -> Vec<J> {
        let mut state = lock(&self.state);
        state.threads -= 1;
        state.alive -= 1;
        self.quiet.notify_all();
        if state.threads > 0 {
            // A thread that watches the clock was not counted upon for the job: now it is needed.
            self.wake_one(&mut state);
            Vec::new()
        } else {
            let mut jobs = state.waiting.take_all(|_| true);
            jobs.extend(state.waiting.take_later());
            jobs
        }
    }

    /// A thread has quit and its connection is closed.
    pub(crate) fn left(&self) {
        lock(&self.state).alive -= 1;
        self.quiet.notify_all();
    }

    /// Holds new jobs back and waits up to `time` until no thread is busy. If none is, runs `action`; `None` otherwise.
    /// Then jobs run again.
    pub(crate) fn in_pause<R>(&self, time: Duration, action: impl FnOnce() -> R) -> Option<R> {
        let end = Instant::now() + time;
        let mut state = lock(&self.state);
        state.held_back = true;
        while state.busy > 0 {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            state = wait_for(&self.quiet, state, rest);
        }
        let quiet = state.busy == 0;
        drop(state);
        let result = quiet.then(action);
        lock(&self.state).held_back = false;
        self.work.notify_all();
        result
    }

    /// Takes out the first waiting job that matches.
    pub(crate) fn remove(&self, matches: impl Fn(&J) -> bool) -> Option<J> {
        lock(&self.state).waiting.take_first(matches)
    }

    /// Refuses further jobs. Queued jobs are still run, delayed ones are dropped; then the threads end.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.hold = None;
        let unwanted = state.waiting.take_later();
        drop(state);
        self.work.notify_all();
        drop(unwanted);
    }

    /// Waits until all threads have ended and their connections are closed.
    pub(crate) fn join(&self) {
        let mut state = lock(&self.state);
        while state.alive > 0 {
            state = wait(&self.quiet, state);
        }
    }

    pub(crate) fn status(&self) -> PoolStatus {
        let state = lock(&self.state);
        PoolStatus {
            threads: state.threads,
            busy: state.busy,
            queued: state.waiting.len(),
            queued_peak: state.waiting.peak(),
        }
    }
}

impl<J> State<J> {
    /// Threads that hold no job: those that wait, spin, or start.
    fn free(&self) -> usize {
        self.threads - self.busy
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
