//! A bounded first-in-first-out queue with one consumer: the inbox of the writer, of a session or of a long batch. The consumer spins
//! before it parks, if more work is likely to arrive at once. A consumer that is a task leaves its worker instead, and gets a turn when
//! the next item arrives.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use crate::core::{
    clock, profile,
    spin::{ArrivalHistory, Arrivals},
    sync::{Condvar, Mutex, lock, wait_for},
    workers::{Task, Workers},
};

/// See the module's description. Pushing never waits.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    ready: Condvar,
    arrivals: Arrivals,
    capacity: usize,
    depth: profile::Depth,
}

struct State<T> {
    items: VecDeque<T>,
    /// States that the consumer is parked. A wake-up costs a system call even if no thread is parked, so it is only done if this is set.
    waiting: bool,
    /// The consumer that has left, and is to get a turn when there is an item for it.
    left: Option<Left>,
    arrivals: ArrivalHistory,
    closed: bool,
}

impl<T> State<T> {
    /// Returns the oldest item, or `Closed` if no item will arrive.
    fn pop(&mut self) -> Option<Popped<T>> {
        let item = self.items.pop_front().map(Popped::Item);
        item.or_else(|| self.closed.then_some(Popped::Closed))
    }
}

/// A consumer that has left its worker.
struct Left {
    workers: Arc<Workers>,
    consumer: Arc<dyn Task>,
}

impl Left {
    fn comes_back(self) {
        self.workers.ready(self.consumer);
    }
}

/// A refused item, with the reason why it was refused.
pub(crate) enum Refused<T> {
    /// The queue is at its bound.
    Full(T),
    /// The queue is closed.
    Closed(T),
}

/// The result of waiting for an item.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Popped<T> {
    /// The oldest item.
    Item(T),
    /// The deadline passed.
    TimedOut,
    /// The queue is closed and empty.
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State {
            items: VecDeque::new(),
            waiting: false,
            left: None,
            arrivals: ArrivalHistory::default(),
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            ready: Condvar::new(),
            arrivals: Arrivals::new(),
            capacity,
            depth: profile::Depth::none(),
        }
    }

    /// Expects the first item to arrive soon, so that the consumer spins for it.
    pub(crate) fn expecting(self) -> Self {
        lock(&self.state).arrivals.expect();
        self
    }

    /// Makes the queue report its length to this counter.
    pub(crate) fn counted(self, depth: profile::Depth) -> Self {
        Self { depth, ..self }
    }

    /// Adds an item and wakes the consumer.
    pub(crate) fn push(&self, item: T) -> Result<(), Refused<T>> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(Refused::Closed(item));
        }
        if state.items.len() >= self.capacity {
            return Err(Refused::Full(item));
        }
        state.arrivals.arrived();
        state.items.push_back(item);
        self.depth.reached(state.items.len());
        let wake = std::mem::take(&mut state.waiting);
        let left = state.left.take();
        drop(state);
        self.arrivals.arrived();
        if wake {
            self.ready.notify_one();
        }
        left.into_iter().for_each(Left::comes_back);
        Ok(())
    }

    /// Waits for the oldest item, at most until `deadline`.
    pub(crate) fn pop(&self, deadline: Instant) -> Popped<T> {
        if let Some(popped) = self.pop_or_spin(Some(deadline), false) {
            return popped;
        }
        let mut state = lock(&self.state);
        loop {
            if let Some(popped) = state.pop() {
                return popped;
            }
            let remaining = deadline.saturating_duration_since(clock::now());
            if remaining.is_zero() {
                return Popped::TimedOut;
            }
            state.waiting = true;
            state = wait_for(&self.ready, state, remaining);
            state.waiting = false;
        }
    }

    /// Returns the oldest item, if there is one or one arrives soon. For consumers that are tasks.
    pub(crate) fn pop_soon(&self, deadline: Option<Instant>) -> Option<Popped<T>> {
        self.pop_or_spin(deadline, true)
    }

    fn pop_or_spin(&self, deadline: Option<Instant>, as_worker: bool) -> Option<Popped<T>> {
        let mut state = lock(&self.state);
        let is_late = || deadline.is_some_and(|end| clock::now() >= end);
        if state.items.is_empty() && !state.closed && !is_late() {
            (state, _) = self
                .arrivals
                .spin(&self.state, state, |state| &mut state.arrivals, as_worker);
        }
        let popped = state.pop();
        popped.or_else(|| is_late().then_some(Popped::TimedOut))
    }

    /// Returns the oldest item. If there is none, the consumer leaves: `leave` puts away what the consumer works with, and returns the
    /// consumer. The consumer then gets a turn when there is an item for it.
    pub(crate) fn pop_or_leave(
        &self,
        workers: &Arc<Workers>,
        leave: impl FnOnce() -> Arc<dyn Task>,
    ) -> Option<Popped<T>> {
        let mut state = lock(&self.state);
        let popped = state.pop();
        if popped.is_none() {
            let (workers, consumer) = (Arc::clone(workers), leave());
            state.left = Some(Left { workers, consumer });
        }
        popped
    }

    /// Moves queued items to `into`, until it holds `most` or an item is not `wanted`.
    pub(crate) fn drain_while(&self, into: &mut Vec<T>, most: usize, wanted: impl Fn(&T) -> bool) {
        let mut state = lock(&self.state);
        while into.len() < most && state.items.front().is_some_and(&wanted) {
            into.extend(state.items.pop_front());
        }
    }

    /// Takes out the first item that matches.
    pub(crate) fn remove(&self, matches: impl Fn(&T) -> bool) -> Option<T> {
        let mut state = lock(&self.state);
        let at = state.items.iter().position(matches)?;
        state.items.remove(at)
    }

    /// Refuses further items; queued ones can still be popped.
    pub(crate) fn close(&self) {
        self.close_with(|_| ());
    }

    /// Refuses further items and returns the queued ones.
    pub(crate) fn close_and_take(&self) -> VecDeque<T> {
        self.close_with(|state| std::mem::take(&mut state.items))
    }

    /// Refuses further items. Returns whether the consumer has left; in that case the caller must give it a turn.
    pub(crate) fn close_for_turn(&self) -> bool {
        self.close_with(|state| state.left.take()).is_some()
    }

    fn close_with<R>(&self, take: impl FnOnce(&mut State<T>) -> R) -> R {
        let mut state = lock(&self.state);
        state.closed = true;
        let taken = take(&mut state);
        let left = state.left.take();
        drop(state);
        self.ready.notify_all();
        left.into_iter().for_each(Left::comes_back);
        taken
    }

    /// Returns whether the consumer is parked, or has left.
    pub(crate) fn is_awaited(&self) -> bool {
        let state = lock(&self.state);
        state.waiting || state.left.is_some()
    }

    /// Returns the number of items that wait.
    pub(crate) fn len(&self) -> usize {
        lock(&self.state).items.len()
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
