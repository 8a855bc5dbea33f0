//! Numbers about live queries.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use resqlite_live::{Reason, Skips};

/// A moment in the life of a live query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStats {
    /// Commits since it began.
    pub commits: u64,
    /// Of these, those that changed no table that it reads.
    pub skipped_by_table: u64,
    /// Those that changed only columns that it does not read.
    pub skipped_by_column: u64,
    /// Those that changed only rows that it cannot see.
    pub skipped_by_key: u64,
    /// How often it ran again.
    pub requeries: u64,
    /// Of these, how often the result was the same.
    pub unchanged: u64,
    /// Results that its listener was given, the first one included.
    pub emitted: u64,
    /// Commits that needed no run of their own, because one was due anyway.
    pub coalesced: u64,
    /// Rows that its listener was given.
    pub rows_patched: u64,
    /// Errors that its listener was given.
    pub errors: u64,
    /// Runs made only to see whether a commit was skipped rightly.
    pub verified: u64,
    /// Of these, how often it was not. Anything but 0 is a defect of resqlite.
    pub missed: u64,
    /// Why it ran the last time; `None`: for the first time.
    pub last_reason: Option<Reason>,
    /// How long it ran the last time, in microseconds.
    pub last_micros: u64,
    /// How long it ran all in all, in microseconds.
    pub total_micros: u64,
    /// Rows of its result.
    pub rows: u64,
    /// Whether it calls functions that give something else each time.
    pub volatile: bool,
}

/// All live queries of an engine together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveTotals {
    /// Live queries that are open.
    pub open: usize,
    /// Those that are being run now.
    pub running: usize,
    /// Those that wait to be run.
    pub queued: usize,
    /// The most that ever waited at once.
    pub queued_most: usize,
    /// Changes by somebody outside of the engine that were noticed.
    pub foreign_commits: u64,
    /// The sums over all live queries, also those that have ended.
    pub sums: StreamStats,
}

/// What is counted while queries run.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) requeries: AtomicU64,
    pub(super) unchanged: AtomicU64,
    pub(super) emitted: AtomicU64,
    pub(super) coalesced: AtomicU64,
    pub(super) rows_patched: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) verified: AtomicU64,
    pub(super) missed: AtomicU64,
    pub(super) total_micros: AtomicU64,
    pub(super) last_micros: AtomicU64,
    pub(super) rows: AtomicU64,
    pub(super) volatile: AtomicU8,
    /// 0: none, else one more than the reason's number.
    last_reason: AtomicU8,
}

const REASONS: [Reason; 5] = [
    Reason::Everything,
    Reason::Schema,
    Reason::Table,
    Reason::Columns,
    Reason::Rows,
];

impl Counters {
    /// Adds to a counter of one stream and to the same of all.
    pub(super) fn add(&self, all: &Self, counter: impl Fn(&Self) -> &AtomicU64, count: u64) {
        for counters in [self, all] {
            counter(counters).fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(super) fn set_reason(&self, reason: Option<Reason>) {
        let number = reason.and_then(|reason| REASONS.iter().position(|known| *known == reason));
        self.last_reason
            .store(number.map_or(0, |number| number as u8 + 1), Ordering::Relaxed);
    }

    /// A snapshot, with what the registry counts.
    pub(super) fn stats(&self, skips: Skips) -> StreamStats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let reason = usize::from(self.last_reason.load(Ordering::Relaxed));
        StreamStats {
            commits: skips.commits,
            skipped_by_table: skips.by_table,
            skipped_by_column: skips.by_column,
            skipped_by_key: skips.by_key,
            requeries: get(&self.requeries),
            unchanged: get(&self.unchanged),
            emitted: get(&self.emitted),
            coalesced: get(&self.coalesced),
            rows_patched: get(&self.rows_patched),
            errors: get(&self.errors),
            verified: get(&self.verified),
            missed: get(&self.missed),
            last_reason: reason.checked_sub(1).map(|number| REASONS[number]),
            last_micros: get(&self.last_micros),
            total_micros: get(&self.total_micros),
            rows: get(&self.rows),
            volatile: self.volatile.load(Ordering::Relaxed) != 0,
        }
    }
}
