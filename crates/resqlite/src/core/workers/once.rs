//! Work that is done once: opening, closing, copies, checkpoints.
//!
//! Such work waits for other tasks before it ends, so each work has a worker for itself. The number of works at a time is bounded, so
//! that enough workers are left for the tasks for which they wait. Calls may wait for upkeep of this kind, but upkeep does not wait for
//! calls. So each class has a bound of its own.

use std::sync::Arc;

use super::{Class, Task, Turn, Workers, lane::Work};
use crate::core::sync::{Mutex, lock};

/// A work that has one of the places of its class. When it is dropped, the next work gets the
/// place.
struct Once {
    class: Class,
    work: Mutex<Option<Work>>,
    workers: Arc<Workers>,
}

impl Workers {
    /// Runs `work` on a worker. `work` is dropped if it panics, and if there is no worker; so a value that it owns must reply when it is
    /// dropped.
    pub(crate) fn run(self: &Arc<Self>, class: Class, work: impl FnOnce() + Send + 'static) {
        let in_use = self.enter();
        let work = move || {
            let _in_use = in_use;
            work();
        };
        let begins = lock(&self.once)[class as usize].enter(Box::new(work));
        self.begin(class, begins);
    }

    fn begin(self: &Arc<Self>, class: Class, work: Option<Work>) {
        if work.is_some() {
            let (work, workers) = (Mutex::new(work), Arc::clone(self));
            self.ready(Arc::new(Once { class, work, workers }));
        }
    }
}

impl Task for Once {
    fn class(&self) -> Class {
        self.class
    }

    fn turn(self: Arc<Self>, _: &Turn<'_>) {
        let work = lock(&self.work).take();
        work.into_iter().for_each(|work| work());
    }

    fn unserved(self: Arc<Self>) {
        lock(&self.work).take();
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        let next = lock(&self.workers.once)[self.class as usize].leave();
        self.workers.begin(self.class, next);
    }
}
