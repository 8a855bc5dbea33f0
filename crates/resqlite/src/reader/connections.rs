//! The read-only connections of a file, between two uses.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite_sqlite::Parcel;

use super::{
    inline::Inline,
    reading::{Reader, Shared},
};
use crate::core::{
    clock,
    error::Result,
    limits,
    sync::{Mutex, lock},
    workers::{Class, Task, Timed, Turn, Workers},
};

/// Connections that nobody uses. Whoever takes one has it alone.
pub(crate) struct Connections {
    shared: Arc<Shared>,
    workers: Arc<Workers>,
    inline: Arc<Inline>,
    state: Mutex<State>,
    /// Held while connections that nobody uses are closed.
    closing: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// The connections, each with the time when it was put back. The last one is at the end.
    free: Vec<(Instant, Parcel<Reader>)>,
    /// A task that closes surplus connections is planned.
    sweeps: bool,
}

impl Connections {
    pub(crate) fn new(shared: Arc<Shared>, workers: Arc<Workers>) -> Self {
        let state = Mutex::default();
        Self {
            inline: Inline::new(Arc::clone(&shared), Arc::clone(&workers)),
            shared,
            workers,
            state,
            closing: Mutex::new(()),
        }
    }

    pub(crate) fn workers(&self) -> &Arc<Workers> {
        &self.workers
    }

    /// The connection that callers use on their own threads.
    pub(crate) fn inline(&self) -> &Arc<Inline> {
        &self.inline
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Opens a connection that its user keeps.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub(crate) fn open_reader(&self) -> Result<Reader> {
        Reader::open(&self.shared)
    }

    /// Takes the connection that was used last, or opens one.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub(super) fn take(&self) -> Result<Parcel<Reader>> {
        let free = lock(&self.state).free.pop();
        match free {
            Some((_, reader)) => Ok(reader),
            None => self.open_reader().map(Parcel::new),
        }
    }

    /// Puts a connection back. As many connections are kept as there may be readers; others are closed when they have not been
    /// used for a while. A connection whose transaction could not be ended is closed at once.
    pub(crate) fn put(self: &Arc<Self>, reader: Parcel<Reader>) {
        if !reader.connection.sqlite.is_autocommit() {
            return;
        }
        let mut state = lock(&self.state);
        let now = clock::now();
        state.free.push((now, reader));
        let sweeps =
            state.free.len() > self.shared.settings.readers && !std::mem::replace(&mut state.sweeps, true);
        drop(state);
        if sweeps {
            self.sweep_at(now + limits::THREAD_IDLE);
        }
    }

    /// Returns whether no connection was put back in this time, and the inline connection was not used either.
    pub(crate) fn are_unused_for(&self, time: Duration) -> bool {
        let state = lock(&self.state);
        let last = state.free.last();
        last.is_none_or(|(since, _)| clock::since(*since) >= time) && self.inline.is_unused_for(time)
    }

    /// The number of readers that are open, those in use included.
    pub(crate) fn readers_open(&self) -> usize {
        self.shared.readers_open()
    }

    /// Closes all connections. Nobody may use any of them.
    pub(crate) fn close_all(&self) {
        let _closing = lock(&self.closing);
        self.inline.close();
        drop(std::mem::take(&mut lock(&self.state).free));
    }

    fn sweep_at(self: &Arc<Self>, time: Instant) {
        self.workers.at(time, self);
    }
}

impl Timed for Connections {
    fn is_due(self: Arc<Self>) {
        let workers = Arc::clone(&self.workers);
        workers.ready(self);
    }
}

/// The task closes surplus connections.
impl Task for Connections {
    fn class(&self) -> Class {
        Class::Upkeep
    }

    fn turn(self: Arc<Self>, _: &Turn<'_>) {
        let closes = lock(&self.closing);
        let mut state = lock(&self.state);
        let unused_since = clock::now().checked_sub(limits::THREAD_IDLE);
        let unused = state
            .free
            .partition_point(|&(since, _)| Some(since) <= unused_since);
        let surplus = state.free.len().saturating_sub(self.shared.settings.readers);
        let closing: Vec<_> = state.free.drain(..unused.min(surplus)).collect();
        let next = state
            .free
            .first()
            .filter(|_| closing.len() < surplus)
            .map(|&(since, _)| since);
        state.sweeps = next.is_some();
        drop(state);
        drop(closing);
        drop(closes);
        if let Some(since) = next {
            self.sweep_at(since + limits::THREAD_IDLE);
        }
    }

    fn unserved(self: Arc<Self>) {
        lock(&self.state).sweeps = false;
    }
}
