//! An open snapshot or cursor: a connection with a read transaction. It occupies no worker while it waits for its caller.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use resqlite_sqlite::Parcel;

use super::{
    leases::{Lease, Leases, Waiting},
    reading::Reader,
};
use crate::{
    connection::cursors::{Cursors, OpenCursor},
    core::{
        error::{Error, Result},
        queue::Popped,
        sync::{Mutex, lock},
        token::Token,
        workers::{Class, Task, Turn},
    },
    requests::{
        holders::{HeldBy, HolderKind, Holding},
        request::{CursorQuery, Outcome, ReplyGuard, Step},
        session::{EndOnPanic, Inbox},
    },
};

impl Leases {
    /// Has workers open these sessions.
    pub(super) fn open(self: &Arc<Self>, admitted: Vec<Waiting>) {
        for Waiting { ticket, lease, .. } in admitted {
            let session = ReadSession {
                leases: Arc::clone(self),
                ticket,
                state: Mutex::new(State::New(lease)),
            };
            self.workers().ready(Arc::new(session));
        }
    }
}

/// A session of one caller. The session is a task: a worker opens it and serves each step.
struct ReadSession {
    leases: Arc<Leases>,
    ticket: u64,
    state: Mutex<State>,
}

enum State {
    /// The session is not open yet.
    New(Lease),
    /// The session waits for its caller, or for its next turn.
    Waits(Arc<Inbox>, Parcel<Held>),
    /// A worker has the session, or the session has ended.
    Taken,
}

/// The parts of an open session. Their order matters: the statements end before their connection closes.
pub(super) struct Held {
    opened: Opened,
    reader: Parcel<Reader>,
    _holding: Holding,
}

#[expect(clippy::large_enum_variant, reason = "it is part of a parcel, which is boxed")]
enum Opened {
    Snapshot(Cursors),
    /// An open cursor, with the token of its query.
    Cursor(OpenCursor, Token),
    /// A cursor that has no rows left.
    Nothing,
}

impl ReadSession {
    /// Serves the session until it waits for its caller, ends, or gives way to others.
    fn serve(self: &Arc<Self>, turn: &Turn<'_>) {
        let (inbox, opened) = match self.take() {
            State::New(lease) => (Arc::clone(&lease.inbox), self.open(lease)),
            State::Waits(inbox, held) => (inbox, Some(held)),
            State::Taken => return,
        };
        let _ended = EndOnPanic(&inbox);
        let mut session = opened;
        while let Some(held) = session {
            if turn.is_over() {
                self.put(&inbox, held);
                return self.leases.workers().ready(Arc::clone(self) as _);
            }
            let mut kept = Some(held);
            self.leases.moves();
            let soon = inbox.steps.pop_soon(None);
            let popped = soon.or_else(|| {
                inbox.steps.pop_or_leave(self.leases.workers(), || {
                    let held = kept.take().expect("nobody else has it");
                    self.put(&inbox, held);
                    Arc::clone(self) as _
                })
            });
            let (Some(popped), Some(held)) = (popped, kept) else {
                return;
            };
            turn.goes_on();
            session = match popped {
                Popped::Item(step) => self.step(held, step),
                Popped::Closed | Popped::TimedOut => self.close(held),
            };
        }
        inbox.end(None);
        self.leases.ended(self.ticket);
    }

    fn take(&self) -> State {
        std::mem::replace(&mut *lock(&self.state), State::Taken)
    }

    fn put(&self, inbox: &Arc<Inbox>, held: Parcel<Held>) {
        *lock(&self.state) = State::Waits(Arc::clone(inbox), held);
    }

    /// Opens the session on one committed state. Returns `None` if the session ends at once.
    fn open(&self, mut lease: Lease) -> Option<Parcel<Held>> {
        lease.opened.taken_up();
        if let Some(reason) = lease.inbox.reason() {
            lease.fail(reason);
            return None;
        }
        let reader = match self.begin() {
            Ok(reader) => reader,
            Err(error) => {
                lease.fail(error);
                return None;
            }
        };
        let Lease {
            inbox,
            cursor,
            opened,
        } = lease;
        let (kind, sql) = match &cursor {
            None => (HolderKind::Snapshot, None),
            Some(cursor) => (HolderKind::Cursor, Some(&cursor.query.sql)),
        };
        let holding = self
            .leases
            .holders()
            .hold(HeldBy::Session(Arc::clone(&inbox)), kind, sql);
        let session = Some(inbox.scope.clone());
        reader.connection.guard.interrupt.set_session(session);
        let mut held = Held {
            opened: Opened::Snapshot(Cursors::default()),
            reader,
            _holding: holding,
        };
        let is_open = match cursor {
            None => held.open_snapshot(opened),
            Some(cursor) => held.open_cursor(cursor, opened),
        };
        let held = Parcel::new(held);
        if is_open { Some(held) } else { self.close(held) }
    }

    /// Returns a connection with a read transaction.
    fn begin(&self) -> Result<Parcel<Reader>> {
        let connections = self.leases.connections();
        connections.shared().location.health.check()?;
        let mut reader = connections.take()?;
        match reader.reading().begin_read() {
            Ok(()) => Ok(reader),
            Err(error) => {
                connections.put(reader);
                Err(error)
            }
        }
    }

    /// Serves one step. Returns `None` if the session ends with this step.
    fn step(&self, mut held: Parcel<Held>, mut step: Step) -> Option<Parcel<Held>> {
        step.taken_up();
        if let Step::End(reply) = step {
            let ended = self.close(held);
            reply.finish(Ok(Outcome::Done));
            return ended;
        }
        if held.step(step) {
            Some(held)
        } else {
            self.close(held)
        }
    }

    /// Ends the read transaction and gives the connection back.
    fn close(&self, held: Parcel<Held>) -> Option<Parcel<Held>> {
        let Held {
            opened,
            mut reader,
            _holding,
        } = held.into_content();
        match opened {
            Opened::Snapshot(mut cursors) => cursors.close_all(&mut reader.connection),
            Opened::Cursor(cursor, _) => reader.connection.close_cursor(cursor),
            Opened::Nothing => {}
        }
        reader.connection.guard.interrupt.set_session(None);
        // A connection whose transaction stays open is not used again.
        let _ = reader.reading().end_read();
        self.leases.connections().put(reader);
        None
    }
}

impl Task for ReadSession {
    fn class(&self) -> Class {
        Class::Calls
    }

    fn turn(self: Arc<Self>, turn: &Turn<'_>) {
        if catch_unwind(AssertUnwindSafe(|| self.serve(turn))).is_err() {
            self.leases.ended(self.ticket);
        }
    }

    fn unserved(self: Arc<Self>) {
        match self.take() {
            State::New(lease) => lease.fail(Error::WorkerDied),
            State::Waits(inbox, held) => {
                drop(held);
                inbox.end(Some(Error::WorkerDied));
            }
            State::Taken => return,
        }
        self.leases.ended(self.ticket);
    }
}

impl Held {
    /// Answers whether the snapshot is open.
    fn open_snapshot(&mut self, opened: ReplyGuard) -> bool {
        let taken = self.reader.connection.take_snapshot();
        let is_open = taken.is_ok();
        opened.finish(taken.map(|()| Outcome::Done));
        is_open
    }

    /// Answers with the first batch. Returns whether rows are left.
    fn open_cursor(&mut self, query: CursorQuery, opened: ReplyGuard) -> bool {
        let token = query.query.token.clone();
        let cursor = self.reader.connection.open_cursor(query, opened);
        self.opened = cursor.map_or(Opened::Nothing, |cursor| Opened::Cursor(cursor, token));
        matches!(self.opened, Opened::Cursor(..))
    }

    /// Serves a step. Returns whether the session is still open.
    fn step(&mut self, step: Step) -> bool {
        let Self { opened, reader, .. } = self;
        match (std::mem::replace(opened, Opened::Nothing), step) {
            (Opened::Cursor(cursor, token), Step::Fetch(reply)) => {
                let next = reader.connection.fetch(cursor, &token, reply);
                *opened = next.map_or(Opened::Nothing, |cursor| Opened::Cursor(cursor, token));
            }
            (Opened::Snapshot(mut cursors), step) => {
                reader.step_of_snapshot(&mut cursors, step);
                *opened = Opened::Snapshot(cursors);
            }
            (unchanged, step) => {
                refuse(step, "cursor");
                *opened = unchanged;
            }
        }
        !matches!(opened, Opened::Nothing)
    }
}

impl Reader {
    fn step_of_snapshot(&mut self, cursors: &mut Cursors, step: Step) {
        let includes = self.includes();
        let connection = &mut self.connection;
        match step {
            Step::Select(query, reply) => connection.select(&query, reply),
            Step::Query(query, reply) => {
                if let Err((reply, refusal)) = connection.query(&query, includes, reply, false) {
                    reply.fail(refusal);
                }
            }
            Step::Describe(sql, reply) => connection.describe(&sql, reply),
            Step::OpenCursor(number, query, reply) => cursors.open(connection, number, query, reply),
            Step::FetchFrom(number, token, reply) => cursors.fetch(connection, number, &token, reply),
            Step::CloseCursor(number, reply) => cursors.close(connection, number, reply),
            step => refuse(step, "snapshot"),
        }
    }
}

fn refuse(step: Step, session: &str) {
    let operation = step.operation();
    let message = format!("{operation} is not possible in a {session}");
    step.into_reply().fail(Error::transaction(operation, message));
}
