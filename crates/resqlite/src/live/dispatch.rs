//! Decides who makes the re-runs that are ready: workers at once, or the writer, a few after each write.
//!
//! ```text
//! stale, while others run ──► batched ──── the window ends ────► ready ──► workers
//!                                │         (750 µs: the writer,    │
//!                                │          1 ms: a worker)   └────► left to the writer, if they are quick
//!                                │                                          │
//!                                └──── a queued job looks after both ◄──────┘ and takes over what waits for 1 ms
//! ```
//!
//! **A job is queued for whatever is batched or left to the writer.** So nothing depends on the writer: it may begin a long
//! write at any time, or die.

use std::time::{Duration, Instant};

use resqlite_live::Scheduler;

use crate::core::limits;

/// The counts of threads that work on re-runs, and of threads that were called.
#[derive(Default)]
pub(super) struct Dispatch {
    /// Threads that were called and have not begun.
    called: usize,
    working: usize,
    /// A job that looks after the waiting re-runs is queued.
    looked_after: bool,
    /// The time at which the batching window opened, if it is open.
    batching_since: Option<Instant>,
    /// The time since which ready re-runs are left to the writer, if they are.
    left_since: Option<Instant>,
}

/// The tasks of the caller of [`Dispatch::plan`].
pub(super) struct Plan {
    /// The number of threads to call.
    pub(super) calls: usize,
    /// The time after which a job must look after the waiting re-runs, if none is queued.
    pub(super) look_after: Option<Duration>,
    pub(super) runs_on: RunsOn,
}

/// The threads that make the re-runs that are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunsOn {
    /// The workers, which were called, or later the writer.
    Others,
    /// The thread that asked. It makes as many re-runs as take no longer than this, or one.
    ThisThread(Duration),
}

/// The time that the waiting re-runs may still wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// No time is left: the caller is about to make the re-runs. For the re-runs that it does not make in one read, it must
    /// call `calls` other threads.
    Over {
        calls: usize,
    },
    For(Duration),
    /// Nothing waits.
    Nothing,
}

/// The way in which re-runs fit into the time of the writer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    AtOnce,
    /// A few now, a few after the next write.
    WorkedOff,
    No,
}

impl Dispatch {
    /// Decides which threads run the re-runs that are ready. `spare`: the time that the calling thread may spend on them. It is zero for every
    /// thread but the writer, and for the writer while something waits for it.
    pub(super) fn plan(&mut self, scheduler: &mut Scheduler, spare: Duration, now: Instant) -> Plan {
        self.follow_window(scheduler, !spare.is_zero(), now);
        let fit = fit(scheduler, spare);
        let here = self.called == 0 && self.free(scheduler) > 0 && fit != Fit::No;
        let stays =
            spare.is_zero() && scheduler.ready_fits(limits::SHARED_READ_RUNS, limits::SHARED_READ_MICROS);
        self.left_since = match fit {
            Fit::WorkedOff if here => self.left_since.or(Some(now)),
            _ => self.left_since.filter(|_| stays),
        };
        let waits = here || self.left_since.is_some();
        let calls = if waits { 0 } else { self.call(scheduler) };
        self.called += usize::from(here);
        Plan {
            calls,
            look_after: self.look_after(now),
            runs_on: if here {
                RunsOn::ThisThread(spare)
            } else {
                RunsOn::Others
            },
        }
    }

    /// Notes that the batching window is open. Ends the window if the writer has time for the re-runs in it.
    fn follow_window(&mut self, scheduler: &mut Scheduler, has_time: bool, now: Instant) {
        if !scheduler.is_batching() {
            self.batching_since = None;
            return;
        }
        let since = *self.batching_since.get_or_insert(now);
        let is_time = has_time && now.duration_since(since) >= limits::WRITER_ENDS_WINDOW;
        if is_time && scheduler.batch_fits(limits::SHARED_READ_RUNS, worked_off(scheduler.batched())) {
            scheduler.release_batch();
            self.batching_since = None;
        }
    }

    fn look_after(&mut self, now: Instant) -> Option<Duration> {
        let due = self.due().filter(|_| !self.looked_after)?;
        self.looked_after = true;
        Some(due.saturating_duration_since(now))
    }

    /// Returns the time at which the first of the waiting re-runs have waited long enough. Whatever begins to wait later is due
    /// later, so one job is enough.
    fn due(&self) -> Option<Instant> {
        let since = self.batching_since.into_iter().chain(self.left_since).min()?;
        Some(since + limits::BATCHING_WINDOW)
    }

    /// Called by the job that looks after the waiting re-runs. Unless nothing waits, the caller must call this again.
    pub(super) fn look(&mut self, scheduler: &mut Scheduler, now: Instant) -> Wait {
        self.follow_window(scheduler, false, now);
        if scheduler.ready() == 0 {
            self.left_since = None;
        }
        let Some(due) = self.due() else {
            self.looked_after = false;
            return Wait::Nothing;
        };
        if now < due {
            return Wait::For(due - now);
        }
        self.take_over(scheduler);
        let in_one_read = scheduler.ready_fits(limits::SHARED_READ_RUNS, limits::SHARED_READ_MICROS);
        let calls = if in_one_read { 0 } else { self.call(scheduler) };
        Wait::Over { calls }
    }

    /// Counts further threads as called, as many as the ready re-runs need. Returns their number.
    fn call(&mut self, scheduler: &Scheduler) -> usize {
        let calls = scheduler
            .ready()
            .saturating_sub(self.called)
            .min(self.free(scheduler));
        self.called += calls;
        calls
    }

    fn free(&self, scheduler: &Scheduler) -> usize {
        scheduler.slots().saturating_sub(self.called + self.working)
    }

    /// Makes everything that waits ready for the caller, which is about to begin work.
    pub(super) fn take_over(&mut self, scheduler: &mut Scheduler) {
        scheduler.release_batch();
        (self.batching_since, self.left_since) = (None, None);
        self.looked_after = false;
        self.called += 1;
    }

    /// Notes that a thread that was called begins.
    pub(super) fn work_begins(&mut self) {
        self.called -= 1;
        self.working += 1;
    }

    pub(super) fn work_ends(&mut self) {
        self.working -= 1;
    }
}

/// Finds how the re-runs that are ready fit into this time of the writer.
fn fit(scheduler: &Scheduler, spare: Duration) -> Fit {
    let fits = |count, micros| scheduler.ready_fits(count, micros);
    match () {
        () if spare.is_zero() => Fit::No,
        () if fits(limits::WRITER_RUNS, micros(spare)) => Fit::AtOnce,
        () if fits(limits::SHARED_READ_RUNS, worked_off(scheduler.ready())) => Fit::WorkedOff,
        () => Fit::No,
    }
}

/// Returns the longest time, in microseconds, that `count` re-runs may take in all for the writer to work them off. The limit
/// is on the sum, so that one delayed re-run does not take the others from the writer.
fn worked_off(count: usize) -> u64 {
    let most = micros(limits::WORKED_OFF_EACH).saturating_mul(count as u64);
    most.min(limits::SHARED_READ_MICROS)
}

/// Returns a time in whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
