//! The caller's side of a transaction, snapshot or cursor: an inbox that one engine thread serves until the end.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::{
    core::{
        error::Error,
        limits,
        queue::{Queue, Refused},
        sync::{Mutex, lock},
        token::{Scope, Token},
    },
    requests::request::{CursorQuery, Outcome, Query, Reply, ReplyGuard, Step, Write},
};

/// The caller's end of an open transaction, snapshot or cursor. Steps run in the order in which they are requested. Dropping the
/// session ends it: a transaction is rolled back.
pub struct Session {
    pub(crate) inbox: Arc<Inbox>,
}

/// The state that both ends of a session share.
pub(crate) struct Inbox {
    pub(crate) steps: Queue<Step>,
    pub(crate) scope: Scope,
    /// The number of the request that opens the session.
    pub(crate) opening: u64,
    /// The number of the last request to the session; before the first one, the number of the request that opens it.
    pub(crate) last_request: AtomicU64,
    /// The reason why the session ended, if its caller did not end it.
    reason: Mutex<Option<Error>>,
}

/// Returns the next number. Requests to all sessions, and requests that open sessions, are numbered in their order.
fn next_request() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Relaxed) + 1
}

impl Session {
    pub(crate) fn new() -> Self {
        let steps = Queue::new(limits::QUEUED_IN_SESSION_MAX).expecting();
        let opening = next_request();
        Self {
            inbox: Arc::new(Inbox {
                steps,
                scope: Scope::default(),
                opening,
                last_request: AtomicU64::new(opening),
                reason: Mutex::new(None),
            }),
        }
    }

    /// Reads inside the session.
    pub fn select(&self, query: Query, reply: Box<dyn Reply>) {
        self.push(Step::Select(query, ReplyGuard::new(reply)));
    }

    /// Runs one statement of any kind inside the session.
    pub fn query(&self, query: Query, reply: Box<dyn Reply>) {
        self.push(Step::Query(query, ReplyGuard::new(reply)));
    }

    /// Describes a statement, according to the schema that the session sees.
    pub fn describe(&self, sql: Arc<str>, reply: Box<dyn Reply>) {
        self.push(Step::Describe(sql, ReplyGuard::new(reply)));
    }

    /// Writes inside the transaction.
    pub fn write(&self, write: Write, reply: Box<dyn Reply>) {
        self.push(Step::Write(write, ReplyGuard::new(reply)));
    }

    /// Opens the savepoint of a nested transaction; levels count from 1.
    pub fn savepoint(&self, level: u32, reply: Box<dyn Reply>) {
        self.push(Step::Savepoint(level, ReplyGuard::new(reply)));
    }

    /// Keeps what the nested transaction did.
    pub fn release(&self, level: u32, reply: Box<dyn Reply>) {
        self.push(Step::Release(level, ReplyGuard::new(reply)));
    }

    /// Undoes what the nested transaction did, and closes it.
    pub fn rollback_to(&self, level: u32, reply: Box<dyn Reply>) {
        self.push(Step::RollbackTo(level, ReplyGuard::new(reply)));
    }

    /// Commits the transaction.
    pub fn commit(&self, reply: Box<dyn Reply>) {
        self.push(Step::Commit(ReplyGuard::new(reply)));
    }

    /// Rolls the transaction back, or closes the snapshot or cursor.
    pub fn end(&self, reply: Box<dyn Reply>) {
        self.push(Step::End(ReplyGuard::new(reply)));
    }

    /// Replies when the session ends, with an error if the caller did not end it.
    pub fn ended(&self, reply: Box<dyn Reply>) {
        self.push(Step::Ended(ReplyGuard::new(reply)));
    }

    /// Asks for the next batch, if the session is a cursor.
    pub fn fetch(&self, reply: Box<dyn Reply>) {
        self.push(Step::Fetch(ReplyGuard::new(reply)));
    }

    /// Opens a cursor inside the session and replies with its first batch of at most `batch_rows` rows. From now on `number` names
    /// the cursor; no other open cursor of the session may have this number.
    pub fn open_cursor(&self, number: u32, query: Query, batch_rows: usize, reply: Box<dyn Reply>) {
        let query = CursorQuery::new(query, batch_rows);
        self.push(Step::OpenCursor(number, query, ReplyGuard::new(reply)));
    }

    /// Asks for the next batch of a cursor inside the session. Cancelling the token ends the cursor.
    pub fn fetch_from(&self, number: u32, token: Token, reply: Box<dyn Reply>) {
        self.push(Step::FetchFrom(number, token, ReplyGuard::new(reply)));
    }

    /// Closes a cursor inside the session; does nothing if the cursor has no rows left.
    pub fn close_cursor(&self, number: u32, reply: Box<dyn Reply>) {
        self.push(Step::CloseCursor(number, ReplyGuard::new(reply)));
    }

    /// Interrupts what runs in the session and ends it.
    pub fn cancel(&self) {
        self.inbox.interrupt(Error::Aborted);
    }

    fn push(&self, step: Step) {
        self.inbox.last_request.store(next_request(), Relaxed);
        match self.inbox.steps.push(step) {
            Ok(()) => {}
            Err(Refused::Full(step)) => step.into_reply().fail(Error::QueueFull),
            Err(Refused::Closed(step)) => self.inbox.refuse(step),
        }
    }
}

/// Ends a session whose serving thread panics, so that no caller waits for the session for ever.
pub(crate) struct EndOnPanic<'a>(pub(crate) &'a Inbox);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Some(Error::WorkerDied));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.inbox.steps.close();
    }
}

impl Inbox {
    /// Interrupts what runs and makes the serving thread end the session.
    pub(crate) fn interrupt(&self, reason: Error) {
        lock(&self.reason).get_or_insert(reason);
        self.scope.cancel();
        self.steps.close();
    }

    /// Returns whether the thread that serves the session is waiting for the session's caller.
    pub(crate) fn is_idle(&self) -> bool {
        self.steps.is_awaited()
    }

    /// The reason why the session ended, if its caller did not end it.
    pub(crate) fn reason(&self) -> Option<Error> {
        lock(&self.reason).clone()
    }

    /// Ends the session. Queued and later steps are refused with `reason`, or, without one, as steps after the end of the session.
    pub(crate) fn end(&self, reason: Option<Error>) {
        if let Some(reason) = reason {
            lock(&self.reason).get_or_insert(reason);
        }
        for step in self.steps.close_and_take() {
            self.refuse(step);
        }
    }

    fn refuse(&self, step: Step) {
        let reason = lock(&self.reason).clone();
        match (step, reason) {
            (Step::Ended(reply) | Step::End(reply), None) => reply.finish(Ok(Outcome::Done)),
            (step, Some(reason)) => step.into_reply().fail(reason),
            (step, None) => {
                let operation = step.operation();
                let message = format!("{operation}: the transaction, snapshot or cursor has ended already");
                step.into_reply().fail(Error::transaction(operation, message));
            }
        }
    }
}
