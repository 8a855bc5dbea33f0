use std::time::Duration;

use super::*;
use crate::{
    requests::{
        request::{Outcome, Reply, ReplyGuard},
        session::Session,
    },
    rows::{ColumnLayout, RowBatch},
};

struct Unheard;

impl Reply for Unheard {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        false
    }

    fn finish(self: Box<Self>, _: crate::core::error::Result<Outcome<'_>>) {}
}

/// Asks for sessions, whose tickets are 1, 2, …
struct Asks {
    state: State,
    sessions: Vec<Session>,
}

impl Asks {
    fn for_sessions(count: usize) -> Self {
        let mut asks = Self {
            state: State::default(),
            sessions: Vec::new(),
        };
        (0..count).for_each(|_| asks.for_one());
        asks
    }

    fn for_one(&mut self) {
        let session = Session::new();
        self.state.last_ticket += 1;
        let lease = Lease {
            inbox: Arc::clone(&session.inbox),
            cursor: None,
            opened: ReplyGuard::new(Box::new(Unheard)),
        };
        self.state.waiting.push_back(Waiting {
            ticket: self.state.last_ticket,
            since: Instant::now(),
            lease,
        });
        self.sessions.push(session);
    }

    /// The tickets of those that may open now.
    fn admitted(&mut self) -> Vec<u64> {
        self.state.admit().iter().map(|waiting| waiting.ticket).collect()
    }

    fn hold(&mut self) {
        let until = Instant::now() + Duration::from_secs(3600);
        Hold::begin(&mut self.state.hold, until, false, || ());
    }

    /// The ticket of the one that goes through, if the last requests of the idle sessions are these.
    fn through(&mut self, idle: &[u64], steps: u64) -> Option<u64> {
        let let_through = self.state.let_through(idle, steps);
        let_through.map(|waiting| waiting.ticket)
    }

    /// The number of the request by which a session was asked for.
    fn request(&self, ticket: usize) -> u64 {
        self.sessions[ticket - 1].inbox.opening
    }
}

/// The first one is open and idle, two more are held back.
fn held_back() -> Asks {
    let mut asks = Asks::for_sessions(1);
    assert_eq!(asks.admitted(), [1]);
    asks.hold();
    asks.for_one();
    asks.for_one();
    assert_eq!(asks.admitted(), []);
    asks
}

// G72
#[test]
fn as_many_are_open_as_may_be_and_the_next_when_one_ends() {
    let mut asks = Asks::for_sessions(limits::LEASES_MAX + 2);
    assert_eq!(asks.admitted().len(), limits::LEASES_MAX);
    assert_eq!(asks.admitted(), []);
    asks.state.ended(1);
    assert_eq!(asks.admitted(), [limits::LEASES_MAX as u64 + 1]);
}

// G72
#[test]
fn those_that_wait_for_room_are_looked_at_when_they_are_to_be_refused() {
    let mut asks = Asks::for_sessions(limits::LEASES_MAX + 1);
    asks.admitted();
    let since = asks.state.waiting[0].since;
    assert_eq!(asks.state.plan_look(since), Some(since + limits::LEASE_REFUSED));
    assert_eq!(asks.state.plan_look(since), None, "it is planned");
}

// G101
#[test]
fn those_that_are_held_back_are_looked_at_often() {
    let (mut asks, now) = (held_back(), Instant::now());
    assert_eq!(asks.state.plan_look(now), Some(now + limits::LEASES_LOOK));
}

// G101
#[test]
fn a_hold_tells_when_none_is_open_any_more_and_lets_all_go_when_it_is_released() {
    let mut asks = held_back();
    assert!(asks.state.ended(1).is_some());
    asks.state.hold = None;
    assert_eq!(asks.admitted(), [2, 3]);
}

// G101
#[test]
fn nothing_is_let_through_while_a_session_goes_on() {
    let mut asks = held_back();
    let idle = [asks.request(1)];
    assert_eq!(asks.through(&idle, 1), None, "it was looked at once");
    assert_eq!(asks.through(&idle, 2), None, "it has gone on");
    assert_eq!(asks.through(&[], 2), None, "it is at work");
    assert_eq!(asks.through(&idle, 2), None, "so it is looked at once again");
    assert_eq!(asks.through(&idle, 2), Some(2));
}

// G101
#[test]
fn once_nothing_moves_one_is_let_through_and_until_it_ends_those_that_come_later() {
    let mut asks = held_back();
    let idle = [asks.request(1)];
    assert_eq!([asks.through(&idle, 1), asks.through(&idle, 1)], [None, Some(2)]);
    asks.for_one();
    assert_eq!(asks.admitted(), [4]);
    let idle = [idle[0]; 3];
    assert_eq!(
        [(); 2].map(|()| asks.through(&idle, 2)),
        [None; 2],
        "one at a time"
    );
    asks.state.ended(2);
    asks.for_one();
    assert_eq!(asks.admitted(), [], "3, and 5, which came after its end, wait");
}

// G101
#[test]
fn the_one_that_was_asked_for_soonest_after_a_step_of_an_idle_session_goes_first() {
    let mut asks = held_back();
    let idle = [asks.request(3)];
    assert_eq!([asks.through(&idle, 1), asks.through(&idle, 1)], [None, Some(3)]);
}

// G101
#[test]
fn one_that_was_asked_for_before_the_last_steps_of_all_is_let_through_only_after_long() {
    let mut asks = held_back();
    let idle = [asks.request(3) + 1];
    let looks = [(); LOOKS_FOR_ANY as usize].map(|()| asks.through(&idle, 1));
    assert_eq!(looks, [None; LOOKS_FOR_ANY as usize]);
    assert_eq!(asks.through(&idle, 1), Some(2));
}

// G101
#[test]
fn what_was_let_through_before_counts_no_more_in_the_next_hold() {
    let mut asks = held_back();
    let idle = [asks.request(1)];
    assert_eq!([asks.through(&idle, 1), asks.through(&idle, 1)], [None, Some(2)]);
    asks.state.hold = None;
    assert_eq!(asks.admitted(), [3]);
    asks.hold();
    asks.for_one();
    assert_eq!(asks.admitted(), []);
}

#[test]
fn those_that_waited_before_a_hold_are_looked_at_as_often_as_those_that_come_later() {
    let mut asks = Asks::for_sessions(limits::LEASES_MAX + 1);
    asks.admitted();
    let now = Instant::now();
    asks.state.plan_look(now);
    let look = asks.state.hold_back(now + limits::LOG_PAUSE, || (), now);
    assert_eq!(look, Some(now + limits::LEASES_LOOK));
}
