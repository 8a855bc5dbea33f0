//! The live queries that a commit makes stale.

use std::{sync::Arc, time::Duration};

use resqlite_live::{
    ChangeSummary, ColumnSet, Columns, CommitNumber, Dependencies, LiveQueryId, MarkOutcome, Reason,
};

use super::{
    coordinator::{LiveCoordinator, State},
    dispatch::RunsOn,
    external::{ExternalListener, Found},
    live_query::{LiveQuery, images},
};
use crate::core::{
    profile,
    sync::{
        atomic::{Ordering, fence},
        lock,
    },
};

impl LiveCoordinator {
    /// Processes the commits since the last call: marks as stale the live queries that these commits affect, and calls threads
    /// for the re-runs.
    pub(super) fn catch_up(self: &Arc<Self>) {
        self.catch_up_if_open(|| Duration::ZERO);
    }

    /// Like [`catch_up`](Self::catch_up), for a thread that may make the re-runs itself. `spare` returns the longest time that
    /// the thread may take for that now. It is called only while live queries are open.
    pub(super) fn catch_up_if_open(self: &Arc<Self>, spare: impl FnOnce() -> Duration) -> RunsOn {
        fence(Ordering::SeqCst);
        if self.open.load(Ordering::SeqCst) == 0 {
            return RunsOn::Others;
        }
        let spare = spare();
        let timer = profile::start();
        let mut state = lock(&self.state);
        let seen = state.seen;
        // If commits come faster than queries run, stale queries collect in a batching window.
        let batch = state.scheduler.is_active();
        match self.commits.since(state.seen) {
            Ok(commits) => {
                for commit in commits {
                    state.seen = commit.number;
                    self.process_commit(&mut state, commit.number, &commit.summary, batch);
                }
            }
            Err(_) => {
                state.seen = self.commits.last();
                self.mark_all_stale(&mut state, batch);
            }
        }
        let is_news = state.seen != seen;
        let runs_on = self.dispatch_or_keep(spare, state);
        if is_news {
            profile::invalidation(timer);
        }
        runs_on
    }

    /// Plans who makes the next re-runs, after the calling thread has made some.
    pub(super) fn plan_next(self: &Arc<Self>, spare: Duration) -> RunsOn {
        self.dispatch_or_keep(spare, lock(&self.state))
    }

    fn process_commit(&self, state: &mut State, number: CommitNumber, summary: &ChangeSummary, batch: bool) {
        let mut affected = std::mem::take(&mut state.affected);
        let (timer, visited) = (profile::start(), state.registry.visited());
        state.registry.affected(summary, &mut affected);
        profile::intersection(timer, || state.registry.visited() - visited);
        if state.audits.are_wanted() {
            state.audits.choose(&affected, &mut state.scheduler);
        }
        for (id, reason) in affected.drain(..) {
            self.mark_stale(state, id, reason, number, batch);
        }
        state.affected = affected;
    }

    fn mark_all_stale(&self, state: &mut State, batch: bool) {
        let all: Vec<_> = state.entries.ids().collect();
        for id in all {
            self.mark_stale(state, id, Reason::Unknown, CommitNumber::default(), batch);
        }
    }

    /// Marks a live query as stale. `first`: the first commit that may affect it.
    pub(super) fn mark_stale(
        &self,
        state: &mut State,
        id: LiveQueryId,
        reason: Reason,
        first: CommitNumber,
        batch: bool,
    ) {
        let was_audit = state.audits.take_due(id);
        if let Some(entry) = state.entries.get_mut(id) {
            entry.first = Some(entry.first.map_or(first, |known| known.min(first)));
        }
        match state.scheduler.mark_stale(id, batch) {
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

    /// Registers the dependencies of a live query. Marks it stale if a commit after number `since` affects it, because its
    /// result may not show that commit.
    pub(super) fn register(
        &self,
        state: &mut State,
        id: LiveQueryId,
        dependencies: Arc<Dependencies>,
        since: CommitNumber,
    ) {
        let entry = state.entries.get_mut(id).expect("the caller has looked");
        let before = entry.dependencies.replace(Arc::clone(&dependencies));
        state.registry.insert(id, Arc::clone(&dependencies));
        self.change_interest(Some(&dependencies), before.as_deref());
        let affected = match self.commits.since(since) {
            Ok(commits) => commits
                .iter()
                .find_map(|commit| dependencies.impact(&commit.summary).reason()),
            Err(_) => Some(Reason::Unknown),
        };
        if let Some(reason) = affected {
            self.mark_stale(state, id, reason, CommitNumber::default(), false);
        }
    }

    /// Asks the writer to decode as much as a query needs now, instead of what it needed before.
    pub(super) fn change_interest(&self, now: Option<&Dependencies>, before: Option<&Dependencies>) {
        self.commits.change_interest(|interest| {
            for dependency in now.into_iter().flat_map(|now| &now.tables) {
                interest.add(&dependency.table, &dependency.columns, &images(dependency));
            }
            for (table, columns) in now.into_iter().flat_map(|now| &now.images) {
                interest.add(table, &Columns::Only(ColumnSet::new()), columns);
            }
            for dependency in before.into_iter().flat_map(|before| &before.tables) {
                interest.remove(&dependency.table, &dependency.columns, &images(dependency));
            }
            for (table, columns) in before.into_iter().flat_map(|before| &before.images) {
                interest.remove(table, &Columns::Only(ColumnSet::new()), columns);
            }
        });
    }

    /// Handles a difference that an audit has found. Unless an external commit explains it, a commit was skipped wrongly.
    /// `known`: the count of external commits before the run.
    pub(super) fn possible_miss(self: &Arc<Self>, live_query: &Arc<LiveQuery>, known: u64) {
        lock(&self.state).audits.possible_misses += 1;
        let (coordinator, live_query) = (Arc::clone(self), Arc::clone(live_query));
        self.external.check(Box::new(move |found| {
            coordinator.external.announce(found);
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
}

impl ExternalListener for LiveCoordinator {
    fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    fn external_commit(self: Arc<Self>) {
        self.commits.record_external();
        self.catch_up();
        // Counted last: an audit that began before the queries were marked stale must find a higher count afterwards.
        self.external_commits.fetch_add(1, Ordering::SeqCst);
    }
}
