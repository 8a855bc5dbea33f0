//! A reader that runs out of work looks out for more before it sleeps, where more is likely to come at once.
//!
//! To wake a thread whose core has gone to sleep costs the caller about six microseconds, which for a Node.js program are
//! main-thread time; reads that are awaited one by one would pay that every time. Whether looking out is worth it, the last
//! time tells: when work came soon after there was none, it is expected to do so again. A guess that fails
//! costs [`limits::LOOKOUT`] of one core, once, and is not repeated before work has come soon again. Of all threads of the process only
//! one looks out at a time, none where there is only one core, and whoever wants its core gets it.
//!
//! The writer does not: see experiment 008.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

#[cfg(loom)]
use loom::sync::atomic::{AtomicUsize, Ordering};

use crate::limits;

/// What can be seen of a pool without its lock.
pub(crate) struct Lookout {
    arrivals: AtomicUsize,
}

/// How work comes to a pool; belongs under its lock.
#[derive(Default)]
pub(crate) struct Rhythm {
    /// When a thread found nothing to do, if nothing has come since.
    dry_since: Option<Instant>,
    /// The last time that there was nothing, more came soon.
    soon: bool,
    /// Threads that look out. They need no waking.
    pub(crate) looking: usize,
}

impl Rhythm {
    /// Something came.
    pub(crate) fn came(&mut self) {
        if let Some(since) = self.dry_since.take() {
            self.soon = cfg!(loom) || since.elapsed() <= limits::LOOKOUT;
        }
    }
}

/// The right to look out.
pub(crate) struct Watch {
    /// Arrivals before.
    seen: usize,
}

impl Lookout {
    pub(crate) fn new() -> Self {
        Self {
            arrivals: AtomicUsize::new(0),
        }
    }

    /// Tells the thread that looks out. To be called after the lock was released, since that thread takes it next.
    pub(crate) fn arrived(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }

    /// A thread found nothing to do: begins to look out, if that is worth it; under the lock.
    pub(crate) fn begin(&self, rhythm: &mut Rhythm) -> Option<Watch> {
        rhythm.dry_since = Some(Instant::now());
        if !rhythm.soon || !claim() {
            return None;
        }
        rhythm.looking += 1;
        let seen = self.arrivals.load(Ordering::Relaxed);
        Some(Watch { seen })
    }

    /// Looks until something comes, for [`limits::LOOKOUT`] at most; without the lock.
    #[cfg(not(loom))]
    pub(crate) fn look(&self, watch: &Watch) {
        let end = Instant::now() + limits::LOOKOUT;
        while Instant::now() < end {
            for _ in 0..LOOKS {
                if self.arrivals.load(Ordering::Relaxed) != watch.seen {
                    return;
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
    }

    #[cfg(loom)]
    pub(crate) fn look(&self, watch: &Watch) {
        if self.arrivals.load(Ordering::Relaxed) == watch.seen {
            loom::thread::yield_now();
        }
    }

    /// Ends looking out; under the lock again.
    pub(crate) fn end(&self, _watch: Watch, rhythm: &mut Rhythm) {
        rhythm.looking -= 1;
        release();
    }
}

/// Looks between two times that the core is offered to others: about a microsecond.
#[cfg(not(loom))]
const LOOKS: usize = 32;

/// Whether a thread of this process looks out.
#[cfg(not(loom))]
static CLAIMED: AtomicBool = AtomicBool::new(false);

#[cfg(not(loom))]
fn claim() -> bool {
    static CORES: std::sync::LazyLock<usize> =
        std::sync::LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES > 1 && !CLAIMED.swap(true, Ordering::Relaxed)
}

#[cfg(not(loom))]
fn release() {
    CLAIMED.store(false, Ordering::Relaxed);
}

// Every thread may look out, so that the model sees them all do so.
#[cfg(loom)]
fn claim() -> bool {
    true
}

#[cfg(loom)]
fn release() {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn nobody_looks_out_before_work_has_come_soon_once() {
        assert!(Lookout::new().begin(&mut Rhythm::default()).is_none());
    }

    #[test]
    fn work_that_comes_late_is_not_looked_out_for_the_next_time() {
        let mut rhythm = Rhythm {
            soon: true,
            ..Rhythm::default()
        };
        rhythm.dry_since = Instant::now().checked_sub(2 * limits::LOOKOUT);
        rhythm.came();
        assert!(Lookout::new().begin(&mut rhythm).is_none());
    }

    #[test]
    fn what_comes_while_others_are_served_says_nothing_about_the_rhythm() {
        let mut rhythm = Rhythm {
            soon: true,
            ..Rhythm::default()
        };
        rhythm.came();
        assert!(rhythm.soon);
    }

    #[test]
    fn looking_out_ends_with_an_arrival_that_came_before_it_began() {
        let (lookout, watch) = (Lookout::new(), Watch { seen: 0 });
        lookout.arrived();
        lookout.look(&watch);
    }
}
