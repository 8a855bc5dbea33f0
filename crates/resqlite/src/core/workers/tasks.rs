//! The tasks that wait for a worker.

use std::{collections::VecDeque, sync::Arc};

use super::turn::Turn;

/// Work of an open file. The code that makes a task ready must do so at most once for each turn that is needed.
pub(crate) trait Task: Send + Sync {
    fn class(&self) -> Class;

    /// Does the work of the task, on a worker.
    fn turn(self: Arc<Self>, turn: &Turn<'_>);

    /// Called instead of [`turn`](Self::turn) if there is no worker, and none can be started.
    fn unserved(self: Arc<Self>);
}

/// The urgency of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A caller waits.
    Calls,
    /// Runs of live queries.
    Runs,
    /// Nobody waits.
    Upkeep,
}

impl Class {
    /// The number of classes.
    pub(super) const ALL: usize = 3;
}

/// After this many tasks, a task that is not the most urgent goes first. The two other classes take turns, so that no class waits for
/// ever.
const OTHERS_FIRST: usize = 8;

#[derive(Default)]
pub(super) struct Tasks {
    classes: [VecDeque<Arc<dyn Task>>; Class::ALL],
    taken: usize,
}

impl Tasks {
    pub(super) fn push(&mut self, task: Arc<dyn Task>) {
        self.classes[task.class() as usize].push_back(task);
    }

    pub(super) fn take(&mut self) -> Option<Arc<dyn Task>> {
        self.taken = self.taken.wrapping_add(1);
        let first = match self.taken % (2 * OTHERS_FIRST) {
            0 => Class::Upkeep,
            OTHERS_FIRST => Class::Runs,
            _ => Class::Calls,
        };
        let preferred = self.classes[first as usize].pop_front();
        preferred.or_else(|| self.classes.iter_mut().find_map(VecDeque::pop_front))
    }

    pub(super) fn take_all(&mut self) -> Vec<Arc<dyn Task>> {
        self.classes
            .iter_mut()
            .flat_map(|class| class.drain(..))
            .collect()
    }

    pub(super) fn len(&self) -> usize {
        self.classes.iter().map(VecDeque::len).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
