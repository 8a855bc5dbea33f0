//! Cursors: statements that stay open while their callers fetch the rows batch by batch.

use std::collections::{HashMap, hash_map::Entry};

use super::{engine_connection::EngineConnection, prepared::Prepared};
use crate::{
    core::{error::Error, token::Token},
    guard::budget::Budget,
    requests::request::{CursorQuery, Outcome, ReplyGuard},
};

/// A cursor that has rows left.
pub(crate) struct OpenCursor {
    query: CursorQuery,
    prepared: Prepared,
    /// The number of times that the connection had forgotten its statements when this one was prepared.
    forgotten: u64,
    /// The limits that are left, while the cursor waits for its caller.
    budget: Option<Budget>,
}

impl EngineConnection {
    /// Opens a cursor and replies with its first batch. Returns `None` if no rows are left, or on an error.
    pub(crate) fn open_cursor(&mut self, query: CursorQuery, reply: ReplyGuard) -> Option<OpenCursor> {
        if query.query.token.is_cancelled() {
            reply.fail(Error::Aborted);
            return None;
        }
        self.guard.interrupt.start_query(&query.query);
        let prepared = self.take(&query.query.sql).and_then(|mut prepared| {
            prepared.bind_query(&query.query)?;
            Ok(prepared)
        });
        match prepared {
            Err(error) => {
                reply.fail(self.explain_error(error));
                self.guard.interrupt.pause();
                None
            }
            Ok(prepared) => {
                let forgotten = self.forgotten();
                let cursor = OpenCursor {
                    query,
                    prepared,
                    forgotten,
                    budget: None,
                };
                self.batch_of(cursor, true, reply)
            }
        }
    }

    /// Replies with the next batch of a cursor. Returns `None` if no rows are left, or on an error.
    pub(crate) fn fetch(
        &mut self,
        mut cursor: OpenCursor,
        token: &Token,
        reply: ReplyGuard,
    ) -> Option<OpenCursor> {
        if token.is_cancelled() {
            reply.fail(Error::Aborted);
            self.close_cursor(cursor);
            return None;
        }
        self.guard.interrupt.resume(token, cursor.budget.take());
        self.batch_of(cursor, false, reply)
    }

    fn batch_of(&mut self, mut cursor: OpenCursor, fresh: bool, reply: ReplyGuard) -> Option<OpenCursor> {
        let (most, integers) = (cursor.query.batch_rows, cursor.query.query.integers);
        let end = self.fetch_batch(&mut cursor.prepared, most, integers, fresh, reply);
        cursor.budget = self.guard.interrupt.pause();
        if end {
            self.close_cursor(cursor);
            return None;
        }
        Some(cursor)
    }

    /// Ends a cursor. Its statement is used again, unless the schema has changed meanwhile.
    pub(crate) fn close_cursor(&mut self, mut cursor: OpenCursor) {
        if cursor.forgotten == self.forgotten() {
            let query = &cursor.query.query;
            cursor.prepared.end_run(query.params.byte_len());
            self.put(&query.sql, cursor.prepared);
        }
    }
}

/// The open cursors of a transaction or snapshot, by the numbers that their caller gave them.
#[derive(Default)]
pub(crate) struct Cursors(HashMap<u32, OpenCursor>);

impl Cursors {
    pub(crate) fn open(
        &mut self,
        connection: &mut EngineConnection,
        number: u32,
        query: CursorQuery,
        reply: ReplyGuard,
    ) {
        match self.0.entry(number) {
            Entry::Occupied(_) => {
                let message = format!("iterate: cursor {number} is open already");
                reply.fail(Error::transaction("iterate", message));
            }
            Entry::Vacant(place) => {
                if let Some(cursor) = connection.open_cursor(query, reply) {
                    place.insert(cursor);
                }
            }
        }
    }

    pub(crate) fn fetch(
        &mut self,
        connection: &mut EngineConnection,
        number: u32,
        token: &Token,
        reply: ReplyGuard,
    ) {
        let Some(cursor) = self.0.remove(&number) else {
            let message = format!("iterate: cursor {number} is not open");
            return reply.fail(Error::transaction("iterate", message));
        };
        if let Some(cursor) = connection.fetch(cursor, token, reply) {
            self.0.insert(number, cursor);
        }
    }

    /// Closes a cursor, if it is open.
    pub(crate) fn close(&mut self, connection: &mut EngineConnection, number: u32, reply: ReplyGuard) {
        if let Some(cursor) = self.0.remove(&number) {
            connection.close_cursor(cursor);
        }
        reply.finish(Ok(Outcome::Done));
    }

    pub(crate) fn close_all(&mut self, connection: &mut EngineConnection) {
        for (_, cursor) in self.0.drain() {
            connection.close_cursor(cursor);
        }
    }
}
