//! One live query.

use std::{borrow::Cow, sync::Arc, time::Duration};

use smallvec::SmallVec;

use resqlite_live::{CommitNumber, Dependencies, LiveQueryId, TableDependency};

use super::{
    groups::KeptGroups,
    maintain::{Kept, StepBounds},
    request::{Listener, Maintenance},
    stats::Counters,
    undecided::Undecided,
};
use crate::{
    core::{
        limits,
        sync::{
            Mutex,
            atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
            lock,
        },
        token::Scope,
    },
    maintain::StatementDependencies,
    requests::request::Query,
    rows::ColumnLayout,
};

/// One value per statement of a live query. The usual single one is stored inline: with many live queries, each further
/// cache line that a run touches is a wait for memory.
pub(super) type PerQuery<T> = SmallVec<[T; 1]>;

/// One live query: its statements, and what is known about its last result.
pub(super) struct LiveQuery {
    pub(super) id: LiveQueryId,
    ids: Arc<Ids>,
    pub(super) queries: PerQuery<Query>,
    /// Ends a run that is under way.
    pub(super) scope: Scope,
    pub(super) maintenance: Maintenance,
    /// A result is kept, or may be from the next run on.
    pub(super) pays_to_keep: AtomicBool,
    /// One more than the [count](crate::connection::schema_epoch::SeenEpoch::names) at which the query's result followed from
    /// rows alone, which every connection sees alike; 0 if it does not.
    only_rows_at: AtomicU64,
    pub(super) counters: Counters,
    /// `state` has an error. Kept here for callers who cannot wait for the lock of `state`.
    pub(super) is_failing: AtomicBool,
    /// A retry after a pause is planned.
    pub(super) retry_planned: AtomicBool,
    /// The last run that counted took [`SLOW_MICROS`](resqlite_live::limits::SLOW_MICROS) or more.
    pub(super) took_long: AtomicBool,
    /// Locked by the thread that runs the query.
    pub(super) state: Mutex<State>,
}

/// The state for the thread that runs a live query.
pub(super) struct State {
    pub(super) listener: Box<dyn Listener>,
    pub(super) parts: PerQuery<Part>,
    /// The first commit that the last result may not show; `None` if it shows all commits that are known to affect the query.
    pub(super) owed: Option<CommitNumber>,
    /// The query has had a result.
    pub(super) worked: bool,
    /// The error that was last reported, if no run has succeeded since.
    pub(super) error: Option<String>,
    /// The last run handed rows to its listener.
    pub(super) handed_over: bool,
    /// The number of transient errors that the query has had in a row.
    pub(super) transient_errors: u32,
}

impl State {
    /// Notes that a run is due for commit `first` and later ones.
    pub(super) fn owe(&mut self, first: CommitNumber) {
        self.owed = Some(self.owed.map_or(first, |owed| owed.min(first)));
    }

    /// Tells the listener that what it got from the last run is void, because that run has no result.
    pub(super) fn discard(&mut self) {
        if std::mem::take(&mut self.handed_over) {
            self.listener.discard();
        }
    }
}

/// The last result of one statement.
#[derive(Default)]
pub(super) struct Part {
    /// The fingerprints of the rows, unless the rows are kept.
    pub(super) fingerprints: Vec<u64>,
    pub(super) kept: Option<Box<Kept>>,
    /// The kept groups and rows of a statement that makes groups.
    pub(super) groups: Option<Box<KeptGroups>>,
    /// The rows cannot be kept, although the statement can be maintained.
    pub(super) is_unfit: bool,
    /// The time, in microseconds, that whole runs must have taken in all before anything is kept. Set when reading what is to
    /// be kept took too long.
    pub(super) keep_from_micros: u64,
    /// The time that is expected for asking for the rows of one base row, in microseconds. Set after asking has taken too long:
    /// see [`limits::ASKED_ROW_MICROS`].
    pub(super) slow_row_micros: u64,
    /// The back-off from keeping groups that have not determined the result.
    pub(super) undecided: Undecided,
    /// The time of the last run of the whole statement, in microseconds.
    pub(super) whole_micros: u64,
    /// The time of all runs of the whole statement, in microseconds.
    pub(super) spent_micros: u64,
    pub(super) layout: Option<Arc<ColumnLayout>>,
    /// The dependencies of the statement, whatever its parameters are.
    pub(super) statement: Option<Arc<StatementDependencies>>,
    /// The version of the main schema for which `statement` holds, unless the query is never maintained.
    pub(super) schema_version: Option<i64>,
    pub(super) dependencies: Arc<Dependencies>,
}

impl Part {
    /// The fingerprints of the rows.
    pub(super) fn fingerprints(&self) -> Cow<'_, [u64]> {
        match (&self.kept, &self.groups) {
            (Some(kept), _) => kept.shown.fingerprints().into(),
            (None, Some(groups)) => groups.shown.fingerprints().into(),
            (None, None) => (&self.fingerprints[..]).into(),
        }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        match (&self.kept, &self.groups) {
            (Some(kept), _) => kept.shown.len(),
            (None, Some(groups)) => groups.shown.len(),
            (None, None) => self.fingerprints.len(),
        }
    }

    /// Returns whether keeping the rows takes less time than running the whole statement each time. Keeping begins with a run
    /// that is longer than others, so a statement that runs quickly must first have run a few times.
    pub(super) fn pays_to_keep(&self) -> bool {
        let is_large = self.rows() >= limits::KEPT_ROWS_MIN || self.whole_micros >= limits::KEPT_MICROS_MIN;
        is_large && self.spent_micros >= limits::KEPT_MICROS_MIN.max(self.keep_from_micros)
    }

    /// Notes that reading what is to be kept has taken too long. It is tried again when the whole runs have taken twice the
    /// time that they have taken until now.
    pub(super) fn put_off_keeping(&mut self) {
        self.keep_from_micros = 2 * self.spent_micros;
    }

    /// Returns whether the rows are kept, or may be from the next run on.
    pub(super) fn wants_exact_state(&self) -> bool {
        let can_be_kept = |statement: &Arc<StatementDependencies>| statement.maintenance().is_ok();
        let is_maintained = !self.is_unfit && self.statement.as_ref().is_some_and(can_be_kept);
        is_maintained && self.pays_to_keep()
    }

    /// The bounds beyond which the whole statement runs quicker.
    pub(super) fn step_bounds(&self) -> StepBounds {
        // Asking for one row pays, unless such rows have been too slow.
        let least = u64::from(self.slow_row_micros <= self.whole_micros);
        let time = Duration::from_micros(limits::STEP_RUNS * self.whole_micros);
        StepBounds {
            most: (self.whole_micros / self.asked_row_micros()).max(least) as usize,
            time: Some(time.max(limits::STEP_LEAST)),
        }
    }

    fn asked_row_micros(&self) -> u64 {
        self.slow_row_micros.max(limits::ASKED_ROW_MICROS)
    }

    /// Notes that looking at the changed rows took too long. Perhaps no index leads from these rows to those that they are
    /// joined with.
    pub(super) fn step_was_slow(&mut self) {
        self.slow_row_micros = self.asked_row_micros().saturating_mul(4);
    }

    /// Notes that there were too many changed rows to look at.
    pub(super) fn step_was_not_tried(&mut self) {
        self.slow_row_micros -= self.slow_row_micros.div_ceil(8);
    }

    /// Notes that a step was quick. Perhaps an earlier slow step was an exception.
    pub(super) fn step_was_quick(&mut self) {
        self.slow_row_micros /= 2;
    }
}

impl LiveQuery {
    pub(super) fn new(
        ids: &Arc<Ids>,
        queries: PerQuery<Query>,
        scope: Scope,
        maintenance: Maintenance,
        listener: Box<dyn Listener>,
    ) -> Self {
        let parts = queries.iter().map(|_| Part::default()).collect();
        Self {
            id: ids.take(),
            ids: Arc::clone(ids),
            queries,
            scope,
            maintenance,
            pays_to_keep: AtomicBool::new(false),
            only_rows_at: AtomicU64::new(0),
            counters: Counters::default(),
            is_failing: AtomicBool::new(false),
            retry_planned: AtomicBool::new(false),
            took_long: AtomicBool::new(false),
            state: Mutex::new(State {
                listener,
                parts,
                owed: None,
                worked: false,
                error: None,
                handed_over: false,
                transient_errors: 0,
            }),
        }
    }
}

impl LiveQuery {
    /// Returns whether the query may run beside others. With several statements it may not: the rows of the first would be
    /// handed over before the second runs, and would be void if the run is given up then.
    pub(super) fn runs_beside_others(&self) -> bool {
        self.queries.len() == 1
    }

    /// Returns whether the query's result follows from rows alone, provided that names mean what they meant at the count
    /// `names`.
    pub(super) fn reads_only_rows(&self, names: u64) -> bool {
        self.only_rows_at.load(Relaxed) == names + 1
    }

    pub(super) fn set_reads_only_rows(&self, reads_only_rows: bool, names: u64) {
        let at = if reads_only_rows { names + 1 } else { 0 };
        self.only_rows_at.store(at, Relaxed);
    }

    /// Returns whether the query's result is maintained, or may be from the next run on.
    pub(super) fn wants_exact_state(&self) -> bool {
        match self.maintenance {
            Maintenance::Never => false,
            Maintenance::Always => true,
            Maintenance::WhereQuicker => self.pays_to_keep.load(Relaxed),
        }
    }
}

impl Drop for LiveQuery {
    fn drop(&mut self) {
        self.ids.give_back(self.id);
    }
}

/// The ids of live queries. An id is reused only after its live query was dropped, so that a late call for one cannot
/// reach another.
#[derive(Default)]
pub(super) struct Ids(Mutex<Numbers>);

#[derive(Default)]
struct Numbers {
    next: u32,
    free: Vec<LiveQueryId>,
}

impl Ids {
    fn take(&self) -> LiveQueryId {
        let mut numbers = lock(&self.0);
        if let Some(id) = numbers.free.pop() {
            return id;
        }
        let id = LiveQueryId(numbers.next);
        numbers.next += 1;
        id
    }

    fn give_back(&self, id: LiveQueryId) {
        lock(&self.0).free.push(id);
    }
}

/// The columns whose values a dependency needs.
pub(super) fn images(dependency: &TableDependency) -> Vec<u16> {
    let filter = dependency.filter.as_ref();
    filter.map_or_else(Vec::new, |filter| filter.columns().collect())
}

#[cfg(test)]
mod tests {
    use super::{
        super::statement_run::{KeptNow, New, Whole},
        Part,
    };

    fn pays_to_keep(rows: usize, whole_micros: u64, runs: u64) -> bool {
        let fingerprints = vec![0; rows];
        let part = Part {
            fingerprints,
            whole_micros,
            spent_micros: runs * whole_micros,
            ..Part::default()
        };
        part.pays_to_keep()
    }

    // G138
    #[test]
    fn a_result_that_is_small_and_quick_to_read_is_not_kept() {
        assert!(!pays_to_keep(63, 199, 100));
        assert!(pays_to_keep(64, 1, 200));
        assert!(pays_to_keep(1, 200, 1));
    }

    #[test]
    fn keeping_that_took_too_long_is_tried_again_after_whole_runs_of_twice_the_time() {
        let run = |kept| {
            New::Whole(Whole {
                difference: None,
                kept,
                micros: 300,
                why: None,
            })
        };
        let mut part = Part::default();
        part.take(run(KeptNow::No));
        assert!(part.pays_to_keep());
        part.take(run(KeptNow::TooSlow));
        let pays: Vec<_> = (0..3)
            .map(|_| {
                part.take(run(KeptNow::No));
                part.pays_to_keep()
            })
            .collect();
        assert_eq!(pays, [false, true, true]);
    }

    // G138
    #[test]
    fn a_result_is_not_kept_before_reading_it_has_taken_a_while() {
        assert!(!pays_to_keep(64, 50, 3));
        assert!(pays_to_keep(64, 50, 4));
    }
}
