//! A realm: one JavaScript thread, and everything of the engine that it has open.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use resqlite::{BatchPart, BatchParts, Engine, Handle, Scope};

use crate::{
    commit_listeners::CommitListeners, outbox::Outbox, sessions::Sessions, subscriptions::Subscriptions,
    sync::lock, uploads::Uploads,
};

/// What the port and the engine threads share, and what is given back when the realm ends.
pub(crate) struct Realm {
    pub(crate) outbox: Outbox,
    /// Ends all requests of the realm.
    pub(crate) scope: Scope,
    pub(crate) sessions: Sessions,
    /// Batches that expect further parameter sets, by request.
    pub(crate) batches: Mutex<HashMap<u32, BatchParts>>,
    /// Open live queries.
    pub(crate) subscriptions: Subscriptions,
    /// Bytes that will be opened as databases.
    pub(crate) uploads: Uploads,
    pub(crate) commit_listeners: CommitListeners,
    handles: Mutex<HashMap<u32, Handle>>,
    last_handle: AtomicU32,
}

impl Realm {
    pub(crate) fn new(outbox: Outbox) -> Self {
        Self {
            outbox,
            scope: Scope::default(),
            sessions: Sessions::default(),
            batches: Mutex::default(),
            subscriptions: Subscriptions::default(),
            uploads: Uploads::default(),
            commit_listeners: CommitListeners::default(),
            handles: Mutex::default(),
            last_handle: AtomicU32::new(0),
        }
    }

    /// The engine of a database handle, if it is open.
    pub(crate) fn engine(&self, handle: u32) -> Option<Arc<Engine>> {
        lock(&self.handles)
            .get(&handle)
            .map(|handle| Arc::clone(handle.engine()))
    }

    pub(crate) fn engines(&self) -> Vec<Arc<Engine>> {
        lock(&self.handles)
            .values()
            .map(|handle| Arc::clone(handle.engine()))
            .collect()
    }

    /// Keeps a database handle and returns its number. If the realm has ended, the handle is closed at once, because
    /// nobody is left to close it.
    pub(crate) fn keep(&self, handle: Handle) -> u32 {
        let id = self.last_handle.fetch_add(1, Ordering::Relaxed) + 1;
        let mut handles = lock(&self.handles);
        if self.scope.is_cancelled() {
            drop(handles);
            drop(handle);
        } else {
            handles.insert(id, handle);
        }
        id
    }

    /// Takes a database handle out. Dropping it blocks while its engine shuts down.
    pub(crate) fn take(&self, handle: u32) -> Option<Handle> {
        lock(&self.handles).remove(&handle)
    }

    /// Ends the realm: replies are dropped, running requests are interrupted, transactions are rolled back.
    pub(crate) fn close(&self) {
        self.outbox.close();
        self.scope.cancel();
        self.sessions.cancel_all();
        self.subscriptions.end_all();
        self.commit_listeners.end_all();
        // The writer may be waiting for parameter sets that will never come.
        for (_, parts) in lock(&self.batches).drain() {
            parts.push(BatchPart::Abort);
        }
        let handles = std::mem::take(&mut *lock(&self.handles));
        handles
            .values()
            .for_each(|handle| handle.engine().drop_cancelled());
        drop(handles);
    }
}
