//! Work that blocks for a moment, kept away from the realm's thread.

use std::sync::{Arc, Condvar, Mutex};

use crate::sync::{lock, wait};

/// The work that is under way for a realm.
#[derive(Default)]
pub(crate) struct UnderWay {
    count: Mutex<usize>,
    ended: Condvar,
}

impl UnderWay {
    /// Has a worker do `work`. A reply that `work` owns reports by itself if there is no worker, or if `work` panics.
    pub(crate) fn run(self: &Arc<Self>, work: impl FnOnce() + Send + 'static) {
        *lock(&self.count) += 1;
        let one = One(Arc::clone(self));
        resqlite::binding::run(move || {
            let _one = one;
            work();
        });
    }

    /// Waits until nothing is under way.
    pub(crate) fn wait(&self) {
        let mut count = lock(&self.count);
        while *count > 0 {
            count = wait(&self.ended, count);
        }
    }
}

struct One(Arc<UnderWay>);

impl Drop for One {
    fn drop(&mut self) {
        *lock(&self.0.count) -= 1;
        self.0.ended.notify_all();
    }
}
