//! Snapshots and cursors that wait must not wait for ever for others that rest, as these may wait for them: one that
//! was asked for in the body of another, for example. A thread of its own looks after them, as long as any wait.

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

/// Waits for a moment and looks once; whether anybody still waits.
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
