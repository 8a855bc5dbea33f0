//! Snapshots and cursors: a reader that serves one caller until its session ends.

use std::{sync::Arc, time::Instant};

use resqlite_live::fault::planted;

use super::reading::Reader;
use crate::{
    connection::prepared::Prepared,
    core::{error::Error, queue::Popped, token::Token},
    requests::{
        holders::HolderKind,
        request::{Outcome, Query, ReplyGuard, Step},
        session::{EndOnPanic, Inbox},
    },
};

/// A reader for one caller, until the session ends.
pub(crate) struct Lease {
    pub(crate) inbox: Arc<Inbox>,
    /// A cursor; a snapshot has none.
    pub(crate) cursor: Option<Cursor>,
    pub(crate) opened: ReplyGuard,
    pub(crate) asked: Instant,
}

/// The query of a cursor.
pub(crate) struct Cursor {
    pub(crate) query: Query,
    pub(crate) batch_rows: usize,
}

impl Lease {
    pub(super) fn fail(self, error: Error) {
        self.inbox.end(Some(error.clone()));
        self.opened.fail(error);
    }
}

impl Reader {
    /// Serves one caller alone, on one committed state.
    pub(super) fn lease(&mut self, lease: Lease) {
        if let Some(reason) = lease.inbox.reason() {
            return lease.fail(reason);
        }
        // A job before this one may have left the shared read transaction open.
        let began = self.end_read().and_then(|()| self.begin_read());
        if let Err(error) = began {
            return lease.fail(error);
        }
        let (inbox, holders) = (Arc::clone(&lease.inbox), Arc::clone(&self.shared.holders));
        let (kind, sql) = match &lease.cursor {
            None => (HolderKind::Snapshot, None),
            Some(cursor) => (HolderKind::Cursor, Some(&cursor.query.sql)),
        };
        let _held = holders.hold(&inbox, kind, sql);
        let _ended = EndOnPanic(&inbox);
        self.connection
            .guard
            .interrupt
            .set_session(Some(inbox.scope.clone()));
        match lease.cursor {
            None => self.snapshot(&inbox, lease.opened),
            Some(cursor) => self.cursor(&inbox, &cursor, lease.opened),
        }
        self.connection.guard.interrupt.set_session(None);
        if !planted("keep_lease") {
            inbox.end(None);
        }
        // An error here leaves a transaction open, which the next begin reports.
        let _ = self.end_read();
    }

    fn snapshot(&mut self, inbox: &Inbox, opened: ReplyGuard) {
        // BEGIN takes no snapshot yet; the first read does.
        if let Err(error) = self.connection.sqlite.query_text("SELECT 1 FROM sqlite_schema") {
            return opened.fail(error.into());
        }
        opened.finish(Ok(Outcome::Done));
        while let Popped::Item(step) = inbox.steps.pop(None) {
            match step {
                Step::Select(query, reply) => self.connection.select(&query, reply),
                Step::Query(query, reply) => self.query(&query, reply),
                Step::Describe(sql, reply) => self.connection.describe(&sql, reply),
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

    fn cursor(&mut self, inbox: &Inbox, cursor: &Cursor, opened: ReplyGuard) {
        self.connection.guard.interrupt.start_query(&cursor.query);
        let prepared = self.connection.take(&cursor.query.sql).and_then(|mut prepared| {
            prepared.bind_query(&cursor.query)?;
            Ok(prepared)
        });
        match prepared {
            Err(error) => opened.fail(self.connection.explain_error(error)),
            Ok(mut prepared) => {
                self.batches(inbox, cursor, &mut prepared, opened);
                self.connection.put(&cursor.query.sql, prepared);
            }
        }
        self.connection.guard.interrupt.stop();
        self.connection.guard.interrupt.end_query();
    }

    fn batches(&mut self, inbox: &Inbox, cursor: &Cursor, prepared: &mut Prepared, opened: ReplyGuard) {
        let (most, integers) = (cursor.batch_rows, cursor.query.integers);
        let mut end = self.connection.fetch(prepared, most, integers, true, opened);
        while !end && let Popped::Item(step) = self.next_step(inbox, &cursor.query.token) {
            match step {
                Step::Fetch(reply) => end = self.connection.fetch(prepared, most, integers, false, reply),
                Step::End(reply) => return reply.finish(Ok(Outcome::Done)),
                step => {
                    let operation = step.operation();
                    let message = format!("{operation} is not possible in a cursor");
                    step.into_reply().fail(Error::transaction(operation, message));
                }
            }
        }
    }

    /// Waits for the next step of a cursor. The wait does not count against the limits of its query.
    fn next_step(&self, inbox: &Inbox, token: &Token) -> Popped<Step> {
        self.connection.guard.interrupt.pause();
        let step = inbox.steps.pop(None);
        self.connection.guard.interrupt.resume(token);
        step
    }
}
