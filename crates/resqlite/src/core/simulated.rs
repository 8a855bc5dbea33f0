//! The time of a simulated process, and the functions that wait for it. They replace those of the
//! system.
//!
//! All threads of a simulated process take turns on one thread of the system; a scheduler decides which is next. Time does not move until
//! the scheduler calls [`tick`].

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, LazyLock, LockResult, PoisonError},
    time::{Duration, Instant},
};

use shuttle::sync::{Mutex, MutexGuard};

/// The time of a simulated process, and the threads that wait for it.
#[derive(Default)]
struct Clock {
    passed: Duration,
    added: u64,
    waiting: BTreeMap<(Instant, u64), Arc<shuttle::sync::Condvar>>,
}

thread_local! {
    static CLOCK: RefCell<Clock> = RefCell::default();
}

/// Makes this thread simulate another process from now on.
pub fn restart() {
    CLOCK.take();
}

/// Moves the time to the moment when the next waiting thread must be woken. Returns `false` if no thread waits.
pub fn tick() -> bool {
    let next = CLOCK.with_borrow_mut(|clock| {
        let (&(due, _), condition) = clock.waiting.first_key_value()?;
        clock.passed = clock.passed.max(due - *START);
        Some(Arc::clone(condition))
    });
    next.as_ref().map(|condition| condition.notify_all()).is_some()
}

/// Moves the time on by `time`. This wakes nobody.
pub fn pass(time: Duration) {
    CLOCK.with_borrow_mut(|clock| clock.passed += time);
}

/// Returns the time since the process began.
pub fn passed() -> Duration {
    CLOCK.with_borrow(|clock| clock.passed)
}

#[expect(clippy::disallowed_methods, reason = "any instant would do")]
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(crate) fn now() -> Instant {
    *START + passed()
}

/// Waits until this time has passed.
pub fn sleep(time: Duration) {
    let (asleep, condition) = (Mutex::new(()), Condvar::new());
    let due = now() + time;
    while now() < due {
        // No thread holds this lock when it panics.
        let guard = asleep.lock().unwrap_or_else(PoisonError::into_inner);
        drop(condition.wait_timeout(guard, due - now()));
    }
}

/// A condition variable with a wait for a limited time.
#[derive(Debug, Default)]
pub(crate) struct Condvar(Arc<shuttle::sync::Condvar>);

/// The result of such a wait. It does not say whether the time has passed, because no caller asks.
pub(crate) type Waited<'a, T> = LockResult<(MutexGuard<'a, T>, ())>;

impl Condvar {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.0.wait(guard)
    }

    pub(crate) fn wait_timeout<'a, T>(&self, guard: MutexGuard<'a, T>, time: Duration) -> Waited<'a, T> {
        let due = now() + time;
        let key = CLOCK.with_borrow_mut(|clock| {
            clock.added += 1;
            clock.waiting.insert((due, clock.added), Arc::clone(&self.0));
            (due, clock.added)
        });
        let waited = self.0.wait(guard);
        CLOCK.with_borrow_mut(|clock| clock.waiting.remove(&key));
        match waited {
            Ok(guard) => Ok((guard, ())),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), ()))),
        }
    }
}
