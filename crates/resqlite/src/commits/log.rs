//! The commit log of an engine, the interest in each table, and the commit gate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use resqlite_live::{ChangeSet, Commit, CommitLog, Interest, Overflow};

use super::gate::{CommitGate, HeldBack};
use crate::core::{
    error::Result,
    sync::{Mutex, lock},
};

/// The commit log of an engine, the interest in each table, and the commit gate.
pub(crate) struct Commits {
    log: Mutex<CommitLog>,
    last: AtomicU64,
    /// Odd from the start of a commit until all observers have processed it.
    generation: AtomicU64,
    /// What has begun is a script that commits by itself.
    is_script: AtomicBool,
    interest: Mutex<Arc<Interest>>,
    gate: CommitGate,
}

impl Default for Commits {
    fn default() -> Self {
        Self {
            log: Mutex::new(CommitLog::new()),
            last: AtomicU64::new(0),
            generation: AtomicU64::new(0),
            is_script: AtomicBool::new(false),
            interest: Mutex::default(),
            gate: CommitGate::new(),
        }
    }
}

impl Commits {
    /// The number of the newest commit; 0 before the first.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// The writer is about to commit.
    pub(crate) fn begins(&self) {
        self.gate.pass();
        self.generation.fetch_or(1, Ordering::SeqCst);
    }

    /// The writer is about to run a script that commits by itself, at times that are not known.
    pub(crate) fn script_begins(&self) {
        self.begins();
        self.is_script.store(true, Ordering::SeqCst);
    }

    /// The writer is idle, and all observers have processed its commits.
    pub(crate) fn ended(&self) {
        self.is_script.store(false, Ordering::SeqCst);
        let odd = |generation: u64| (generation & 1 == 1).then(|| generation + 1);
        // Only the writer changes it.
        let _ = self
            .generation
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, odd);
        self.gate.committed();
    }

    /// Holds back commits that have not begun, for [`limits::COMMIT_GATE`] each at most.
    pub(crate) fn hold_back(&self) -> HeldBack<'_> {
        self.gate.close()
    }

    /// Waits for the end of the commit that has begun, with this patience; for that of a script no longer than
    /// [`limits::COMMIT_GATE`]. Returns `false` if it has not come.
    pub(crate) fn wait_until_settled(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        loop {
            if self.gate.wait(|| self.settled().is_some()) {
                return true;
            }
            if self.is_script.load(Ordering::SeqCst) || Instant::now() >= end {
                return false;
            }
        }
    }

    /// The number of the current state; `None` while a commit is under way.
    pub(crate) fn settled(&self) -> Option<u64> {
        let generation = self.generation.load(Ordering::SeqCst);
        (generation & 1 == 0).then_some(generation)
    }

    /// The commits after this number.
    pub(crate) fn since(&self, number: u64) -> Result<Vec<Commit>, Overflow> {
        lock(&self.log)
            .since(number)
            .map(|commits| commits.cloned().collect())
    }

    /// Changes the interest; transactions that begin later are decoded accordingly.
    pub(crate) fn change_interest(&self, change: impl FnOnce(&mut Interest)) {
        change(Arc::make_mut(&mut lock(&self.interest)));
    }

    pub(super) fn interest(&self) -> Arc<Interest> {
        Arc::clone(&lock(&self.interest))
    }

    /// Records a commit of unknown content: by a writer that was lost, or by another process.
    pub(crate) fn record_unknown(&self) {
        let mut changes = ChangeSet::new();
        changes.record_everything_changed();
        self.append(&mut changes, true);
    }

    /// `wrote`: SQLite has written something, even if the hook reported no row.
    pub(super) fn append(&self, changes: &mut ChangeSet, wrote: bool) -> u64 {
        if changes.is_empty() && !wrote {
            changes.clear();
            return self.last();
        }
        let number = lock(&self.log).append(changes.finish());
        self.last.store(number, Ordering::Release);
        number
    }
}
