//! Decides when live queries run, and on which threads.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use resqlite_live::{CommitNumber, LiveQueryId, Reason};

use super::{
    catch_ups::{Done, Known},
    coordinator::{LiveCoordinator, State},
    dispatch::{Plan, RunsOn, Wait, micros},
    jobs::{FirstRun, LookAfter, Retry},
    live_query::LiveQuery,
    request::{Listener, LiveQueryRequest},
    rerun::{Rerun, RerunResult},
};
use crate::{
    core::{
        clock,
        error::Error,
        limits,
        sync::{MutexGuard, lock},
    },
    reader::Job,
};

impl LiveCoordinator {
    /// Begins a live query.
    pub(super) fn begin(
        self: &Arc<Self>,
        request: LiveQueryRequest,
        listener: Box<dyn Listener>,
    ) -> Arc<LiveQuery> {
        let (live_query, closed) = self.enter(request, listener);
        if closed {
            lock(&live_query.state).listener.fail(&Error::Closed, true);
        } else {
            self.external.wake();
            let first = FirstRun {
                coordinator: Arc::clone(self),
                live_query: Arc::clone(&live_query),
            };
            self.readers.submit(Job::Other(Arc::new(first)));
        }
        live_query
    }

    /// Notes that a thread begins to make re-runs. The thread calls [`work_ends`](Self::work_ends) when it stops.
    pub(super) fn work_begins(&self) {
        lock(&self.state).dispatch.work_begins();
    }

    pub(super) fn work_ends(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        state.dispatch.work_ends();
        self.dispatch(state);
    }

    /// Takes the re-runs that are due, as many as may share a read transaction. There are none if no query is stale.
    pub(super) fn take_reruns(&self) -> VecDeque<Rerun> {
        self.take_several(limits::SHARED_READ_RUNS, limits::SHARED_READ_MICROS)
    }

    /// Takes re-runs for the writer: as many as take no longer than `spare`, or one.
    pub(super) fn take_reruns_within(&self, spare: Duration) -> VecDeque<Rerun> {
        self.take_several(limits::WRITER_RUNS, micros(spare))
    }

    fn take_several(&self, count: usize, micros: u64) -> VecDeque<Rerun> {
        let mut state = lock(&self.state);
        let now = (self.commits.settled(), self.external_commits());
        let picked = state.scheduler.pick_several(count, micros);
        picked.into_iter().filter_map(|id| state.rerun(id, now)).collect()
    }

    /// Takes the result of a run that has ended.
    pub(super) fn finished(self: &Arc<Self>, live_query: &Arc<LiveQuery>, result: RerunResult) {
        let mut state = lock(&self.state);
        if state.entries.get(live_query.id).is_none() {
            return;
        }
        if let Some(dependencies) = result.dependencies {
            self.register(&mut state, live_query.id, dependencies, result.since);
        }
        state
            .scheduler
            .finished(live_query.id, result.micros, result.pending);
        let known = state.known(live_query.id);
        state.catch_ups.has_run(live_query.id, result.since, known);
        if result.is_step {
            let State {
                audits, scheduler, ..
            } = &mut *state;
            audits.choose_step(live_query.id, scheduler);
        }
        self.dispatch(state);
        if let Some(pause) = result.retry {
            let retry = Retry {
                coordinator: Arc::clone(self),
                live_query: Arc::downgrade(live_query),
            };
            self.reruns.submit_after(pause, Job::Other(Arc::new(retry)));
        }
    }

    /// Puts back re-runs that were taken and not made.
    pub(super) fn give_back(self: &Arc<Self>, reruns: impl Iterator<Item = Rerun>) {
        // Declared before the lock, so dropped after the lock is released: a query that has ended is dropped with its listener.
        let reruns: Vec<_> = reruns.collect();
        let mut state = lock(&self.state);
        for rerun in &reruns {
            state.scheduler.not_made(rerun.live_query.id);
            self.put_back(&mut state, rerun, true);
        }
        self.dispatch(state);
    }

    /// Puts back a run that was given up, or is not made beside others: a worker makes it, alone. `micros`: the time that
    /// counts for the run.
    pub(super) fn requeue(self: &Arc<Self>, rerun: &Rerun, micros: u64) {
        let mut state = lock(&self.state);
        state.scheduler.finished(rerun.live_query.id, micros, false);
        self.put_back(&mut state, rerun, false);
        self.dispatch(state);
    }

    /// Makes the live query as stale as before the run was taken. The scheduler already knows that the run is over. `batch`: as
    /// in the scheduler.
    fn put_back(&self, state: &mut State, rerun: &Rerun, batch: bool) {
        let id = rerun.live_query.id;
        if rerun.is_audit {
            return state.audits.put_back(id, &mut state.scheduler);
        }
        let reason = rerun.reason.unwrap_or(Reason::Unknown);
        self.mark_stale(state, id, reason, rerun.first, batch);
    }

    /// Re-runs a live query after the pause that follows a transient error.
    pub(super) fn retry(self: &Arc<Self>, live_query: &LiveQuery) {
        let mut state = lock(&self.state);
        self.mark_stale(
            &mut state,
            live_query.id,
            Reason::Unknown,
            CommitNumber::default(),
            false,
        );
        self.dispatch(state);
    }

    /// Notes that the last emissions of these live queries were delivered.
    pub(super) fn delivered(self: &Arc<Self>, ids: impl Iterator<Item = LiveQueryId>) {
        let mut state = lock(&self.state);
        ids.for_each(|id| state.scheduler.delivered(id));
        self.dispatch(state);
    }

    /// Looks after the re-runs that are batched or left to the writer. Unless there are none, this must be called again.
    pub(super) fn look_after(self: &Arc<Self>) -> Wait {
        let mut state = lock(&self.state);
        let now = &mut *state;
        let wait = now.dispatch.look(&mut now.scheduler, clock::now());
        drop(state);
        if let Wait::Over { calls } = wait {
            self.call_threads(calls);
        }
        wait
    }

    fn call_threads(self: &Arc<Self>, calls: usize) {
        for _ in 0..calls {
            self.reruns.submit(Job::Other(Arc::clone(self) as _));
        }
    }

    /// Makes everything ready that is batched or left to the writer. The caller then begins to work.
    pub(super) fn take_over(&self) {
        let state = &mut *lock(&self.state);
        state.dispatch.take_over(&mut state.scheduler);
    }

    /// Calls `done` as soon as no live query runs, is stale, or has something to deliver: here, or on an engine thread.
    pub(crate) fn when_quiet(self: &Arc<Self>, done: Done) {
        let mut state = lock(&self.state);
        state.on_quiet.push(done);
        self.dispatch(state);
    }

    /// Calls `done` as soon as the live query has caught up with what is committed now, or has ended: here, or on an engine
    /// thread.
    pub(super) fn when_caught_up(self: &Arc<Self>, id: LiveQueryId, done: Done) {
        let mut state = lock(&self.state);
        if state.entries.get(id).is_none() {
            drop(state);
            return done();
        }
        let known = state.known(id);
        state.catch_ups.add(id, self.commits.last(), done, known);
        self.dispatch(state);
    }

    /// Returns whether the last emission of the live query is known to show what is committed now.
    pub(super) fn is_caught_up(&self, id: LiveQueryId) -> bool {
        let Known { seen, is_settled } = lock(&self.state).known(id);
        is_settled && seen >= self.commits.last()
    }

    fn is_quiet(&self, state: &State) -> bool {
        let caught_up = state.seen == self.commits.last() || state.entries.is_empty();
        caught_up && state.scheduler.is_quiet() && state.audits.possible_misses == 0
    }

    /// Calls threads for the re-runs that are ready now.
    pub(super) fn dispatch_ready(self: &Arc<Self>) {
        self.dispatch(lock(&self.state));
    }

    /// Calls threads for the re-runs that are ready, and the callbacks whose time has come.
    pub(super) fn dispatch(self: &Arc<Self>, state: MutexGuard<'_, State>) {
        self.dispatch_or_keep(Duration::ZERO, state);
    }

    /// Like [`dispatch`](Self::dispatch), but the calling thread may be told to make re-runs itself, if they fit into the
    /// time that it has to `spare`.
    pub(super) fn dispatch_or_keep(
        self: &Arc<Self>,
        spare: Duration,
        mut state: MutexGuard<'_, State>,
    ) -> RunsOn {
        let now = &mut *state;
        now.queued_peak = now.queued_peak.max(now.scheduler.queued());
        let Plan {
            calls,
            look_after,
            runs_on,
        } = now.dispatch.plan(&mut now.scheduler, spare, clock::now());
        let mut done = now.take_caught_up();
        if !now.on_quiet.is_empty() && self.is_quiet(now) {
            done.append(&mut now.on_quiet);
        }
        drop(state);
        if let Some(pause) = look_after {
            self.look_after_in(pause);
        }
        self.call_threads(calls);
        done.into_iter().for_each(|done| done());
        runs_on
    }

    /// Queues the job that looks after the waiting re-runs.
    pub(super) fn look_after_in(self: &Arc<Self>, pause: Duration) {
        let job = Job::Other(Arc::new(LookAfter(Arc::clone(self))));
        self.reruns.submit_after(pause, job);
    }
}

impl State {
    fn known(&self, id: LiveQueryId) -> Known {
        Known::of(id, &self.scheduler, self.seen)
    }

    /// Takes the callbacks of callers who no longer wait for a live query to catch up.
    fn take_caught_up(&mut self) -> Vec<Done> {
        let known = |id| Known::of(id, &self.scheduler, self.seen);
        self.catch_ups.have_been_seen(known);
        self.catch_ups.take_over()
    }

    fn rerun(&mut self, id: LiveQueryId, taken_at: (Option<u64>, u64)) -> Option<Rerun> {
        let entry = self.entries.get_mut(id)?;
        Some(Rerun {
            reason: entry.reason.take(),
            is_audit: self.audits.take_due(id),
            level: self.scheduler.level(id),
            live_query: Arc::clone(&entry.live_query),
            first: entry.first.take().unwrap_or_default(),
            seen: self.seen,
            taken_at,
        })
    }
}
