//! The holders of a connection, and since when they hold it: sessions, and batches whose sets have not all arrived.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::SystemTime,
};

use crate::{
    core::{
        limits,
        sync::{Mutex, lock},
    },
    requests::{request::BatchParts, session::Inbox},
};

/// An open transaction, snapshot or cursor, or a batch whose sets have not all arrived: see
/// [`Diagnostics`](crate::Diagnostics).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The kind of the holder.
    pub kind: HolderKind,
    /// The query of a cursor, the statement of a batch, or the statement of a transaction that runs or ran last. A long statement
    /// is cut to its beginning.
    pub sql: Option<Arc<str>>,
    /// The time at which the holder got its connection.
    pub since: SystemTime,
    /// Nothing runs in the holder: it waits for its caller.
    pub idle: bool,
}

/// The kinds of holders of a connection.
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
    /// A batch whose parameter sets have not all arrived.
    Batch,
}

/// A wait of the writer for a lock that another process, or another copy of SQLite in this process, holds. In `PRAGMA
/// wal_checkpoint`, the writer also waits for readers of the log, which may be readers of this database. See
/// [`Diagnostics`](crate::Diagnostics).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockWait {
    /// The time at which the wait began.
    pub since: SystemTime,
    /// The statement that waits, or the first of several; `None` for a transaction, which has no statement yet. A long statement is
    /// cut to its beginning.
    pub sql: Option<Arc<str>>,
}

/// The wait of the writer for a lock, while there is one.
#[derive(Default)]
pub(crate) struct LockWaits(Mutex<Option<LockWait>>);

impl LockWaits {
    pub(crate) fn begins(&self, sql: Option<&Arc<str>>) {
        *lock(&self.0) = Some(LockWait {
            since: SystemTime::now(),
            sql: sql.map(shown),
        });
    }

    pub(crate) fn ends(&self) {
        *lock(&self.0) = None;
    }

    pub(crate) fn current(&self) -> Option<LockWait> {
        lock(&self.0).clone()
    }
}

/// Writes, for example, "a transaction that began 2.5 s ago and waits for its caller; statement: …"
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            HolderKind::Snapshot => "a snapshot",
            HolderKind::Cursor => "a cursor",
            HolderKind::Transaction => "a transaction",
            HolderKind::Begin => "a transaction without a body",
            HolderKind::Batch => "a batch",
        };
        let seconds = self.since.elapsed().unwrap_or_default().as_secs_f64();
        write!(f, "{what} that began {seconds:.1} s ago")?;
        if self.idle {
            write!(f, " and waits for its caller")?;
        }
        match &self.sql {
            Some(sql) => write!(f, "; statement: {}", beginning(sql, limits::NAMED_SQL_BYTES)),
            None => Ok(()),
        }
    }
}

/// All holders of connections of one kind, the oldest first.
#[derive(Default)]
pub(crate) struct Holders(Mutex<Vec<Held>>);

struct Held {
    by: HeldBy,
    kind: HolderKind,
    sql: Option<Arc<str>>,
    since: SystemTime,
}

/// The source from which a holder gets what its caller sends: the steps of a session, or the sets of a batch.
#[derive(Clone)]
pub(crate) enum HeldBy {
    Session(Arc<Inbox>),
    Batch(BatchParts),
}

/// Holds a connection until it is dropped.
pub(crate) struct Holding {
    holders: Arc<Holders>,
    by: HeldBy,
}

impl HeldBy {
    fn is_idle(&self) -> bool {
        match self {
            Self::Session(inbox) => inbox.is_idle(),
            Self::Batch(parts) => parts.0.is_awaited(),
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Session(inbox), Self::Session(other)) => Arc::ptr_eq(inbox, other),
            (Self::Batch(parts), Self::Batch(other)) => Arc::ptr_eq(&parts.0, &other.0),
            _ => false,
        }
    }
}

impl Holders {
    pub(crate) fn hold(self: &Arc<Self>, by: HeldBy, kind: HolderKind, sql: Option<&Arc<str>>) -> Holding {
        lock(&self.0).push(Held {
            by: by.clone(),
            kind,
            sql: sql.map(shown),
            since: SystemTime::now(),
        });
        let holders = Arc::clone(self);
        Holding { holders, by }
    }

    /// Returns, for each session that waits for its caller, the number of the last request to it.
    pub(crate) fn last_requests_of_idle(&self) -> Vec<u64> {
        let held = lock(&self.0);
        let last_request = |held: &Held| match &held.by {
            HeldBy::Session(inbox) if inbox.is_idle() => Some(inbox.last_request.load(Relaxed)),
            HeldBy::Session(_) | HeldBy::Batch(_) => None,
        };
        held.iter().filter_map(last_request).collect()
    }

    /// Returns the time since which the oldest holder has held its connection.
    pub(crate) fn oldest(&self) -> Option<SystemTime> {
        lock(&self.0).first().map(|held| held.since)
    }

    pub(crate) fn list(&self) -> Vec<Holder> {
        let held = lock(&self.0);
        let holder = |held: &Held| Holder {
            kind: held.kind,
            sql: held.sql.clone(),
            since: held.since,
            idle: held.by.is_idle(),
        };
        held.iter().map(holder).collect()
    }
}

impl Holding {
    /// Names the statement that runs now.
    pub(crate) fn runs(&self, sql: &Arc<str>) {
        let mut held = lock(&self.holders.0);
        if let Some(held) = held.iter_mut().find(|held| held.by.is(&self.by)) {
            held.sql = Some(shown(sql));
        }
    }
}

/// The part of a statement that diagnostics show: a script may be megabytes long.
fn shown(sql: &Arc<str>) -> Arc<str> {
    if sql.len() <= limits::HOLDER_SQL_BYTES {
        return Arc::clone(sql);
    }
    beginning(sql, limits::HOLDER_SQL_BYTES).into()
}

/// Returns the beginning of `sql`: at most `bytes` bytes, and only whole characters.
fn beginning(sql: &str, bytes: usize) -> &str {
    let mut end = bytes.min(sql.len());
    while !sql.is_char_boundary(end) {
        end -= 1;
    }
    &sql[..end]
}

impl Drop for Holding {
    fn drop(&mut self) {
        lock(&self.holders.0).retain(|held| !held.by.is(&self.by));
    }
}
