//! Work that is done once: opening, closing, copies, checkpoints.
//!
//! Such work waits for other tasks in the middle, so each has a worker for itself. A bound on those at work keeps the rest of the
//! workers for what they wait for. Calls may wait for upkeep of this kind, and not the other way round; so each class has a bound of
//! its own.

use std::{collections::VecDeque, sync::Arc};

use super::{Class, InUse, Task, Turn, Workers};
use crate::core::{
    limits,
    sync::{Mutex, lock},
};

type Work = Box<dyn FnOnce() + Send>;

/// The works of a class.
#[derive(Default)]
pub(super) struct Lane {
    at_work: usize,
    waiting: VecDeque<(Work, InUse)>,
}

/// A work that has one of the places of its class. When it is dropped, the next one has it.
struct Once {
    class: Class,
    work: Mutex<Option<Work>>,
    in_use: InUse,
}

impl Workers {
    /// Has a worker do this. What `work` owns has to answer when it is dropped: it is if `work` panics, and if there is no worker.
    pub(crate) fn run(self: &Arc<Self>, class: Class, work: impl FnOnce() + Send + 'static) {
        let (work, in_use) = (Box::new(work), self.enter());
        let mut lanes = lock(&self.once);
        let lane = &mut lanes[class as usize];
        if lane.at_work >= limits::ONCE_MAX {
            return lane.waiting.push_back((work, in_use));
        }
        lane.at_work += 1;
        drop(lanes);
        self.ready(Once::new(class, work, in_use));
    }
}

impl Once {
    fn new(class: Class, work: Work, in_use: InUse) -> Arc<Self> {
        Arc::new(Self {
            class,
            work: Mutex::new(Some(work)),
            in_use,
        })
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
        let workers = &self.in_use.0;
        let mut lanes = lock(&workers.once);
        let lane = &mut lanes[self.class as usize];
        let next = lane.waiting.pop_front();
        lane.at_work -= usize::from(next.is_none());
        drop(lanes);
        if let Some((work, in_use)) = next {
            workers.ready(Self::new(self.class, work, in_use));
        }
    }
}
