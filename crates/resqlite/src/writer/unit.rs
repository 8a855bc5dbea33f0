//! Running one write inside an open transaction.

use std::sync::Arc;

use resqlite_live::Mark;

use super::{Writer, reply::Done};
use crate::{
    connection::{halfway, prepared::Prepared},
    core::{
        clock,
        error::{Error, Result},
        limits,
        params::Reader,
        profile,
        queue::Popped,
    },
    guard::effects::Effects,
    requests::{
        holders::{HeldBy, HolderKind},
        request::{BatchPart, BatchParts, ParamSets, Write, WriteOp, Written},
    },
    rows::{Integers, Packed},
};

/// The number of parameter sets between two checks of the cancellation token of a batch.
pub(super) const SETS_PER_CHECK: usize = 64;

/// The writes of a transaction: one or several.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// The write is alone: if it fails, the whole transaction is rolled back.
    Alone,
    /// The write shares the transaction with other writes, which its failure must not affect.
    WithOthers,
}

impl Writer {
    /// Runs a write. If it fails among other writes, nothing of it is left. If this is impossible, the whole transaction is rolled
    /// back ([`Connection::is_autocommit`](resqlite_sqlite::Connection::is_autocommit) then returns true).
    pub(super) fn run(&mut self, write: &Write, sharing: Sharing) -> Result<Done> {
        if write.token.is_cancelled() {
            return Err(Error::Aborted);
        }
        let mark = self.mark()?;
        let guard = self.writing.connection.guard.clone();
        guard.interrupt.start_within(write.op.limits(), &write.token);
        let done = match sharing {
            Sharing::Alone => self.work(write),
            Sharing::WithOthers => self.work_or_nothing(write),
        };
        guard.interrupt.stop();
        guard.interrupt.end_query();
        if let WriteOp::Batch {
            more: Some(chunks), ..
        } = &write.op
        {
            // Later parts of a failed batch are dropped.
            chunks.0.close_and_take();
        }
        if self.writing.touched.schema {
            // SQLite does not re-prepare a statement when a schema that it does not use gets a table of the same name,
            // although the name means that table now.
            self.writing.connection.clear();
        }
        done.map_err(|error| {
            self.writing.recorder.rollback_to(mark);
            self.writing.connection.explain_error(error)
        })
    }

    fn work(&mut self, write: &Write) -> Result<Done> {
        match &write.op {
            WriteOp::Execute { sql, params } => {
                let sets = ParamSets {
                    count: 1,
                    params: params.clone(),
                };
                self.statement(sql, |writer, prepared, rows| {
                    writer.sets(prepared, &sets, write, None, rows)
                })
            }
            WriteOp::Batch { sql, first, more } => self.statement(sql, |writer, prepared, rows| {
                writer.ask_hook(|hook, _| hook.before_sets(&prepared.effects))?;
                writer.batch(prepared, sql, first, more.as_ref(), write, rows)
            }),
            WriteOp::Script(script) => self.script(script),
            WriteOp::Query { sql, params, .. } => self.any_statement(sql, params, write.integers),
            WriteOp::Statements(statements) => self.statements(statements, write),
        }
    }

    /// Like `work`, under a savepoint if a failure could leave part of the write behind.
    fn work_or_nothing(&mut self, write: &Write) -> Result<Done> {
        let (WriteOp::Execute { sql, .. } | WriteOp::Query { sql, .. }) = &write.op else {
            return self.undoable(|writer| writer.work(write));
        };
        if self.writing.connection.may_fail_halfway(sql)? {
            return self.undoable(|writer| writer.work(write));
        }
        let done = self.work(write);
        if let Err(Error::Sqlite(error)) = &done
            && !halfway::changed_nothing(error)
        {
            self.writing.roll_back();
        }
        done
    }

    /// Runs `work` under a savepoint, so that it is done completely or not at all.
    fn undoable(&mut self, work: impl FnOnce(&mut Self) -> Result<Done>) -> Result<Done> {
        self.writing.control("SAVEPOINT resqlite_unit")?;
        let mark = self.writing.recorder.mark();
        let done = work(self);
        if self.writing.connection.sqlite.is_autocommit() {
            // SQLite has rolled the whole transaction back, so the savepoint is gone.
            return done.and_then(|_| {
                Err(Error::transaction(
                    "execute",
                    "SQLite rolled the transaction back",
                ))
            });
        }
        let undone = match done {
            Ok(_) => Ok(()),
            Err(_) => self.writing.control("ROLLBACK TO resqlite_unit"),
        };
        undone
            .and_then(|()| self.writing.control("RELEASE resqlite_unit"))
            .map_err(|_| self.savepoint_lost())?;
        self.writing.recorder.release(mark);
        done
    }

    /// Rolls the transaction back after a savepoint of resqlite is gone, because SQL inside closed a savepoint that the caller had
    /// opened around it. The work after the lost savepoint can only be undone with the whole transaction.
    pub(super) fn savepoint_lost(&mut self) -> Error {
        self.writing.roll_back();
        let message = "SQL inside released or rolled back a savepoint from outside, so the whole transaction was \
                       rolled back";
        Error::transaction("transaction", message)
    }

    /// Prepares a statement, lets `work` run it, and collects its results.
    fn statement(
        &mut self,
        sql: &Arc<str>,
        work: impl FnOnce(&mut Self, &mut Prepared, &mut Vec<Packed>) -> Result<i64>,
    ) -> Result<Done> {
        let mut prepared = self.writing.connection.take(sql)?;
        let done = self.prepared(&mut prepared, sql, work);
        self.writing.connection.put(sql, prepared);
        done
    }

    fn prepared(
        &mut self,
        prepared: &mut Prepared,
        sql: &str,
        work: impl FnOnce(&mut Self, &mut Prepared, &mut Vec<Packed>) -> Result<i64>,
    ) -> Result<Done> {
        self.about_to_write(&prepared.effects)?;
        let mut rows = Vec::new();
        let changes = work(self, prepared, &mut rows);
        let changes = self.has_run(&prepared.effects, sql, changes)?;
        Ok(self.written(rows, changes))
    }

    /// Runs the prepared statement once per parameter set. Returns the number of rows changed. `before` is the number of sets of
    /// the batch that precede these. Many sets are bound directly from their buffer. A single set is copied, which costs less than
    /// holding a buffer that other requests share.
    fn sets(
        &mut self,
        prepared: &mut Prepared,
        sets: &ParamSets,
        write: &Write,
        before: Option<usize>,
        rows: &mut Vec<Packed>,
    ) -> Result<i64> {
        if sets.count > 1 {
            sets.params.held_by(&mut prepared.statement);
        }
        let changes = self.each_set(prepared, sets, write, before, rows);
        prepared.end_run(sets.params.byte_len());
        changes
    }

    fn each_set(
        &mut self,
        prepared: &mut Prepared,
        sets: &ParamSets,
        write: &Write,
        before: Option<usize>,
        rows: &mut Vec<Packed>,
    ) -> Result<i64> {
        let mut reader = sets.params.reader();
        let mut changes = 0;
        for set in 0..sets.count {
            if set % SETS_PER_CHECK == SETS_PER_CHECK - 1 && write.token.is_cancelled() {
                return Err(Error::Aborted);
            }
            let stepped = self.drain(prepared, &mut reader, write.integers, rows);
            stepped.map_err(|error| match before.map(|before| before + set) {
                Some(index) => self.error_of_member(error, index, &format!("set at index {index}, ")),
                None => error,
            })?;
            changes += self.changes(&prepared.effects);
        }
        Ok(changes)
    }

    /// Runs a prepared statement with the next parameters; its rows are kept.
    pub(super) fn drain(
        &mut self,
        prepared: &mut Prepared,
        params: &mut Reader<'_>,
        integers: Integers,
        rows: &mut Vec<Packed>,
    ) -> Result<()> {
        let stepped = params.bind_next(&mut prepared.statement).and_then(|()| {
            let stepping = profile::start_stepping();
            let drained = self.writing.connection.drain(prepared, integers, rows);
            profile::writer_sqlite(stepping);
            drained
        });
        prepared.statement.reset();
        stepped
    }

    fn batch(
        &mut self,
        prepared: &mut Prepared,
        sql: &Arc<str>,
        first: &ParamSets,
        more: Option<&BatchParts>,
        write: &Write,
        rows: &mut Vec<Packed>,
    ) -> Result<i64> {
        let mut changes = self.sets(prepared, first, write, Some(0), rows)?;
        let mut before = first.count;
        let Some(chunks) = more else { return Ok(changes) };
        let holders = Arc::clone(&self.writing.context.holders);
        let _held = holders.hold(HeldBy::Batch(chunks.clone()), HolderKind::Batch, Some(sql));
        loop {
            match self.next_chunk(chunks)? {
                BatchPart::Abort => return Err(Error::Aborted),
                BatchPart::Sets { sets, last } => {
                    changes += self.sets(prepared, &sets, write, Some(before), rows)?;
                    before += sets.count;
                    if last {
                        return Ok(changes);
                    }
                }
            }
        }
    }

    /// Waits for the next part of a batch until the caller gives up.
    fn next_chunk(&self, chunks: &BatchParts) -> Result<BatchPart> {
        loop {
            match chunks.0.pop(clock::now() + limits::CHUNK_PATIENCE) {
                Popped::Item(chunk) => return Ok(chunk),
                Popped::Closed => return Err(Error::Aborted),
                Popped::TimedOut => self.writing.connection.guard.interrupt.check()?,
            }
        }
    }

    pub(super) fn about_to_write(&mut self, effects: &Effects) -> Result<()> {
        if !effects.writes.is_empty() {
            self.writing.know_tables()?;
        }
        self.ask_hook(|hook, writing| hook.before_statement(&writing.connection.sqlite, effects))
    }

    /// Does what follows from the run of a statement with this text, which may have failed half-way.
    pub(super) fn has_run<T>(&mut self, effects: &Effects, sql: &str, ran: Result<T>) -> Result<T> {
        self.writing.has_written(effects);
        let ran = ran?;
        if let Some(unreported) = &effects.unreported {
            self.writing.recorder.follow(unreported);
        }
        self.ask_hook(|hook, writing| hook.after_statement(&writing.connection.sqlite, effects, sql))?;
        Ok(ran)
    }

    /// Returns the number of rows that a statement with these effects has just changed.
    pub(super) fn changes(&self, effects: &Effects) -> i64 {
        let counts = !effects.schema && !effects.writes.is_empty();
        if counts {
            self.writing.connection.sqlite.changes()
        } else {
            0
        }
    }

    pub(super) fn written(&self, rows: Vec<Packed>, changes: i64) -> Done {
        let written = Written {
            changes,
            last_insert_rowid: self.last_rowid(),
            ..Written::default()
        };
        Done::Write(rows, written)
    }

    /// Marks a point to which the transaction may be undone.
    pub(super) fn mark(&mut self) -> Result<Mark> {
        self.ask_hook(|hook, writing| hook.before_mark(writing))?;
        Ok(self.writing.recorder.mark())
    }

    pub(super) fn last_rowid(&self) -> i64 {
        self.writing.connection.sqlite.last_insert_rowid()
    }

    /// Adds to an error the member of the batch that it is in. In messages about parameters, `place` names the member.
    pub(super) fn error_of_member(&self, error: Error, index: usize, place: &str) -> Error {
        let error = match self.writing.connection.explain_error(error) {
            Error::Parameter(message) => Error::Parameter(format!("{place}{message}")),
            other => other,
        };
        error.of_member(index)
    }
}
