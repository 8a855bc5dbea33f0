//! Notices external commits: by other processes, and by other copies of SQLite in this one.
//!
//! ```text
//! looks   every few milliseconds, at all watched files of the process: has the log changed? ──► a turn of the file's watch
//! check   in a turn of the writer: was it somebody else?                                    ──► the listeners
//! ```
//!
//! A file is watched while live queries or listeners to commits are open. The header of its log, in memory that all processes
//! share, changes with every commit. The writer can tell whose commit it was: on its connection, SQLite's count of commits by
//! others (`PRAGMA data_version`) changes with external commits only. Attached databases may have no log. While there are any,
//! a connection of the watch's own asks for the counts.

mod check;
mod failures;
mod looks;

use std::sync::{Arc, Weak};

use resqlite_sqlite::{Connection, LogHeader, LogState, Parcel};

pub(super) use self::check::{Answer, Found};
use self::{
    check::Checks,
    failures::Failures,
    looks::{Look, Looked, Looks},
};
use crate::{
    connection::{
        engine_connection::EngineConnection, rest::Rest, schema_epoch::SchemaEpoch, versions::Versions,
    },
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
    /// Others can commit to the file, and their commits are to be noticed.
    is_on: bool,
    rest: Arc<Rest>,
    epoch: Arc<SchemaEpoch>,
    connections: Arc<Connections>,
    /// The writer's queue; a read-only engine has none, so every commit is external to it.
    writes: Option<Arc<Queue<WriteJob>>>,
    state: Mutex<State>,
    /// Signalled when a turn has ended.
    turned: Condvar,
    /// The watch's own connection, if it needs one. A panic closes it.
    reader: Mutex<Option<Parcel<Reader>>>,
    checks: Arc<Checks>,
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
    /// The state that the last turn has seen.
    known: Option<Seen>,
    /// The failed checks of the writer's connection since the last check that succeeded.
    failures: Failures,
}

/// A turn of the watch.
#[derive(Default, PartialEq, Eq)]
enum NextTurn {
    #[default]
    None,
    Called,
    UnderWay,
}

/// A state that changes with every commit.
#[derive(PartialEq, Eq)]
enum Seen {
    Log(LogState),
    /// The counts of the main database and of attached ones.
    Versions(Versions),
}

/// A listener to external commits.
pub(crate) trait ExternalListener: Send + Sync {
    /// Returns whether the listener has to know of external commits now.
    fn is_open(&self) -> bool;
    /// Reports an external commit.
    fn external_commit(self: Arc<Self>);
}

impl ExternalWatch {
    /// `writes`: the writer's queue, unless the engine is read-only.
    pub(crate) fn new(
        is_on: bool,
        rest: Arc<Rest>,
        epoch: Arc<SchemaEpoch>,
        connections: Arc<Connections>,
        writes: Option<Arc<Queue<WriteJob>>>,
    ) -> Self {
        Self {
            is_on,
            rest,
            checks: Checks::new(Arc::clone(&epoch)),
            epoch,
            connections,
            writes,
            state: Mutex::default(),
            turned: Condvar::new(),
            reader: Mutex::default(),
        }
    }

    /// Called when a writer has opened its connection. After a lost writer, external commits are unknown.
    pub(super) fn follow_writer(&self, connection: &mut EngineConnection, replaces: bool) -> Result<()> {
        let versions = self.checks.versions(connection)?;
        let log = connection.as_internal(Connection::log_header);
        let is_known = !replaces && self.rest.was_undisturbed(log.as_ref().and_then(LogHeader::read));
        self.checks
            .begin_with(if is_known { versions } else { Versions::default() });
        let state = &mut *lock(&self.state);
        // Two logs without commits look the same.
        state.known = None;
        state.log = log;
        Ok(())
    }

    /// The writer is about to close its connection for a while: looks once more. Returns whether the writer may close it.
    pub(super) fn may_rest(&self, connection: &mut EngineConnection) -> bool {
        lock(&self.reader).take();
        if !lock(&self.state).is_watched {
            return true;
        }
        let found = self.checks.look(connection);
        self.announce(found);
        found == Found::Nothing
    }

    /// Adds a listener. The first one records external commits in the commit log, for all others to find there.
    pub(crate) fn listen(&self, listener: Weak<dyn ExternalListener>) {
        lock(&self.state).listeners.push(listener);
    }

    /// Tells all listeners of an external commit, if one was found.
    pub(super) fn announce(&self, found: Found) {
        if found != Found::ExternalCommit {
            return;
        }
        let listeners = lock(&self.state).listeners.clone();
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.external_commit();
        }
    }

    /// Begins to watch the file. Called when a listener has begun to need external commits.
    pub(crate) fn wake(self: &Arc<Self>) {
        if self.is_on && !lock(&self.state).is_watched {
            Looks::of_process().add(Arc::clone(self) as _);
        }
    }

    /// Stops watching the file if no listener has to know of external commits. Called when a listener has ended.
    pub(crate) fn sleep(&self) {
        if self.is_on {
            Looks::of_process().remove(self);
        }
    }

    /// Queues an inspection of the writer's connection. If the queue refuses, calls `answer` and returns `false`.
    pub(super) fn check(self: &Arc<Self>, answer: Answer) -> bool {
        let check = self.checks.check(answer);
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

    /// Returns the state of the log, if the log shows all commits.
    fn log(&self, state: &State) -> Option<Seen> {
        let log = state.log.as_ref().filter(|_| self.epoch.has_no_attachments());
        log.and_then(LogHeader::read).map(Seen::Log)
    }

    /// Takes the writer's answer. If the writer's connection cannot be opened, the listeners find out why.
    fn answered(&self, found: Found) {
        let mut state = lock(&self.state);
        let is_news = found == Found::Unknown && state.failures.add();
        if found != Found::Unknown {
            state.failures.end();
        }
        drop(state);
        self.announce(if is_news { Found::ExternalCommit } else { found });
    }

    /// Asks the writer who has committed, if anybody has.
    fn ask(self: &Arc<Self>) {
        let log = self.log(&lock(&self.state));
        let now = log.or_else(|| self.read());
        // If no state can be seen, there may have been a commit.
        let changed = now.is_none() || now != lock(&self.state).known;
        if changed && self.checks.may_begin() {
            let watch = Arc::clone(self);
            if self.check(Box::new(move |found| watch.answered(found))) {
                lock(&self.state).known = now;
            }
        }
    }

    /// Looks with the watch's own connection, from which later looks have the log. Where a writer can be asked, the watch needs
    /// no connection: the writer opens its own when it is asked.
    fn read(&self) -> Option<Seen> {
        if self.writes.is_some() && self.epoch.has_no_attachments() {
            return None;
        }
        let own = lock(&self.reader).take();
        let mut reader = match own {
            Some(reader) => reader,
            None => Parcel::new(self.connections.open_reader().ok()?),
        };
        let mut reading = reader.reading();
        reading.follow_schemas().ok()?;
        let log = reading.connection().as_internal(Connection::log_header);
        let versions = self.checks.versions(reading.connection()).ok()?;
        *lock(&self.reader) = Some(reader);
        let state = &mut *lock(&self.state);
        state.log = log;
        self.log(state).or(Some(Seen::Versions(versions)))
    }
}

impl Looked for ExternalWatch {
    fn begins(&self) -> bool {
        let state = &mut *lock(&self.state);
        !state.closed && !std::mem::replace(&mut state.is_watched, true)
    }

    fn ends(&self) -> bool {
        let state = &mut *lock(&self.state);
        let mut listeners = state.listeners.iter().filter_map(Weak::upgrade);
        let goes_on = !state.closed && listeners.any(|listener| listener.is_open());
        let was_watched = std::mem::replace(&mut state.is_watched, goes_on);
        was_watched && !goes_on
    }

    /// The file needs a turn if anybody may have committed since the last one.
    fn look(&self) -> Look {
        if self.rest.is_resting() {
            return Look::Rests;
        }
        let state = &mut *lock(&self.state);
        let is_pending = state.turn != NextTurn::None || self.checks.is_pending();
        let may_be_news = || state.known.is_none() || self.log(state) != state.known;
        if is_pending || !may_be_news() || state.failures.passes() {
            return Look::NothingNew;
        }
        state.turn = NextTurn::Called;
        Look::MayBeNews
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
        // To ask would end the rest. If others end it, there is another look.
        if !self.rest.is_resting() {
            self.ask();
        }
    }

    fn unserved(self: Arc<Self>) {
        lock(&self.state).turn = NextTurn::None;
    }
}

/// Ends a turn when it is dropped, whatever has happened in that turn.
struct Turned<'a>(&'a ExternalWatch);

impl Drop for Turned<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).turn = NextTurn::None;
        self.0.turned.notify_all();
    }
}
