//! The queue between callers and reader threads: first come, first served; one wake per job; threads start when
//! they are first needed.
//!
//! One lock guards everything here. Two conditions: `work` (a job came, readers may go on, the pool closed) and
//! `quiet` (no reader is busy, or a thread has ended).

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::core::{
    profile,
    spin::{ArrivalHistory, SpinGate},
    sync::{Condvar, Mutex, lock, wait, wait_for},
};

pub(crate) struct Pool<J> {
    state: Mutex<State<J>>,
    work: Condvar,
    quiet: Condvar,
    /// For threads that spin before they park.
    gate: Option<SpinGate>,
    threads_max: usize,
    queued_max: usize,
    /// How long an idle thread lives; `None`: until the pool closes.
    idle_max: Option<Duration>,
    /// The most threads while some of them hold idle sessions; see [`Pool::relieve`].
    resting_max: Option<usize>,
    dispatcher: profile::Dispatcher,
}

struct State<J> {
    queue: VecDeque<(u64, J)>,
    /// Delayed jobs, ordered by when they are due.
    later: VecDeque<(Instant, J)>,
    /// Number of the last job that was queued.
    tickets: u64,
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
    closed: bool,
    queued_peak: usize,
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

/// What must be done for jobs that wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Relief<J> {
    /// Threads to start, which were counted already.
    pub(crate) threads: usize,
    /// Jobs to refuse.
    pub(crate) refused: Vec<J>,
}

/// What a thread does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<J> {
    /// Run this job. `snapshot`: if more jobs wait, the last ticket that a read transaction begun now may serve.
    Job { job: J, snapshot: Option<u64> },
    /// End the read transaction, then ask again without one.
    EndSnapshot,
    /// Close the connection, report [`Pool::left`] and end.
    Quit,
}

impl<J> Pool<J> {
    pub(crate) fn new(threads_max: usize, queued_max: usize, idle_max: Option<Duration>) -> Self {
        let state = State {
            queue: VecDeque::new(),
            later: VecDeque::new(),
            tickets: 0,
            threads: 0,
            alive: 0,
            idle: 0,
            waking: 0,
            arrivals: ArrivalHistory::default(),
            busy: 0,
            held_back: false,
            closed: false,
            queued_peak: 0,
            relieved: false,
        };
        let (work, quiet) = (Condvar::new(), Condvar::new());
        Self {
            state: Mutex::new(state),
            work,
            quiet,
            gate: None,
            threads_max,
            queued_max,
            idle_max,
            resting_max: None,
            dispatcher: profile::Dispatcher::none(),
        }
    }

    /// Allows up to `resting_max` threads while sessions are idle.
    pub(crate) fn relieved(self, resting_max: usize) -> Self {
        let resting_max = Some(resting_max);
        Self { resting_max, ..self }
    }

    /// Lets its threads spin before they park.
    pub(crate) fn spinning(self) -> Self {
        let gate = Some(SpinGate::new());
        Self { gate, ..self }
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
        if state.queue.len() >= self.queued_max {
            return Submitted::Full(job);
        }
        state.tickets += 1;
        let ticket = state.tickets;
        state.arrivals.arrived();
        state.queue.push_back((ticket, job));
        state.queued_peak = state.queued_peak.max(state.queue.len());
        let spinning = state.arrivals.spinning;
        if state.queue.len() > state.idle + spinning && state.threads < self.threads_max {
            state.threads += 1;
            state.alive += 1;
            self.dispatcher.queued(state.queue.len(), state.free());
            return Submitted::NeedsThread;
        }
        self.dispatcher.queued(state.queue.len(), state.free());
        let wake = state.waking < state.idle && state.queue.len() > state.waking + spinning;
        state.waking += usize::from(wake);
        let waits = state.queue.len() > state.idle + spinning;
        let unrelieved = self.resting_max.is_some() && waits && !state.relieved;
        state.relieved |= unrelieved;
        drop(state);
        if let Some(gate) = &self.gate {
            gate.arrived();
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

    /// Records that no thread could be started for [`Pool::relieve`]; the next job that waits requests one again.
    pub(crate) fn unrelieved(&self) {
        lock(&self.state).relieved = false;
    }

    /// Keeps jobs from waiting for ever for idle sessions. For jobs that are `late`, the `resting` threads do not count;
    /// where no more threads are allowed, jobs that are `too_late` are refused. `None`: no job waits, and this need not be
    /// called again.
    pub(crate) fn relieve(
        &self,
        resting: usize,
        late: impl Fn(&J) -> bool,
        too_late: impl Fn(&J) -> bool,
    ) -> Option<Relief<J>> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if state.queue.is_empty() || state.closed {
            state.relieved = false;
            return None;
        }
        let most = self.resting_max.unwrap_or(self.threads_max);
        let wanted = state.queue.iter().filter(|(_, job)| late(job)).count();
        let allowed = (self.threads_max + resting)
            .min(most)
            .saturating_sub(state.threads);
        let threads = wanted.min(allowed);
        state.threads += threads;
        state.alive += threads;
        let mut refused = Vec::new();
        if state.threads >= most && resting > most - self.threads_max {
            let (gone, kept) = state.queue.drain(..).partition(|(_, job)| too_late(job));
            state.queue = kept;
            refused = VecDeque::into_iter(gone).map(|(_, job)| job).collect();
        }
        Some(Relief { threads, refused })
    }

    /// Queues a job for later. Never waits.
    pub(crate) fn submit_after(&self, pause: Duration, job: J) -> Submitted<J> {
        let mut state = lock(&self.state);
        if state.closed {
            return Submitted::Closed(job);
        }
        let due = Instant::now() + pause;
        let at = state.later.partition_point(|(other, _)| *other <= due);
        state.later.insert(at, (due, job));
        if state.threads == 0 {
            state.threads += 1;
            state.alive += 1;
            return Submitted::NeedsThread;
        }
        // An idle thread must learn how long it may sleep; busy ones check after their jobs.
        let wake = state.waking < state.idle;
        state.waking += usize::from(wake);
        drop(state);
        if wake {
            self.work.notify_one();
        }
        Submitted::Queued
    }

    /// The next job for a thread. `was_busy`: it has finished one. `snapshot`: it still holds a read transaction
    /// that may serve jobs up to this ticket, because they were queued before it began.
    pub(crate) fn next(&self, was_busy: bool, snapshot: Option<u64>) -> Next<J> {
        let mut state = lock(&self.state);
        if let Some(last) = snapshot {
            let serves = !state.held_back && state.queue.front().is_some_and(|&(ticket, _)| ticket <= last);
            if !serves {
                return Next::EndSnapshot;
            }
            let (_, job) = state.queue.pop_front().expect("looked at above");
            return Next::Job { job, snapshot };
        }
        if was_busy {
            self.rest(&mut state);
        }
        let idle_since = Instant::now();
        let mut looking = self.dispatcher.looks();
        let mut spun = false;
        loop {
            let due = state.take_due(self.dispatcher);
            if !state.held_back
                && let Some((_, job)) = state.queue.pop_front()
            {
                state.busy += 1;
                let snapshot = (!state.queue.is_empty()).then_some(state.tickets);
                if due.is_some() && state.waking < state.idle {
                    // Another thread must watch the clock now.
                    state.waking += 1;
                    self.work.notify_one();
                }
                return Next::Job { job, snapshot };
            }
            if state.closed && state.queue.is_empty() {
                state.threads -= 1;
                return Next::Quit;
            }
            let rest = self.idle_max.map(|max| max.saturating_sub(idle_since.elapsed()));
            if rest.is_some_and(|rest| rest.is_zero()) && state.queue.is_empty() && due.is_none() {
                state.threads -= 1;
                return Next::Quit;
            }
            if !spun
                && due.is_none()
                && let Some(gate) = &self.gate
            {
                spun = true;
                let (relocked, did_spin) = gate.spin(&self.state, state, |state| &mut state.arrivals);
                state = relocked;
                if did_spin {
                    continue;
                }
            }
            looking.sleeps();
            state.idle += 1;
            state = match [rest, due].into_iter().flatten().min() {
                None => wait(&self.work, state),
                Some(time) => wait_for(&self.work, state, time),
            };
            state.idle -= 1;
            state.waking = state.waking.saturating_sub(1);
        }
    }

    fn rest(&self, state: &mut State<J>) {
        state.busy -= 1;
        if state.busy == 0 {
            self.quiet.notify_all();
        }
    }

    /// Uncounts a thread that could not start. If none is left, returns the waiting jobs, which the caller must fail.
    pub(crate) fn lost_thread(&self) -> Vec<J> {
        let mut state = lock(&self.state);
        state.threads -= 1;
        state.alive -= 1;
        self.quiet.notify_all();
        if state.threads > 0 {
            Vec::new()
        } else {
            let state = &mut *state;
            let waiting = state.queue.drain(..).map(|(_, job)| job);
            waiting.chain(state.later.drain(..).map(|(_, job)| job)).collect()
        }
    }

    /// A thread has quit and its connection is closed.
    pub(crate) fn left(&self) {
        lock(&self.state).alive -= 1;
        self.quiet.notify_all();
    }

    /// Holds new jobs back and waits up to `time` until no thread is busy. If none is, runs `action`; `None` otherwise.
    /// Then jobs run again.
    pub(crate) fn in_gap<R>(&self, time: Duration, action: impl FnOnce() -> R) -> Option<R> {
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
        let mut state = lock(&self.state);
        let at = state.queue.iter().position(|(_, job)| matches(job))?;
        state.queue.remove(at).map(|(_, job)| job)
    }

    /// Refuses further jobs. Queued jobs are still run, delayed ones are dropped; then the threads end.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        let unwanted = std::mem::take(&mut state.later);
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
            queued: state.queue.len(),
            queued_peak: state.queued_peak,
        }
    }
}

impl<J> State<J> {
    /// Threads that hold no job: those that wait, spin, or start.
    fn free(&self) -> usize {
        self.threads - self.busy
    }

    /// Queues the jobs whose time has come; returns the time until the next one.
    fn take_due(&mut self, dispatcher: profile::Dispatcher) -> Option<Duration> {
        if self.later.is_empty() {
            return None;
        }
        let now = Instant::now();
        let due = self.later.partition_point(|(due, _)| *due <= now);
        for (_, job) in self.later.drain(..due) {
            self.tickets += 1;
            self.queue.push_back((self.tickets, job));
            dispatcher.queued(self.queue.len(), self.threads - self.busy);
        }
        self.later.front().map(|(due, _)| *due - now)
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
