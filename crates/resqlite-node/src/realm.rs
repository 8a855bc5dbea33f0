//! A realm: one JavaScript thread, and everything of the engine that it has open.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use resqlite::binding::{Engine, Scope, wait_for_threads};

use crate::{
    batches::Batch,
    commit_listeners::CommitListeners,
    opened::{Opened, Writer},
    outbox::Outbox,
    sessions::Sessions,
    subscriptions::Subscriptions,
    sync::lock,
    under_way::UnderWay,
    uploads::Uploads,
};

/// The state that the port and the engine threads share, and the resources that are given back when the realm ends.
pub(crate) struct Realm {
    pub(crate) outbox: Outbox,
    /// Ends all requests of the realm.
    pub(crate) scope: Scope,
    pub(crate) sessions: Sessions,
    /// Batches that expect further parameter sets, by request.
    pub(crate) batches: Mutex<HashMap<u32, Batch>>,
    /// Open live queries.
    pub(crate) subscriptions: Subscriptions,
    /// Bytes that will be opened as databases.
    pub(crate) uploads: Uploads,
    pub(crate) commit_listeners: CommitListeners,
    /// Databases that are being opened or closed.
    pub(crate) under_way: Arc<UnderWay>,
    handles: Mutex<HashMap<u32, Opened>>,
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
            under_way: Arc::default(),
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

    /// The engine or node that takes the writes of a database handle, if the handle is open.
    pub(crate) fn writer(&self, handle: u32) -> Option<Writer> {
        lock(&self.handles).get(&handle).map(Opened::writer)
    }

    pub(crate) fn writers(&self) -> Vec<Writer> {
        lock(&self.handles).values().map(Opened::writer).collect()
    }

    /// Keeps an opened database or node. Returns its number and the number of its engine. If the realm has ended,
    /// closes the database or node at once, because nobody is left to close it.
    pub(crate) fn keep(&self, handle: Opened) -> (u32, u64) {
        let engine = handle.engine().id();
        let id = self.last_handle.fetch_add(1, Ordering::Relaxed) + 1;
        let mut handles = lock(&self.handles);
        if self.scope.is_cancelled() {
            drop(handles);
            drop(handle);
        } else {
            handles.insert(id, handle);
        }
        (id, engine)
    }

    /// Removes a database handle and returns it. Dropping the result blocks while its engine shuts down.
    pub(crate) fn take(&self, handle: u32) -> Option<Opened> {
        lock(&self.handles).remove(&handle)
    }

    /// Ends the realm: replies are dropped, running requests are interrupted, transactions are rolled back. If the
    /// process goes on after its last realm, this code is unloaded, so none of it may run any longer. `process_ends`
    /// means that the process does not go on.
    pub(crate) fn close(&self, process_ends: bool) {
        self.outbox.close();
        self.scope.cancel();
        self.sessions.cancel_all();
        self.subscriptions.end_all();
        self.commit_listeners.end_all();
        // The writer may be waiting for parameter sets that will never come.
        lock(&self.batches).drain().for_each(|(_, batch)| batch.abort());
        let handles = std::mem::take(&mut *lock(&self.handles));
        handles
            .values()
            .for_each(|handle| handle.writer().drop_cancelled());
        drop(handles);
        if !process_ends {
            self.under_way.wait();
        }
        wait_for_threads();
    }
}
