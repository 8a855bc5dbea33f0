//! A thread looks out for more work before it sleeps, where more is likely to come at once.
//!
//! To wake a thread whose core has gone to sleep costs the caller about six microseconds, which for a Node.js program are
//! main-thread time; calls that are awaited one by one would pay that every time. Whether looking out is worth it, the last
//! time tells: when work came soon after there was none, it is expected to do so again. A guess that fails
//! costs [`limits::LOOKOUT`] of one core, once, and is not repeated before work has come soon again. Of all threads of the process only
//! one looks out at a time, and only where a core is free for it, beside those of its callers and of the threads at work:
//! a thread that shares its core with others has used up its turn by the time that work comes, and must wait for theirs to end.
//! What else runs on the machine is not known, so one that lost its core keeps all from looking out for a while.

#[cfg(not(loom))]
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
use std::time::Instant;

#[cfg(loom)]
use loom::sync::atomic::{AtomicUsize, Ordering};

use crate::core::limits;

/// What can be seen of a pool or a queue without its lock.
pub(crate) struct Lookout {
    arrivals: AtomicUsize,
}

/// How work comes; belongs under the lock.
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
    /// More will come soon.
    pub(crate) fn expect(&mut self) {
        self.soon = true;
    }

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
        let mut now = Instant::now();
        let end = now + limits::LOOKOUT;
        while now < end && !self.glance(watch) {
            std::thread::yield_now();
            let before = std::mem::replace(&mut now, Instant::now());
            CROWD.looked(before, now);
        }
    }

    /// Whether something comes within about a microsecond.
    #[cfg(not(loom))]
    fn glance(&self, watch: &Watch) -> bool {
        (0..LOOKS).any(|_| {
            std::hint::spin_loop();
            self.arrivals.load(Ordering::Relaxed) != watch.seen
        })
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

/// Threads of this process that are at work.
#[cfg(not(loom))]
static AT_WORK: AtomicUsize = AtomicUsize::new(0);

#[cfg(not(loom))]
static CROWD: Crowd = Crowd::new();

/// Until when nobody looks out, since a thread that did had to wait for its core: others want it.
#[cfg(not(loom))]
struct Crowd(Mutex<Option<Instant>>);

#[cfg(not(loom))]
fn claim() -> bool {
    static CORES: std::sync::LazyLock<usize> =
        std::sync::LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    leaves_a_core(AT_WORK.load(Ordering::Relaxed), *CORES)
        && !CROWD.is_there(Instant::now())
        && !CLAIMED.swap(true, Ordering::Relaxed)
}

/// Whether there is a core besides those of the threads at work and of a caller.
#[cfg(not(loom))]
fn leaves_a_core(at_work: usize, cores: usize) -> bool {
    at_work + 2 <= cores
}

#[cfg(not(loom))]
impl Crowd {
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn is_there(&self, now: Instant) -> bool {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *until = until.filter(|until| now < *until);
        until.is_some()
    }

    /// A thread looked at `before` and could not look again until now.
    fn looked(&self, before: Instant, now: Instant) {
        if now - before > limits::CORE_LOST {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now + limits::CROWDED);
        }
    }
}

#[cfg(not(loom))]
fn release() {
    CLAIMED.store(false, Ordering::Relaxed);
}

/// A thread at work, as long as this lives.
pub(crate) struct AtWork(());

impl AtWork {
    pub(crate) fn begin() -> Self {
        #[cfg(not(loom))]
        AT_WORK.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        #[cfg(not(loom))]
        AT_WORK.fetch_sub(1, Ordering::Relaxed);
    }
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
    fn work_that_is_said_to_come_soon_is_looked_out_for_until_it_comes_late() {
        let mut rhythm = Rhythm::default();
        rhythm.expect();
        assert!(rhythm.soon);
        rhythm.dry_since = Instant::now().checked_sub(2 * limits::LOOKOUT);
        rhythm.came();
        assert!(!rhythm.soon);
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
    fn the_caller_and_the_threads_at_work_keep_their_cores() {
        let looks_out = |at_work, cores| leaves_a_core(at_work, cores);
        assert_eq!([looks_out(0, 1), looks_out(1, 2), looks_out(3, 4)], [false; 3]);
        assert_eq!([looks_out(0, 2), looks_out(1, 3), looks_out(2, 4)], [true; 3]);
    }

    #[test]
    fn a_thread_is_at_work_until_its_request_ends() {
        // Other tests run requests at the same time, so the count is not read: one more than it can be is put on top.
        let many: Vec<_> = (0..10_000).map(|_| AtWork::begin()).collect();
        assert!(AT_WORK.load(Ordering::Relaxed) >= 10_000);
        drop(many);
        assert!(AT_WORK.load(Ordering::Relaxed) < 10_000);
    }

    #[test]
    fn one_that_lost_its_core_keeps_all_from_looking_out_for_a_while() {
        let (crowd, before) = (Crowd::new(), Instant::now());
        crowd.looked(before, before + limits::CORE_LOST);
        assert!(!crowd.is_there(before));
        let late = before + 2 * limits::CORE_LOST;
        crowd.looked(before, late);
        assert!(crowd.is_there(late));
        assert!(!crowd.is_there(late + limits::CROWDED));
    }

    #[test]
    fn looking_out_ends_with_an_arrival_that_came_before_it_began() {
        let (lookout, watch) = (Lookout::new(), Watch { seen: 0 });
        lookout.arrived();
        lookout.look(&watch);
    }
}
