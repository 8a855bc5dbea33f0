//! Which sessions hold a thread, and since when.

use std::{sync::Arc, time::SystemTime};

use resqlite_live::fault::planted;

use crate::{
    core::sync::{Mutex, lock},
    requests::session::Inbox,
};

/// An open transaction, snapshot or cursor, see [`Diagnostics`](crate::Diagnostics).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The query of a cursor; snapshots and transactions have none.
    pub sql: Option<Arc<str>>,
    /// When it got its thread.
    pub since: SystemTime,
    /// Nothing runs in it: it waits for its caller.
    pub idle: bool,
}

/// All that hold a thread of one kind, the oldest first.
#[derive(Default)]
pub(crate) struct Holders(Mutex<Vec<Held>>);

struct Held {
    inbox: Arc<Inbox>,
    sql: Option<Arc<str>>,
    since: SystemTime,
}

/// Holds a thread until it is dropped.
pub(crate) struct Holding<'a> {
    holders: &'a Holders,
    inbox: &'a Arc<Inbox>,
}

impl Holders {
    pub(crate) fn hold<'a>(&'a self, inbox: &'a Arc<Inbox>, sql: Option<&Arc<str>>) -> Holding<'a> {
        lock(&self.0).push(Held {
            inbox: Arc::clone(inbox),
            sql: sql.cloned(),
            since: SystemTime::now(),
        });
        Holding { holders: self, inbox }
    }

    /// How many wait for their callers.
    pub(crate) fn idle(&self) -> usize {
        lock(&self.0).iter().filter(|held| held.inbox.is_idle()).count()
    }

    pub(crate) fn list(&self) -> Vec<Holder> {
        let held = lock(&self.0);
        let holder = |held: &Held| Holder {
            sql: held.sql.clone(),
            since: held.since,
            idle: held.inbox.is_idle(),
        };
        held.iter().map(holder).collect()
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        if planted("lease_kept") {
            return;
        }
        lock(&self.holders.0).retain(|held| !Arc::ptr_eq(&held.inbox, self.inbox));
    }
}
