//! Snapshots and cursors: how many are open, who waits, and who is held back.
//!
//! Each open one has a connection, so a file has at most [`limits::LEASES_MAX`] at a time, and further ones wait.
//!
//! New sessions are held back while the log is to start anew. A session that is open then may never end: its caller may wait
//! for a session that is held back before he ends the open one. Nobody can tell for sure which session he waits for. A caller
//! who does one thing after the other asks for it right after the last step of his open session. So when nothing moves any
//! more, one session is let through: the one that was asked for soonest after the last step of an idle session. A caller who
//! does several things at a time may have asked before that step. So when nothing has moved for long, the session that has
//! waited longest is let through. Until it ends, sessions that are asked for later are let through, too, since most other
//! callers wait. So a session that is let through can end, and each round brings the open sessions nearer to their end. A hold
//! ends by itself when its time is over.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use super::{
    connections::Connections,
    hold::{Hold, Quiet},
};
use crate::{
    core::{
        clock,
        error::Error,
        limits,
        sync::{Condvar, Mutex, lock, wait},
        workers::{Timed, Workers},
    },
    requests::{
        holders::Holders,
        request::{CursorQuery, ReplyGuard},
        session::Inbox,
    },
};

/// The number of looks at which nothing has moved, after which any session is let through.
const LOOKS_FOR_ANY: u32 = 10;

/// A snapshot or cursor that was asked for.
pub(crate) struct Lease {
    pub(crate) inbox: Arc<Inbox>,
    /// A cursor; a snapshot has none.
    pub(crate) cursor: Option<CursorQuery>,
    pub(crate) opened: ReplyGuard,
}

impl Lease {
    pub(super) fn fail(self, error: Error) {
        self.inbox.end(Some(error.clone()));
        self.opened.fail(error);
    }
}

/// The snapshots and cursors of a file. The open ones are in [`session`](super::session).
pub(crate) struct Leases {
    connections: Arc<Connections>,
    holders: Arc<Holders>,
    state: Mutex<State>,
    /// Signalled when no session is open.
    quiet: Condvar,
    /// Grows with each step of a session.
    steps: AtomicU64,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    last_ticket: u64,
    open: usize,
    held_back: bool,
    hold: Option<Hold>,
    moves: Moves,
    closed: bool,
    /// The earliest time at which somebody looks.
    looks_at: Option<Instant>,
}

pub(super) struct Waiting {
    pub(super) ticket: u64,
    since: Instant,
    pub(super) lease: Lease,
}

/// The last sign that anything moves while new sessions are held back.
#[derive(Default)]
struct Moves {
    /// If nothing moved at the last look: the steps of all sessions, and the number of looks in a row before it at which they
    /// were the same.
    stuck_at: Option<(u64, u32)>,
    through: Option<Through>,
}

/// A session that was let through.
struct Through {
    ticket: u64,
    /// The ticket of the last session that waited then.
    last_waiting: u64,
}

impl Leases {
    /// Returns whether any session is open.
    pub(crate) fn are_open(&self) -> bool {
        lock(&self.state).open > 0
    }

    pub(crate) fn new(connections: Arc<Connections>) -> Self {
        Self {
            connections,
            holders: Arc::default(),
            state: Mutex::default(),
            quiet: Condvar::new(),
            steps: AtomicU64::new(0),
        }
    }

    pub(super) fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    pub(super) fn workers(&self) -> &Arc<Workers> {
        self.connections.workers()
    }

    /// The sessions that are open.
    pub(crate) fn holders(&self) -> &Arc<Holders> {
        &self.holders
    }

    /// Notes that a session goes on.
    pub(super) fn moves(&self) {
        self.steps.fetch_add(1, Relaxed);
    }

    /// Opens a session, now or when there is room for it.
    pub(crate) fn submit(self: &Arc<Self>, lease: Lease) {
        let mut state = lock(&self.state);
        if state.closed {
            drop(state);
            return lease.fail(Error::Closed);
        }
        state.last_ticket += 1;
        let (ticket, since) = (state.last_ticket, clock::now());
        state.waiting.push_back(Waiting { ticket, since, lease });
        let admitted = state.admit();
        let look = state.plan_look(since);
        drop(state);
        self.open(admitted);
        self.look_at(look);
    }

    fn look_at(self: &Arc<Self>, time: Option<Instant>) {
        time.into_iter().for_each(|time| self.workers().at(time, self));
    }

    /// Notes that a session has ended, and its connection was put back.
    pub(super) fn ended(self: &Arc<Self>, ticket: u64) {
        let mut state = lock(&self.state);
        let quiet = state.ended(ticket);
        let admitted = state.admit();
        if state.open == 0 {
            self.quiet.notify_all();
        }
        drop(state);
        quiet.into_iter().for_each(|quiet| quiet());
        self.open(admitted);
    }

    /// Holds new sessions back until [`release`](Self::release), or at most until `until`; a hold that has begun already stays
    /// as it is. Returns whether no session is open. Otherwise `quiet` is called as soon as none is open.
    pub(crate) fn hold(self: &Arc<Self>, until: Instant, quiet: impl FnOnce() + Send + 'static) -> bool {
        let mut state = lock(&self.state);
        let look = state.hold_back(until, quiet, clock::now());
        let is_quiet = state.open == 0;
        drop(state);
        self.look_at(look);
        is_quiet
    }

    pub(crate) fn release(self: &Arc<Self>) {
        self.change(|state| state.hold = None);
    }

    /// Runs `action` while no session is open and none can be opened; `None` if one is open.
    pub(crate) fn while_none_is_open<R>(self: &Arc<Self>, action: impl FnOnce() -> R) -> Option<R> {
        {
            let mut state = lock(&self.state);
            if state.open > 0 {
                return None;
            }
            state.held_back = true;
        }
        let result = action();
        self.change(|state| state.held_back = false);
        Some(result)
    }

    /// Opens what may be opened after a change.
    fn change(self: &Arc<Self>, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        let admitted = state.admit();
        drop(state);
        self.open(admitted);
    }

    /// Fails the waiting sessions that were cancelled.
    pub(crate) fn drop_cancelled(&self) {
        let cancelled = lock(&self.state).take(|waiting| waiting.lease.inbox.scope.is_cancelled());
        cancelled
            .into_iter()
            .for_each(|waiting| waiting.lease.fail(Error::Aborted));
    }

    /// Takes no more sessions; those that wait get an error.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.hold = None;
        let refused = state.take(|_| true);
        drop(state);
        refused
            .into_iter()
            .for_each(|waiting| waiting.lease.fail(Error::Closed));
    }

    /// Waits until no session is open.
    pub(crate) fn join(&self) {
        let mut state = lock(&self.state);
        while state.open > 0 {
            state = wait(&self.quiet, state);
        }
    }

    /// Returns the number of open sessions, and of waiting ones.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = lock(&self.state);
        (state.open, state.waiting.len())
    }
}

/// Looks after the waiting sessions.
impl Timed for Leases {
    fn is_due(self: Arc<Self>) {
        let (idle, now) = (self.holders.last_requests_of_idle(), clock::now());
        let mut state = lock(&self.state);
        state.looks_at = None;
        let mut refused = VecDeque::new();
        let mut admitted = state.admit();
        if state.is_held_back() {
            admitted.extend(state.let_through(&idle, self.steps.load(Relaxed)));
        } else {
            refused = state.take(|waiting| now.duration_since(waiting.since) >= limits::LEASE_REFUSED);
        }
        let look = state.plan_look(now);
        drop(state);
        refused
            .into_iter()
            .for_each(|waiting| waiting.lease.fail(Error::TooManyLeases));
        self.open(admitted);
        self.look_at(look);
    }
}

impl State {
    /// Holds new sessions back. Returns the time at which somebody is to look after those that wait already.
    fn hold_back(
        &mut self,
        until: Instant,
        quiet: impl FnOnce() + Send + 'static,
        now: Instant,
    ) -> Option<Instant> {
        Hold::begin(&mut self.hold, until, self.open == 0, quiet);
        self.plan_look(now)
    }

    fn is_held_back(&mut self) -> bool {
        if self.hold.take_if(|hold| hold.is_over()).is_some() || self.hold.is_none() {
            self.moves = Moves::default();
        }
        self.held_back || self.hold.is_some()
    }

    /// Takes the sessions that may be opened now, and counts them as open.
    fn admit(&mut self) -> Vec<Waiting> {
        let is_free = !self.is_held_back();
        let after = match &self.moves.through {
            _ if is_free => 0,
            Some(through) if !self.held_back => through.last_waiting,
            _ => return Vec::new(),
        };
        let first = self.waiting.partition_point(|waiting| waiting.ticket <= after);
        let room = limits::LEASES_MAX.saturating_sub(self.open);
        let last = self.waiting.len().min(first + room);
        self.open += last - first;
        self.waiting.drain(first..last).collect()
    }

    /// Lets one session through, if nothing moves. `idle`: the last requests of the sessions that wait for their callers.
    fn let_through(&mut self, idle: &[u64], steps: u64) -> Option<Waiting> {
        let looks = self.moves.look(self.open > 0 && idle.len() == self.open, steps);
        let at = match looks {
            0 => None,
            1..LOOKS_FOR_ANY => {
                let distances = self.waiting.iter().enumerate();
                let distances =
                    distances.filter_map(|(at, waiting)| Some((waiting.distance_from(idle)?, at)));
                distances.min().map(|(_, at)| at)
            }
            LOOKS_FOR_ANY.. => Some(0),
        }?;
        let last_waiting = self.waiting.back()?.ticket;
        let waiting = self.waiting.remove(at)?;
        self.open += 1;
        self.moves.through = Some(Through {
            ticket: waiting.ticket,
            last_waiting,
        });
        Some(waiting)
    }

    /// Notes that a session has ended. Returns the callback that must be called without the lock.
    fn ended(&mut self, ticket: u64) -> Option<Quiet> {
        self.open -= 1;
        self.moves.through.take_if(|through| through.ticket == ticket);
        Hold::rests(&mut self.hold, self.open == 0)
    }

    fn take(&mut self, matches: impl Fn(&Waiting) -> bool) -> VecDeque<Waiting> {
        let (taken, kept) = std::mem::take(&mut self.waiting).into_iter().partition(matches);
        self.waiting = kept;
        taken
    }

    /// Returns the time at which somebody is to look after the waiting sessions, unless a look is planned before that.
    fn plan_look(&mut self, now: Instant) -> Option<Instant> {
        let first = self.waiting.front()?.since;
        let time = match self.is_held_back() {
            true => now + limits::LEASES_LOOK,
            false => first + limits::LEASE_REFUSED,
        };
        let is_earlier = self.looks_at.is_none_or(|other| time < other);
        is_earlier.then(|| *self.looks_at.insert(time))
    }
}

impl Waiting {
    /// Returns the distance from the nearest of `requests` that came before this session was asked for, counted in requests;
    /// `None` if all came later.
    fn distance_from(&self, requests: &[u64]) -> Option<u64> {
        let opening = self.lease.inbox.opening;
        let distances = requests
            .iter()
            .filter_map(|request| opening.checked_sub(*request));
        distances.min()
    }
}

impl Moves {
    /// Looks whether anything moves, and returns the number of earlier looks in a row since which nothing has moved. Nothing
    /// has moved if every open session waits for its caller (`all_wait`), no session was let through, and `steps`, which grows
    /// with all that sessions do, is the same.
    fn look(&mut self, all_wait: bool, steps: u64) -> u32 {
        let before = self.stuck_at.take().filter(|&(then, _)| then == steps);
        if !all_wait || self.through.is_some() {
            return 0;
        }
        let looks = before.map_or(0, |(_, looks)| looks + 1);
        self.stuck_at = Some((steps, looks));
        looks
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
