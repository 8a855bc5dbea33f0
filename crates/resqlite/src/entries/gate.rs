//! The entry gate, which decides before each COMMIT whether the transaction may commit.

use std::{mem, num::NonZeroU64, sync::Arc, time::Duration};

use super::{entry::Entry, head::Head};
use crate::core::{
    clock,
    error::{EntryFault, Error},
    limits,
    sync::{Condvar, Mutex, lock, wait_for},
};

/// Decides before each COMMIT whether the transaction may commit, and is told of the commits. A transaction that changes nothing in the
/// main database has no entry: for it, the gate is only asked [before the answer](Self::before_answer).
///
/// All methods are called in a turn of the writer, one after the other. While one runs, or while a verdict is awaited, writes do not go
/// on, but reads and live queries do. The methods must not call the database, which would wait for itself.
pub trait EntryGate: Send {
    /// Receives the writes with a [`tag`](crate::binding::Write::tag) that belong to the next entry to be shown. Not called if there are
    /// no such writes.
    fn carries(&mut self, writes: &[Carried]) {
        let _ = writes;
    }

    /// Asks whether a transaction may commit, after all its statements have run. The writer waits until the verdict is given, here or
    /// later from another thread, for at most [`deadline`](Self::deadline). Without this method, all transactions pass.
    fn before_commit(&mut self, entry: &Entry, verdict: Verdict) {
        let _ = entry;
        verdict.pass();
    }

    /// Asks before writes that have no entry are answered: they have failed, or changed nothing. Their results describe the state at this
    /// position, and only the gate knows whether this state is the newest. If it is not, the verdict is
    /// [`overtaken`](Verdict::overtaken), and the writes run again; `again` is then true. For a transaction of a caller, `again` comes
    /// from [`TransactionOptions::again`](crate::TransactionOptions::again), and other writes may happen in between. Without this method,
    /// any state will do.
    fn before_answer(&mut self, at: Head, again: bool, verdict: Verdict) {
        let _ = (at, again);
        verdict.pass();
    }

    /// Notes that the entry is committed: the entry of this database's own transaction, or one of another database by
    /// [`apply`](crate::Database::apply).
    fn committed(&mut self, entry: &Entry) {
        let _ = entry;
    }

    /// Notes that the entry passed, and that COMMIT then failed (a full disk, an I/O error). The database is in the same state as before.
    /// If the entry is in a log, it must be applied before anything else can be.
    fn failed(&mut self, entry: &Entry) {
        let _ = entry;
    }

    /// Notes that an entry given by a [verdict](Verdict::overtaken) could not be applied.
    fn not_applied(&mut self, entry: &Entry, error: &Error) {
        let _ = (entry, error);
    }

    /// Notes that the writer has failed in the middle of something, and begins anew. Only the [position](crate::Database::entry_position)
    /// shows whether an entry that has passed is committed, or whether an entry that was to be applied is there.
    fn writer_lost(&mut self) {}

    /// Notes that another program has written to the database, which no entry carries. Nothing more is written or applied until the gate
    /// is installed again. Returns whether this fact is kept in the file. If so, the position gets a hash that no entry has, so that no
    /// log goes on from it.
    fn wrote_external(&mut self) -> bool {
        false
    }

    /// Returns whether a commit has the position of its entry as its number from now on, wherever the engine reports numbers: in results,
    /// emissions of live queries, commit events and diagnostics. Copies of a database that share a log then agree on numbers. A commit of
    /// several entries has the position of the last entry. A commit that no entry carries, such as one of a temporary table, has the
    /// position before it. This method is called when the gate is installed, which should be before anybody uses the database: numbers
    /// that were reported before count commits. The numbering remains when the gate is removed, so that no number is reported twice.
    fn numbers_commits(&self) -> bool {
        false
    }

    /// Returns the longest time that a verdict may take. After this time, the transaction is rolled back with [`EntryFault::Unanswered`],
    /// and a verdict is too late.
    fn deadline(&self) -> Duration {
        limits::ENTRY_GATE
    }
}

/// A write with a tag, in a transaction that is about to commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// The tag of the write.
    pub tag: NonZeroU64,
    /// Rows that the write's statement inserted, updated or deleted; 0 if the write has several
    /// statements.
    pub changes: i64,
    /// Row id of the last row inserted; 0 if no row was inserted.
    pub last_insert_rowid: i64,
    /// States that the reply has more than these numbers: rows, or results of several statements.
    pub has_more: bool,
}

/// The answer of an [`EntryGate`], for which the writer waits. Dropping it refuses the transaction.
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
    /// The writer no longer waits.
    TooLate,
}

impl Verdict {
    /// Lets the transaction commit. Returns `false` if it is too late, and the transaction was rolled back.
    pub fn pass(self) -> bool {
        self.decide(State::Passed)
    }

    /// Makes the writer roll the transaction back. The callers that wrote get [`EntryFault::Refused`] with this reason. Returns `false`
    /// if it is too late, and the transaction was already rolled back.
    pub fn refuse(self, reason: impl Into<String>) -> bool {
        self.decide(State::Refused(EntryFault::Refused, reason.into()))
    }

    /// Does what [`refuse`](Self::refuse) does, with a code that the callers find as
    /// [`Error::code`].
    pub fn refuse_as(self, code: &'static str, reason: impl Into<String>) -> bool {
        self.decide(State::Refused(EntryFault::RefusedAs(code), reason.into()))
    }

    /// Reports that the log has these entries of others from this position on. The transaction is rolled back, and the entries are
    /// applied. Then the writes run again, in their order, and are shown to the gate again; writes that were cancelled by then do not run
    /// again. After 4 times in a row, the writes fail with [`EntryFault::Overtaken`]. A transaction of a caller fails with this error at
    /// once, because only its caller can run it again.
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
    /// The writer applies these entries first.
    Overtaken(Vec<Entry>),
}

/// Makes a verdict, and the function that waits for it.
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
