//! The worker that spins can be called, by one caller: it is awake.

use super::super::sync::{AtomicBool, Ordering::Relaxed};

/// Whether a worker lingers that nobody has called yet. At most one does at a time.
pub(super) struct Lingering(AtomicBool);

impl Lingering {
    pub(super) const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(super) fn begins(&self) {
        self.0.store(true, Relaxed);
    }

    /// Calls the worker. Returns whether one lingers that nobody else has called.
    pub(super) fn call(&self) -> bool {
        self.0.load(Relaxed) && self.0.swap(false, Relaxed)
    }

    /// The worker lingers no more. Returns whether it was called.
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
