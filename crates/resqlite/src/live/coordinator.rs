//! All live queries of an engine: which ones a commit affects, and when they run again.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering, fence},
    },
    time::Duration,
};

use resqlite_live::{
    ChangeSummary, Dependencies, LiveQueryId, LiveQueryMap, MarkOutcome, Reason, Registry, Scheduler,
    fault::planted,
};

use super::{
    dispatch::{Dispatch, Plan, RunsOn},
    external::{ExternalListener, ExternalWatch, Found},
    live_query::{Ids, LiveQuery, images},
    request::{Listener, LiveQueryRequest},
    stats::{Counters, LiveTotals, StreamStats},
    verification::Audits,
};
use crate::{
    commits::log::Commits,
    core::{
        error::Error,
        limits,
        params::Params,
        profile,
        sync::{Mutex, MutexGuard, lock},
        token::Scope,
    },
    reader::{Job, Readers},
    requests::request::{Format, Query},
};

/// All live queries of an engine.
pub(crate) struct LiveCoordinator {
    pub(super) commits: Arc<Commits>,
    /// For first runs, which a caller waits for.
    readers: Arc<Readers>,
    /// For re-runs.
    pub(super) reruns: Arc<Readers>,
    /// How many live queries are open. While there is none, commits cost nothing here.
    open: AtomicUsize,
    ids: Arc<Ids>,
    state: Mutex<State>,
    pub(super) totals: Counters,
    external_commits: AtomicU64,
    pub(super) external: Arc<ExternalWatch>,
    /// The seed of the fingerprints, different in every process.
    pub(super) seed: u64,
}

struct State {
    registry: Registry,
    scheduler: Scheduler,
    entries: LiveQueryMap<Entry>,
    /// The newest commit that was processed.
    seen: u64,
    dispatch: Dispatch,
    queued_peak: usize,
    audits: Audits,
    on_quiet: Vec<Box<dyn FnOnce() + Send>>,
    /// Kept for its memory.
    affected: Vec<(LiveQueryId, Reason)>,
    closed: bool,
}

/// An open live query.
pub(super) struct Entry {
    live_query: Arc<LiveQuery>,
    /// The registered dependencies.
    dependencies: Option<Arc<Dependencies>>,
    /// Why it is stale, if it is.
    reason: Option<Reason>,
}

/// A run of a live query that is due.
pub(super) struct Rerun {
    pub(super) live_query: Arc<LiveQuery>,
    /// `None` for the first run.
    pub(super) reason: Option<Reason>,
    /// No commit affects the query; its result should be the same.
    pub(super) is_audit: bool,
    /// The newest commit that may have made it stale.
    pub(super) seen: u64,
    /// When it was taken: the number of the settled state (`None` during a commit), and the count of external
    /// commits.
    pub(super) taken_at: (Option<u64>, u64),
}

/// The result of a run, for the coordinator.
#[derive(Clone)]
pub(super) struct RerunResult {
    /// The newest commit before its read transaction began.
    pub(super) since: u64,
    pub(super) micros: u64,
    /// An emission is on its way to the subscribers.
    pub(super) pending: bool,
    /// The dependencies of the query, if they have changed.
    pub(super) dependencies: Option<Arc<Dependencies>>,
    /// It failed with a transient error: it re-runs after this time, even without a commit.
    pub(super) retry: Option<Duration>,
}

/// A reader job: the first run of a live query.
pub(super) struct FirstRun {
    pub(super) coordinator: Arc<LiveCoordinator>,
    pub(super) live_query: Arc<LiveQuery>,
}

/// A reader job: ends the batching window, and makes the re-runs that collected in it.
pub(super) struct EndWindow(pub(super) Arc<LiveCoordinator>);

/// A reader job: re-runs a live query after a transient error.
pub(super) struct Retry {
    pub(super) coordinator: Arc<LiveCoordinator>,
    pub(super) live_query: Weak<LiveQuery>,
}

impl LiveCoordinator {
    /// `slots`: the most runs at the same time.
    pub(crate) fn new(
        commits: Arc<Commits>,
        readers: Arc<Readers>,
        reruns: Arc<Readers>,
        slots: usize,
        external: Arc<ExternalWatch>,
    ) -> Self {
        Self {
            commits,
            readers,
            reruns,
            open: AtomicUsize::new(0),
            ids: Arc::default(),
            state: Mutex::new(State {
                registry: Registry::default(),
                scheduler: Scheduler::new(slots),
                entries: LiveQueryMap::default(),
                seen: 0,
                dispatch: Dispatch::new(slots),
                queued_peak: 0,
                audits: Audits::default(),
                on_quiet: Vec::new(),
                affected: Vec::new(),
                closed: false,
            }),
            totals: Counters::default(),
            external_commits: AtomicU64::new(0),
            external,
            seed: RandomState::new().hash_one(0),
        }
    }

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
            let listener: Weak<Self> = Arc::downgrade(self);
            self.external.wake(listener);
            let first = FirstRun {
                coordinator: Arc::clone(self),
                live_query: Arc::clone(&live_query),
            };
            self.readers.submit(Job::Other(Arc::new(first)));
        }
        live_query
    }

    fn enter(&self, request: LiveQueryRequest, listener: Box<dyn Listener>) -> (Arc<LiveQuery>, bool) {
        let scope = Scope::default();
        let LiveQueryRequest {
            queries,
            integers,
            verify,
        } = request;
        let query = |(sql, params): (Arc<str>, Params)| Query {
            sql,
            params: params.compact(),
            format: Format::Rows,
            integers,
            token: scope.token(),
            limits: None,
        };
        let queries = queries.into_iter().map(query).collect();
        let live_query = Arc::new(LiveQuery::new(&self.ids, queries, scope, listener));
        let id = live_query.id;
        let mut state = lock(&self.state);
        if state.closed {
            return (live_query, true);
        }
        if self.open.fetch_add(1, Ordering::SeqCst) == 0 {
            // Either the writer sees that a query is open, or its commit is seen here.
            fence(Ordering::SeqCst);
            state.seen = self.commits.last();
        }
        let entry = Entry {
            live_query: Arc::clone(&live_query),
            dependencies: None,
            reason: None,
        };
        state.entries.insert(id, entry);
        state.scheduler.start(id);
        state.audits.add(id, verify);
        (live_query, false)
    }

    /// Ends a live query.
    pub(super) fn end(self: &Arc<Self>, live_query: &LiveQuery) {
        live_query.scope.cancel();
        drop(self.take_out(live_query.id));
        self.dispatch_ready();
    }

    /// Removes a finished live query. Drop the returned entry only after unlocking the query (its listener goes with
    /// it, and may lock), then call [`dispatch_ready`](Self::dispatch_ready).
    pub(super) fn take_out(&self, id: LiveQueryId) -> Option<Entry> {
        self.remove(&mut lock(&self.state), id)
    }

    /// Calls threads for the re-runs that are ready now.
    pub(super) fn dispatch_ready(self: &Arc<Self>) {
        self.dispatch(lock(&self.state));
    }

    fn remove(&self, state: &mut State, id: LiveQueryId) -> Option<Entry> {
        let entry = state.entries.remove(id)?;
        if let Some(dependencies) = &entry.dependencies {
            state.registry.remove(id);
            self.change_interest(None, Some(dependencies));
        }
        state.scheduler.remove(id);
        state.audits.remove(id);
        self.open.fetch_sub(1, Ordering::SeqCst);
        Some(entry)
    }

    /// Asks the writer to decode as much as a query needs now, instead of what it needed before.
    fn change_interest(&self, now: Option<&Dependencies>, before: Option<&Dependencies>) {
        self.commits.change_interest(|interest| {
            for dependency in now.into_iter().flat_map(|now| &now.tables) {
                interest.add(&dependency.table, &dependency.columns, &images(dependency));
            }
            for dependency in before.into_iter().flat_map(|before| &before.tables) {
                interest.remove(&dependency.table, &dependency.columns, &images(dependency));
            }
        });
    }

    /// Processes the commits since the last time: marks the queries stale that they affect, and calls threads for them.
    pub(super) fn catch_up(self: &Arc<Self>) {
        self.catch_up_if_open(&|| false);
    }

    /// `catch_up` for a thread that may make the re-runs itself by [`run_here`](super::rerun::run_here). `is_idle`: it has
    /// a reader and nothing else to do; asked only while live queries are open.
    pub(super) fn catch_up_if_open(self: &Arc<Self>, is_idle: &dyn Fn() -> bool) -> RunsOn {
        fence(Ordering::SeqCst);
        if self.open.load(Ordering::SeqCst) == 0 {
            return RunsOn::LiveThreads;
        }
        let is_idle = is_idle();
        let timer = profile::start();
        let mut state = lock(&self.state);
        let seen = state.seen;
        // Commits that do not wait for the queries to catch up are batched.
        let gather = state.scheduler.is_active();
        match self.commits.since(state.seen) {
            Ok(commits) => {
                for commit in commits {
                    state.seen = commit.number;
                    self.process_commit(&mut state, &commit.summary, gather);
                }
            }
            Err(_) => {
                state.seen = self.commits.last();
                self.mark_all_stale(&mut state, gather);
            }
        }
        let is_news = state.seen != seen;
        let runs_on = self.dispatch_or_keep(is_idle, state);
        if is_news {
            profile::invalidation(timer);
        }
        runs_on
    }

    fn process_commit(&self, state: &mut State, summary: &ChangeSummary, gather: bool) {
        let mut affected = std::mem::take(&mut state.affected);
        let (timer, visited) = (profile::start(), state.registry.visited());
        state.registry.affected(summary, &mut affected);
        profile::intersection(timer, || state.registry.visited() - visited);
        if state.audits.are_wanted() {
            state.audits.choose(&affected, &mut state.scheduler);
        }
        for (id, reason) in affected.drain(..) {
            self.mark_stale(state, id, reason, gather);
        }
        state.affected = affected;
    }

    fn mark_all_stale(&self, state: &mut State, gather: bool) {
        let all: Vec<_> = state.entries.ids().collect();
        for id in all {
            self.mark_stale(state, id, Reason::Unknown, gather);
        }
    }

    fn mark_stale(&self, state: &mut State, id: LiveQueryId, reason: Reason, gather: bool) {
        let was_audit = state.audits.take_due(id);
        match state.scheduler.mark_stale(id, gather) {
            MarkOutcome::Coalesced if !was_audit => {
                if let Some(entry) = state.entries.get(id) {
                    entry
                        .live_query
                        .counters
                        .add(&self.totals, |counters| &counters.coalesced, 1);
                }
            }
            MarkOutcome::Queued
            | MarkOutcome::Batched
            | MarkOutcome::RerunPending
            | MarkOutcome::Coalesced => {
                if let Some(entry) = state.entries.get_mut(id) {
                    entry.reason = Some(reason);
                }
            }
            MarkOutcome::Ended => {}
        }
    }

    /// A thread begins to make re-runs. It calls [`work_ends`](Self::work_ends) in the end.
    pub(super) fn work_begins(&self) {
        lock(&self.state).dispatch.work_begins();
    }

    /// Takes the re-runs to make now, as many as may share a read transaction; none if no query is stale.
    pub(super) fn take_reruns(&self) -> VecDeque<Rerun> {
        let mut state = lock(&self.state);
        let now = (self.commits.settled(), self.external_commits());
        let picked = state
            .scheduler
            .pick_several(limits::SHARED_READ_RUNS, limits::SHARED_READ_MICROS);
        picked.into_iter().filter_map(|id| state.rerun(id, now)).collect()
    }

    /// Puts back re-runs that were taken and not made.
    pub(super) fn give_back(self: &Arc<Self>, reruns: impl Iterator<Item = Rerun>) {
        // Dropped when the lock is released: a query that has ended meanwhile takes its listener with it.
        let reruns: Vec<_> = reruns.collect();
        let mut state = lock(&self.state);
        for Rerun {
            live_query, reason, ..
        } in &reruns
        {
            state.scheduler.finished(live_query.id, 0, false);
            let reason = reason.unwrap_or(Reason::Unknown);
            self.mark_stale(&mut state, live_query.id, reason, true);
        }
        self.dispatch(state);
    }

    pub(super) fn work_ends(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        state.dispatch.work_ends();
        self.dispatch(state);
    }

    /// Ends the batching window. The caller then begins to work.
    pub(super) fn end_window(&self) {
        let mut state = lock(&self.state);
        state.scheduler.release_batch();
        state.dispatch.window_ended();
    }

    /// A run has ended.
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
        self.dispatch(state);
        if let Some(pause) = result.retry {
            let retry = Retry {
                coordinator: Arc::clone(self),
                live_query: Arc::downgrade(live_query),
            };
            self.reruns.submit_after(pause, Job::Other(Arc::new(retry)));
        }
    }

    /// The pause after a transient error is over.
    pub(super) fn retry(self: &Arc<Self>, live_query: &LiveQuery) {
        let mut state = lock(&self.state);
        self.mark_stale(&mut state, live_query.id, Reason::Unknown, false);
        self.dispatch(state);
    }

    /// Registers the dependencies of a query, and checks the commits that its result may not contain.
    fn register(&self, state: &mut State, id: LiveQueryId, dependencies: Arc<Dependencies>, since: u64) {
        let entry = state.entries.get_mut(id).expect("the caller has looked");
        let before = entry.dependencies.replace(Arc::clone(&dependencies));
        state.registry.insert(id, Arc::clone(&dependencies));
        self.change_interest(Some(&dependencies), before.as_deref());
        let affected = match self.commits.since(since) {
            _ if planted("no_log_replay") => None,
            Ok(commits) => commits
                .iter()
                .find_map(|commit| dependencies.verdict(&commit.summary).reason()),
            Err(_) => Some(Reason::Unknown),
        };
        if let Some(reason) = affected {
            self.mark_stale(state, id, reason, false);
        }
    }

    /// The last emissions of these live queries were delivered.
    pub(super) fn delivered(self: &Arc<Self>, ids: impl Iterator<Item = LiveQueryId>) {
        let mut state = lock(&self.state);
        ids.for_each(|id| state.scheduler.delivered(id));
        self.dispatch(state);
    }

    /// Requeues a run that took too long for the writer's thread; a live thread makes it.
    pub(super) fn requeue(self: &Arc<Self>, rerun: &Rerun, micros: u64) {
        let mut state = lock(&self.state);
        state.scheduler.finished(rerun.live_query.id, micros, false);
        let reason = rerun.reason.unwrap_or(Reason::Unknown);
        self.mark_stale(&mut state, rerun.live_query.id, reason, false);
        self.dispatch(state);
    }

    /// Calls threads for the re-runs that are ready; if all is quiet, calls the callbacks of `when_quiet`.
    fn dispatch(self: &Arc<Self>, state: MutexGuard<'_, State>) {
        self.dispatch_or_keep(false, state);
    }

    fn dispatch_or_keep(self: &Arc<Self>, is_idle: bool, mut state: MutexGuard<'_, State>) -> RunsOn {
        let now = &mut *state;
        now.queued_peak = now.queued_peak.max(now.scheduler.queued());
        let Plan {
            calls,
            end_window,
            runs_on,
        } = now.dispatch.plan(&now.scheduler, is_idle);
        let quiet = if now.on_quiet.is_empty() || !self.is_quiet(now) {
            Vec::new()
        } else {
            std::mem::take(&mut now.on_quiet)
        };
        drop(state);
        if end_window {
            let job = Job::Other(Arc::new(EndWindow(Arc::clone(self))));
            self.reruns.submit_after(limits::BATCHING_WINDOW, job);
        }
        for _ in 0..calls {
            self.reruns.submit(Job::Other(Arc::clone(self) as _));
        }
        quiet.into_iter().for_each(|done| done());
        runs_on
    }

    fn is_quiet(&self, state: &State) -> bool {
        let caught_up = state.seen == self.commits.last() || state.entries.is_empty();
        caught_up && state.scheduler.is_quiet() && state.audits.possible_misses == 0
    }

    /// Calls `done` when no live query runs, is stale, or has something to deliver: at once, or on an engine thread.
    pub(crate) fn when_quiet(self: &Arc<Self>, done: Box<dyn FnOnce() + Send>) {
        let mut state = lock(&self.state);
        state.on_quiet.push(done);
        self.dispatch(state);
    }

    /// An audit found a difference. Unless another process changed the file, a commit was skipped wrongly. `known`: the
    /// count of external commits before the run.
    pub(super) fn possible_miss(self: &Arc<Self>, live_query: &Arc<LiveQuery>, known: u64) {
        lock(&self.state).audits.possible_misses += 1;
        let (coordinator, live_query) = (Arc::clone(self), Arc::clone(live_query));
        self.external.check(Box::new(move |found| {
            if found == Found::ExternalCommit {
                Arc::clone(&coordinator).external_commit();
            }
            let is_miss = found != Found::Unknown && coordinator.external_commits() == known;
            coordinator.resolve_possible_miss(&live_query, is_miss);
        }));
    }

    fn resolve_possible_miss(self: &Arc<Self>, live_query: &LiveQuery, is_miss: bool) {
        if is_miss {
            live_query
                .counters
                .add(&self.totals, |counters| &counters.missed, 1);
        }
        let mut state = lock(&self.state);
        state.audits.possible_misses -= 1;
        self.dispatch(state);
    }

    /// How many external commits were noticed.
    fn external_commits(&self) -> u64 {
        self.external_commits.load(Ordering::SeqCst)
    }

    pub(super) fn stats(&self, live_query: &LiveQuery) -> StreamStats {
        let skips = lock(&self.state).registry.skips(live_query.id);
        live_query.counters.stats(skips)
    }

    pub(crate) fn totals(&self) -> LiveTotals {
        let state = lock(&self.state);
        LiveTotals {
            open: state.entries.len(),
            running: state.scheduler.running(),
            queued: state.scheduler.queued(),
            queued_peak: state.queued_peak,
            external_commits: self.external_commits(),
            sums: self.totals.stats(state.registry.totals()),
        }
    }

    /// Ends all live queries. Blocks until those that are running have ended.
    pub(crate) fn close(self: &Arc<Self>) {
        let entries = {
            let mut state = lock(&self.state);
            state.closed = true;
            let ids: Vec<_> = state.entries.ids().collect();
            let entries: Vec<_> = ids
                .into_iter()
                .filter_map(|id| self.remove(&mut state, id))
                .collect();
            self.dispatch(state);
            entries
        };
        for Entry { live_query, .. } in &entries {
            live_query.scope.cancel();
        }
        for Entry { live_query, .. } in entries {
            lock(&live_query.state).listener.fail(&Error::Closed, true);
        }
        self.external.close();
    }
}

impl ExternalListener for LiveCoordinator {
    fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    fn external_commit(self: Arc<Self>) {
        self.commits.record_unknown();
        self.catch_up();
        // Counted last: an audit that began before the queries were marked must not seem to know of this commit.
        self.external_commits.fetch_add(1, Ordering::SeqCst);
    }
}

impl State {
    fn rerun(&mut self, id: LiveQueryId, taken_at: (Option<u64>, u64)) -> Option<Rerun> {
        let entry = self.entries.get_mut(id)?;
        Some(Rerun {
            reason: entry.reason.take(),
            is_audit: self.audits.take_due(id),
            live_query: Arc::clone(&entry.live_query),
            seen: self.seen,
            taken_at,
        })
    }
}
