//! A task's view of the worker that runs it.

use std::time::Instant;

use super::super::{
    clock, limits, spin,
    sync::{AtomicUsize, Ordering::Relaxed},
};

/// A turn that a task gets from a worker.
pub(crate) struct Turn<'a> {
    /// A number that grows with everything that the worker does.
    pub(super) progress: &'a AtomicUsize,
    /// The number of tasks that wait.
    pub(super) waiting: &'a AtomicUsize,
    pub(super) began: Instant,
    /// Calls another worker.
    pub(super) call_another: &'a dyn Fn(),
}

impl Turn<'_> {
    /// Runs `work` without a worker.
    pub(crate) fn elsewhere(work: impl FnOnce(&Turn<'_>)) {
        let (progress, waiting) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let (began, call_another) = (clock::now(), &|| ());
        work(&Turn {
            progress,
            waiting,
            began,
            call_another,
        });
    }

    /// Notes that the worker makes progress. Call this once per request.
    pub(crate) fn goes_on(&self) {
        self.progress.fetch_add(1, Relaxed);
        if spin::take_call() {
            (self.call_another)();
        }
    }

    /// Returns whether the task must give way: it has had its time, and others wait for a worker.
    pub(crate) fn is_over(&self) -> bool {
        self.waiting.load(Relaxed) > 0 && clock::since(self.began) >= limits::WORK_TURN
    }
}
