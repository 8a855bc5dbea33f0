//! Notices external commits: by other processes, and by other copies of SQLite in this one.
//!
//! ```text
//! looks   every few milliseconds, at all watched files of the process: has the log changed? ──► a turn of the file's watch
//! check   in a turn of the writer: was it somebody else?                                    ──► the listeners
//! ```
//!
//! A file is watched while live queries or listeners to commits are open. The header of its log, in memory that all processes share,
//! changes with every commit. Whose commit it was, the writer can tell: on its connection SQLite's count of commits by others
//! (`PRAGMA data_version`) changes with external commits only. Attached databases may have no log. Beside them a connection of
//! the watch asks for the counts.

mod check;
mod looks;

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use resqlite_sqlite::{Connection, LogHeader, LogState, Parcel};

pub(super) use self::check::{Answer, Found};
use self::{
    check::{Check, data_versions},
    looks::Looks,
};
use crate::{
    connection::{engine_connection::EngineConnection, schema_epoch::SchemaEpoch, versions::Versions},
    core::{
        error::Result,
        queue::Queue,
        sync::{Condvar, Mutex, lock, wait},
        workers::{Class, Task, Turn},
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
    /// A turn has ended.
    turned: Condvar,
    /// A connection of its own, if it needs one. A panic closes it.
    reader: Mutex<Option<Parcel<Reader>>>,
    /// A check is pending.
    asking: AtomicBool,
    /// The versions on the writer's connection when it was last inspected.
    writer_versions: Mutex<Versions>,
}

#[derive(Default)]
struct State {
    /// In the order in which they are notified.
    listeners: Vec<Weak<dyn ExternalListener>>,
    /// The file is among those that are looked at.
    is_watched: bool,
    turn: NextTurn,
    closed: bool,
    log: Option<LogHeader>,
    /// What the last turn has seen.
    known: Option<Seen>,
}

/// A turn of the watch.
#[derive(Default, PartialEq, Eq)]
enum NextTurn {
    #[default]
    None,
    Called,
    UnderWay,
}

/// What changes with every commit.
#[derive(PartialEq, Eq)]
enum Seen {
    Log(LogState),
    /// The counts of the main database and of attached ones.
    Versions(Versions),
}

/// What is notified of external commits.
pub(crate) trait ExternalListener: Send + Sync {
    /// Whether it has to know of external commits now.
    fn is_open(&self) -> bool;
    /// There was an external commit.
    fn external_commit(self: Arc<Self>);
}

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
            turned: Condvar::new(),
            reader: Mutex::default(),
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
        if self.is_on {
            lock(&self.state).log = connection.as_internal(Connection::log_header);
        }
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
        if self.is_on && !lock(&self.state).is_watched {
            Looks::of_process().add(self);
        }
    }

    /// Watches no longer if no listener has to know. Called when one has ended.
    pub(crate) fn sleep(&self) {
        if self.is_on {
            Looks::of_process().remove(self);
        }
    }

    /// Returns whether the file is to be added to those that are looked at.
    fn begins(&self) -> bool {
        let state = &mut *lock(&self.state);
        !state.closed && !std::mem::replace(&mut state.is_watched, true)
    }

    /// Returns whether the file is to be removed from those that are looked at.
    fn ends(&self) -> bool {
        let state = &mut *lock(&self.state);
        let mut listeners = state.listeners.iter().filter_map(Weak::upgrade);
        let goes_on = !state.closed && listeners.any(|listener| listener.is_open());
        let was_watched = std::mem::replace(&mut state.is_watched, goes_on);
        was_watched && !goes_on
    }

    /// Queues an inspection of the writer's connection. If the queue refuses, calls `answer` and returns `false`.
    pub(super) fn check(self: &Arc<Self>, answer: Answer) -> bool {
        let check = Check::new(Arc::clone(self), answer);
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
        while state.turn == NextTurn::UnderWay {
            state = wait(&self.turned, state);
        }
        drop(state);
        Looks::of_process().remove(self);
        lock(&self.reader).take();
    }

    /// Returns whether anybody may have committed since the last turn. Then the caller calls for a turn.
    fn look(&self) -> bool {
        let state = &mut *lock(&self.state);
        let is_pending = state.turn != NextTurn::None || self.asking.load(Ordering::Acquire);
        let may_be_news = !is_pending && (state.known.is_none() || self.log(state) != state.known);
        if may_be_news {
            state.turn = NextTurn::Called;
        }
        may_be_news
    }

    /// The state of the log, if that tells of all commits.
    fn log(&self, state: &State) -> Option<Seen> {
        let log = state.log.as_ref().filter(|_| self.epoch.has_no_attachments());
        log.and_then(LogHeader::read).map(Seen::Log)
    }

    /// Asks the writer who has committed, if anybody has.
    fn ask(self: &Arc<Self>) {
        let log = self.log(&lock(&self.state));
        let now = log.or_else(|| self.read());
        // If nothing is seen, nothing is known.
        let changed = now.is_none() || now != lock(&self.state).known;
        if changed && !self.asking.swap(true, Ordering::AcqRel) {
            let watch = Arc::clone(self);
            let announce = move |found| {
                if found == Found::ExternalCommit {
                    watch.announce();
                }
            };
            if self.check(Box::new(announce)) {
                lock(&self.state).known = now;
            }
        }
    }

    /// Looks with a connection of its own, from which later looks have the log.
    fn read(&self) -> Option<Seen> {
        let own = lock(&self.reader).take();
        let mut reader = match own {
            Some(reader) => reader,
            None => Parcel::new(self.connections.open_reader().ok()?),
        };
        let mut reading = reader.reading();
        reading.follow_schemas().ok()?;
        let log = reading.connection().as_internal(Connection::log_header);
        let versions = data_versions(reading.connection(), &self.epoch).ok()?;
        *lock(&self.reader) = Some(reader);
        let state = &mut *lock(&self.state);
        state.log = log;
        self.log(state).or(Some(Seen::Versions(versions)))
    }
}

impl Task for ExternalWatch {
    fn class(&self) -> Class {
        Class::Runs
    }

    fn turn(self: Arc<Self>, _: &Turn<'_>) {
        let mut state = lock(&self.state);
        if state.closed {
            return;
        }
        state.turn = NextTurn::UnderWay;
        drop(state);
        let _turned = Turned(&self);
        self.ask();
    }

    fn unserved(self: Arc<Self>) {
        lock(&self.state).turn = NextTurn::None;
    }
}

/// A turn has ended, however it ended.
struct Turned<'a>(&'a ExternalWatch);

impl Drop for Turned<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).turn = NextTurn::None;
        self.0.turned.notify_all();
    }
}
