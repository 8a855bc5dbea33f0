//! What waits is held back until nothing is at work, while whoever waits for that goes on with something else.

use std::time::Instant;

/// Called once nothing is at work.
pub(super) type Quiet = Box<dyn FnOnce() + Send>;

pub(super) struct Hold {
    until: Instant,
    pub(super) quiet: Option<Quiet>,
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

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }
}
