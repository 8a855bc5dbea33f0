//! Locks, condition variables and atomic numbers. They are the standard ones, those of loom if the code that uses them is model-checked,
//! or those of the simulator.

#[cfg(not(any(loom, feature = "simulation")))]
pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
#[cfg(feature = "simulation")]
pub(crate) use shuttle::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

#[cfg(feature = "simulation")]
pub(crate) use super::simulated::Condvar;

/// Atomic numbers that tell threads what others have done. Counters that order nothing can be the standard atomics.
pub(crate) mod atomic {
    #[cfg(feature = "simulation")]
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
    #[cfg(not(feature = "simulation"))]
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}

/// A value of the process, made at its first use. In the simulator, each run is a process.
#[cfg(not(feature = "simulation"))]
pub(crate) struct OfProcess<T>(std::sync::LazyLock<T>);
#[cfg(feature = "simulation")]
pub(crate) struct OfProcess<T: Sync>(shuttle::lazy_static::Lazy<T>);

impl<T: Sync> OfProcess<T> {
    #[cfg(not(feature = "simulation"))]
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Self(std::sync::LazyLock::new(make))
    }

    #[cfg(feature = "simulation")]
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Self(shuttle::lazy_static::Lazy::new(make))
    }

    pub(crate) fn get(&'static self) -> &'static T {
        #[cfg(not(feature = "simulation"))]
        return &self.0;
        #[cfg(feature = "simulation")]
        return self.0.get();
    }
}

/// Locks, even if a holder panicked: every critical section of this crate leaves its data whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Locks, unless another thread has the lock.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(std::sync::TryLockError::WouldBlock) => None,
    }
}

/// Waits on a condition variable.
pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits on a condition variable for a limited time.
pub(crate) fn wait_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    time: std::time::Duration,
) -> MutexGuard<'a, T> {
    condition
        .wait_timeout(guard, time)
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .0
}
