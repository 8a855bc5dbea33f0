//! The entry gate: what decides, before each COMMIT, whether it may happen.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::entry::Entry;
use crate::core::{
    error::{EntryFault, Error, Result},
    limits,
    sync::{Condvar, Mutex, lock, wait_for},
};

/// Decides, before each COMMIT, whether it may happen, and is told of those that did. A transaction that changes nothing in
/// the main database has no entry and does not come here.
///
/// All methods are called on the writer's thread, one after the other: while one runs, or while a verdict is awaited, no
/// write goes on. Reads and live queries do. They must not call the database, which would wait for itself.
pub trait EntryGate: Send {
    /// A transaction is about to commit: all its statements have run. The writer waits until the verdict is given, here or
    /// later from another thread, for at most [`deadline`](Self::deadline). Without this method, all pass.
    fn before_commit(&mut self, entry: &Entry, verdict: Verdict) {
        let _ = entry;
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

    /// How long a verdict may take. Afterwards the transaction is rolled back with [`EntryFault::Unanswered`], and a verdict
    /// comes too late.
    fn deadline(&self) -> Duration {
        limits::ENTRY_GATE
    }
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
    Refused(String),
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
        self.decide(State::Refused(reason.into()))
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
        self.decide(State::Refused("the entry gate gave no verdict".into()));
    }
}

/// A verdict, and the function that waits for it.
pub(crate) fn verdict(deadline: Duration) -> (Verdict, impl FnOnce() -> Result<()>) {
    let waiting = Arc::<Waiting>::default();
    let verdict = Verdict(Arc::clone(&waiting));
    (verdict, move || waiting.wait(deadline))
}

impl Waiting {
    fn wait(&self, patience: Duration) -> Result<()> {
        let start = Instant::now();
        let mut state = lock(&self.state);
        while matches!(*state, State::Open) {
            let left = patience.saturating_sub(start.elapsed());
            if left.is_zero() {
                *state = State::TooLate;
                break;
            }
            state = wait_for(&self.changed, state, left);
        }
        match &*state {
            State::Passed => Ok(()),
            State::Refused(reason) => Err(Error::entry(EntryFault::Refused, reason.clone())),
            State::Open | State::TooLate => {
                let message = format!(
                    "the entry gate gave no verdict within {} ms, so the transaction was rolled back; its entry may be in \
                     the log nevertheless",
                    patience.as_millis()
                );
                Err(Error::entry(EntryFault::Unanswered, message))
            }
        }
    }
}
