//! All live queries of an engine, and who runs them when.

use std::{
    collections::{HashSet, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering, fence},
    },
    time::Duration,
};

use resqlite_live::{
    ByStream, ChangeSummary, Dependencies, Reason, Registry, Scheduler, Stale, StreamId, fault::planted,
};

use super::{
    Listener, LiveJob, LiveQueryRequest, LiveTotals, StreamStats, Subscription,
    external::Watcher,
    stats::Counters,
    stream::{Ids, Stream, images},
};
use crate::{
    commits::recorder::Commits,
    core::{
        error::Error,
        limits, profile,
        sync::{Mutex, MutexGuard, lock},
        token::Scope,
    },
    reader::{Job, Readers},
    requests::request::{Format, Query},
};

/// All live queries of an engine.
pub(crate) struct Hub {
    pub(super) commits: Arc<Commits>,
    /// For first runs, which somebody waits for.
    readers: Arc<Readers>,
    /// For all others.
    reruns: Arc<Readers>,
    /// Runs at the same time, at most.
    slots: usize,
    /// How many live queries are open. While there is none, commits cost nothing here.
    open: AtomicUsize,
    ids: Arc<Ids>,
    state: Mutex<State>,
    pub(super) totals: Counters,
    foreign_commits: AtomicU64,
    pub(super) watcher: Arc<Watcher>,
    /// What fingerprints are made with; another one in every process.
    pub(super) seed: u64,
}

struct State {
    registry: Registry,
    scheduler: Scheduler,
    streams: ByStream<Known>,
    /// The newest commit that was looked at.
    seen: u64,
    /// Jobs on their way to a reader, and those that have one.
    waiting: usize,
    working: usize,
    /// A job is on its way that releases the queries which gather.
    release_planned: bool,
    queued_most: usize,
    verification: Verification,
    on_quiet: Vec<Box<dyn FnOnce() + Send>>,
    /// Kept for its memory.
    concerned: Vec<(StreamId, Reason)>,
    closed: bool,
}

/// A live query that is open.
pub(super) struct Known {
    stream: Arc<Stream>,
    /// As it is registered.
    dependencies: Option<Arc<Dependencies>>,
    /// Why it runs, if it is due.
    reason: Option<Reason>,
}

/// Of the queries that want to be verified: which runs do only that.
struct Verification {
    asked: Vec<(StreamId, f64)>,
    due: HashSet<StreamId>,
    /// Differences found of which it is not known yet whether somebody else made them.
    suspects: usize,
    random: u64,
}

/// A run to make.
pub(super) struct Turn {
    pub(super) stream: Arc<Stream>,
    pub(super) reason: Option<Reason>,
    /// No commit concerns it; its result should be the same.
    pub(super) verifying: bool,
    /// The newest commit that may have made it due.
    pub(super) seen: u64,
    /// The number of the state when it was taken, unless the writer was changing that, and of foreign commits.
    pub(super) taken_at: (Option<u64>, u64),
}

/// What a run came to.
#[derive(Clone)]
pub(super) struct Ran {
    /// The newest commit before its read transaction began.
    pub(super) since: u64,
    pub(super) micros: u64,
    /// Something is on its way to the consumer.
    pub(super) pending: bool,
    /// What the query depends on, if that is new.
    pub(super) dependencies: Option<Arc<Dependencies>>,
    /// It met an error that may pass, and is to run again after this time, whatever is committed.
    pub(super) retry: Option<Duration>,
}

impl Hub {
    pub(crate) fn new(
        commits: Arc<Commits>,
        readers: Arc<Readers>,
        reruns: Arc<Readers>,
        slots: usize,
        watcher: Arc<Watcher>,
    ) -> Self {
        let seed = RandomState::new().hash_one(0);
        let verification = Verification {
            asked: Vec::new(),
            due: HashSet::new(),
            suspects: 0,
            random: seed,
        };
        Self {
            commits,
            readers,
            reruns,
            slots,
            open: AtomicUsize::new(0),
            ids: Arc::default(),
            state: Mutex::new(State {
                registry: Registry::default(),
                scheduler: Scheduler::new(slots),
                streams: ByStream::default(),
                seen: 0,
                waiting: 0,
                working: 0,
                release_planned: false,
                queued_most: 0,
                verification,
                on_quiet: Vec::new(),
                concerned: Vec::new(),
                closed: false,
            }),
            totals: Counters::default(),
            foreign_commits: AtomicU64::new(0),
            watcher,
            seed,
        }
    }

    /// Begins a live query.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        request: LiveQueryRequest,
        listener: Box<dyn Listener>,
    ) -> Subscription {
        let (stream, closed) = self.enter(request, listener);
        if closed {
            lock(&stream.state).listener.fail(&Error::Closed, true);
        } else {
            self.watcher.wake(self);
            self.readers
                .submit(Job::Live(LiveJob::First(Arc::clone(self), Arc::clone(&stream))));
        }
        Subscription::new(Arc::clone(self), stream)
    }

    fn enter(&self, request: LiveQueryRequest, listener: Box<dyn Listener>) -> (Arc<Stream>, bool) {
        let scope = Scope::default();
        let LiveQueryRequest {
            queries,
            integers,
            verify,
        } = request;
        let query = |(sql, params): (Arc<str>, crate::Params)| Query {
            sql,
            params: params.compact(),
            format: Format::Rows,
            integers,
            token: scope.token(),
            limits: None,
        };
        let queries = queries.into_iter().map(query).collect();
        let stream = Arc::new(Stream::new(&self.ids, queries, verify, scope, listener));
        let id = stream.id;
        let mut state = lock(&self.state);
        if state.closed {
            return (stream, true);
        }
        if self.open.fetch_add(1, Ordering::SeqCst) == 0 {
            // Either the writer sees that a query is open, or its commit is seen here.
            fence(Ordering::SeqCst);
            state.seen = self.commits.last();
        }
        let known = Known {
            stream: Arc::clone(&stream),
            dependencies: None,
            reason: None,
        };
        state.streams.insert(id, known);
        state.scheduler.start(id);
        if verify > 0.0 {
            state.verification.asked.push((id, verify));
        }
        (stream, false)
    }

    /// Ends a live query.
    pub(super) fn end(self: &Arc<Self>, stream: &Stream) {
        stream.scope.cancel();
        drop(self.take_out(stream.id));
        self.check();
    }

    /// Takes a live query out that is over. Whoever does it lets go of what this gives (the listener goes with it, if no
    /// thread runs it, and may take other locks) and calls [`check`](Self::check) when the listener knows.
    pub(super) fn take_out(&self, id: StreamId) -> Option<Known> {
        self.remove(&mut lock(&self.state), id)
    }

    /// Sees what there is to do after a query was taken out.
    pub(super) fn check(self: &Arc<Self>) {
        self.move_on(lock(&self.state));
    }

    fn remove(&self, state: &mut State, id: StreamId) -> Option<Known> {
        let known = state.streams.remove(id)?;
        if let Some(dependencies) = &known.dependencies {
            state.registry.remove(id);
            self.ask(None, Some(dependencies));
        }
        state.scheduler.remove(id);
        if known.stream.verify > 0.0 {
            state.verification.asked.retain(|(other, _)| *other != id);
            state.verification.due.remove(&id);
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
        Some(known)
    }

    /// Asks the writer to decode as much as a query needs, in the place of what it needed before.
    fn ask(&self, now: Option<&Dependencies>, before: Option<&Dependencies>) {
        self.commits.change_interest(|interest| {
            for dependency in now.into_iter().flat_map(|now| &now.tables) {
                interest.add(&dependency.table, &dependency.columns, &images(dependency));
            }
            for dependency in before.into_iter().flat_map(|before| &before.tables) {
                interest.remove(&dependency.table, &dependency.columns, &images(dependency));
            }
        });
    }

    /// Looks through the commits that came since the last time, and sees to it that the queries run that they concern.
    pub(crate) fn catch_up(self: &Arc<Self>) {
        self.catch_up_or_run_here(|| false);
    }

    /// The same; `true` if there is so little to run that the caller is to do it, by [`run_here`](super::run_here).
    /// `is_idle`: it has a reader and nothing else to do; asked only while live queries are open.
    pub(crate) fn catch_up_or_run_here(self: &Arc<Self>, is_idle: impl FnOnce() -> bool) -> bool {
        fence(Ordering::SeqCst);
        if self.open.load(Ordering::SeqCst) == 0 {
            return false;
        }
        let is_idle = is_idle();
        let timer = profile::start();
        let mut state = lock(&self.state);
        let seen = state.seen;
        // Commits that do not wait for the queries to catch up are looked at together.
        let gather = state.scheduler.is_active();
        match self.commits.since(state.seen) {
            Ok(commits) => {
                for commit in commits {
                    state.seen = commit.sequence;
                    self.look_at(&mut state, &commit.summary, gather);
                }
            }
            Err(_) => {
                state.seen = self.commits.last();
                self.make_all_stale(&mut state, gather);
            }
        }
        let news = state.seen != seen;
        let here = self.move_on_or_run_here(is_idle, state);
        if news {
            profile::invalidation(timer);
        }
        here
    }

    fn look_at(&self, state: &mut State, summary: &ChangeSummary, gather: bool) {
        let mut concerned = std::mem::take(&mut state.concerned);
        let (timer, visited) = (profile::start(), state.registry.visited());
        state.registry.affected(summary, &mut concerned);
        profile::intersection(timer, || state.registry.visited() - visited);
        if !state.verification.asked.is_empty() {
            state.choose_verified(&concerned);
        }
        for (id, reason) in concerned.drain(..) {
            self.make_stale(state, id, reason, gather);
        }
        state.concerned = concerned;
    }

    fn make_all_stale(&self, state: &mut State, gather: bool) {
        let all: Vec<_> = state.streams.ids().collect();
        for id in all {
            self.make_stale(state, id, Reason::Everything, gather);
        }
    }

    fn make_stale(&self, state: &mut State, id: StreamId, reason: Reason, gather: bool) {
        let only_verified = state.verification.due.remove(&id);
        match state.scheduler.stale(id, gather) {
            Stale::Coalesced if !only_verified => {
                if let Some(known) = state.streams.get(id) {
                    known
                        .stream
                        .counters
                        .add(&self.totals, |counters| &counters.coalesced, 1);
                }
            }
            Stale::Queued | Stale::Gathered | Stale::Owed | Stale::Coalesced => {
                if let Some(known) = state.streams.get_mut(id) {
                    known.reason = Some(reason);
                }
            }
            Stale::Unknown => {}
        }
    }

    /// A thread is here to run what is due. It says [`work_done`](Self::work_done) in the end.
    pub(super) fn work_begins(&self) {
        let mut state = lock(&self.state);
        state.waiting -= 1;
        state.working += 1;
    }

    /// The runs to make now, as many as may share a read transaction; none if none is due.
    pub(super) fn take_turns(&self) -> VecDeque<Turn> {
        let mut state = lock(&self.state);
        let now = (self.commits.settled(), self.foreign_commits());
        let picked = state
            .scheduler
            .pick_several(limits::SHARED_READ_RUNS, limits::SHARED_READ_MICROS);
        picked.into_iter().filter_map(|id| state.turn(id, now)).collect()
    }

    /// Runs that were taken and not made are due still.
    pub(super) fn give_back(self: &Arc<Self>, turns: impl Iterator<Item = Turn>) {
        // Let go of when the lock is released: one that has ended meanwhile takes its listener with it.
        let turns: Vec<_> = turns.collect();
        let mut state = lock(&self.state);
        for Turn { stream, reason, .. } in &turns {
            state.scheduler.finished(stream.id, 0, false);
            let reason = reason.unwrap_or(Reason::Everything);
            self.make_stale(&mut state, stream.id, reason, true);
        }
        self.move_on(state);
    }

    pub(super) fn work_done(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        state.working -= 1;
        self.move_on(state);
    }

    /// Queries have gathered long enough. The caller begins to work on them.
    pub(super) fn release(&self) {
        let mut state = lock(&self.state);
        state.release_planned = false;
        state.scheduler.release();
        state.waiting += 1;
    }

    /// A run has ended.
    pub(super) fn finished(self: &Arc<Self>, stream: &Arc<Stream>, ran: Ran) {
        let mut state = lock(&self.state);
        if state.streams.get(stream.id).is_none() {
            return;
        }
        if let Some(dependencies) = ran.dependencies {
            self.register(&mut state, stream.id, dependencies, ran.since);
        }
        state.scheduler.finished(stream.id, ran.micros, ran.pending);
        self.move_on(state);
        if let Some(pause) = ran.retry {
            let retry = LiveJob::Retry(Arc::clone(self), Arc::downgrade(stream));
            self.reruns.submit_after(pause, Job::Live(retry));
        }
    }

    /// The pause after an error that may pass is over.
    pub(super) fn retry(self: &Arc<Self>, stream: &Stream) {
        let mut state = lock(&self.state);
        self.make_stale(&mut state, stream.id, Reason::Everything, false);
        self.move_on(state);
    }

    /// Registers what a query depends on, by looking through all commits that its result may not hold.
    fn register(&self, state: &mut State, id: StreamId, dependencies: Arc<Dependencies>, since: u64) {
        let known = state.streams.get_mut(id).expect("the caller has looked");
        let before = known.dependencies.replace(Arc::clone(&dependencies));
        state.registry.insert(id, Arc::clone(&dependencies));
        self.ask(Some(&dependencies), before.as_deref());
        let missed = match self.commits.since(since) {
            _ if planted("no_log_replay") => None,
            Ok(commits) => commits
                .iter()
                .find_map(|commit| dependencies.concerned(&commit.summary).ok()),
            Err(_) => Some(Reason::Everything),
        };
        if let Some(reason) = missed {
            self.make_stale(state, id, reason, false);
        }
    }

    /// The consumers of these live queries have taken what their listeners were given.
    pub(super) fn delivered(self: &Arc<Self>, ids: impl Iterator<Item = StreamId>) {
        let mut state = lock(&self.state);
        ids.for_each(|id| state.scheduler.delivered(id));
        self.move_on(state);
    }

    /// A run took longer than its thread has time for. Others make it.
    pub(super) fn put_off(self: &Arc<Self>, turn: &Turn, micros: u64) {
        let mut state = lock(&self.state);
        state.scheduler.finished(turn.stream.id, micros, false);
        let reason = turn.reason.unwrap_or(Reason::Everything);
        self.make_stale(&mut state, turn.stream.id, reason, false);
        self.move_on(state);
    }

    /// Calls readers for the runs that are due; tells those who wait that nothing is.
    fn move_on(self: &Arc<Self>, state: MutexGuard<'_, State>) {
        self.move_on_or_run_here(false, state);
    }

    fn move_on_or_run_here(self: &Arc<Self>, is_idle: bool, mut state: MutexGuard<'_, State>) -> bool {
        let state_now = &mut *state;
        state_now.queued_most = state_now.queued_most.max(state_now.scheduler.queued());
        let ready = state_now.scheduler.ready();
        let free = self.slots - (state_now.waiting + state_now.working).min(self.slots);
        let here = is_idle
            && state_now.waiting == 0
            && free > 0
            && state_now
                .scheduler
                .is_little(limits::WRITER_RUNS, limits::WRITER_RUNS_MICROS);
        let calls = if here {
            0
        } else {
            ready.saturating_sub(state_now.waiting).min(free)
        };
        state_now.waiting += calls + usize::from(here);
        let plan_release = state_now.scheduler.gathers() && !state_now.release_planned;
        state_now.release_planned |= plan_release;
        let quiet = if state_now.on_quiet.is_empty() || !self.is_quiet(state_now) {
            Vec::new()
        } else {
            std::mem::take(&mut state_now.on_quiet)
        };
        drop(state);
        if plan_release {
            let release = Job::Live(LiveJob::Release(Arc::clone(self)));
            self.reruns.submit_after(limits::GATHER, release);
        }
        for _ in 0..calls {
            self.reruns.submit(Job::Live(LiveJob::Next(Arc::clone(self))));
        }
        quiet.into_iter().for_each(|tell| tell());
        here
    }

    fn is_quiet(&self, state: &State) -> bool {
        let caught_up = state.seen == self.commits.last() || state.streams.is_empty();
        caught_up && state.scheduler.is_quiet() && state.verification.suspects == 0
    }

    /// Calls `tell` when no live query runs, is due, or has something to deliver: at once, or on an engine thread.
    pub(crate) fn when_quiet(self: &Arc<Self>, tell: Box<dyn FnOnce() + Send>) {
        let mut state = lock(&self.state);
        state.on_quiet.push(tell);
        self.move_on(state);
    }

    /// A run that should not have changed anything did. Unless somebody outside changed the file, a commit was
    /// skipped that should not have been.
    /// `known`: how many foreign commits were known before the run.
    pub(super) fn suspect(self: &Arc<Self>, stream: &Arc<Stream>, known: u64) {
        lock(&self.state).verification.suspects += 1;
        self.watcher.look_for(self, Some((Arc::clone(stream), known)));
    }

    /// It is known now who changed the file.
    pub(super) fn suspect_cleared(self: &Arc<Self>, stream: &Stream, missed: bool) {
        if missed {
            stream.counters.add(&self.totals, |counters| &counters.missed, 1);
        }
        let mut state = lock(&self.state);
        state.verification.suspects -= 1;
        self.move_on(state);
    }

    /// How often somebody outside was seen to have changed the file.
    pub(super) fn foreign_commits(&self) -> u64 {
        self.foreign_commits.load(Ordering::SeqCst)
    }

    /// Somebody outside has changed the file.
    pub(super) fn foreign_commit(self: &Arc<Self>) {
        self.foreign_commits.fetch_add(1, Ordering::SeqCst);
        self.commits.record_unknown();
        self.catch_up();
    }

    /// Whether any live query is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    pub(super) fn stats(&self, stream: &Stream) -> StreamStats {
        let skips = lock(&self.state).registry.skips(stream.id);
        stream.counters.stats(skips)
    }

    pub(crate) fn totals(&self) -> LiveTotals {
        let state = lock(&self.state);
        LiveTotals {
            open: state.streams.len(),
            running: state.scheduler.running(),
            queued: state.scheduler.queued(),
            queued_most: state.queued_most,
            foreign_commits: self.foreign_commits(),
            sums: self.totals.stats(state.registry.totals()),
        }
    }

    /// Ends all live queries. Blocks until those that are being run have ended.
    pub(crate) fn close(self: &Arc<Self>) {
        let streams = {
            let mut state = lock(&self.state);
            state.closed = true;
            let ids: Vec<_> = state.streams.ids().collect();
            let streams: Vec<_> = ids
                .into_iter()
                .filter_map(|id| self.remove(&mut state, id))
                .collect();
            self.move_on(state);
            streams
        };
        for Known { stream, .. } in &streams {
            stream.scope.cancel();
        }
        for Known { stream, .. } in streams {
            lock(&stream.state).listener.fail(&Error::Closed, true);
        }
        self.watcher.close();
    }
}

impl State {
    fn turn(&mut self, id: StreamId, taken_at: (Option<u64>, u64)) -> Option<Turn> {
        let known = self.streams.get_mut(id)?;
        Some(Turn {
            reason: known.reason.take(),
            verifying: self.verification.due.remove(&id),
            stream: Arc::clone(&known.stream),
            seen: self.seen,
            taken_at,
        })
    }

    /// Chooses some of the queries that a commit does not concern, to run all the same.
    fn choose_verified(&mut self, concerned: &[(StreamId, Reason)]) {
        for at in 0..self.verification.asked.len() {
            let (id, share) = self.verification.asked[at];
            let skipped = concerned.iter().all(|(other, _)| *other != id);
            if skipped && self.scheduler.is_idle(id) && self.verification.random() < share {
                self.verification.due.insert(id);
                self.scheduler.stale(id, false);
            }
        }
    }
}

impl Verification {
    /// From 0 to below 1 (splitmix64).
    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
