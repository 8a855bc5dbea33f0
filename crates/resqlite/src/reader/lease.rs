//! Snapshots and cursors: a reader that serves one caller until its session ends.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Instant,
};

use super::reading::Reader;
use crate::{
    connection::cursors::Cursors,
    core::{error::Error, queue::Popped},
    requests::{
        holders::{HeldBy, HolderKind},
        request::{CursorQuery, Outcome, Query, ReplyGuard, Step},
        session::{EndOnPanic, Inbox},
    },
};

/// A reader for one caller, until the session ends.
pub(crate) struct Lease {
    pub(crate) inbox: Arc<Inbox>,
    /// A cursor; a snapshot has none.
    pub(crate) cursor: Option<CursorQuery>,
    pub(crate) opened: ReplyGuard,
    pub(crate) asked: Instant,
}

impl Lease {
    pub(super) fn fail(self, error: Error) {
        self.inbox.end(Some(error.clone()));
        self.opened.fail(error);
    }
}

impl Reader {
    /// Serves one caller alone, on one committed state.
    pub(super) fn lease(&mut self, mut lease: Lease) {
        lease.opened.taken_up();
        if let Some(reason) = lease.inbox.reason() {
            return lease.fail(reason);
        }
        // A job before this one may have left the shared read transaction open.
        let began = self
            .reading()
            .end_read()
            .and_then(|()| self.reading().begin_read());
        if let Err(error) = began {
            return lease.fail(error);
        }
        let (inbox, holders) = (Arc::clone(&lease.inbox), Arc::clone(&self.shared().holders));
        let (kind, sql) = match &lease.cursor {
            None => (HolderKind::Snapshot, None),
            Some(cursor) => (HolderKind::Cursor, Some(&cursor.query.sql)),
        };
        let _held = holders.hold(HeldBy::Session(Arc::clone(&inbox)), kind, sql);
        let _ended = EndOnPanic(&inbox);
        self.connection
            .guard
            .interrupt
            .set_session(Some(inbox.scope.clone()));
        match lease.cursor {
            None => self.snapshot(&inbox, lease.opened),
            Some(cursor) => self.cursor(&inbox, cursor, lease.opened),
        }
        self.connection.guard.interrupt.set_session(None);
        inbox.end(None);
        // An error here leaves a transaction open, which the next begin reports.
        let _ = self.reading().end_read();
    }

    /// The next step of the session; `None` if it has ended.
    fn next_step(&self, inbox: &Inbox) -> Option<Step> {
        self.shared().steps.fetch_add(1, Relaxed);
        match inbox.steps.pop(None) {
            Popped::Item(step) => Some(step),
            Popped::Closed | Popped::TimedOut => None,
        }
    }

    fn snapshot(&mut self, inbox: &Inbox, opened: ReplyGuard) {
        // BEGIN takes no snapshot yet; the first read does.
        if let Err(error) = self.connection.sqlite.query_text("SELECT 1 FROM sqlite_schema") {
            return opened.fail(error.into());
        }
        opened.finish(Ok(Outcome::Done));
        let mut cursors = Cursors::default();
        self.serve_snapshot(inbox, &mut cursors);
        cursors.close_all(&mut self.connection);
    }

    fn serve_snapshot(&mut self, inbox: &Inbox, cursors: &mut Cursors) {
        while let Some(mut step) = self.next_step(inbox) {
            step.taken_up();
            match step {
                Step::Select(query, reply) => self.connection.select(&query, reply),
                Step::Query(query, reply) => self.query(&query, reply),
                Step::Describe(sql, reply) => self.connection.describe(&sql, reply),
                Step::OpenCursor(number, query, reply) => {
                    cursors.open(&mut self.connection, number, query, reply);
                }
                Step::FetchFrom(number, token, reply) => {
                    cursors.fetch(&mut self.connection, number, &token, reply);
                }
                Step::CloseCursor(number, reply) => cursors.close(&mut self.connection, number, reply),
                Step::End(reply) => return reply.finish(Ok(Outcome::Done)),
                step => {
                    let operation = step.operation();
                    let message = format!("{operation} is not possible in a snapshot");
                    step.into_reply().fail(Error::transaction(operation, message));
                }
            }
        }
    }

    fn query(&mut self, query: &Query, reply: ReplyGuard) {
        if let Err((reply, refusal)) = self.connection.query(query, self.includes(), reply, false) {
            reply.fail(refusal);
        }
    }

    fn cursor(&mut self, inbox: &Inbox, query: CursorQuery, opened: ReplyGuard) {
        let token = query.query.token.clone();
        let mut next = self.connection.open_cursor(query, opened);
        while let Some(cursor) = next {
            next = match self.next_step(inbox) {
                Some(Step::Fetch(reply)) => self.connection.fetch(cursor, &token, reply),
                Some(Step::End(reply)) => {
                    self.connection.close_cursor(cursor);
                    return reply.finish(Ok(Outcome::Done));
                }
                Some(step) => {
                    let operation = step.operation();
                    let message = format!("{operation} is not possible in a cursor");
                    step.into_reply().fail(Error::transaction(operation, message));
                    Some(cursor)
                }
                None => return self.connection.close_cursor(cursor),
            }
        }
    }
}
