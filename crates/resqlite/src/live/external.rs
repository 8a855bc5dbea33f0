//! Notices external commits: by other processes, and by other copies of SQLite in this one.
//!
//! While live queries or listeners to commits are open, a task with a connection of its own asks SQLite every few milliseconds whether
//! somebody has committed (`PRAGMA data_version`). It cannot tell the engine's own writer from others. The writer can: on
//! its connection the version changes with external commits only. So when the version has changed, the task has the
//! writer's connection inspected.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use resqlite_sqlite::Parcel;

use crate::{
    connection::{engine_connection::EngineConnection, schema_epoch::SchemaEpoch, versions::Versions},
    core::{
        error::Result,
        limits,
        queue::Queue,
        sync::{Condvar, Mutex, lock, wait},
        workers::{Class, Task, Timed, Turn},
    },
    reader::{Connections, Reader},
    writer::WriteJob,
};

/// The watch for external commits.
pub(crate) struct ExternalWatch {
    /// Others can commit to the file, and somebody wants to know.
    is_on: bool,
    epoch: Arc<SchemaEpoch>,
    connections: Arc<Connections>,
    /// The writer's queue; a read-only engine has none, so every commit is external to it.
    writes: Option<Arc<Queue<WriteJob>>>,
    state: Mutex<State>,
    /// A look has ended.
    looked: Condvar,
    watching: Mutex<Watching>,
    /// A check is pending.
    asking: AtomicBool,
    /// The versions on the writer's connection when it was last inspected.
    writer_versions: Mutex<Versions>,
}

#[derive(Default)]
struct State {
    /// In the order in which they are notified.
    listeners: Vec<Weak<dyn ExternalListener>>,
    /// Somebody listens, and a look is planned or under way.
    active: bool,
    looking: bool,
    closed: bool,
}

/// What the watch looks with.
#[derive(Default)]
struct Watching {
    reader: Option<Parcel<Reader>>,
    known: Versions,
}

/// Files of the process that are watched.
static WATCHED: AtomicU32 = AtomicU32::new(0);

/// The pause between two looks at a file, while so many are watched.
fn pause(watched: u32) -> Duration {
    let times = watched.div_ceil(limits::EXTERNAL_LOOKS).max(1);
    limits::EXTERNAL_LOOK * times
}

impl State {
    fn set_active(&mut self, active: bool) {
        match (std::mem::replace(&mut self.active, active), active) {
            (false, true) => WATCHED.fetch_add(1, Ordering::Relaxed),
            (true, false) => WATCHED.fetch_sub(1, Ordering::Relaxed),
            _ => return,
        };
    }
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
        is_on: bool,
        epoch: Arc<SchemaEpoch>,
        connections: Arc<Connections>,
        writes: Option<Arc<Queue<WriteJob>>>,
    ) -> Self {
        Self {
            is_on,
            epoch,
            connections,
            writes,
            state: Mutex::default(),
            looked: Condvar::new(),
            watching: Mutex::default(),
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
        if !self.is_on {
            return;
        }
        let mut state = lock(&self.state);
        if state.closed || state.active {
            return;
        }
        state.set_active(true);
        drop(state);
        self.look_later();
    }

    fn look_later(self: &Arc<Self>) {
        let watch: Weak<Self> = Arc::downgrade(self);
        let workers = self.connections.workers();
        workers.at(Instant::now() + pause(WATCHED.load(Ordering::Relaxed)), watch);
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
        let mut state = lock(&self.state);
        state.closed = true;
        state.set_active(false);
        while state.looking {
            state = wait(&self.looked, state);
        }
        drop(state);
        *lock(&self.watching) = Watching::default();
    }

    /// Whether there is somebody to look for.
    fn begins_to_look(&self) -> bool {
        let state = &mut *lock(&self.state);
        let mut listeners = state.listeners.iter().filter_map(Weak::upgrade);
        let active = !state.closed && listeners.any(|listener| listener.is_open());
        state.set_active(active);
        state.looking = active;
        active
    }

    /// Looks whether somebody has committed, and asks the writer who it was.
    fn look(self: &Arc<Self>) {
        // A panic closes the connection.
        let mut watching = std::mem::take(&mut *lock(&self.watching));
        let now = self.versions(&mut watching.reader).unwrap_or_default();
        // Without versions nothing is known, so the writer is asked.
        let changed = now != watching.known || now.is_unknown();
        if changed && !self.asking.swap(true, Ordering::AcqRel) {
            let watch = Arc::clone(self);
            let announce = move |found| {
                if found == Found::ExternalCommit {
                    watch.announce();
                }
            };
            if self.check(Box::new(announce)) {
                watching.known = now;
            }
        }
        *lock(&self.watching) = watching;
    }

    fn versions(&self, watching: &mut Option<Parcel<Reader>>) -> Result<Versions> {
        if watching.is_none() {
            *watching = Some(Parcel::new(self.connections.open_reader()?));
        }
        let mut reading = watching.as_mut().expect("opened above").reading();
        let versions = reading
            .follow_schemas()
            .and_then(|()| data_versions(reading.connection(), &self.epoch));
        if versions.is_err() {
            *watching = None;
        }
        versions
    }
}

impl Timed for ExternalWatch {
    fn is_due(self: Arc<Self>) {
        Arc::clone(self.connections.workers()).ready(self);
    }
}

impl Task for ExternalWatch {
    fn class(&self) -> Class {
        Class::Runs
    }

    fn turn(self: Arc<Self>, _: &Turn<'_>) {
        if !self.begins_to_look() {
            return;
        }
        let _looked = Looked(&self);
        self.look();
    }

    /// The next listener begins again.
    fn unserved(self: Arc<Self>) {
        lock(&self.state).set_active(false);
    }
}

/// A look has ended, however it ended. The next one follows.
struct Looked<'a>(&'a Arc<ExternalWatch>);

impl Drop for Looked<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).looking = false;
        self.0.looked.notify_all();
        self.0.look_later();
    }
}

fn data_versions(connection: &mut EngineConnection, epoch: &SchemaEpoch) -> Result<Versions> {
    Versions::of_data(epoch.attached_names(), |sql| connection.internal(sql))
}

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

#[cfg(test)]
mod tests {
    use super::pause;
    use crate::core::limits::{EXTERNAL_LOOK, EXTERNAL_LOOKS};

    #[test]
    fn a_file_is_looked_at_less_often_where_very_many_are_watched() {
        let pauses = [0, 1, EXTERNAL_LOOKS, 2 * EXTERNAL_LOOKS, 10 * EXTERNAL_LOOKS].map(pause);
        assert_eq!(pauses, [1, 1, 1, 2, 10].map(|times| EXTERNAL_LOOK * times));
    }
}
