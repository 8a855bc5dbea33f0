//! Before a thread without work parks, it spins for a moment if more work is likely to arrive at once.
//!
//! Waking a thread whose core sleeps costs the caller about six microseconds. In a Node.js program, this is time of its main thread, and
//! calls that are awaited one by one would pay it every time.
//!
//! - **Whether a thread spins** depends on the last time. If work arrived soon after the queue became empty, it is expected to do so
//!   again. A wrong guess costs [`limits::SPIN_MAX`] of one core, once: the thread does not spin again until work has once more arrived
//!   soon.
//! - **One thread of the process spins at a time**, and only while a core is free for it, beside those of the callers and of the
//!   threads that run requests. A thread that shares its core has used up its time slice when work arrives, and must wait until the
//!   others have used up theirs. The spinning thread stops at once when a task waits for a worker.
//! - **A worker that spins is the next to be called**, for any task: it is awake, and nobody has to be woken. A program that reads and
//!   writes in turns is served by one thread.
//! - **Preemption stops all threads from spinning for a while.** The load of the machine is not known. But if a thread was preempted
//!   while it spun, others want its core. No thread then spins for [`limits::SPIN_BACKOFF`].

mod lingering;

use std::time::Instant;

use self::lingering::{begin_to_linger, end_lingering, wanted};
pub(crate) use self::lingering::{call_lingering, is_wanted_elsewhere, take_call};
#[cfg(not(any(loom, feature = "simulation")))]
use super::sync::AtomicBool;
use super::{
    clock, limits,
    sync::{AtomicUsize, Mutex, MutexGuard, Ordering, lock},
    threads::yield_now,
};

/// The part of a queue that a spinning thread reads without the queue's lock.
pub(crate) struct Arrivals {
    arrivals: AtomicUsize,
}

/// The recent arrivals of work in a queue, protected by the queue's lock.
#[derive(Default)]
pub(crate) struct ArrivalHistory {
    /// The time when a thread found the queue empty, if nothing has arrived since.
    dry_since: Option<Instant>,
    /// States that work arrived soon after the queue was last empty.
    soon: bool,
    /// The number of threads that spin. They need no wake-up.
    pub(crate) spinning: usize,
}

impl ArrivalHistory {
    /// Expects work to come soon.
    pub(crate) fn expect(&mut self) {
        self.soon = true;
    }

    /// Records that work arrived.
    pub(crate) fn arrived(&mut self) {
        if let Some(since) = self.dry_since.take() {
            self.soon = cfg!(loom) || clock::since(since) <= limits::SPIN_MAX;
        }
    }
}

impl Arrivals {
    pub(crate) fn new() -> Self {
        Self {
            arrivals: AtomicUsize::new(0),
        }
    }

    /// Ends the spinning of a thread. Call this after releasing the lock, because that thread takes the lock next.
    pub(crate) fn arrived(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }

    /// Spins until work arrives, for [`limits::SPIN_MAX`] at most, if that is worthwhile. The lock is released meanwhile. `as_worker`
    /// states that the thread will look for tasks when it has done the arriving work, or if none arrives. Returns whether the thread
    /// spun.
    pub(crate) fn spin<'a, S>(
        &self,
        mutex: &'a Mutex<S>,
        mut state: MutexGuard<'a, S>,
        history: fn(&mut S) -> &mut ArrivalHistory,
        as_worker: bool,
    ) -> (MutexGuard<'a, S>, bool) {
        let Some(seen) = self.begin(history(&mut state)) else {
            return (state, false);
        };
        drop(state);
        if as_worker {
            begin_to_linger();
        }
        self.wait_for_arrival(seen);
        if as_worker {
            end_lingering();
        }
        let mut state = lock(mutex);
        history(&mut state).spinning -= 1;
        release();
        (state, true)
    }

    /// Returns the present number of arrivals ([`seen`](Self::seen)), if the thread may spin.
    fn begin(&self, history: &mut ArrivalHistory) -> Option<usize> {
        history.dry_since = Some(clock::now());
        if !history.soon || !claim() {
            return None;
        }
        history.spinning += 1;
        Some(self.seen())
    }

    #[cfg(not(any(loom, feature = "simulation")))]
    fn wait_for_arrival(&self, seen: usize) {
        let mut now = clock::now();
        let end = now + limits::SPIN_MAX;
        while now < end && !self.poll(seen) {
            yield_now();
            let before = std::mem::replace(&mut now, clock::now());
            PREEMPTION.polled(before, now);
        }
    }

    /// Returns whether work arrives within about a microsecond, in this queue or for another
    /// worker.
    #[cfg(not(any(loom, feature = "simulation")))]
    fn poll(&self, seen: usize) -> bool {
        (0..POLLS_PER_YIELD).any(|_| {
            std::hint::spin_loop();
            self.seen() != seen
        })
    }

    /// Returns a number that changes with each arrival in this queue, and with each task that finds
    /// no worker.
    fn seen(&self) -> usize {
        self.arrivals.load(Ordering::Relaxed).wrapping_add(wanted())
    }

    #[cfg(any(loom, feature = "simulation"))]
    fn wait_for_arrival(&self, seen: usize) {
        if self.seen() == seen {
            yield_now();
        }
    }
}

/// Polls between two calls of `yield_now`: about a microsecond.
#[cfg(not(any(loom, feature = "simulation")))]
const POLLS_PER_YIELD: usize = 32;

/// States that a thread of this process spins.
#[cfg(not(any(loom, feature = "simulation")))]
static SPINNING: AtomicBool = AtomicBool::new(false);

/// Returns the number of cores of the machine.
pub(crate) fn cores() -> usize {
    // The number is fixed, so that seeds repeat on every machine.
    if cfg!(feature = "simulation") {
        return 2;
    }
    static CORES: std::sync::LazyLock<usize> =
        std::sync::LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// The number of threads of this process that run a request.
#[cfg(not(any(loom, feature = "simulation")))]
static BUSY: AtomicUsize = AtomicUsize::new(0);

#[cfg(not(any(loom, feature = "simulation")))]
static PREEMPTION: Preemption = Preemption::new();

/// The end of the back-off after a spinning thread was preempted.
#[cfg(not(any(loom, feature = "simulation")))]
struct Preemption(Mutex<Option<Instant>>);

#[cfg(not(any(loom, feature = "simulation")))]
fn claim() -> bool {
    leaves_a_core(BUSY.load(Ordering::Relaxed), cores())
        && !PREEMPTION.is_recent(clock::now())
        && !SPINNING.swap(true, Ordering::Relaxed)
}

/// Returns whether there is a free core besides those of the busy threads and of a caller.
#[cfg(not(any(loom, feature = "simulation")))]
fn leaves_a_core(busy: usize, cores: usize) -> bool {
    busy + 2 <= cores
}

#[cfg(not(any(loom, feature = "simulation")))]
impl Preemption {
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn is_recent(&self, now: Instant) -> bool {
        let mut until = lock(&self.0);
        *until = until.filter(|until| now < *until);
        until.is_some()
    }

    /// Records that a thread polled at `before` and could not poll again until now.
    fn polled(&self, before: Instant, now: Instant) {
        if now - before > limits::PREEMPTED_AFTER {
            *lock(&self.0) = Some(now + limits::SPIN_BACKOFF);
        }
    }
}

#[cfg(not(any(loom, feature = "simulation")))]
fn release() {
    SPINNING.store(false, Ordering::Relaxed);
}

/// Counts a thread as busy as long as it lives.
pub(crate) struct BusyThread(());

impl BusyThread {
    pub(crate) fn begin() -> Self {
        #[cfg(not(any(loom, feature = "simulation")))]
        BUSY.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for BusyThread {
    fn drop(&mut self) {
        #[cfg(not(any(loom, feature = "simulation")))]
        BUSY.fetch_sub(1, Ordering::Relaxed);
    }
}

// In a model every thread may spin; in the simulator no thread may.
#[cfg(any(loom, feature = "simulation"))]
fn claim() -> bool {
    cfg!(loom)
}

#[cfg(any(loom, feature = "simulation"))]
fn release() {}

#[cfg(all(test, not(any(loom, feature = "simulation"))))]
mod tests {
    use super::*;

    #[test]
    fn no_thread_spins_before_work_has_come_soon_once() {
        assert!(Arrivals::new().begin(&mut ArrivalHistory::default()).is_none());
    }

    #[test]
    fn expected_work_is_spun_for_until_it_comes_late() {
        let mut history = ArrivalHistory::default();
        history.expect();
        assert!(history.soon);
        history.dry_since = Instant::now().checked_sub(2 * limits::SPIN_MAX);
        history.arrived();
        assert!(!history.soon);
    }

    #[test]
    fn work_that_comes_late_is_not_spun_for_the_next_time() {
        let mut history = ArrivalHistory {
            soon: true,
            ..ArrivalHistory::default()
        };
        history.dry_since = Instant::now().checked_sub(2 * limits::SPIN_MAX);
        history.arrived();
        assert!(Arrivals::new().begin(&mut history).is_none());
    }

    #[test]
    fn work_that_comes_while_no_thread_is_dry_says_nothing_about_the_history() {
        let mut history = ArrivalHistory {
            soon: true,
            ..ArrivalHistory::default()
        };
        history.arrived();
        assert!(history.soon);
    }

    #[test]
    fn the_caller_and_the_busy_threads_keep_their_cores() {
        let may_spin = |busy, cores| leaves_a_core(busy, cores);
        assert_eq!([may_spin(0, 1), may_spin(1, 2), may_spin(3, 4)], [false; 3]);
        assert_eq!([may_spin(0, 2), may_spin(1, 3), may_spin(2, 4)], [true; 3]);
    }

    #[test]
    fn a_thread_is_busy_until_its_request_ends() {
        // Other tests run requests at the same time, so the exact count is not known: this is more than it can be.
        let many: Vec<_> = (0..10_000).map(|_| BusyThread::begin()).collect();
        assert!(BUSY.load(Ordering::Relaxed) >= 10_000);
        drop(many);
        assert!(BUSY.load(Ordering::Relaxed) < 10_000);
    }

    #[test]
    fn a_preempted_thread_keeps_all_from_spinning_for_a_while() {
        let (preemption, before) = (Preemption::new(), Instant::now());
        preemption.polled(before, before + limits::PREEMPTED_AFTER);
        assert!(!preemption.is_recent(before));
        let late = before + 2 * limits::PREEMPTED_AFTER;
        preemption.polled(before, late);
        assert!(preemption.is_recent(late));
        assert!(!preemption.is_recent(late + limits::SPIN_BACKOFF));
    }

    #[test]
    fn spinning_ends_with_an_arrival_that_came_before_it_began() {
        let arrivals = Arrivals::new();
        let seen = arrivals.seen();
        arrivals.arrived();
        arrivals.wait_for_arrival(seen);
    }
}
