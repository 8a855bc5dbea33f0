//! Work that is done once: opening, closing, copies, checkpoints.

use std::sync::Arc;

use super::{Class, InUse, Task, Turn, Workers};
use crate::core::sync::{Mutex, lock};

struct Once {
    class: Class,
    work: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    _in_use: InUse,
}

impl Workers {
    /// Has a worker do this. What `work` owns has to answer when it is dropped: it is if `work` panics, and if there is no worker.
    pub(crate) fn run(self: &Arc<Self>, class: Class, work: impl FnOnce() + Send + 'static) {
        let once = Once {
            class,
            work: Mutex::new(Some(Box::new(work))),
            _in_use: self.enter(),
        };
        self.ready(Arc::new(once));
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
