//! The time of a simulated process, and waiting for it, in place of those of the system.
//!
//! All threads of a simulated process take turns on one thread of the system; a scheduler decides who is next. Time stands still
//! until it calls [`tick`].

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, LazyLock, LockResult, PoisonError},
    time::{Duration, Instant},
};

use shuttle::sync::{Mutex, MutexGuard};

/// The time of a simulated process, and those who wait for it.
#[derive(Default)]
struct Clock {
    passed: Duration,
    added: u64,
    waiting: BTreeMap<(Instant, u64), Arc<shuttle::sync::Condvar>>,
}

thread_local! {
    static CLOCK: RefCell<Clock> = RefCell::default();
}

/// From now on the thread simulates another process.
pub fn restart() {
    CLOCK.take();
}

/// Time goes on until the next of those who wait for it is to be woken. Returns `false` if nobody waits.
pub fn tick() -> bool {
    let next = CLOCK.with_borrow_mut(|clock| {
        let (&(due, _), condition) = clock.waiting.first_key_value()?;
        clock.passed = clock.passed.max(due - *START);
        Some(Arc::clone(condition))
    });
    next.as_ref().map(|condition| condition.notify_all()).is_some()
}

/// So much time passes, which wakes nobody.
pub fn pass(time: Duration) {
    CLOCK.with_borrow_mut(|clock| clock.passed += time);
}

/// The time since the process began.
pub fn passed() -> Duration {
    CLOCK.with_borrow(|clock| clock.passed)
}

#[expect(clippy::disallowed_methods, reason = "any instant would do")]
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(crate) fn now() -> Instant {
    *START + passed()
}

/// Waits until so much time has passed.
pub fn sleep(time: Duration) {
    let (asleep, condition) = (Mutex::new(()), Condvar::new());
    let due = now() + time;
    while now() < due {
        // Nobody holds it when a thread panics.
        let guard = asleep.lock().unwrap_or_else(PoisonError::into_inner);
        drop(condition.wait_timeout(guard, due - now()));
    }
}

/// A condition variable on which one can wait for a limited time.
#[derive(Debug, Default)]
pub(crate) struct Condvar(Arc<shuttle::sync::Condvar>);

/// The time did not pass, or did: nobody asks.
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
