//! What a task may know of the worker that runs it.

use super::super::sync::{AtomicUsize, Ordering::Relaxed};

/// A turn that a task gets of a worker.
pub(crate) struct Turn<'a> {
    /// Grows with all that the worker does.
    pub(super) progress: &'a AtomicUsize,
    /// How many tasks wait.
    pub(super) waiting: &'a AtomicUsize,
}

impl Turn<'_> {
    /// Runs `work` in place of a worker, where there is none.
    pub(crate) fn elsewhere(work: impl FnOnce(&Turn<'_>)) {
        let (progress, waiting) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        work(&Turn { progress, waiting });
    }

    /// Tells that the worker makes progress: to be called once per request.
    pub(crate) fn goes_on(&self) {
        self.progress.fetch_add(1, Relaxed);
    }

    /// Whether other tasks wait for a worker.
    pub(crate) fn others_wait(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }
}
