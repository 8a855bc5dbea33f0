//! Numbers about live queries.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use resqlite_live::{Reason, Skips};

/// Numbers about one live query, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStats {
    /// Commits that were examined.
    pub commits: u64,
    /// Commits that caused no re-run because they changed none of the tables that the queries read.
    pub skipped_by_table: u64,
    /// Commits that caused no re-run because they changed none of the columns that the queries read.
    pub skipped_by_column: u64,
    /// Commits that caused no re-run because they changed no row that fulfils the conditions of the queries.
    pub skipped_by_key: u64,
    /// Re-runs of the queries. The first run and audits do not count.
    pub reruns: u64,
    /// Re-runs that looked only at changed base rows, for all queries if there are several.
    pub maintained: u64,
    /// The number of changed base rows that the re-runs looked at.
    pub rows_asked: u64,
    /// Whole runs of queries that can be maintained, made because nothing was kept: such a run is quick, the result is too
    /// large, its values do not show how a change affects it, or reading what would be kept takes too long.
    pub whole_not_kept: u64,
    /// Whole runs of such queries, made because it was not known exactly what had changed: after DDL, an external commit, a
    /// rollback, or very many commits.
    pub whole_unknown_changes: u64,
    /// Whole runs of such queries, made because so many rows had changed that a whole run is quicker, or because it took too
    /// long to look at them.
    pub whole_many_changes: u64,
    /// Whole runs of such queries, made because the kept rows did not determine the result: the rows behind a window were used
    /// up, a least or greatest value left, a sum of REAL values changed, several tables of a join had changed, or no index
    /// finds the partners of a row.
    pub whole_undecided: u64,
    /// Re-runs that had the same result as before, so that nothing was emitted.
    pub unchanged: u64,
    /// Values emitted, including the first.
    pub emitted: u64,
    /// Commits that needed no re-run of their own, because the queries were to be re-run anyway.
    pub coalesced: u64,
    /// New rows delivered in total.
    pub rows_patched: u64,
    /// Re-runs that failed.
    pub errors: u64,
    /// Runs that were given up because they took too long beside others, and made again.
    pub given_up: u64,
    /// Audits: whole runs that no commit required, made to check that nothing has changed since the last one.
    pub audits: u64,
    /// Audits that found a new result. Anything but 0 is a bug in resqlite.
    pub missed: u64,
    /// The reason for the last run of the queries.
    pub last_reason: Option<Reason>,
    /// The duration of the last run, in microseconds.
    pub last_micros: u64,
    /// The duration of all runs together, with the first and the audits, in microseconds.
    pub total_micros: u64,
    /// The number of rows of the result, or of all results together.
    pub rows: u64,
    /// A query uses something that changes by itself, such as the time. Such a change causes no re-run.
    pub volatile: bool,
}

/// All live queries of an engine together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveTotals {
    /// Live queries that are open.
    pub open: usize,
    /// Live queries that are being run now.
    pub running: usize,
    /// Live queries that wait to be run.
    pub queued: usize,
    /// The most live queries that ever waited at once.
    pub queued_peak: usize,
    /// External commits that were noticed.
    pub external_commits: u64,
    /// The sums over all live queries, also those that have ended.
    pub sums: StreamStats,
}

/// The counts that are kept while queries run.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) reruns: AtomicU64,
    pub(super) maintained: AtomicU64,
    pub(super) rows_asked: AtomicU64,
    pub(super) whole_not_kept: AtomicU64,
    pub(super) whole_unknown_changes: AtomicU64,
    pub(super) whole_many_changes: AtomicU64,
    pub(super) whole_undecided: AtomicU64,
    pub(super) unchanged: AtomicU64,
    pub(super) emitted: AtomicU64,
    pub(super) coalesced: AtomicU64,
    pub(super) rows_patched: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) given_up: AtomicU64,
    pub(super) audits: AtomicU64,
    pub(super) missed: AtomicU64,
    pub(super) total_micros: AtomicU64,
    pub(super) last_micros: AtomicU64,
    pub(super) rows: AtomicU64,
    pub(super) volatile: AtomicU8,
    /// 0 if there is none; otherwise one more than the reason's number.
    last_reason: AtomicU8,
}

const REASONS: [Reason; 5] = [
    Reason::Unknown,
    Reason::Schema,
    Reason::Table,
    Reason::Columns,
    Reason::Rows,
];

impl Counters {
    /// Adds to a counter of one live query, and to the same counter of all live queries together.
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

    /// Returns a snapshot of the counters, with what the registry counts.
    pub(super) fn stats(&self, skips: Skips) -> StreamStats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let reason = usize::from(self.last_reason.load(Ordering::Relaxed));
        StreamStats {
            commits: skips.commits,
            skipped_by_table: skips.by_table,
            skipped_by_column: skips.by_column,
            skipped_by_key: skips.by_key,
            reruns: get(&self.reruns),
            maintained: get(&self.maintained),
            rows_asked: get(&self.rows_asked),
            whole_not_kept: get(&self.whole_not_kept),
            whole_unknown_changes: get(&self.whole_unknown_changes),
            whole_many_changes: get(&self.whole_many_changes),
            whole_undecided: get(&self.whole_undecided),
            unchanged: get(&self.unchanged),
            emitted: get(&self.emitted),
            coalesced: get(&self.coalesced),
            rows_patched: get(&self.rows_patched),
            errors: get(&self.errors),
            given_up: get(&self.given_up),
            audits: get(&self.audits),
            missed: get(&self.missed),
            last_reason: reason.checked_sub(1).map(|number| REASONS[number]),
            last_micros: get(&self.last_micros),
            total_micros: get(&self.total_micros),
            rows: get(&self.rows),
            volatile: self.volatile.load(Ordering::Relaxed) != 0,
        }
    }
}
