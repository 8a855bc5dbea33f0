//! The works of a class that are done once. Only a limited number are at work at a time, and the
//! others wait.

use std::collections::VecDeque;

use crate::core::limits;

pub(super) type Work = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct Lane {
    at_work: usize,
    waiting: VecDeque<Work>,
}

impl Lane {
    /// Returns the work if it can begin now. Otherwise, the work waits.
    pub(super) fn enter(&mut self, work: Work) -> Option<Work> {
        if self.at_work >= limits::ONCE_MAX {
            self.waiting.push_back(work);
            return None;
        }
        self.at_work += 1;
        Some(work)
    }

    /// Notes that a work has ended. Returns the next work, which begins now.
    pub(super) fn leave(&mut self) -> Option<Work> {
        let next = self.waiting.pop_front();
        self.at_work -= usize::from(next.is_none());
        next
    }
}
