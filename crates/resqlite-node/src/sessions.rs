//! The open sessions of a realm: transactions, snapshots and cursors.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use resqlite::binding::Session;

use crate::sync::lock;

/// Sessions by number; `None` while the engine is being asked for one.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<u32, Option<Arc<Session>>>>);

impl Sessions {
    /// Opens a session. Its number is reserved before the engine knows of it, because a session that ends at once is
    /// removed before `open` returns, and must then stay removed.
    pub(crate) fn open(&self, id: u32, open: impl FnOnce() -> Session) {
        lock(&self.0).insert(id, None);
        let session = Arc::new(open());
        if let Some(place) = lock(&self.0).get_mut(&id) {
            *place = Some(session);
        }
    }

    pub(crate) fn get(&self, id: u32) -> Option<Arc<Session>> {
        lock(&self.0).get(&id)?.clone()
    }

    pub(crate) fn remove(&self, id: u32) {
        // The session is dropped after the lock is released.
        let _session = lock(&self.0).remove(&id);
    }

    pub(crate) fn cancel_all(&self) {
        let sessions = std::mem::take(&mut *lock(&self.0));
        sessions.values().flatten().for_each(|session| session.cancel());
    }
}
