//! Keeps snapshots and cursors from a deadlock: one that waits for a thread may be asked for in the body of another,
//! which in turn waits for it. So idle sessions do not count against the bound for long. A thread sees to this as long as
//! any wait.

use std::thread;

use super::{job::Job, readers::Readers};
use crate::core::{error::Error, limits};

impl Readers {
    /// Starts the thread.
    pub(super) fn start_relief(&self) {
        let relieved = self.clone();
        let named = thread::Builder::new().name("resqlite-relief".into());
        if named.spawn(move || while relieve(&relieved) {}).is_err() {
            self.pool.unrelieved();
        }
    }
}

/// Waits for a moment and relieves once; returns whether any still wait.
fn relieve(readers: &Readers) -> bool {
    thread::sleep(limits::LEASE_PATIENCE / 2);
    let late = |job: &Job| job.waits_for() >= limits::LEASE_PATIENCE;
    let too_late = |job: &Job| job.waits_for() >= limits::LEASE_REFUSED;
    let Some(relief) = readers.pool.relieve(readers.holders().idle(), late, too_late) else {
        return false;
    };
    (0..relief.threads).for_each(|_| readers.start_thread());
    let refused = relief.refused.into_iter();
    refused.for_each(|job| job.fail(Error::TooManyLeases));
    true
}
