//! The entry gate, which decides before each COMMIT whether it may happen.

use std::{mem, num::NonZeroU64, sync::Arc, time::Duration};

use super::{entry::Entry, head::Head};
use crate::core::{
    clock,
    error::{EntryFault, Error},
    limits,
    sync::{Condvar, Mutex, lock, wait_for},
};

/// Decides, before each COMMIT, whether it may happen, and is told of those that did. A transaction that changes nothing in
/// the main database has no entry; it only asks before it is [answered](Self::before_answer).
///
/// All methods are called in a turn of the writer, one after the other: while one runs, or while a verdict is awaited, no
/// write goes on. Reads and live queries do. They must not call the database, which would wait for itself.
pub trait EntryGate: Send {
    /// Receives the writes with a [`tag`](crate::binding::Write::tag) that the next entry to be shown carries. Not called if
    /// there are none.
    fn carries(&mut self, writes: &[Carried]) {
        let _ = writes;
    }

    /// A transaction is about to commit: all its statements have run. The writer waits until the verdict is given, here or
    /// later from another thread, for at most [`deadline`](Self::deadline). Without this method, all pass.
    fn before_commit(&mut self, entry: &Entry, verdict: Verdict) {
        let _ = entry;
        verdict.pass();
    }

    /// Writes are about to be answered that have no entry: they have failed, or changed nothing. What they are told is of the
    /// state at this position, and only the gate knows whether that is the newest one. If it is not, the verdict is
    /// [`overtaken`](Verdict::overtaken), and they run again: `again` is true then. Transactions of callers say so by
    /// [`TransactionOptions::again`](crate::TransactionOptions::again), and others may come between. Without this method, any state
    /// will do.
    fn before_answer(&mut self, at: Head, again: bool, verdict: Verdict) {
        let _ = (at, again);
        verdict.pass();
    }

    /// The entry is committed: its own transaction, or another database's by [`apply`](crate::Database::apply).
    fn committed(&mut self, entry: &Entry) {
        let _ = entry;
    }

    /// The entry passed, and then COMMIT failed (a full disk, an I/O error): the database is where it was before. If the
    /// entry is in a log, it must be applied before anything else can be.
    fn failed(&mut self, entry: &Entry) {
        let _ = entry;
    }

    /// An entry that a [verdict](Verdict::overtaken) gave could not be applied.
    fn not_applied(&mut self, entry: &Entry, error: &Error) {
        let _ = (entry, error);
    }

    /// The writer has failed in the midst of something, and begins anew: whether an entry that has passed is committed, or one
    /// that was to be applied is there, only the [position](crate::Database::entry_position) says.
    fn writer_lost(&mut self) {}

    /// Somebody else has written to the database, which no entry carries: nothing more is written or applied until the gate is
    /// installed again. Returns whether that is kept in the file: then its position gets a hash that no entry has, so that no
    /// log goes on from it.
    fn wrote_external(&mut self) -> bool {
        false
    }

    /// Returns whether a commit has the position of its entry as its number from now on, wherever the engine tells numbers: in
    /// results, emissions of live queries, commit events and diagnostics. Copies of a database that share a log then agree on
    /// numbers.
    /// A commit of several entries has the position of the last; one that no entry carries, as of a temporary table, has the
    /// position before it. Asked when the gate is installed, which should be before anybody uses the database: numbers that
    /// were told before count commits. It stays so when the gate is taken away, so that no number is told twice.
    fn numbers_commits(&self) -> bool {
        false
    }

    /// The longest time that a verdict may take. Afterwards the transaction is rolled back with [`EntryFault::Unanswered`], and a
    /// verdict comes too late.
    fn deadline(&self) -> Duration {
        limits::ENTRY_GATE
    }
}

/// A write with a tag, in a transaction that is about to commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// Its tag.
    pub tag: NonZeroU64,
    /// Rows that its statement inserted, updated or deleted; 0 if it has several statements.
    pub changes: i64,
    /// Row id of the last row inserted; 0 where none was.
    pub last_insert_rowid: i64,
    /// Its reply has more than these numbers: rows, or results of several statements.
    pub has_more: bool,
}

/// The answer of an [`EntryGate`], which the writer waits for. To drop it is to refuse.
#[derive(Debug)]
pub struct Verdict(Arc<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Open,
    Passed,
    Refused(EntryFault, String),
    Overtaken(Vec<Entry>),
    /// The writer waits no more.
    TooLate,
}

impl Verdict {
    /// Lets the transaction commit. Returns `false` if it is too late, so that the transaction was rolled back.
    pub fn pass(self) -> bool {
        self.decide(State::Passed)
    }

    /// Has the transaction rolled back. Those who wrote get [`EntryFault::Refused`] with this reason. Returns `false` if it
    /// was too late, and that has happened already.
    pub fn refuse(self, reason: impl Into<String>) -> bool {
        self.decide(State::Refused(EntryFault::Refused, reason.into()))
    }

    /// As [`refuse`](Self::refuse), with a code that those who wrote find as [`Error::code`].
    pub fn refuse_as(self, code: &'static str, reason: impl Into<String>) -> bool {
        self.decide(State::Refused(EntryFault::RefusedAs(code), reason.into()))
    }

    /// These entries of others stand in the log from this position on. The transaction is rolled back, and they are applied.
    /// Then writes run again, in their order, and are shown to the gate again; those that were cancelled by then do not. After 4
    /// times in a row, they fail with [`EntryFault::Overtaken`]. So does a transaction of a caller at once: only its caller can
    /// run it again.
    pub fn overtaken(self, by: Vec<Entry>) -> bool {
        self.decide(State::Overtaken(by))
    }

    fn decide(&self, decision: State) -> bool {
        let mut state = lock(&self.0.state);
        if !matches!(*state, State::Open) {
            return false;
        }
        *state = decision;
        self.0.changed.notify_all();
        true
    }
}

impl Drop for Verdict {
    fn drop(&mut self) {
        self.decide(State::Refused(
            EntryFault::Refused,
            "the entry gate gave no verdict".into(),
        ));
    }
}

/// A verdict, as the writer acts on it.
pub(crate) enum Judged {
    Passed,
    Refused(Error),
    /// It applies these first.
    Overtaken(Vec<Entry>),
}

/// A verdict, and the function that waits for it.
pub(crate) fn verdict(deadline: Duration) -> (Verdict, impl FnOnce() -> Judged) {
    let waiting = Arc::<Waiting>::default();
    let verdict = Verdict(Arc::clone(&waiting));
    (verdict, move || waiting.wait(deadline))
}

impl Waiting {
    fn wait(&self, patience: Duration) -> Judged {
        let start = clock::now();
        let mut state = lock(&self.state);
        while matches!(*state, State::Open) {
            let left = patience.saturating_sub(clock::since(start));
            if left.is_zero() {
                break;
            }
            state = wait_for(&self.changed, state, left);
        }
        match mem::replace(&mut *state, State::TooLate) {
            State::Passed => Judged::Passed,
            State::Overtaken(by) => Judged::Overtaken(by),
            State::Refused(fault, reason) => Judged::Refused(Error::entry(fault, reason)),
            State::Open | State::TooLate => {
                let message = format!(
                    "the entry gate gave no verdict within {} ms, so the transaction was rolled back; its entry may be in \
                     the log nevertheless",
                    patience.as_millis()
                );
                Judged::Refused(Error::entry(EntryFault::Unanswered, message))
            }
        }
    }
}
