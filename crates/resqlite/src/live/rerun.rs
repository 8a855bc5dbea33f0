//! One run of a live query: its statements on one committed state, compared with the last result.
//!
//! The changes go to the listener, and the coordinator gets a [`RerunResult`].

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::{Duration, Instant},
};

use resqlite_live::{
    CommitNumber, Dependencies, Reason,
    limits::{SLOW_MICROS, run_max},
};
use resqlite_sqlite::codes;

use super::{
    coordinator::LiveCoordinator,
    dispatch::micros,
    live_query::{LiveQuery, Part, PerQuery, State},
    request::{Delivery, Emission},
    statement_run::{PartResult, StatementRun},
    stats::Counters,
};
use crate::{
    core::{
        clock,
        error::{Error, Result},
        limits,
        sync::lock,
    },
    guard::interrupt::Interrupt,
    reader::Reading,
    rows::{ColumnLayout, RowBatch},
};

/// A run of a live query that is due.
pub(super) struct Rerun {
    pub(super) live_query: Arc<LiveQuery>,
    /// `None` for the first run.
    pub(super) reason: Option<Reason>,
    /// No commit affects the query; its result should be the same.
    pub(super) is_audit: bool,
    /// The level of the scheduler at which it runs.
    pub(super) level: usize,
    /// The first commit since the previous run was taken that may affect the query.
    pub(super) first: CommitNumber,
    /// The newest commit that may have made the query stale.
    pub(super) seen: CommitNumber,
    /// The state when the run was taken: the number of the settled state (`None` if it was unsettled), and the count of external
    /// commits.
    pub(super) taken_at: (Option<u64>, u64),
}

/// The result of a run, for the coordinator.
#[derive(Clone)]
pub(super) struct RerunResult {
    /// The newest commit before the run's read transaction began.
    pub(super) since: CommitNumber,
    pub(super) micros: u64,
    /// An emission is on its way to the subscribers.
    pub(super) pending: bool,
    /// The dependencies of the query, if they have changed.
    pub(super) dependencies: Option<Arc<Dependencies>>,
    /// The change of at least one statement was found from changed rows, without a whole run of that statement.
    pub(super) is_step: bool,
    /// After a transient error: the time until the query re-runs, even without a commit.
    pub(super) retry: Option<Duration>,
}

/// Makes a run. If it panics, the listener gets an error, the query stays open, and the caller replaces the connection.
pub(super) fn guarded(coordinator: &Arc<LiveCoordinator>, reading: &mut Reading<'_>, rerun: &Rerun) {
    let mut state = lock(&rerun.live_query.state);
    state.owe(rerun.first);
    if rerun.live_query.scope.is_cancelled() {
        return;
    }
    let (before, began) = (coordinator.commits.last(), clock::now());
    let others_wait = reading.connection().guard.interrupt.others_wait();
    if others_wait && !rerun.live_query.runs_beside_others() {
        drop(state);
        return coordinator.requeue(rerun, GIVEN_UP_MICROS);
    }
    let run = catch_unwind(AssertUnwindSafe(|| make(coordinator, reading, rerun, &mut state)));
    let result = match &run {
        Ok(Ok(Made::Result(result))) => Some(result.clone()),
        Ok(Ok(Made::GivenUp)) => {
            drop(state);
            let counters = &rerun.live_query.counters;
            counters.add(&coordinator.totals, |counters| &counters.given_up, 1);
            let micros = match others_wait {
                true => GIVEN_UP_MICROS,
                false => counted_micros(&rerun.live_query, run_max(rerun.level)),
            };
            return coordinator.requeue(rerun, micros);
        }
        // A cancelled query has no listener any more.
        Ok(Err(_)) if rerun.live_query.scope.is_cancelled() => None,
        failure => {
            let error = match failure {
                Ok(Err(error)) => error,
                _ => &Error::WorkerDied,
            };
            let failed = failed(coordinator, &rerun.live_query, &mut state, error, before);
            failed.map(|result| RerunResult {
                micros: counted_micros(&rerun.live_query, micros_since(began)),
                ..result
            })
        }
    };
    drop(state);
    match result {
        Some(result) => coordinator.finished(&rerun.live_query, result),
        None => coordinator.dispatch_ready(),
    }
    if let Err(panic) = run {
        resume_unwind(panic);
    }
}

/// The outcome of a run.
enum Made {
    Result(RerunResult),
    /// The run was given up, and is made again.
    GivenUp,
}

/// Runs the query, and emits what is new.
fn make(
    coordinator: &Arc<LiveCoordinator>,
    reading: &mut Reading<'_>,
    rerun: &Rerun,
    state: &mut State,
) -> Result<Made> {
    let (live_query, began) = (&rerun.live_query, clock::now());
    if !rerun.is_audit {
        live_query.counters.set_reason(rerun.reason);
    }
    let read = reading.in_read(live_query.wants_exact_state(), |reading, since| {
        debug_assert!(
            since >= rerun.seen,
            "the snapshot is older than what made the query due"
        );
        let results = run_queries(coordinator, reading, rerun, state)?;
        Ok((since, reading.names(), results))
    });
    if let Err(error) = &read
        && is_given_up(error, &reading.connection().guard.interrupt)
    {
        state.discard();
        return Ok(Made::GivenUp);
    }
    if state.worked {
        count_run(coordinator, rerun);
    }
    let (since, names, results) = read?;
    let keeping = micros(results.iter().map(|result| result.keeping).sum());
    let micros = micros_since(began);
    live_query.counters.last_micros.store(micros, Relaxed);
    live_query
        .counters
        .add(&coordinator.totals, |counters| &counters.total_micros, micros);

    if micros >= SLOW_MICROS {
        state.listener.ran_long(micros, rerun.reason);
    }
    let changed = results.iter().any(|result| result.new.segments().is_some());
    let volatile = results.iter().any(|result| result.statement.reads.is_volatile());
    let (settled, external) = rerun.taken_at;
    let undisturbed = settled.is_some() && coordinator.commits.settled() == settled;
    if rerun.is_audit && changed && undisturbed && !volatile {
        coordinator.possible_miss(live_query, external);
    }
    state.transient_errors = 0;
    let news = changed || !state.worked || state.error.is_some();
    let is_step = results.iter().any(|result| result.new.asked().is_some());
    let dependencies = keep(coordinator, live_query, state, results, names);
    // An audit leaves kept rows in the state that they show.
    if !rerun.is_audit {
        state.owed = None;
    }
    let pending = news && emit(coordinator, rerun, state, since, micros) == Delivery::Pending;
    if !news && !rerun.is_audit {
        live_query
            .counters
            .add(&coordinator.totals, |counters| &counters.unchanged, 1);
    }
    Ok(Made::Result(RerunResult {
        since,
        micros: counted_micros(live_query, micros.saturating_sub(keeping)),
        pending,
        dependencies,
        is_step,
        retry: None,
    }))
}

/// Returns whether a run that ends with this error is given up: it has reached its limit, perhaps while it waited for a lock,
/// or has more new rows than it may hold back.
fn is_given_up(error: &Error, interrupt: &Interrupt) -> bool {
    let is_busy = |error: &resqlite_sqlite::Error| error.primary() == codes::BUSY;
    let is_locked = error.sqlite().is_some_and(is_busy) && interrupt.is_late();
    interrupt.has_deadline() && (matches!(error, Error::TimedOut) || is_locked)
}

/// The counted time, in microseconds, of a run that was given up because others waited: too long to share a read.
const GIVEN_UP_MICROS: u64 = limits::SHARED_READ_MICROS + 1;

/// Returns the time that counts for a run that took `micros` microseconds.
fn counted_micros(live_query: &LiveQuery, micros: u64) -> u64 {
    let took_long = live_query.took_long.swap(micros >= SLOW_MICROS, Relaxed);
    counted_after(took_long, micros)
}

/// A run that took long counts as quick if the run before did not take long: on a busy machine any query can take long once.
fn counted_after(took_long: bool, micros: u64) -> u64 {
    if micros >= SLOW_MICROS && !took_long && micros < run_max(0) {
        SLOW_MICROS - 1
    } else {
        micros.max(1)
    }
}

/// Returns the microseconds since `began`, at least 1: 0 stands for a run of which nothing is known.
fn micros_since(began: Instant) -> u64 {
    micros(clock::since(began)).max(1)
}

fn count_run(coordinator: &LiveCoordinator, rerun: &Rerun) {
    let counter: fn(&Counters) -> &AtomicU64 = if rerun.is_audit {
        |counters| &counters.audits
    } else {
        |counters| &counters.reruns
    };
    rerun.live_query.counters.add(&coordinator.totals, counter, 1);
}

/// Completes an emission from the patches that the listener got.
fn emit(
    coordinator: &LiveCoordinator,
    rerun: &Rerun,
    state: &mut State,
    since: CommitNumber,
    micros: u64,
) -> Delivery {
    rerun
        .live_query
        .counters
        .add(&coordinator.totals, |counters| &counters.emitted, 1);
    // An audit that finds something new has no reason of its own.
    let reason = rerun.reason.or(state.worked.then_some(Reason::Unknown));
    (state.worked, state.error) = (true, None);
    rerun.live_query.is_failing.store(false, SeqCst);
    state.listener.emit(Emission {
        commit: coordinator.commits.id(since),
        reason,
        micros,
    })
}

/// Runs all statements of a live query on one committed state. Patches go to the listener.
fn run_queries(
    coordinator: &LiveCoordinator,
    reading: &mut Reading<'_>,
    rerun: &Rerun,
    state: &mut State,
) -> Result<PerQuery<PartResult>> {
    let exact = reading.exact_state();
    let live_query = &rerun.live_query;
    let mut results = PerQuery::new();
    state.handed_over = false;
    let owed = state.owed.unwrap_or_default();
    for (number, query) in live_query.queries.iter().enumerate() {
        let first = !state.worked;
        let State {
            parts,
            listener,
            handed_over,
            ..
        } = state;
        let connection = reading.connection();
        let mut take_rows = |layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>| {
            *handed_over = true;
            listener.rows(layout, batch)
        };
        connection.guard.interrupt.start(&query.token);
        let run = StatementRun {
            keeping: Duration::ZERO,
            coordinator,
            connection,
            maintenance: live_query.maintenance,
            is_audit: rerun.is_audit,
            query,
            part: &parts[number],
            owed,
            exact,
        };
        let result = run.run(first, &mut take_rows);
        let result = result.map_err(|error| connection.explain_error(error));
        connection.guard.interrupt.stop();
        let result = result?;
        if let Some(segments) = result.new.segments() {
            state.handed_over = true;
            state.listener.patch(number, &result.layout, segments);
        }
        results.push(result);
    }
    Ok(results)
}

/// Remembers the results of a run; returns the dependencies of the live query, if they have changed.
fn keep(
    coordinator: &LiveCoordinator,
    live_query: &LiveQuery,
    state: &mut State,
    results: PerQuery<PartResult>,
    names: u64,
) -> Option<Arc<Dependencies>> {
    // After an error the registered dependencies are the catch-all; restore the real ones.
    let news = state.error.is_some() || results.iter().any(|result| result.dependencies.is_some());
    let volatile = results.iter().any(|result| result.statement.reads.is_volatile());
    live_query.counters.volatile.store(volatile.into(), Relaxed);
    let reads_only_rows = results
        .iter()
        .all(|result| result.statement.reads.reads_only_rows());
    live_query.set_reads_only_rows(reads_only_rows, names);
    let (mut steps, mut asked) = (0, 0);
    for (part, result) in state.parts.iter_mut().zip(results) {
        if let Some(rows) = result.new.asked() {
            steps += 1;
            asked += rows;
        }
        if let Some(why) = result.new.why_whole() {
            live_query
                .counters
                .add(&coordinator.totals, |counters| why.counter(counters), 1);
        }
        let new_rows = part.take(result.new);
        live_query
            .counters
            .add(&coordinator.totals, |counters| &counters.rows_patched, new_rows);
        part.layout = Some(result.layout);
        part.statement = Some(result.statement);
        part.schema_version = result.schema_version;
        if let Some(dependencies) = result.dependencies {
            part.dependencies = dependencies;
        }
    }
    let is_maintained = u64::from(steps == state.parts.len());
    let counters = &live_query.counters;
    counters.add(
        &coordinator.totals,
        |counters| &counters.maintained,
        is_maintained,
    );
    counters.add(&coordinator.totals, |counters| &counters.rows_asked, asked);
    let rows: usize = state.parts.iter().map(Part::rows).sum();
    live_query.counters.rows.store(rows as u64, Relaxed);
    let pays_to_keep = state.parts.iter().any(Part::wants_exact_state);
    live_query.pays_to_keep.store(pays_to_keep, Relaxed);
    news.then(|| together(&state.parts))
}

/// The dependencies of all statements together.
fn together(parts: &[Part]) -> Arc<Dependencies> {
    if let [part] = parts {
        return Arc::clone(&part.dependencies);
    }
    let tables = parts.iter().flat_map(|part| &part.dependencies.tables);
    Arc::new(Dependencies {
        unknown: parts.iter().any(|part| part.dependencies.unknown),
        tables: tables.cloned().collect(),
        images: parts
            .iter()
            .flat_map(|part| part.dependencies.images.clone())
            .collect(),
    })
}

/// Reports an error to the listener, unless it got the same one before. From now on every commit makes the query re-run, those
/// after number `since` included, because the query may have recovered. A query that has never had a result ends.
pub(super) fn failed(
    coordinator: &Arc<LiveCoordinator>,
    live_query: &LiveQuery,
    state: &mut State,
    error: &Error,
    since: CommitNumber,
) -> Option<RerunResult> {
    if !state.worked {
        let _known = coordinator.take_out(live_query.id);
        state.listener.fail(error, true);
        return None;
    }
    state.discard();
    let text = error.to_string();
    let news = state.error.as_ref() != Some(&text);
    let mut pending = false;
    if news {
        live_query
            .counters
            .add(&coordinator.totals, |counters| &counters.errors, 1);
        pending = state.listener.fail(error, false) == Delivery::Pending;
        state.error = Some(text);
        live_query.is_failing.store(true, SeqCst);
    }
    let anything = Dependencies {
        unknown: true,
        ..Dependencies::default()
    };
    Some(RerunResult {
        since,
        micros: 0,
        pending,
        dependencies: news.then(|| Arc::new(anything)),
        is_step: false,
        retry: plan_retry(live_query, state, error),
    })
}

/// The time that a live query waits after a transient error; `None` for other errors, and if a retry is planned already.
fn plan_retry(live_query: &LiveQuery, state: &mut State, error: &Error) -> Option<Duration> {
    if !error.is_transient() || live_query.retry_planned.swap(true, SeqCst) {
        return None;
    }
    let pause = limits::RETRY_FIRST * (1 << state.transient_errors.min(16));
    state.transient_errors = state.transient_errors.saturating_add(1);
    Some(pause.min(limits::RETRY_MAX))
}

#[cfg(test)]
mod tests {
    use super::{SLOW_MICROS, counted_after, run_max};

    #[test]
    fn one_run_that_takes_long_makes_no_query_slow_unless_it_takes_very_long() {
        let is_slow = |took_long, micros| counted_after(took_long, micros) >= SLOW_MICROS;
        assert!(!is_slow(false, run_max(0) - 1));
        assert!(is_slow(true, SLOW_MICROS));
        assert!(is_slow(false, run_max(0)));
        assert!(!is_slow(true, SLOW_MICROS - 1));
    }
}
