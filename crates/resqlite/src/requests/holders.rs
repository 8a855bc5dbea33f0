//! Which sessions hold a thread, and since when.

use std::{sync::Arc, time::SystemTime};

use resqlite_live::fault::planted;

use crate::{
    core::{
        limits,
        sync::{Mutex, lock},
    },
    requests::session::Inbox,
};

/// An open transaction, snapshot or cursor, see [`Diagnostics`](crate::Diagnostics).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// What it is.
    pub kind: HolderKind,
    /// The query of a cursor; the statement that runs, or ran last, in a transaction, or the beginning of a long one.
    pub sql: Option<Arc<str>>,
    /// When it got its thread.
    pub since: SystemTime,
    /// Nothing runs in it: it waits for its caller.
    pub idle: bool,
}

/// What holds a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HolderKind {
    /// A snapshot.
    Snapshot,
    /// A cursor.
    Cursor,
    /// A transaction with a body.
    Transaction,
    /// A transaction [without a body](crate::TransactionOptions::without_body).
    Begin,
}

/// All that hold a thread of one kind, the oldest first.
#[derive(Default)]
pub(crate) struct Holders(Mutex<Vec<Held>>);

struct Held {
    inbox: Arc<Inbox>,
    kind: HolderKind,
    sql: Option<Arc<str>>,
    since: SystemTime,
}

/// Holds a thread until it is dropped.
pub(crate) struct Holding<'a> {
    holders: &'a Holders,
    inbox: &'a Arc<Inbox>,
}

impl Holders {
    pub(crate) fn hold<'a>(
        &'a self,
        inbox: &'a Arc<Inbox>,
        kind: HolderKind,
        sql: Option<&Arc<str>>,
    ) -> Holding<'a> {
        lock(&self.0).push(Held {
            inbox: Arc::clone(inbox),
            kind,
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
            kind: held.kind,
            sql: held.sql.clone(),
            since: held.since,
            idle: held.inbox.is_idle(),
        };
        held.iter().map(holder).collect()
    }
}

impl Holding<'_> {
    /// Names the statement that runs now.
    pub(crate) fn runs(&self, sql: &Arc<str>) {
        let mut held = lock(&self.holders.0);
        if let Some(held) = held.iter_mut().find(|held| Arc::ptr_eq(&held.inbox, self.inbox)) {
            held.sql = Some(beginning(sql));
        }
    }
}

/// A script may be megabytes long.
fn beginning(sql: &Arc<str>) -> Arc<str> {
    if sql.len() <= limits::HOLDER_SQL_BYTES {
        return Arc::clone(sql);
    }
    let mut end = limits::HOLDER_SQL_BYTES;
    while !sql.is_char_boundary(end) {
        end -= 1;
    }
    sql[..end].into()
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        if planted("lease_kept") {
            return;
        }
        lock(&self.holders.0).retain(|held| !Arc::ptr_eq(&held.inbox, self.inbox));
    }
}
