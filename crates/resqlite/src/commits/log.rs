//! The commit log of an engine, and what is asked of each table.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use resqlite_live::{ChangeSet, Commit, CommitLog, Interest, Overflow};

use crate::core::{
    error::Result,
    sync::{Mutex, lock},
};

/// The commit log of an engine, and what is asked of each table.
pub(crate) struct Commits {
    log: Mutex<CommitLog>,
    last: AtomicU64,
    /// Odd from before a commit until all observers have heard of it.
    generation: AtomicU64,
    interest: Mutex<Arc<Interest>>,
}

impl Default for Commits {
    fn default() -> Self {
        Self {
            log: Mutex::new(CommitLog::new()),
            last: AtomicU64::new(0),
            generation: AtomicU64::new(0),
            interest: Mutex::default(),
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
        self.generation.fetch_or(1, Ordering::SeqCst);
    }

    /// The writer is at rest, and all observers have heard of what it committed.
    pub(crate) fn ended(&self) {
        let odd = |generation: u64| (generation & 1 == 1).then(|| generation + 1);
        // Only the writer changes it.
        let _ = self
            .generation
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, odd);
    }

    /// The number of the present state, unless the writer is changing it.
    pub(crate) fn settled(&self) -> Option<u64> {
        let generation = self.generation.load(Ordering::SeqCst);
        (generation & 1 == 0).then_some(generation)
    }

    /// The commits after number `sequence`.
    pub(crate) fn since(&self, sequence: u64) -> Result<Vec<Commit>, Overflow> {
        lock(&self.log)
            .since(sequence)
            .map(|commits| commits.cloned().collect())
    }

    /// Changes what is asked for; commits that begin later are decoded accordingly.
    pub(crate) fn change_interest(&self, change: impl FnOnce(&mut Interest)) {
        change(Arc::make_mut(&mut lock(&self.interest)));
    }

    pub(super) fn interest(&self) -> Arc<Interest> {
        Arc::clone(&lock(&self.interest))
    }

    /// The writer's connection was lost in the middle of something: anything may have been committed.
    pub(crate) fn record_unknown(&self) {
        let mut changes = ChangeSet::new();
        changes.record_everything_changed();
        self.append(&mut changes, true);
    }

    /// `wrote`: SQLite has written something, if only what the hook does not report.
    pub(super) fn append(&self, changes: &mut ChangeSet, wrote: bool) -> u64 {
        if changes.is_empty() && !wrote {
            changes.clear();
            return self.last();
        }
        let sequence = lock(&self.log).append(changes.finish());
        self.last.store(sequence, Ordering::Release);
        sequence
    }
}
