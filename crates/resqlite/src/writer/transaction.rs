//! Transactions of callers: they hold the writer from BEGIN to COMMIT or ROLLBACK.

use std::{sync::Arc, time::Instant};

use resqlite_live::Mark;

use super::{
    Writer,
    job::Begin,
    reply::{answer, send_reply},
    unit::Sharing,
};
use crate::{
    connection::cursors::Cursors,
    core::{
        clock,
        commit_id::CommitId,
        error::{Error, Result},
        options::Durability,
        profile,
        queue::Popped,
    },
    requests::{
        holders::{HeldBy, HolderKind, Holding},
        request::{Outcome, Query, ReplyGuard, Step, Write, Written},
        session::Inbox,
    },
};

/// The effect of a step on its transaction.
pub(super) enum Flow {
    Continue,
    /// The transaction is over. Holds the reason, if its caller did not end it.
    Ends(Option<Error>),
}

/// An open transaction.
pub(super) struct Open {
    pub(super) inbox: Arc<Inbox>,
    /// The time at which the transaction is timed out.
    pub(super) deadline: Option<Instant>,
    held: Holding,
    /// The savepoints of nested transactions, each with the state of the change set at the savepoint.
    savepoints: Vec<(u32, Mark)>,
    /// Replies that are sent when the transaction ends.
    watchers: Vec<ReplyGuard>,
    foreign_keys_off: bool,
    again: bool,
    /// A statement has run that may write, though it may have changed nothing.
    writes: bool,
    cursors: Cursors,
}

impl Open {
    /// Ends the savepoint, and the savepoints that are nested in it. Returns the mark of the savepoint, if it was open.
    fn end_savepoint(&mut self, level: u32) -> Option<Mark> {
        let at = self.savepoints.partition_point(|(open, _)| *open < level);
        let ended = self.savepoints.split_off(at);
        ended
            .first()
            .filter(|(open, _)| *open == level)
            .map(|(_, mark)| *mark)
    }
}

impl Writer {
    /// Begins the transaction of a caller. Returns the transaction if it is open.
    pub(super) fn begin_transaction(&mut self, begin: Begin) -> Option<Open> {
        let Begin {
            inbox,
            options,
            durability,
            opened,
        } = begin;
        let timer = profile::start();
        let interrupt = &self.writing.connection.guard.interrupt;
        interrupt.set_session(Some(inbox.scope.clone()));
        let foreign_keys_off = options.foreign_keys_off && self.writing.context.settings.foreign_keys;
        if let Err(error) = self.open_transaction(&inbox, durability, foreign_keys_off) {
            inbox.end(Some(error.clone()));
            send_reply(opened, Err(error));
            profile::writer_requests(timer, 1);
            self.after_transaction(foreign_keys_off);
            return None;
        }
        let kind = if options.without_body {
            HolderKind::Begin
        } else {
            HolderKind::Transaction
        };
        let holders = &self.writing.context.holders;
        let held = holders.hold(HeldBy::Session(Arc::clone(&inbox)), kind, None);
        self.writing.connection.sqlite.set_last_insert_rowid(0);
        let deadline = options
            .timeout
            .and_then(|timeout| clock::now().checked_add(timeout));
        self.writing.connection.guard.interrupt.set_deadline(deadline);
        self.writing.connection.guard.interrupt.reset_busy_timer();
        send_reply(opened, Ok(Outcome::Done));
        profile::writer_requests(timer, 1);
        Some(Open {
            inbox,
            deadline,
            held,
            savepoints: Vec::new(),
            watchers: Vec::new(),
            foreign_keys_off,
            again: options.again,
            writes: false,
            cursors: Cursors::default(),
        })
    }

    /// Ends a transaction, and rolls back what is not committed.
    pub(super) fn end_transaction(&mut self, mut open: Open, reason: Option<Error>) {
        self.writing.connection.guard.interrupt.set_deadline(None);
        open.cursors.close_all(&mut self.writing.connection);
        self.writing.roll_back();
        open.inbox.end(reason);
        let reason = open.inbox.reason();
        for watcher in open.watchers {
            watcher.finish(reason.clone().map_or(Ok(Outcome::Done), Err));
        }
        drop(open.held);
        self.after_transaction(open.foreign_keys_off);
    }

    fn after_transaction(&mut self, foreign_keys_off: bool) {
        if foreign_keys_off {
            self.writing.restore_foreign_keys();
        }
        // If this fails, the hook knows it, and so will the next transaction.
        let _ = self.ask_hook(|hook, writing| hook.catch_up(writing));
        self.writing.connection.guard.interrupt.set_session(None);
    }

    fn open_transaction(
        &mut self,
        inbox: &Inbox,
        durability: Durability,
        foreign_keys_off: bool,
    ) -> Result<()> {
        if let Some(reason) = inbox.reason() {
            return Err(reason);
        }
        if foreign_keys_off {
            self.writing.switch_foreign_keys(false)?;
        }
        self.begin(durability)
    }

    /// Serves a step of an open transaction.
    pub(super) fn step_of(&mut self, open: &mut Open, popped: Popped<Step>) -> Flow {
        let inbox = Arc::clone(&open.inbox);
        let deadline = open.deadline;
        let is_late = || deadline.is_some_and(|end| clock::now() >= end);
        if inbox.scope.is_cancelled() || is_late() {
            // No step that is left may run, least of all a COMMIT. `Inbox::end` refuses the steps behind this one.
            let reason = inbox.reason().or_else(|| is_late().then_some(Error::TimedOut));
            if let Popped::Item(step) = popped {
                step.into_reply().fail(reason.clone().unwrap_or(Error::Aborted));
            }
            return Flow::Ends(reason);
        }
        let flow = match popped {
            Popped::Item(mut step) => {
                step.taken_up();
                self.timed_step(step, open)
            }
            Popped::TimedOut => Flow::Ends(Some(Error::TimedOut)),
            Popped::Closed => Flow::Ends(None),
        };
        match flow {
            Flow::Ends(None) => flow,
            // If the timeout interrupts a write, SQLite rolls back, too. The reason to report is the timeout.
            _ if is_late() => Flow::Ends(Some(Error::TimedOut)),
            flow => flow,
        }
    }

    fn timed_step(&mut self, step: Step, open: &mut Open) -> Flow {
        let timer = profile::start();
        let flow = self.step(step, open);
        profile::writer_requests(timer, 1);
        flow
    }

    fn step(&mut self, step: Step, open: &mut Open) -> Flow {
        match step {
            Step::Select(query, reply) => {
                open.held.runs(&query.sql);
                self.writing.connection.select(&query, reply);
                self.still_open()
            }
            Step::Write(write, reply) => {
                write.op.sql().inspect(|sql| open.held.runs(sql));
                open.writes = true;
                self.write_inside(&write, reply)
            }
            Step::Query(query, reply) => {
                open.held.runs(&query.sql);
                self.query_inside(query, reply, open)
            }
            Step::Describe(sql, reply) => {
                self.writing.connection.describe(&sql, reply);
                Flow::Continue
            }
            Step::OpenCursor(number, query, reply) => {
                open.held.runs(&query.query.sql);
                open.cursors
                    .open(&mut self.writing.connection, number, query, reply);
                self.still_open()
            }
            Step::FetchFrom(number, token, reply) => {
                open.cursors
                    .fetch(&mut self.writing.connection, number, &token, reply);
                self.still_open()
            }
            Step::CloseCursor(number, reply) => {
                open.cursors.close(&mut self.writing.connection, number, reply);
                Flow::Continue
            }
            Step::Savepoint(level, reply) => {
                let done = self.mark().and_then(|mark| {
                    self.writing.control(&format!("SAVEPOINT resqlite_{level}"))?;
                    open.savepoints.push((level, mark));
                    Ok(())
                });
                self.answer(reply, done)
            }
            Step::Release(level, reply) => {
                let mark = open.end_savepoint(level);
                let done = self.release(level, mark);
                self.answer_of_savepoint(reply, done, mark.is_some())
            }
            Step::RollbackTo(level, reply) => {
                let mark = open.end_savepoint(level);
                let done = self.roll_back_to(level, mark);
                self.answer_of_savepoint(reply, done, mark.is_some())
            }
            Step::Commit(reply) => {
                open.cursors.close_all(&mut self.writing.connection);
                self.commit_caller(reply, open);
                Flow::Ends(None)
            }
            Step::End(reply) => {
                open.cursors.close_all(&mut self.writing.connection);
                self.writing.roll_back();
                send_reply(reply, Ok(Outcome::Done));
                Flow::Ends(None)
            }
            Step::Ended(reply) => {
                open.watchers.push(reply);
                Flow::Continue
            }
            Step::Fetch(reply) => {
                let error = Error::transaction("iterate", "a transaction is no cursor");
                send_reply(reply, Err(error));
                Flow::Continue
            }
        }
    }

    fn write_inside(&mut self, write: &Write, reply: ReplyGuard) -> Flow {
        let done = self.run(write, Sharing::WithOthers);
        answer(reply, done.map(|done| (done, self.writing.commits.last_id())));
        self.still_open()
    }

    fn query_inside(&mut self, query: Query, reply: ReplyGuard, open: &mut Open) -> Flow {
        match self
            .writing
            .connection
            .query(&query, self.writing.commits.last_id(), reply, false)
        {
            Ok(()) => self.still_open(),
            Err((reply, _)) => {
                open.writes = true;
                self.write_inside(&Write::of_query(query, Durability::Normal), reply)
            }
        }
    }

    fn answer_of_savepoint(&mut self, reply: ReplyGuard, done: Result<()>, was_open: bool) -> Flow {
        let done = match done {
            Err(_) if was_open => Err(self.savepoint_lost()),
            done => done,
        };
        self.answer(reply, done)
    }

    fn release(&mut self, level: u32, mark: Option<Mark>) -> Result<()> {
        self.writing.control(&format!("RELEASE resqlite_{level}"))?;
        if let Some(mark) = mark {
            self.writing.recorder.release(mark);
        }
        Ok(())
    }

    fn roll_back_to(&mut self, level: u32, mark: Option<Mark>) -> Result<()> {
        self.writing.control(&format!("ROLLBACK TO resqlite_{level}"))?;
        if let Some(mark) = mark {
            self.writing.recorder.rollback_to(mark);
        }
        self.writing.control(&format!("RELEASE resqlite_{level}"))
    }

    fn commit_caller(&mut self, reply: ReplyGuard, open: &Open) {
        match self.commit_open(open) {
            Ok(commit) => {
                let written = Written {
                    commit,
                    ..Written::default()
                };
                send_reply(reply, Ok(Outcome::Written(&[], written)));
            }
            Err(error) => {
                self.writing.roll_back();
                send_reply(reply, Err(error));
            }
        }
    }

    fn commit_open(&mut self, open: &Open) -> Result<CommitId> {
        if !open.writes {
            // A transaction that only reads may have seen any state.
            return self.writing.commit(None);
        }
        if open.foreign_keys_off
            && let Err(error) = self.writing.check_foreign_keys()
        {
            self.ask_hook(|hook, writing| hook.before_failure(writing, open.again))?;
            return Err(error);
        }
        self.commit(open.again)
    }

    fn answer(&self, reply: ReplyGuard, done: Result<()>) -> Flow {
        send_reply(reply, done.map(|()| Outcome::Done));
        self.still_open()
    }

    /// Returns whether the transaction goes on. A full disk, an I/O error or `ON CONFLICT ROLLBACK` make SQLite end the whole
    /// transaction.
    fn still_open(&self) -> Flow {
        if self.writing.connection.sqlite.is_autocommit() {
            let message = "SQLite rolled the whole transaction back because of an error in it";
            Flow::Ends(Some(Error::transaction("transaction", message)))
        } else {
            Flow::Continue
        }
    }
}
