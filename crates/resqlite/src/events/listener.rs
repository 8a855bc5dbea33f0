//! The listeners to commits, and the times when they are told.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    time::Duration,
};

use resqlite_live::RowDetail;

use super::event::{CommitEvent, Seen};
use crate::{
    commits::{
        log::Commits,
        observer::{CommitFollower, CommitObserver},
    },
    connection::engine_connection::EngineConnection,
    core::{
        error::{Error, Result},
        sync::{
            Mutex,
            atomic::{AtomicUsize, Ordering, fence},
            lock,
        },
        workers::Turn,
    },
    live::{ExternalListener, ExternalWatch},
    reader::{Job, Reader, ReaderJob, Readers},
};

/// All listeners of an engine.
pub(crate) struct CommitEvents {
    commits: Arc<Commits>,
    /// The readers whose threads make the events, so that neither the writer nor the listener's
    /// thread has to.
    background: Arc<Readers>,
    external: Arc<ExternalWatch>,
    /// The number of listeners.
    open: AtomicUsize,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    open: Vec<Arc<Listening>>,
    closed: bool,
}

/// Receives the next event, on an engine thread or at once.
type Next = Box<dyn FnOnce(Result<CommitEvent>) + Send>;

/// The engine's part of a listener. As a reader job, it makes the next event.
struct Listening {
    commits: Arc<Commits>,
    detail: Option<RowDetail>,
    state: Mutex<State>,
}

struct State {
    /// The last commit that the listener was told of.
    seen: Seen,
    next: Option<Next>,
    closed: bool,
}

/// Listens to the commits of an engine. Dropping it ends the listening; an event for which it waits does not arrive.
pub struct CommitListener {
    events: Arc<CommitEvents>,
    listening: Arc<Listening>,
}

impl CommitListener {
    /// Listens to the commits from now on. Transactions that begin from now on report their rows in this detail.
    pub(crate) fn begin(events: &Arc<CommitEvents>, detail: Option<RowDetail>) -> Self {
        if let Some(detail) = detail {
            events
                .commits
                .change_interest(|interest| interest.add_row_listener(detail));
        }
        events.commits.want_changes();
        let mut listeners = lock(&events.listeners);
        events.open.fetch_add(1, Ordering::SeqCst);
        // Either the writer sees the listener, or this thread sees the number of the writer's
        // commit.
        fence(Ordering::SeqCst);
        let listening = Arc::new(Listening {
            commits: Arc::clone(&events.commits),
            detail,
            state: Mutex::new(State {
                seen: Seen::all(&events.commits),
                next: None,
                closed: listeners.closed,
            }),
        });
        listeners.open.push(Arc::clone(&listening));
        drop(listeners);
        events.external.wake();
        Self {
            events: Arc::clone(events),
            listening,
        }
    }

    /// Asks for all commits since the last event, or since the beginning, as one event. `next` is called when there are commits, at the
    /// earliest when reads see them. If the engine closes, `next` is called with [`Error::Closed`]. It replaces a `next` that still
    /// waits.
    pub fn next(&self, next: impl FnOnce(Result<CommitEvent>) + Send + 'static) {
        let mut state = lock(&self.listening.state);
        if state.closed {
            drop(state);
            return next(Err(Error::Closed));
        }
        let replaced = state.next.replace(Box::new(next));
        drop(state);
        drop(replaced);
        self.events.wake(&self.listening);
    }
}

impl Drop for CommitListener {
    fn drop(&mut self) {
        let mut listeners = lock(&self.events.listeners);
        listeners.open.retain(|open| !Arc::ptr_eq(open, &self.listening));
        drop(listeners);
        if self.events.open.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.events.external.sleep();
        }
        if let Some(detail) = self.listening.detail {
            let commits = &self.events.commits;
            commits.change_interest(|interest| interest.remove_row_listener(detail));
        }
        let waiting = self.listening.close();
        drop(waiting);
    }
}

impl CommitEvents {
    pub(crate) fn new(commits: Arc<Commits>, background: Arc<Readers>, external: Arc<ExternalWatch>) -> Self {
        Self {
            commits,
            background,
            external,
            open: AtomicUsize::new(0),
            listeners: Mutex::default(),
        }
    }

    /// Notes that the log may have new commits.
    fn look(&self) {
        fence(Ordering::SeqCst);
        if self.open.load(Ordering::SeqCst) == 0 {
            return;
        }
        let open = lock(&self.listeners).open.clone();
        open.iter().for_each(|listening| self.wake(listening));
    }

    /// Requests the next event from an engine thread, if somebody has asked for it and there are
    /// commits.
    fn wake(&self, listening: &Arc<Listening>) {
        if listening.is_due() {
            self.background.submit(Job::Other(Arc::clone(listening) as _));
        }
    }

    /// Ends all listeners.
    pub(crate) fn close(&self) {
        let open = {
            let mut listeners = lock(&self.listeners);
            listeners.closed = true;
            listeners.open.clone()
        };
        for next in open.iter().filter_map(|listening| listening.close()) {
            next(Err(Error::Closed));
        }
    }
}

impl Listening {
    fn is_due(&self) -> bool {
        let state = lock(&self.state);
        state.next.is_some() && self.commits.last() > state.seen.number
    }

    /// Makes the next event, unless another thread has done so.
    fn tell(&self) {
        let mut state = lock(&self.state);
        if self.commits.last() <= state.seen.number {
            return;
        }
        let Some(next) = state.next.take() else {
            return;
        };
        let make = || CommitEvent::since(&self.commits, &mut state.seen, self.detail);
        let made = catch_unwind(AssertUnwindSafe(make));
        drop(state);
        match made {
            Ok(event) => next(Ok(event)),
            Err(panic) => {
                next(Err(Error::WorkerDied));
                resume_unwind(panic);
            }
        }
    }

    /// Returns the function that waits for an event, which will not come.
    fn close(&self) -> Option<Next> {
        let mut state = lock(&self.state);
        state.closed = true;
        state.next.take()
    }
}

impl ReaderJob for Listening {
    fn run(self: Arc<Self>, _reader: &mut Reader, _turn: &Turn<'_>) {
        self.tell();
    }

    /// Makes the event all the same, because it needs no reader.
    fn fail(self: Arc<Self>, _error: Error) {
        self.tell();
    }
}

impl CommitObserver for CommitEvents {
    fn follow_writer(
        self: Arc<Self>,
        _connection: &mut EngineConnection,
        _replaces: bool,
    ) -> Result<Box<dyn CommitFollower>> {
        Ok(Box::new(Follower(self)))
    }

    fn writer_lost(self: Arc<Self>) {
        self.look();
    }
}

struct Follower(Arc<CommitEvents>);

impl CommitFollower for Follower {
    fn committed(&mut self, _spare: &dyn Fn() -> Duration) {
        self.0.look();
    }

    fn settled(&mut self, _writer: &mut EngineConnection, _spare: &dyn Fn() -> Duration) {}
}

impl ExternalListener for CommitEvents {
    fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    /// Notes an external commit. Live queries are told first, and have recorded it.
    fn external_commit(self: Arc<Self>) {
        self.look();
    }
}
