//! Holds back waiting jobs and sessions until none is at work. Whoever holds them back does something else meanwhile.

use std::time::Instant;

use crate::core::clock;

/// Called once nothing is at work.
pub(super) type Quiet = Box<dyn FnOnce() + Send>;

/// A hold, during which jobs or sessions are held back.
pub(super) struct Hold {
    until: Instant,
    quiet: Option<Quiet>,
}

impl Hold {
    /// Begins a hold that ends by itself at `until`, unless a hold is under way.
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

    /// Notes that a job or session is no longer at work. Once none is, returns the callback that must be called without the
    /// lock.
    pub(super) fn rests(hold: &mut Option<Self>, is_quiet: bool) -> Option<Quiet> {
        hold.as_mut()?.quiet.take_if(|_| is_quiet)
    }

    pub(super) fn is_over(&self) -> bool {
        clock::now() >= self.until
    }
}
