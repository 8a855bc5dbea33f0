//! Live queries for Rust: they return the latest result, whenever there is a new one.

use std::{
    collections::HashMap,
    future::poll_fn,
    sync::{Arc, OnceLock, Weak},
    task::{Poll, Waker},
};

use resqlite_live::{Reason, Segment};

use crate::{
    api::handle::Handle,
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        params::Params,
        sync::{Mutex, lock},
        value::Value,
    },
    live::{Delivery, Emission, Listener, LiveQueryRequest, Maintenance, StreamStats, Subscription},
    rows::{ColumnLayout, Integers, Row, RowBatch, Rows},
};

/// A query whose result is kept up to date. Dropping it ends it.
///
/// ```
/// use resqlite::{Database, Options};
///
/// # pollster::block_on(async {
/// let db = Database::open(":memory:", Options::default()).await?;
/// db.exec("CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT)").await?;
/// let mut names = db.stream("SELECT name FROM users ORDER BY id", ());
/// assert_eq!(names.next().await.unwrap()?.rows().len(), 0);
///
/// db.execute("INSERT INTO users(name) VALUES (?)", ["Ada".into()]).await?;
/// let emitted = names.next().await.unwrap()?;
/// assert_eq!(emitted.rows().iter().next().unwrap().get("name"), Some(&"Ada".into()));
/// # db.close().await
/// # }).unwrap();
/// ```
pub struct LiveQuery {
    shared: Arc<Shared>,
    /// The id of this `LiveQuery` among those that share the query.
    id: u64,
    /// The version of the result that was returned last.
    seen: u64,
    /// The number of the [catch-up](CatchUps) for which this `LiveQuery` waits, if it joined a
    /// query that had already begun; otherwise 0.
    waits_for: u64,
    _handle: Arc<Handle>,
}

/// A result of a live query. All its parts come from one committed state.
#[derive(Debug, Clone)]
pub struct Emitted {
    /// One result per statement, in order.
    pub parts: Vec<LiveRows>,
    /// The number of a commit: the state contains this commit and all before it.
    pub commit: CommitId,
    /// The reason why the query ran; `None` for the first time.
    pub reason: Option<Reason>,
}

/// The rows of one statement of a live query. Rows that did not change are shared with earlier results.
#[derive(Debug, Clone, Default)]
pub struct LiveRows {
    layout: Option<Arc<ColumnLayout>>,
    rows: Vec<Arc<[Value]>>,
}

impl LiveQuery {
    /// Waits for a new result, and returns the latest one. Returns `None` if the query has ended.
    ///
    /// # Errors
    /// The errors of the query. The `LiveQuery` stays open, and recovers when the query works again. If the query never worked, the
    /// `LiveQuery` does not stay open.
    pub async fn next(&mut self) -> Option<Result<Emitted>> {
        poll_fn(|context| {
            let mut inbox = lock(&self.shared.inbox);
            let is_late = inbox.catch_ups.ended < self.waits_for && !inbox.ended;
            if inbox.version != self.seen && !is_late {
                self.seen = inbox.version;
                return Poll::Ready(inbox.latest.clone());
            }
            if inbox.ended {
                return Poll::Ready(None);
            }
            inbox.wakers.insert(self.id, context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Returns numbers about the query.
    pub fn stats(&self) -> StreamStats {
        self.shared
            .subscription
            .get()
            .map_or_else(StreamStats::default, Subscription::stats)
    }
}

impl Drop for LiveQuery {
    fn drop(&mut self) {
        lock(&self.shared.inbox).wakers.remove(&self.id);
    }
}

impl Emitted {
    /// Returns the rows of the first statement, which is usually the only one.
    pub fn rows(&self) -> &LiveRows {
        &self.parts[0]
    }
}

impl LiveRows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the column names.
    pub fn columns(&self) -> &[String] {
        self.layout.as_ref().map_or(&[], |layout| layout.names())
    }

    /// Returns the rows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.iter().map(|values| Row::new(self.columns(), values))
    }
}

/// The open live queries of a database. Equal queries share their runs.
#[derive(Default)]
pub(crate) struct LiveQueries {
    open: Mutex<HashMap<Question, Weak<Shared>>>,
}

/// Statements with their packed parameters.
type Question = Vec<(Arc<str>, Vec<u8>)>;

impl LiveQueries {
    pub(crate) fn open(&self, handle: &Arc<Handle>, queries: Vec<(Arc<str>, Params)>) -> LiveQuery {
        let key = queries
            .iter()
            .map(|(sql, params)| (Arc::clone(sql), params.as_bytes().to_vec()))
            .collect();
        let mut open = lock(&self.open);
        open.retain(|_, shared| shared.strong_count() > 0);
        let (shared, waits_for) = match open.get(&key).and_then(Weak::upgrade) {
            // A query that has ended begins again.
            Some(shared) if !lock(&shared.inbox).ended => {
                let waits_for = shared.catch_up();
                (shared, waits_for)
            }
            _ => {
                let shared = Shared::begin(handle, queries);
                open.insert(key, Arc::downgrade(&shared));
                (shared, 0)
            }
        };
        let id = {
            let mut inbox = lock(&shared.inbox);
            inbox.users += 1;
            inbox.users
        };
        LiveQuery {
            shared,
            id,
            seen: 0,
            waits_for,
            _handle: Arc::clone(handle),
        }
    }
}

/// The state that all `LiveQuery`s of the same statements and parameters share.
struct Shared {
    inbox: Mutex<Inbox>,
    subscription: OnceLock<Subscription>,
}

#[derive(Default)]
struct Inbox {
    latest: Option<Result<Emitted>>,
    /// The number of results so far.
    version: u64,
    ended: bool,
    users: u64,
    catch_ups: CatchUps,
    /// The wakers of the `LiveQuery`s that wait, by id.
    wakers: HashMap<u64, Waker>,
}

/// Requests to be told when the query shows everything that is committed. Only one request is made at a time, however many `LiveQuery`s
/// join meanwhile.
#[derive(Default)]
struct CatchUps {
    /// The number of the last request.
    asked: u64,
    /// The number of the last request that has ended.
    ended: u64,
    /// States that another `LiveQuery` joined while a request was under way.
    is_wanted_again: bool,
}

impl CatchUps {
    /// Returns the number of the request for a `LiveQuery` that joins now, and whether that request
    /// must be made.
    fn next(&mut self) -> (u64, bool) {
        if self.asked > self.ended {
            self.is_wanted_again = true;
            return (self.asked + 1, false);
        }
        self.asked += 1;
        (self.asked, true)
    }

    /// Notes that the request has ended. Returns whether another request must be made.
    fn end(&mut self) -> bool {
        self.ended = self.asked;
        let again = std::mem::take(&mut self.is_wanted_again);
        self.asked += u64::from(again);
        again
    }
}

impl Shared {
    /// Returns the number of the catch-up after which the query shows everything that is committed
    /// now.
    fn catch_up(self: &Arc<Self>) -> u64 {
        let (number, is_new) = lock(&self.inbox).catch_ups.next();
        if is_new {
            self.ask();
        }
        number
    }

    fn ask(self: &Arc<Self>) {
        let shared = Arc::downgrade(self);
        let done = move || {
            if let Some(shared) = shared.upgrade() {
                shared.caught_up();
            }
        };
        let subscription = self.subscription.get().expect("it is set before others join");
        subscription.when_caught_up(Box::new(done));
    }

    fn caught_up(self: &Arc<Self>) {
        let (again, wakers) = {
            let mut inbox = lock(&self.inbox);
            let again = inbox.catch_ups.end();
            (again, std::mem::take(&mut inbox.wakers))
        };
        wakers.into_values().for_each(Waker::wake);
        if again {
            self.ask();
        }
    }

    fn begin(handle: &Handle, queries: Vec<(Arc<str>, Params)>) -> Arc<Self> {
        let shared = Arc::new(Self {
            inbox: Mutex::default(),
            subscription: OnceLock::new(),
        });
        let folder = Folder {
            parts: queries.iter().map(|_| LiveRows::default()).collect(),
            changed: Vec::new(),
            rows: Vec::new(),
            shared: Arc::downgrade(&shared),
        };
        let request = LiveQueryRequest {
            queries,
            integers: Integers::BigInt,
            verify: 0.0,
            maintenance: Maintenance::default(),
        };
        let subscription = handle.engine().subscribe(request, Box::new(folder));
        let _ = shared.subscription.set(subscription);
        shared
    }

    fn tell(&self, latest: Result<Emitted>, ended: bool) {
        let wakers = {
            let mut inbox = lock(&self.inbox);
            inbox.latest = Some(latest);
            inbox.version += 1;
            inbox.ended |= ended;
            std::mem::take(&mut inbox.wakers)
        };
        wakers.into_values().for_each(Waker::wake);
    }
}

/// Applies patches to the rows of the last result.
struct Folder {
    parts: Vec<LiveRows>,
    /// Patched parts of an emission that is not complete.
    changed: Vec<(usize, LiveRows)>,
    /// New rows for the next patch.
    rows: Vec<Arc<[Value]>>,
    shared: Weak<Shared>,
}

impl Listener for Folder {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        let mut rows = Rows::default();
        rows.extend(layout, &batch.to_bytes());
        self.rows.extend(rows.iter().map(|row| row.values().into()));
        self.shared.strong_count() > 0
    }

    fn patch(&mut self, part: usize, layout: &Arc<ColumnLayout>, segments: &[Segment]) {
        let before = &self.parts[part].rows;
        let rows = Segment::apply(segments, before, self.rows.drain(..));
        let layout = Some(Arc::clone(layout));
        self.changed.push((part, LiveRows { layout, rows }));
    }

    fn emit(&mut self, emission: Emission) -> Delivery {
        for (part, rows) in self.changed.drain(..) {
            self.parts[part] = rows;
        }
        if let Some(shared) = self.shared.upgrade() {
            let emitted = Emitted {
                parts: self.parts.clone(),
                commit: emission.commit,
                reason: emission.reason,
            };
            shared.tell(Ok(emitted), false);
        }
        Delivery::Taken
    }

    fn discard(&mut self) {
        self.changed.clear();
        self.rows.clear();
    }

    fn fail(&mut self, error: &Error, ended: bool) -> Delivery {
        if let Some(shared) = self.shared.upgrade() {
            shared.tell(Err(error.clone()), ended);
        }
        Delivery::Taken
    }
}
