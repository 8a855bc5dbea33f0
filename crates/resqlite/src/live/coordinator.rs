//! All live queries of an engine: what is known about them, and how they begin and end.
//!
//! The coordinator's two tasks have files of their own: [`staleness`](super::staleness) finds out which queries a commit
//! makes stale, and [`schedule`](super::schedule) has them run again.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use resqlite_live::{CommitNumber, Dependencies, LiveQueryId, LiveQueryMap, Reason, Registry, Scheduler};

use super::{
    catch_ups::{CatchUps, Done},
    dispatch::Dispatch,
    external::ExternalWatch,
    live_query::{Ids, LiveQuery},
    request::{Listener, LiveQueryRequest},
    stats::{Counters, LiveTotals, StreamStats},
    verification::Audits,
};
use crate::{
    commits::log::Commits,
    core::{
        error::Error,
        params::Params,
        sync::{
            Mutex,
            atomic::{AtomicU64, AtomicUsize, Ordering, fence},
            lock,
        },
        token::Scope,
    },
    reader::Readers,
    requests::request::{Format, Query},
};

/// All live queries of an engine.
pub(crate) struct LiveCoordinator {
    pub(super) commits: Arc<Commits>,
    /// For first runs, which a caller waits for.
    pub(super) readers: Arc<Readers>,
    /// For re-runs.
    pub(super) reruns: Arc<Readers>,
    /// The number of open live queries. While there is none, commits cost nothing here.
    pub(super) open: AtomicUsize,
    ids: Arc<Ids>,
    pub(super) state: Mutex<State>,
    pub(super) totals: Counters,
    pub(super) external_commits: AtomicU64,
    pub(super) external: Arc<ExternalWatch>,
    /// The seed of the fingerprints, different in every process.
    pub(super) seed: u64,
}

pub(super) struct State {
    pub(super) registry: Registry,
    pub(super) scheduler: Scheduler,
    pub(super) entries: LiveQueryMap<Entry>,
    /// The newest commit that was processed.
    pub(super) seen: CommitNumber,
    pub(super) dispatch: Dispatch,
    pub(super) queued_peak: usize,
    pub(super) audits: Audits,
    pub(super) on_quiet: Vec<Done>,
    pub(super) catch_ups: CatchUps,
    /// Empty between two commits; kept to reuse its memory.
    pub(super) affected: Vec<(LiveQueryId, Reason)>,
    closed: bool,
}

/// An open live query.
pub(super) struct Entry {
    pub(super) live_query: Arc<LiveQuery>,
    /// The registered dependencies.
    pub(super) dependencies: Option<Arc<Dependencies>>,
    /// The reason why the query is stale, if it is.
    pub(super) reason: Option<Reason>,
    /// The first commit since the last run was taken that may affect the query.
    pub(super) first: Option<CommitNumber>,
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
                seen: CommitNumber::default(),
                dispatch: Dispatch::default(),
                queued_peak: 0,
                audits: Audits::default(),
                on_quiet: Vec::new(),
                catch_ups: CatchUps::default(),
                affected: Vec::new(),
                closed: false,
            }),
            totals: Counters::default(),
            external_commits: AtomicU64::new(0),
            external,
            seed: RandomState::new().hash_one(0),
        }
    }

    /// Adds a live query. Returns it, and whether the engine is closed. If the engine is closed, the query was not added.
    pub(super) fn enter(
        &self,
        request: LiveQueryRequest,
        listener: Box<dyn Listener>,
    ) -> (Arc<LiveQuery>, bool) {
        let scope = Scope::default();
        let LiveQueryRequest {
            queries,
            integers,
            verify,
            maintenance,
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
        let live_query = Arc::new(LiveQuery::new(&self.ids, queries, scope, maintenance, listener));
        let id = live_query.id;
        let mut state = lock(&self.state);
        if state.closed {
            return (live_query, true);
        }
        self.commits.want_changes();
        if self.open.fetch_add(1, Ordering::SeqCst) == 0 {
            // Pairs with the fence in `catch_up_if_open`: the writer sees the open query, or its commit is seen here.
            fence(Ordering::SeqCst);
            state.seen = self.commits.last();
        }
        let entry = Entry {
            live_query: Arc::clone(&live_query),
            dependencies: None,
            reason: None,
            first: None,
        };
        state.entries.insert(id, entry);
        state.scheduler.start(id);
        if !live_query.runs_beside_others() {
            state.scheduler.run_alone(id);
        }
        state.audits.add(id, verify);
        (live_query, false)
    }

    /// Ends a live query.
    pub(super) fn end(self: &Arc<Self>, live_query: &LiveQuery) {
        live_query.scope.cancel();
        drop(self.take_out(live_query.id));
        self.dispatch_ready();
    }

    /// Removes a finished live query. Drop the returned entry only after unlocking the query (the query's listener is dropped
    /// with it, and may take locks), then call [`dispatch_ready`](Self::dispatch_ready).
    pub(super) fn take_out(&self, id: LiveQueryId) -> Option<Entry> {
        self.remove(&mut lock(&self.state), id)
    }

    fn remove(&self, state: &mut State, id: LiveQueryId) -> Option<Entry> {
        let entry = state.entries.remove(id)?;
        if let Some(dependencies) = &entry.dependencies {
            state.registry.remove(id);
            self.change_interest(None, Some(dependencies));
        }
        state.scheduler.remove(id);
        state.audits.remove(id);
        state.catch_ups.has_ended(id);
        if self.open.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.external.sleep();
            self.commits.states.want(false);
        }
        Some(entry)
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

    /// The number of external commits that were noticed.
    pub(super) fn external_commits(&self) -> u64 {
        self.external_commits.load(Ordering::SeqCst)
    }

    /// Ends all live queries. Blocks until the running ones have ended.
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
