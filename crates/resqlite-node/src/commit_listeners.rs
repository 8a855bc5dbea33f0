//! The commit listeners of a realm.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use resqlite::{
    Result,
    events::{CommitEvent, CommitListener},
};

use crate::sync::lock;

/// The commit listeners of a realm, by the requests that opened them.
#[derive(Default)]
pub(crate) struct CommitListeners(Mutex<HashMap<u32, Entry>>);

struct Entry {
    listener: CommitListener,
    tell: Tell,
}

/// Passes messages on to a listener.
pub(crate) type Tell = Arc<dyn Fn(Told) + Send + Sync>;

/// A message to a listener.
pub(crate) enum Told {
    Event(Result<CommitEvent>),
    /// No message follows.
    End,
}

impl CommitListeners {
    pub(crate) fn keep(&self, request: u32, listener: CommitListener, tell: Tell) {
        // An earlier listener with this number has ended.
        let _over = lock(&self.0).insert(request, Entry { listener, tell });
    }

    /// Asks for the next event of a listener, if it is open.
    pub(crate) fn ask(&self, request: u32) {
        if let Some(Entry { listener, tell }) = lock(&self.0).get(&request) {
            let tell = Arc::clone(tell);
            listener.next(move |event| tell(Told::Event(event)));
        }
    }

    /// Ends a listener, if it is open.
    pub(crate) fn end(&self, request: u32) {
        let entry = lock(&self.0).remove(&request);
        if let Some(Entry { listener, tell }) = entry {
            drop(listener);
            tell(Told::End);
        }
    }

    /// Ends all listeners.
    pub(crate) fn end_all(&self) {
        let _entries = std::mem::take(&mut *lock(&self.0));
    }
}
