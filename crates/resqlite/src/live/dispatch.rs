//! How many threads are called for the re-runs that are ready.

use std::time::Duration;

use resqlite_live::Scheduler;

use crate::core::limits;

/// Counts the threads that work on re-runs, and those that were called.
pub(super) struct Dispatch {
    /// The most threads.
    slots: usize,
    /// Threads that were called and have not begun.
    called: usize,
    working: usize,
    /// A job that ends the batching window is queued.
    window_ends: bool,
}

/// What the caller of [`Dispatch::plan`] must do.
pub(super) struct Plan {
    /// The number of threads to call.
    pub(super) calls: usize,
    /// Whether to queue a job that ends the batching window.
    pub(super) end_window: bool,
    pub(super) runs_on: RunsOn,
}

/// Who makes the re-runs that are ready.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RunsOn {
    /// The live threads, which were called.
    LiveThreads,
    /// The thread that asked, because the re-runs are quick.
    ThisThread,
}

impl Dispatch {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots,
            called: 0,
            working: 0,
            window_ends: false,
        }
    }

    /// Plans for the re-runs that are ready. `spare`: how long the thread that asks may spend on them.
    pub(super) fn plan(&mut self, scheduler: &Scheduler, spare: Duration) -> Plan {
        let ready = scheduler.ready();
        let free = self.slots - (self.called + self.working).min(self.slots);
        let here = !spare.is_zero()
            && self.called == 0
            && free > 0
            && scheduler.ready_fits(
                limits::WRITER_RUNS,
                spare.as_micros().try_into().unwrap_or(u64::MAX),
            );
        let calls = if here {
            0
        } else {
            ready.saturating_sub(self.called).min(free)
        };
        self.called += calls + usize::from(here);
        let end_window = scheduler.is_batching() && !self.window_ends;
        self.window_ends |= end_window;
        let runs_on = if here {
            RunsOn::ThisThread
        } else {
            RunsOn::LiveThreads
        };
        Plan {
            calls,
            end_window,
            runs_on,
        }
    }

    /// A thread that was called begins.
    pub(super) fn work_begins(&mut self) {
        self.called -= 1;
        self.working += 1;
    }

    pub(super) fn work_ends(&mut self) {
        self.working -= 1;
    }

    /// The batching window ends, and the thread that ends it is about to begin work.
    pub(super) fn window_ended(&mut self) {
        self.window_ends = false;
        self.called += 1;
    }
}

#[cfg(test)]
mod tests {
    use resqlite_live::LiveQueryId;

    use super::*;

    /// A scheduler with a stale live query that took 20 µs the last time.
    fn stale() -> Scheduler {
        let (mut scheduler, id) = (Scheduler::new(2), LiveQueryId(1));
        scheduler.start(id);
        scheduler.finished(id, 20, false);
        scheduler.mark_stale(id, false);
        scheduler
    }

    fn runs_here(spare: Duration) -> bool {
        let plan = Dispatch::new(2).plan(&stale(), spare);
        let here = plan.runs_on == RunsOn::ThisThread;
        assert_eq!(plan.calls, usize::from(!here), "somebody makes the re-run");
        here
    }

    #[test]
    fn a_thread_makes_re_runs_itself_that_fit_into_its_spare_time() {
        assert!(runs_here(Duration::from_micros(20)));
        assert!(!runs_here(Duration::from_micros(19)));
        assert!(!runs_here(Duration::ZERO));
    }

    #[test]
    fn a_thread_makes_no_re_runs_itself_while_another_was_called_for_them() {
        let mut dispatch = Dispatch::new(2);
        assert_eq!(dispatch.plan(&stale(), Duration::ZERO).calls, 1);
        assert!(dispatch.plan(&stale(), Duration::MAX).runs_on == RunsOn::LiveThreads);
    }
}
