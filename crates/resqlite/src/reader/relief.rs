//! Keeps snapshots and cursors from a deadlock: the body of one, which holds a thread, may open another and wait for
//! its thread. So idle sessions soon stop counting against the bound. A thread of its own does this as long as
//! any session waits.

use std::{sync::atomic::Ordering::Relaxed, thread};

use super::{job::Job, readers::Readers};
use crate::core::{error::Error, limits, threads::start_thread};

impl Readers {
    /// Starts the relief thread.
    pub(super) fn start_relief(&self) {
        let relieved = self.clone();
        if start_thread("resqlite-relief", move || while relieve(&relieved) {}).is_err() {
            self.pool.unrelieved();
        }
    }
}

/// Sleeps briefly, then relieves the pool once. Returns whether jobs still wait.
fn relieve(readers: &Readers) -> bool {
    thread::sleep(limits::LEASE_PATIENCE / 2);
    let late = |job: &Job| job.waits_for() >= limits::LEASE_PATIENCE;
    let too_late = |job: &Job| job.waits_for() >= limits::LEASE_REFUSED;
    let idle = readers.holders().last_requests_of_idle();
    let steps = readers.shared.steps.load(Relaxed);
    let distance = |job: &Job| job.distance_from(&idle);
    let relieved = readers.pool.relieve(idle.len(), steps, distance, late, too_late);
    let Some(relief) = relieved else {
        return false;
    };
    (0..relief.threads).for_each(|_| readers.start_thread());
    let refused = relief.refused.into_iter();
    refused.for_each(|job| job.fail(Error::TooManyLeases));
    true
}
