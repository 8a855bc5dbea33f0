//! The time. The engine reads the time only here, because the simulator has a time of its own.

#![cfg_attr(
    not(feature = "simulation"),
    expect(clippy::disallowed_methods, reason = "everybody else asks here")
)]

use std::time::{Duration, Instant};

#[cfg(not(feature = "simulation"))]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[cfg(not(feature = "simulation"))]
pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(feature = "simulation")]
pub(crate) use super::simulated::{now, sleep};

/// Returns the time that has passed since `then`.
pub(crate) fn since(then: Instant) -> Duration {
    now().saturating_duration_since(then)
}
