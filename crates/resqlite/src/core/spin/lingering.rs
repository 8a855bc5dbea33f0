//! Calls to the worker that spins. Only one caller can call this worker, which is awake.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

// An atomic of std, not of loom: nobody lingers in the loom model.
static LINGERING: Lingering = Lingering::new();

/// The number of times that a task found no worker, or called the worker that spins.
static WANTED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// States that this worker was called while it spun.
    static CALLED: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn begin_to_linger() {
    if !cfg!(loom) {
        LINGERING.begins();
    }
}

pub(super) fn end_lingering() {
    if !cfg!(loom) && LINGERING.ends_as_called() {
        CALLED.set(true);
    }
}

/// Calls the worker that spins, if there is one. That worker then looks for tasks, or makes another
/// worker do so. Returns whether there was such a worker.
pub(crate) fn call_lingering() -> bool {
    let calls = LINGERING.call();
    if calls {
        is_wanted_elsewhere();
    }
    calls
}

/// Returns whether this worker was called while it spun, and has not looked for tasks since.
pub(crate) fn take_call() -> bool {
    CALLED.replace(false)
}

/// Ends the spinning of a thread, because a task waits for a worker.
pub(crate) fn is_wanted_elsewhere() {
    if !cfg!(loom) {
        WANTED.fetch_add(1, Relaxed);
    }
}

/// Returns a number that grows with each event that ends the spinning of a thread.
pub(super) fn wanted() -> usize {
    WANTED.load(Relaxed)
}

/// A flag that is true while a worker lingers that nobody has called yet. At most one worker
/// lingers at a time.
pub(super) struct Lingering(AtomicBool);

impl Lingering {
    pub(super) const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(super) fn begins(&self) {
        self.0.store(true, Relaxed);
    }

    /// Calls the lingering worker. Returns whether there is one that nobody else has called.
    pub(super) fn call(&self) -> bool {
        self.0.load(Relaxed) && self.0.swap(false, Relaxed)
    }

    /// Notes that the worker no longer lingers. Returns whether it was called.
    pub(super) fn ends_as_called(&self) -> bool {
        !self.0.swap(false, Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::Lingering;

    #[test]
    fn a_worker_that_lingers_is_called_once() {
        let lingering = Lingering::new();
        assert!(!lingering.call());
        lingering.begins();
        assert_eq!([lingering.call(), lingering.call()], [true, false]);
        assert!(lingering.ends_as_called());
    }

    #[test]
    fn a_worker_that_nobody_has_called_cannot_be_called_afterwards() {
        let lingering = Lingering::new();
        lingering.begins();
        assert!(!lingering.ends_as_called());
        assert!(!lingering.call());
    }
}
