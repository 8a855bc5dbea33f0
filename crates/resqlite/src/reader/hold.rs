//! Jobs and sessions that wait are held back until none is at work. Whoever holds them back goes on with something else meanwhile.

use std::time::Instant;

use crate::core::clock;

/// Called once nothing is at work.
pub(super) type Quiet = Box<dyn FnOnce() + Send>;

/// Jobs or sessions are held back.
pub(super) struct Hold {
    until: Instant,
    quiet: Option<Quiet>,
}

impl Hold {
    /// Begins one that ends by itself at `until`, unless one is under way.
    pub(super) fn begin(
        hold: &mut Option<Self>,
        until: Instant,
        is_quiet: bool,
        quiet: impl FnOnce() + Send + 'static,
    ) {
        hold.take_if(|hold| hold.is_over());
        let hold = hold.get_or_insert(Self { until, quiet: None });
        if !is_quiet && hold.quiet.is_none() {
            hold.quiet = Some(Box::new(quiet));
        }
    }

    /// Something is at work no more. Returns what must be called without the lock, once nothing is.
    pub(super) fn rests(hold: &mut Option<Self>, is_quiet: bool) -> Option<Quiet> {
        hold.as_mut()?.quiet.take_if(|_| is_quiet)
    }

    pub(super) fn is_over(&self) -> bool {
        clock::now() >= self.until
    }
}
