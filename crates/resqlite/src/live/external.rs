//! Notices what other processes, and other libraries in this one, commit to the same file.
//!
//! While live queries are open, a thread with a connection of its own asks SQLite every few milliseconds whether
//! anybody has committed (`PRAGMA data_version`). It cannot tell the engine's own writer from others, but the writer can:
//! on its connection the version changes with foreign commits only. So the thread asks the writer to look.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use super::{Hub, stream::Stream};
use crate::{
    connection::{
        attachments::{Attachments, Seen},
        engine_connection::Statements,
        open::{self, Place},
        schemas::quoted,
    },
    core::{
        error::Result,
        limits,
        options::Settings,
        queue::Queue,
        sync::{Condvar, Mutex, lock, wait, wait_for},
    },
    guard::Role,
    writer::WriteJob,
};

/// The versions of the main database and of each attached one, as one connection sees them.
pub(crate) type Versions = Vec<(String, Option<i64>)>;

/// What the thread needs.
pub(crate) struct Watcher {
    place: Place,
    settings: Settings,
    attachments: Arc<Attachments>,
    /// Where the writer can be asked; a read-only engine has none, so every commit is foreign to it.
    writes: Option<Arc<Queue<WriteJob>>>,
    state: Mutex<State>,
    turn: Condvar,
    /// The writer has been asked and has not answered.
    looking: AtomicBool,
}

#[derive(Default)]
struct State {
    thread: Option<JoinHandle<()>>,
    /// Live queries are open.
    active: bool,
    closed: bool,
}

/// The question to the writer whether somebody else has committed. If it is dropped without an answer, nothing is known.
pub(crate) struct ForeignLook {
    hub: Arc<Hub>,
    /// A live query whose result changed although no commit of the engine concerned it.
    suspect: Option<Suspect>,
}

/// A live query, and how many foreign commits were known before it ran.
pub(super) type Suspect = (Arc<Stream>, u64);

impl ForeignLook {
    /// The writer has looked.
    pub(crate) fn answer(mut self, foreign: bool) {
        if foreign {
            self.hub.foreign_commit();
        }
        if let Some((stream, known)) = self.suspect.take() {
            self.hub
                .suspect_cleared(&stream, self.hub.foreign_commits() == known);
        }
    }
}

impl Drop for ForeignLook {
    fn drop(&mut self) {
        self.hub.watcher.looking.store(false, Ordering::Release);
        if let Some((stream, _)) = self.suspect.take() {
            self.hub.suspect_cleared(&stream, false);
        }
    }
}

impl Watcher {
    pub(crate) fn new(
        place: Place,
        settings: Settings,
        attachments: Arc<Attachments>,
        writes: Option<Arc<Queue<WriteJob>>>,
    ) -> Self {
        Self {
            place,
            settings,
            attachments,
            writes,
            state: Mutex::default(),
            turn: Condvar::new(),
            looking: AtomicBool::new(false),
        }
    }

    /// A live query has been opened.
    pub(super) fn wake(self: &Arc<Self>, hub: &Arc<Hub>) {
        if !self.settings.watch_external || self.place.identity().is_none() {
            return;
        }
        let mut state = lock(&self.state);
        if state.closed || state.active {
            return;
        }
        state.active = true;
        if state.thread.is_none() {
            let (watcher, hub) = (Arc::clone(self), Arc::downgrade(hub));
            // Without the thread, foreign commits are noticed no more than without the option.
            state.thread = thread::Builder::new()
                .name("resqlite-watcher".into())
                .spawn(move || watch(&watcher, &hub))
                .ok();
        }
        drop(state);
        self.turn.notify_all();
    }

    /// Asks the writer to look; `false` if that is not possible now.
    pub(super) fn look_for(&self, hub: &Arc<Hub>, suspect: Option<Suspect>) -> bool {
        let look = ForeignLook {
            hub: Arc::clone(hub),
            suspect,
        };
        match &self.writes {
            None => look.answer(true),
            Some(writes) => return writes.push(WriteJob::Look(look)).is_ok(),
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
            // A panic in it harmed nobody else.
            let _ = thread.join();
        }
    }

    /// Waits for the next look; `false` when there will be none.
    fn pause(&self, hub: &Weak<Hub>) -> bool {
        let mut state = lock(&self.state);
        if !state.closed {
            state = wait_for(&self.turn, state, limits::FOREIGN_LOOK);
        }
        while !state.closed {
            state.active = hub.upgrade().is_some_and(|hub| hub.is_open());
            if state.active {
                return true;
            }
            state = wait(&self.turn, state);
        }
        false
    }
}

/// What the thread does.
fn watch(watcher: &Watcher, hub: &Weak<Hub>) {
    let mut connection = None;
    let mut known = Versions::new();
    while watcher.pause(hub) {
        let now = watcher.look(&mut connection).unwrap_or_default();
        // A look that failed says nothing, so the writer is asked.
        let changed = now != known || now.is_empty();
        if changed
            && !watcher.looking.swap(true, Ordering::AcqRel)
            && let Some(hub) = hub.upgrade()
            && watcher.look_for(&hub, None)
        {
            known = now;
        }
    }
}

/// The watcher's connection, and what it knows of the attached databases.
type Watching = Option<(Statements, Seen)>;

impl Watcher {
    fn look(&self, connection: &mut Watching) -> Result<Versions> {
        if connection.is_none() {
            let statements = open::open(&self.place, &self.settings, Role::Reader, |_| ())?;
            *connection = Some((statements, Seen::default()));
        }
        let (statements, attached) = connection.as_mut().expect("opened above");
        let looked = self
            .attachments
            .bring_up_to_date(statements, attached)
            .and_then(|()| versions(statements, &self.attachments));
        if looked.is_err() {
            *connection = None;
        }
        looked
    }
}

/// The versions of all databases that a connection has open. Not inside a transaction: there they stand still.
///
/// # Errors
/// What SQLite says.
pub(crate) fn versions(statements: &mut Statements, attachments: &Attachments) -> Result<Versions> {
    let guard = statements.guard.clone();
    let mut versions = Versions::new();
    for schema in std::iter::once("main".to_owned()).chain(attachments.names()) {
        let sql = format!("PRAGMA {}.data_version", quoted(&schema, '"'));
        let version = guard.internally(|| statements.control(&sql))?;
        versions.push((schema, version));
    }
    Ok(versions)
}
