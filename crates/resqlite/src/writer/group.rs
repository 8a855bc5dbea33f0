//! Group commit: writes that wait share one SQLite transaction. Each still succeeds or fails by itself.

use std::sync::atomic::Ordering;

use super::{
    Wrapping, Writer, classify,
    reply::{Done, answer, send_reply},
    unit::Sharing,
};
use crate::{
    core::{
        commit_id::CommitId,
        error::{Error, Result},
    },
    requests::request::{ReplyGuard, Write, WriteOp},
};

type Waiting = (Write, ReplyGuard);

/// The largest number of times in a row that writes run and are overtaken. If others are always first, they would run for ever, and
/// everything behind them would wait.
const RUNS_MAX: usize = 4;

/// The end of an attempt to commit a group.
enum Attempt {
    Committed(Vec<Result<Done>>, CommitId),
    /// Nothing of the group is left. `for_all`: no write runs again alone, because each would fail in the same way.
    RolledBack {
        error: Error,
        for_all: bool,
    },
}

impl Writer {
    /// Commits waiting writes. `shares`: these writes may share a transaction.
    pub(super) fn commit_waiting(&mut self, mut writes: Vec<Waiting>, shares: bool) {
        match writes.len() {
            0 => {}
            1 => self.single(writes.remove(0), shares),
            _ => self.group(writes),
        }
    }

    fn single(&mut self, (write, reply): Waiting, shares: bool) {
        let unwrapped = !shares
            && match &write.op {
                WriteOp::Execute { sql, .. } | WriteOp::Batch { sql, .. } | WriteOp::Query { sql, .. } => {
                    classify::statement_runs_unwrapped(sql)
                }
                WriteOp::Script(script) => classify::script_runs_unwrapped(script),
                WriteOp::Statements(_) => false,
            };
        if unwrapped && let Some(done) = self.try_unwrapped(&write) {
            return answer(reply, done);
        }
        match self.attempt(&[&write]) {
            Attempt::Committed(mut done, commit) => {
                answer(
                    reply,
                    done.pop()
                        .expect("one result per write")
                        .map(|done| (done, commit)),
                );
            }
            Attempt::RolledBack { error, .. } => send_reply(reply, Err(error)),
        }
    }

    /// Runs a write that cannot share a transaction. Returns `None` if the write must run in a transaction of its own after all.
    fn try_unwrapped(&mut self, write: &Write) -> Option<Result<(Done, CommitId)>> {
        self.writing.connection.release_read();
        match self.hooked(|hook, writing| hook.before_unwrapped(writing, &write.op)) {
            Some(Err(error)) => return Some(Err(error)),
            Some(Ok(Wrapping::Yes)) => return None,
            Some(Ok(Wrapping::No)) | None => {}
        }
        let done = self.run_unwrapped(write);
        self.hooked(|hook, writing| hook.after_unwrapped(writing));
        Some(done)
    }

    /// Commits writes together. If they cannot be committed as a group, each runs alone.
    fn group(&mut self, waiting: Vec<Waiting>) {
        let writes: Vec<_> = waiting.iter().map(|(write, _)| write).collect();
        match self.attempt(&writes) {
            Attempt::Committed(done, commit) => {
                self.writing
                    .context
                    .counters
                    .groups
                    .fetch_add(1, Ordering::Relaxed);
                self.writing
                    .context
                    .counters
                    .largest_group
                    .fetch_max(waiting.len() as u64, Ordering::Relaxed);
                for ((_, reply), done) in waiting.into_iter().zip(done) {
                    answer(reply, done.map(|done| (done, commit)));
                }
            }
            Attempt::RolledBack {
                error: Error::Aborted,
                for_all: true,
            } => {
                // Some callers gave up waiting for the lock of another process; the other callers go on waiting.
                let gave_up = |(write, _): &Waiting| write.token.is_cancelled();
                let (aborted, patient): (Vec<_>, Vec<_>) = waiting.into_iter().partition(gave_up);
                aborted
                    .into_iter()
                    .for_each(|(_, reply)| send_reply(reply, Err(Error::Aborted)));
                self.commit_waiting(patient, true);
            }
            Attempt::RolledBack { error, for_all: true } => {
                waiting
                    .into_iter()
                    .for_each(|(_, reply)| send_reply(reply, Err(error.clone())));
            }
            Attempt::RolledBack { .. } => {
                self.writing
                    .context
                    .counters
                    .groups_retried_singly
                    .fetch_add(1, Ordering::Relaxed);
                waiting.into_iter().for_each(|one| self.single(one, true));
            }
        }
    }

    /// Runs the writes in one transaction. If the transaction was overtaken, runs them again.
    fn attempt(&mut self, writes: &[&Write]) -> Attempt {
        let mut runs = 0;
        loop {
            runs += 1;
            match self.attempt_once(writes, runs > 1) {
                Attempt::RolledBack { error, .. } if error.is_overtaken() => {
                    if let Err(error) = self.ask_hook(|hook, writing| hook.catch_up(writing)) {
                        return Attempt::RolledBack { error, for_all: true };
                    }
                    // The sets of a batch that arrived while it ran are gone.
                    let cannot_run = writes.iter().any(|write| write.op.arrives_in_parts());
                    if cannot_run || runs == RUNS_MAX {
                        return Attempt::RolledBack { error, for_all: true };
                    }
                }
                attempt => return attempt,
            }
        }
    }

    /// Runs the writes in one transaction. A write that fails leaves nothing behind and the others go on.
    fn attempt_once(&mut self, writes: &[&Write], again: bool) -> Attempt {
        let tokens = writes.iter().map(|write| write.token.clone()).collect();
        let sql = writes.first().and_then(|write| write.op.sql());
        self.writing
            .connection
            .guard
            .interrupt
            .start_waiting(tokens, sql.cloned());
        let durability = writes.iter().map(|write| write.durability).max();
        let begun = self.begin(durability.unwrap_or_default());
        self.writing.connection.guard.interrupt.stop_waiting();
        if let Err(error) = begun {
            return Attempt::RolledBack { error, for_all: true };
        }
        let sharing = if writes.len() == 1 {
            Sharing::Alone
        } else {
            Sharing::WithOthers
        };
        let mut results = Vec::with_capacity(writes.len());
        for write in writes {
            self.writing.connection.sqlite.set_last_insert_rowid(0);
            let done = self.run(write, sharing);
            match done {
                // `OR ROLLBACK`, a full disk and a damaged file undo the other writes of the group, too.
                Err(error) if sharing == Sharing::Alone || self.writing.connection.sqlite.is_autocommit() => {
                    self.writing.roll_back();
                    return Attempt::RolledBack {
                        error: self.told_failure(error, sharing, again),
                        for_all: false,
                    };
                }
                Ok(_)
                    if sharing == Sharing::WithOthers
                        && self.writing.connection.sqlite.has_deferred_violations() =>
                {
                    // Another write of the group might satisfy the foreign key that this one leaves violated.
                    self.writing.roll_back();
                    let error = Error::transaction("execute", "a deferred foreign key does not hold");
                    return Attempt::RolledBack {
                        error,
                        for_all: false,
                    };
                }
                done => results.push(done),
            }
        }
        self.hooked(|hook, _| hook.wrote(writes, &results));
        match self.commit(again) {
            Ok(commit) => Attempt::Committed(results, commit),
            Err(error) => {
                self.writing.roll_back();
                // A write that may have been committed must not run again.
                let for_all = error.is_of_commit();
                Attempt::RolledBack { error, for_all }
            }
        }
    }

    /// Returns the error to report for a failed write. It may be that the state has changed meanwhile.
    fn told_failure(&mut self, error: Error, sharing: Sharing, again: bool) -> Error {
        // In a group, the write runs again alone.
        if sharing == Sharing::WithOthers || !error.depends_on_state() {
            return error;
        }
        let told = self.ask_hook(|hook, writing| hook.before_failure(writing, again));
        told.err().unwrap_or(error)
    }
}
