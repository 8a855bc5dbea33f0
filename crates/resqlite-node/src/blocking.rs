//! Work that blocks for a moment, kept away from the realm's thread.

use std::sync::{Arc, Condvar, Mutex};

use crate::{
    realm::Realm,
    sync::{lock, wait},
};

/// The number of such works of a realm.
#[derive(Default)]
pub(crate) struct UnderWay {
    count: Mutex<usize>,
    ended: Condvar,
}

/// Has a worker do `work`. A reply that `work` owns reports by itself if there is no worker, or if `work` panics.
pub(crate) fn run(realm: &Arc<Realm>, work: impl FnOnce() + Send + 'static) {
    let one = One::begin(realm);
    resqlite::binding::run(move || {
        let _one = one;
        work();
    });
}

impl UnderWay {
    pub(crate) fn wait(&self) {
        let mut count = lock(&self.count);
        while *count > 0 {
            count = wait(&self.ended, count);
        }
    }
}

struct One(Arc<Realm>);

impl One {
    fn begin(realm: &Arc<Realm>) -> Self {
        *lock(&realm.under_way.count) += 1;
        Self(Arc::clone(realm))
    }
}

impl Drop for One {
    fn drop(&mut self) {
        let UnderWay { count, ended } = &self.0.under_way;
        *lock(count) -= 1;
        ended.notify_all();
    }
}
