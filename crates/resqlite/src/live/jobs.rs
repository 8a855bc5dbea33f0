//! The work of threads for live queries: reader jobs, and the re-runs that the writer makes.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};

use resqlite_live::{CommitNumber, limits::run_max};

use super::{
    coordinator::LiveCoordinator,
    dispatch::Wait,
    live_query::LiveQuery,
    rerun::{Rerun, failed, guarded},
};
use crate::{
    core::{clock, error::Error, limits, sync::lock, workers::Turn},
    guard::interrupt::RunLimit,
    reader::{Reader, ReaderJob, Reading},
};

/// A reader job: the first run of a live query.
pub(super) struct FirstRun {
    pub(super) coordinator: Arc<LiveCoordinator>,
    pub(super) live_query: Arc<LiveQuery>,
}

/// A reader job: makes the re-runs that were batched, or left to the writer, for too long.
pub(super) struct LookAfter(pub(super) Arc<LiveCoordinator>);

/// A reader job: re-runs a live query after a transient error.
pub(super) struct Retry {
    pub(super) coordinator: Arc<LiveCoordinator>,
    pub(super) live_query: Weak<LiveQuery>,
}

impl ReaderJob for LiveCoordinator {
    /// Makes the re-runs that are ready.
    fn run(self: Arc<Self>, reader: &mut Reader, turn: &Turn<'_>) {
        work(&self, &mut reader.reading(), turn);
    }

    fn fail(self: Arc<Self>, error: Error) {
        fail_ready(&self, &error);
    }
}

impl ReaderJob for FirstRun {
    fn run(self: Arc<Self>, reader: &mut Reader, _turn: &Turn<'_>) {
        let first = Rerun {
            live_query: Arc::clone(&self.live_query),
            reason: None,
            is_audit: false,
            level: 0,
            first: CommitNumber::default(),
            seen: CommitNumber::default(),
            taken_at: (None, 0),
        };
        guarded(&self.coordinator, &mut reader.reading(), &first);
    }

    fn fail(self: Arc<Self>, error: Error) {
        let _entry = self.coordinator.take_out(self.live_query.id);
        lock(&self.live_query.state).listener.fail(&error, true);
        self.coordinator.dispatch_ready();
    }

    fn is_cancelled(&self) -> bool {
        self.live_query.scope.is_cancelled()
    }
}

impl ReaderJob for LookAfter {
    fn run(self: Arc<Self>, reader: &mut Reader, turn: &Turn<'_>) {
        match self.0.look_after() {
            Wait::Over { .. } => work(&self.0, &mut reader.reading(), turn),
            Wait::For(pause) => self.0.look_after_in(pause),
            Wait::Nothing => {}
        }
    }

    fn fail(self: Arc<Self>, error: Error) {
        self.0.take_over();
        fail_ready(&self.0, &error);
    }
}

impl ReaderJob for Retry {
    fn run(self: Arc<Self>, _reader: &mut Reader, _turn: &Turn<'_>) {
        self.retry();
    }

    /// Re-runs the query nevertheless; that run reports the error.
    fn fail(self: Arc<Self>, _error: Error) {
        self.retry();
    }
}

impl Retry {
    /// Re-runs the query, unless it has recovered or ended.
    fn retry(&self) {
        let Some(live_query) = self.live_query.upgrade() else {
            return;
        };
        // The query's state may be locked for long, by a run that another commit has caused.
        live_query.retry_planned.store(false, SeqCst);
        if live_query.is_failing.load(SeqCst) {
            self.coordinator.retry(&live_query);
        }
    }
}

/// Quick re-runs that were ready, for the writer to make: see [`LiveCoordinator::catch_up_if_open`].
pub(super) struct RerunsHere<'a> {
    // In this order, so that the re-runs that are left are put back before the thread is done.
    reruns: SharedRead<'a>,
    _ends: WorkEnds<'a>,
}

impl<'a> RerunsHere<'a> {
    /// Takes as many re-runs as take no longer than `spare`, or one.
    pub(super) fn take(coordinator: &'a Arc<LiveCoordinator>, spare: Duration) -> Self {
        coordinator.work_begins();
        let ends = WorkEnds(coordinator);
        let reruns = SharedRead {
            left: coordinator.take_reruns_within(spare),
            end: None,
            coordinator,
        };
        Self { reruns, _ends: ends }
    }

    /// Returns whether there are no re-runs: other threads may have taken them.
    pub(super) fn are_none(&self) -> bool {
        self.reruns.left.is_empty()
    }

    /// Returns whether every connection gives the same results, as long as names mean what they do now.
    pub(super) fn read_only_rows(&self, names: u64) -> bool {
        let mut left = self.reruns.left.iter();
        left.all(|rerun| rerun.live_query.reads_only_rows(names))
    }

    pub(super) fn run(mut self, reading: &mut Reading<'_>) {
        self.reruns.end = Some(clock::now() + limits::WRITER_RUNS_MAX);
        self.reruns.run(reading);
    }
}

/// Makes the re-runs that are ready, for one turn; then other jobs may use the thread.
fn work(coordinator: &Arc<LiveCoordinator>, reading: &mut Reading<'_>, turn: &Turn<'_>) {
    coordinator.work_begins();
    let _ends = WorkEnds(coordinator);
    let began = clock::now();
    // A read transaction shared with the jobs before may be older than the commits that made the queries stale.
    if let Err(error) = reading.end_read() {
        return fail_taken(coordinator, &error);
    }
    while clock::since(began) < limits::WORK_TURN {
        let reruns = SharedRead {
            left: coordinator.take_reruns(),
            end: None,
            coordinator,
        };
        if reruns.left.is_empty() {
            break;
        }
        reruns.run(reading);
        turn.goes_on();
    }
}

/// Re-runs to make on one committed state. If one panics, the others are put back.
struct SharedRead<'a> {
    left: VecDeque<Rerun>,
    /// The end of the time for all re-runs. `None` on a worker: there each re-run may take [`limits::SHARED_RUN_MAX`] while
    /// others are left, and the last one may take the [`run_max`] of its level.
    end: Option<Instant>,
    coordinator: &'a Arc<LiveCoordinator>,
}

impl SharedRead<'_> {
    fn run(mut self, reading: &mut Reading<'_>) {
        let coordinator = self.coordinator;
        // The read begins after the re-runs were taken, so it shows the commits that made them stale.
        let wants_exact_state = self.left.iter().any(|rerun| rerun.live_query.wants_exact_state());
        let read = reading.in_read(wants_exact_state, |reading, _| {
            while !self.is_over()
                && let Some(rerun) = self.left.pop_front()
            {
                // Set for each run, since a run that hands over rows clears the limit.
                let limit = self.limit(&rerun);
                reading.connection().guard.interrupt.set_run_limit(limit);
                guarded(coordinator, reading, &rerun);
            }
            reading
                .connection()
                .guard
                .interrupt
                .set_run_limit(RunLimit::default());
            Ok(())
        });
        if let Err(error) = read {
            while let Some(rerun) = self.left.pop_front() {
                fail_rerun(coordinator, &rerun, &error);
            }
        }
    }

    /// Returns whether the writer has no time left. Then the other re-runs are put back.
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| clock::now() >= end)
    }

    /// The limit of a run that was just taken out of `left`.
    fn limit(&self, rerun: &Rerun) -> RunLimit {
        let others_wait = self.end.is_some() || !self.left.is_empty();
        let most = if others_wait {
            limits::SHARED_RUN_MAX
        } else {
            Duration::from_micros(run_max(rerun.level))
        };
        RunLimit {
            end: self.end.or_else(|| Some(clock::now() + most)),
            others_wait,
        }
    }
}

impl Drop for SharedRead<'_> {
    fn drop(&mut self) {
        if !self.left.is_empty() {
            self.coordinator.give_back(self.left.drain(..));
        }
    }
}

/// Fails all re-runs that are ready.
fn fail_ready(coordinator: &Arc<LiveCoordinator>, error: &Error) {
    coordinator.work_begins();
    let _ends = WorkEnds(coordinator);
    fail_taken(coordinator, error);
}

fn fail_taken(coordinator: &Arc<LiveCoordinator>, error: &Error) {
    loop {
        let reruns = coordinator.take_reruns();
        if reruns.is_empty() {
            return;
        }
        reruns
            .iter()
            .for_each(|rerun| fail_rerun(coordinator, rerun, error));
    }
}

fn fail_rerun(coordinator: &Arc<LiveCoordinator>, rerun: &Rerun, error: &Error) {
    let live_query = &rerun.live_query;
    let mut state = lock(&live_query.state);
    state.owe(rerun.first);
    let since = coordinator.commits.last();
    let result = failed(coordinator, live_query, &mut state, error, since);
    drop(state);
    if let Some(result) = result {
        coordinator.finished(live_query, result);
    }
}

/// Reports to the coordinator that a thread is done, even if it panicked.
struct WorkEnds<'a>(&'a Arc<LiveCoordinator>);

impl Drop for WorkEnds<'_> {
    fn drop(&mut self) {
        self.0.work_ends();
    }
}
