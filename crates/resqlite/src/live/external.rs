//! Notices external commits: by other processes, and by other copies of SQLite in this one.
//!
//! While live queries or listeners to commits are open, a thread with a connection of its own asks SQLite every few milliseconds whether
//! somebody has committed (`PRAGMA data_version`). It cannot tell the engine's own writer from others. The writer can: on
//! its connection the version changes with external commits only. So when the version has changed, the thread has the
//! writer's connection inspected.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    connection::{
        engine_connection::EngineConnection,
        location::Location,
        open::open,
        schema_epoch::{SchemaEpoch, SeenEpoch},
        versions::Versions,
    },
    core::{
        error::Result,
        limits,
        options::Settings,
        queue::Queue,
        sync::{Condvar, Mutex, lock, wait, wait_for},
        threads::{JoinHandle, start_thread},
    },
    guard::authorizer::Role,
    writer::WriteJob,
};

/// The watch for external commits.
pub(crate) struct ExternalWatch {
    location: Location,
    settings: Settings,
    epoch: Arc<SchemaEpoch>,
    /// The writer's queue; a read-only engine has none, so every commit is external to it.
    writes: Option<Arc<Queue<WriteJob>>>,
    state: Mutex<State>,
    turn: Condvar,
    /// A check of the thread is pending.
    asking: AtomicBool,
    /// The versions on the writer's connection when it was last inspected.
    writer_versions: Mutex<Versions>,
}

#[derive(Default)]
struct State {
    thread: Option<JoinHandle<()>>,
    /// In the order in which they are notified.
    listeners: Vec<Weak<dyn ExternalListener>>,
    /// Somebody listens.
    active: bool,
    closed: bool,
}

/// What is notified of external commits.
pub(crate) trait ExternalListener: Send + Sync {
    /// Whether it has to know of external commits now.
    fn is_open(&self) -> bool;
    /// There was an external commit.
    fn external_commit(self: Arc<Self>);
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    ExternalCommit,
    Nothing,
    /// The writer's connection could not be inspected.
    Unknown,
}

/// Gets the result of a check, on any thread.
pub(super) type Answer = Box<dyn FnOnce(Found) + Send>;

impl ExternalWatch {
    /// `writes`: the writer's queue, unless the engine is read-only.
    pub(crate) fn new(
        location: Location,
        settings: Settings,
        epoch: Arc<SchemaEpoch>,
        writes: Option<Arc<Queue<WriteJob>>>,
    ) -> Self {
        Self {
            location,
            settings,
            epoch,
            writes,
            state: Mutex::default(),
            turn: Condvar::new(),
            asking: AtomicBool::new(false),
            writer_versions: Mutex::default(),
        }
    }

    /// Called when a writer has opened its connection. After a lost writer, external commits are unknown.
    pub(super) fn follow_writer(&self, connection: &mut EngineConnection, replaces: bool) -> Result<()> {
        *lock(&self.writer_versions) = if replaces {
            Versions::default()
        } else {
            data_versions(connection, &self.epoch)?
        };
        Ok(())
    }

    /// Adds a listener. The first one records external commits in the commit log, for all others to find there.
    pub(crate) fn listen(&self, listener: Weak<dyn ExternalListener>) {
        lock(&self.state).listeners.push(listener);
    }

    /// Tells all listeners of an external commit.
    pub(super) fn announce(&self) {
        let listeners = lock(&self.state).listeners.clone();
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.external_commit();
        }
    }

    /// Watches as long as a listener has to know. Called when that has begun.
    pub(crate) fn wake(self: &Arc<Self>) {
        if !self.settings.watch_external || self.location.identity().is_none() {
            return;
        }
        let mut state = lock(&self.state);
        if state.closed || state.active {
            return;
        }
        state.active = true;
        if state.thread.is_none() {
            let watch = Arc::clone(self);
            // Without the thread, external commits go unnoticed, as without the option.
            state.thread = start_thread("resqlite-watcher", move || watch.run()).ok();
        }
        drop(state);
        self.turn.notify_all();
    }

    /// Queues an inspection of the writer's connection. If the queue refuses, calls `answer` and returns `false`.
    pub(super) fn check(self: &Arc<Self>, answer: Answer) -> bool {
        let check = Check {
            watch: Arc::clone(self),
            answer: Some(answer),
        };
        match &self.writes {
            None => check.finish(Found::ExternalCommit),
            Some(writes) => {
                let inspect = Box::new(|connection: &mut EngineConnection| check.inspect(connection));
                return writes.push(WriteJob::Inspect(inspect)).is_ok();
            }
        }
        true
    }

    pub(super) fn close(&self) {
        let thread = {
            let mut state = lock(&self.state);
            state.closed = true;
            state.thread.take()
        };
        self.turn.notify_all();
        if let Some(thread) = thread {
            // A panic of this thread affects no other.
            let _ = thread.join();
        }
    }

    /// The body of the watcher thread.
    fn run(self: Arc<Self>) {
        let mut connection = None;
        let mut known = Versions::default();
        while self.pause() {
            let now = self.look(&mut connection).unwrap_or_default();
            // Without versions nothing is known, so the writer is asked.
            let changed = now != known || now.is_unknown();
            if changed && !self.asking.swap(true, Ordering::AcqRel) {
                let watch = Arc::clone(&self);
                let announce = move |found| {
                    if found == Found::ExternalCommit {
                        watch.announce();
                    }
                };
                if self.check(Box::new(announce)) {
                    known = now;
                }
            }
        }
    }

    /// Waits until the next check is due; `false` if the watch is closed.
    fn pause(&self) -> bool {
        let mut state = lock(&self.state);
        if !state.closed {
            state = wait_for(&self.turn, state, limits::EXTERNAL_LOOK);
        }
        while !state.closed {
            let mut listeners = state.listeners.iter().filter_map(Weak::upgrade);
            state.active = listeners.any(|listener| listener.is_open());
            if state.active {
                return true;
            }
            state = wait(&self.turn, state);
        }
        false
    }

    fn look(&self, watching: &mut Watching) -> Result<Versions> {
        if watching.is_none() {
            let connection = open(&self.location, &self.settings, Role::Reader, |_| ())?;
            *watching = Some((connection, SeenEpoch::default()));
        }
        let (connection, seen) = watching.as_mut().expect("opened above");
        let looked = self
            .epoch
            .follow(connection, seen)
            .and_then(|()| data_versions(connection, &self.epoch));
        if looked.is_err() {
            *watching = None;
        }
        looked
    }
}

fn data_versions(connection: &mut EngineConnection, epoch: &SchemaEpoch) -> Result<Versions> {
    Versions::of_data(epoch.attached_names(), |sql| connection.internal(sql))
}

/// The thread's connection, and what it knows of the attached databases.
type Watching = Option<(EngineConnection, SeenEpoch)>;

/// A check that waits for the writer. If it is dropped unanswered, nothing is known.
struct Check {
    watch: Arc<ExternalWatch>,
    answer: Option<Answer>,
}

impl Check {
    /// In a turn of the writer: compares the versions of its connection with those of the last time.
    fn inspect(self, connection: &mut EngineConnection) {
        // If the versions cannot be read, there may have been a commit.
        let versions = data_versions(connection, &self.watch.epoch).unwrap_or_default();
        let mut known = lock(&self.watch.writer_versions);
        let external = versions != *known || versions.is_unknown();
        *known = versions;
        drop(known);
        if external {
            self.watch.epoch.names_changed();
            self.finish(Found::ExternalCommit);
        } else {
            self.finish(Found::Nothing);
        }
    }

    fn finish(mut self, found: Found) {
        if let Some(answer) = self.answer.take() {
            answer(found);
        }
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.watch.asking.store(false, Ordering::Release);
        if let Some(answer) = self.answer.take() {
            answer(Found::Unknown);
        }
    }
}
