//! Work that is done once: opening, closing, copies, checkpoints.
//!
//! Such work waits for other tasks in the middle, so each has a worker for itself. A bound on those at work keeps the rest of the
//! workers for what they wait for. Calls may wait for upkeep of this kind, and not the other way round; so each class has a bound of
//! its own.

use std::sync::Arc;

use super::{Class, Task, Turn, Workers, lane::Work};
use crate::core::sync::{Mutex, lock};

/// A work that has one of the places of its class. When it is dropped, the next one has it.
struct Once {
    class: Class,
    work: Mutex<Option<Work>>,
    workers: Arc<Workers>,
}

impl Workers {
    /// Has a worker do this. What `work` owns has to answer when it is dropped: it is if `work` panics, and if there is no worker.
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
