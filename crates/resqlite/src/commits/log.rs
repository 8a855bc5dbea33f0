//! The commit log of an engine, the interest in each table, and whether the state is settled.
//!
//! Between COMMIT and the moment when all observers have processed it, readers may see a commit that the commit log and the live queries
//! do not know yet. The writer marks this time:
//!
//! ```text
//! begins() or script_begins()    the state is unsettled: `generation` is odd
//!     COMMIT, commit log, observers; perhaps further commits, each after another begins()
//! settle()                       the state is settled again: `generation` is even, and greater than before
//! ```
//!
//! **The invariant.** While `generation` is even, no commit of the engine is under way. So if a thread finds the same even number twice,
//! the engine committed nothing in between, and every earlier commit had reached the observers. Only the writer changes the number.
//! `begins` may be called several times before one `settle`. A `settle` without a `begins` changes nothing: the writer calls it after
//! each of its turns.
//!
//! A script that manages transactions itself commits at times that the writer does not know. The state therefore counts as
//! unsettled while the script runs, however long that is, and nobody waits for its end for long.

use std::{sync::Arc, time::Duration};

use resqlite_live::{ChangeSet, ChangeSummary, Commit, CommitLog, CommitNumber, Interest, Overflow};

use super::{
    barrier::{CommitBarrier, HeldBack},
    ids::CommitIds,
    states::States,
};
use crate::core::{
    clock,
    commit_id::CommitId,
    error::Result,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
        lock,
    },
};

/// The commit log of an engine, and what its threads must know about commits.
pub(crate) struct Commits {
    log: Mutex<CommitLog>,
    /// The number of the newest commit.
    last: AtomicU64,
    /// States that commits have positions as their ids. Otherwise `ids` is not used.
    has_positions: AtomicBool,
    ids: Mutex<CommitIds>,
    /// The number of commits that the engine has made to the log of the main database, modulo 2³².
    in_main_log: AtomicU32,
    /// A number that is odd while the state is unsettled.
    generation: AtomicU64,
    /// States that the state is unsettled because of a script that manages transactions itself.
    is_script: AtomicBool,
    /// States that somebody wants to know what commits change, or has wanted to know before.
    changes_are_wanted: AtomicBool,
    interest: Mutex<Arc<Interest>>,
    /// The states that the last commits have made.
    pub(crate) states: States,
    barrier: CommitBarrier,
}

impl Default for Commits {
    fn default() -> Self {
        Self {
            log: Mutex::new(CommitLog::new()),
            last: AtomicU64::new(0),
            has_positions: AtomicBool::new(false),
            ids: Mutex::default(),
            in_main_log: AtomicU32::new(0),
            generation: AtomicU64::new(0),
            is_script: AtomicBool::new(false),
            changes_are_wanted: AtomicBool::new(false),
            interest: Mutex::default(),
            states: States::default(),
            barrier: CommitBarrier::new(),
        }
    }
}

impl Commits {
    /// Returns the number of the newest commit.
    pub(crate) fn last(&self) -> CommitNumber {
        CommitNumber(self.last.load(Ordering::Acquire))
    }

    /// Returns the number by which callers know a commit.
    pub(crate) fn id(&self, number: CommitNumber) -> CommitId {
        if self.has_positions.load(Ordering::Acquire) {
            lock(&self.ids).of(number)
        } else {
            CommitId(number.0)
        }
    }

    /// Returns the id of the newest commit.
    pub(crate) fn last_id(&self) -> CommitId {
        self.id(self.last())
    }

    /// Uses positions as the ids of commits from now on; `newest` is the id of the newest commit. Only the writer calls this.
    pub(crate) fn begin_positions(&self, newest: CommitId) {
        lock(&self.ids).begin(self.last(), newest);
        self.has_positions.store(true, Ordering::Release);
    }

    /// Returns the number of commits that the engine has made to the log of the main database, modulo 2³². This does not count every
    /// commit in the commit log: some reach only temporary tables or attached databases, or are external.
    pub(crate) fn in_main_log(&self) -> u32 {
        self.in_main_log.load(Ordering::SeqCst)
    }

    /// Notes that the writer has committed to the log of the main database.
    pub(crate) fn reached_main_log(&self) {
        self.in_main_log.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that the writer is about to commit. Waits in front of the commit barrier if readers hold it closed.
    pub(crate) fn begins(&self) {
        self.barrier.pass();
        self.generation.fetch_or(1, Ordering::SeqCst);
    }

    /// Notes that the writer is about to run a script that manages transactions itself.
    pub(crate) fn script_begins(&self) {
        self.begins();
        self.is_script.store(true, Ordering::SeqCst);
    }

    /// Notes that the writer has finished a turn, and that all observers have processed its commits, if there were any.
    pub(crate) fn settle(&self) {
        self.is_script.store(false, Ordering::SeqCst);
        let odd = |generation: u64| (generation & 1 == 1).then(|| generation + 1);
        // An even number stays as it is.
        let _ = self
            .generation
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, odd);
        self.barrier.committed();
    }

    /// Holds back commits that have not begun. Each such commit waits for
    /// [`limits::COMMIT_BARRIER`] at most.
    pub(crate) fn hold_back(&self) -> HeldBack<'_> {
        self.barrier.close()
    }

    /// Waits until the state is settled: during a commit for `patience` at most, during a script for [`limits::COMMIT_BARRIER`] at most.
    /// Returns `false` if the state is still unsettled after that.
    pub(crate) fn wait_until_settled(&self, patience: Duration) -> bool {
        let end = clock::now() + patience;
        loop {
            if self.barrier.wait(|| self.settled().is_some()) {
                return true;
            }
            if self.is_script.load(Ordering::SeqCst) || clock::now() >= end {
                return false;
            }
        }
    }

    /// Returns the number of the settled state; `None` while the state is unsettled.
    pub(crate) fn settled(&self) -> Option<u64> {
        let generation = self.generation.load(Ordering::SeqCst);
        (generation & 1 == 0).then_some(generation)
    }

    /// Returns whether a commit may be under way. Such a commit will be recorded in a moment.
    pub(crate) fn may_be_committing(&self) -> bool {
        self.settled().is_none() && !self.is_script.load(Ordering::SeqCst)
    }

    /// Returns the commits after this number.
    pub(crate) fn since(&self, number: CommitNumber) -> Result<Vec<Commit>, Overflow> {
        lock(&self.log)
            .since(number)
            .map(|commits| commits.cloned().collect())
    }

    /// Returns the commits after the commit that callers know by `id`. Each has the id by which callers know it.
    pub(crate) fn since_id(&self, id: CommitId) -> Result<Vec<(CommitId, Arc<ChangeSummary>)>, Overflow> {
        let after = if self.has_positions.load(Ordering::Acquire) {
            lock(&self.ids).number_at(id)
        } else {
            CommitNumber(id.0)
        };
        let known = |commit: Commit| (self.id(commit.number), commit.summary);
        Ok(self.since(after)?.into_iter().map(known).collect())
    }

    /// Makes transactions that begin from now on record what they change. Until then, each commit says "everything". That is never too
    /// little, so a transaction that begins at this moment may miss the change.
    pub(crate) fn want_changes(&self) {
        self.changes_are_wanted.store(true, Ordering::Relaxed);
    }

    /// Returns whether a transaction that begins records what it changes.
    pub(crate) fn changes_are_wanted(&self) -> bool {
        self.changes_are_wanted.load(Ordering::Relaxed)
    }

    /// Changes the interest; transactions that begin later are decoded accordingly.
    pub(crate) fn change_interest(&self, change: impl FnOnce(&mut Interest)) {
        change(Arc::make_mut(&mut lock(&self.interest)));
    }

    pub(super) fn interest(&self) -> Arc<Interest> {
        Arc::clone(&lock(&self.interest))
    }

    /// Records a commit of unknown content, by a writer that was lost.
    pub(crate) fn record_unknown(&self) {
        let mut changes = ChangeSet::new();
        changes.record_everything_changed();
        self.append(&mut changes, true, None);
    }

    /// Records an external commit.
    pub(crate) fn record_external(&self) {
        self.add(ChangeSummary::of_external_commit(), None);
    }

    /// Appends a commit. `wrote` states that SQLite has written something, even if no row was
    /// recorded. `id` is the id by which callers know the commit, if it differs from its number.
    pub(super) fn append(&self, changes: &mut ChangeSet, wrote: bool, id: Option<CommitId>) -> CommitNumber {
        if changes.is_empty() && !wrote {
            changes.clear();
            return self.last();
        }
        self.add(changes.finish(), id)
    }

    fn add(&self, summary: ChangeSummary, id: Option<CommitId>) -> CommitNumber {
        let mut log = lock(&self.log);
        let number = log.append(summary);
        if self.has_positions.load(Ordering::Acquire) {
            lock(&self.ids).add(number, id);
        }
        drop(log);
        self.last.store(number.0, Ordering::Release);
        number
    }
}
