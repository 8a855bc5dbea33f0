//! Single schedules, step by step. The simulation makes thousands at random.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use bytes::Bytes;
use resqlite::log::{Hash, Head, Position};

use super::{
    Acceptance, Action, Failure, Link, Logged, Protocol, RequestId, Run, Served, Settled, Source, Time,
    Unapplied,
};
use crate::core::{
    log::{Append, NodeName},
    options::Patience,
};

const RETRY: Duration = Duration::from_millis(50);
const LATER: Time = Duration::from_secs(1);

fn run(name: &str) -> Run {
    Run {
        node: NodeName::new(name).unwrap(),
        number: 1,
    }
}

/// An entry of a history. Those of one history follow each other.
fn entry(history: u8, position: u64, writer: &str) -> Logged {
    let hash = |position: u64| {
        let mut hash = [history; 32];
        hash[..8].copy_from_slice(&position.to_le_bytes());
        Hash(hash)
    };
    Logged {
        link: Link {
            position: Position(position),
            previous: hash(position.wrapping_sub(1)),
            hash: hash(position),
        },
        writer: run(writer),
        served: Vec::new(),
        bytes: Bytes::copy_from_slice(&[hash(position).0.as_slice(), writer.as_bytes()].concat()),
        entry: None,
    }
}

fn head(logged: &Logged) -> Head {
    Head {
        position: logged.link.position,
        hash: logged.link.hash,
    }
}

/// Node `a`, which has applied up to there.
fn node(at: u64) -> Protocol {
    let patience = Patience {
        write: Duration::from_secs(10),
        retry: RETRY,
        tail: LATER,
        remembered: 8,
    };
    let at = head(&entry(1, at, "b"));
    Protocol::new(run("a"), at, patience)
}

fn hears(node: &mut Protocol, position: u64) {
    node.received(
        Time::ZERO,
        Source::Tail,
        Position(position),
        entry(1, position, "b"),
    );
}

fn actions(node: &mut Protocol) -> Vec<String> {
    let name = |action: Action| match action {
        Action::Append(_, position, _) => format!("append at {position}"),
        Action::Apply(logged) => format!("apply {}", logged.link.position),
        Action::Overtaken(by) => format!("overtaken by {}", by.len()),
        Action::Refuse(refusal) => format!("refuse: {}", refusal.code),
        Action::Stopped(refusal) => format!("stopped: {}", refusal.code),
        Action::Read(position) => format!("read {position}"),
        Action::Settled(number, Settled::Done(position, numbers)) => {
            format!("settled {number}: done at {position}, {numbers:?}")
        }
        Action::CancelBelow(_) => String::new(),
        other => format!("{other:?}").to_lowercase(),
    };
    std::iter::from_fn(|| node.next_action())
        .map(name)
        .filter(|name| !name.is_empty())
        .collect()
}

/// A transaction of the node is taken by the log, and passes.
fn passes(node: &mut Protocol, position: u64) {
    node.asked(Time::ZERO, Arc::new(entry(1, position, "a")));
    node.appended(Time::ZERO, 1, Ok(Append::Taken));
    assert_eq!(actions(node), [format!("append at {position}"), "pass".into()]);
}

// G327
#[test]
fn a_purge_of_what_is_here_but_not_applied_yet_does_no_harm() {
    let mut node = node(5);
    (6..=10).for_each(|position| hears(&mut node, position));
    node.purged(Position(11));
    assert_eq!(node.stopped(), None);
    node.purged(Position(12));
    assert_eq!(node.stopped().unwrap().code, "RESQLITE_FELL_BEHIND");
}

// G334
#[test]
fn where_the_writer_was_lost_before_commit_the_entry_is_applied_from_the_log() {
    let mut node = node(5);
    passes(&mut node, 6);
    node.writer_lost();
    assert_eq!(actions(&mut node), ["askposition"]);
    node.told_position(Time::ZERO, head(&entry(1, 5, "b")));
    node.tick(RETRY);
    assert_eq!(actions(&mut node), ["apply 6"]);
}

// G334
#[test]
fn where_the_writer_was_lost_after_commit_the_node_goes_on_behind_it() {
    let mut node = node(5);
    passes(&mut node, 6);
    node.writer_lost();
    node.told_position(Time::ZERO, head(&entry(1, 6, "a")));
    assert_eq!(node.applied().position, Position(6));
    hears(&mut node, 7);
    node.tick(RETRY);
    assert_eq!(actions(&mut node), ["askposition", "apply 7"]);
}

// G334
#[test]
fn where_the_writer_was_lost_before_it_applied_what_has_overtaken_it_that_is_given_again() {
    let mut node = node(5);
    node.asked(Time::ZERO, Arc::new(entry(1, 6, "a")));
    hears(&mut node, 6);
    assert_eq!(actions(&mut node), ["append at 6", "overtaken by 1"]);
    node.writer_lost();
    node.told_position(Time::ZERO, head(&entry(1, 5, "b")));
    node.tick(RETRY);
    assert_eq!(actions(&mut node), ["askposition", "apply 6"]);
}

#[test]
fn the_next_transaction_tells_what_a_lost_writer_has_committed() {
    let mut node = node(5);
    passes(&mut node, 6);
    node.writer_lost();
    let mut next = entry(1, 7, "a");
    next.link.previous = entry(1, 6, "a").link.hash;
    node.asked(Time::ZERO, Arc::new(next));
    assert_eq!(node.applied().position, Position(6));
    assert_eq!(actions(&mut node), ["askposition", "append at 7"]);
}

#[test]
fn an_entry_that_the_database_has_already_makes_the_node_ask_where_it_is() {
    let mut node = node(5);
    hears(&mut node, 6);
    node.not_applied(Time::ZERO, Position(6), Unapplied::Position);
    assert_eq!(actions(&mut node), ["apply 6", "askposition"]);
}

// G336
#[test]
fn a_request_that_comes_again_after_many_others_does_not_run_again() {
    let mut node = node(5);
    let id = |number: u64| RequestId {
        from: run("b"),
        number: number.try_into().unwrap(),
    };
    let me = run("a");
    for number in 1..=3000 {
        assert_eq!(node.accept(&id(number), &me, Position(5)), Acceptance::Run);
    }
    for number in 1..=3000 {
        assert_ne!(
            node.accept(&id(number), &me, Position(5)),
            Acceptance::Run,
            "{number}"
        );
    }
    assert_eq!(node.accept(&id(3001), &me, Position(5)), Acceptance::Run);
}

#[test]
fn of_a_run_whose_requests_came_out_of_order_none_runs_again() {
    let mut node = node(5);
    let (me, id) = (run("a"), |from: &str, number: u64| RequestId {
        from: run(from),
        number: number.try_into().unwrap(),
    });
    for number in [9, 3] {
        assert_eq!(node.accept(&id("b", number), &me, Position(5)), Acceptance::Run);
    }
    for number in 1..=20 {
        assert_eq!(node.accept(&id("c", number), &me, Position(5)), Acceptance::Run);
    }
    for number in [9, 3] {
        assert_eq!(
            node.accept(&id("b", number), &me, Position(5)),
            Acceptance::Unknown
        );
    }
}

/// Node `a`, which has asked `b` to run a write, and got the entry that has it. Its answer has rows, which the log has not.
fn got_what_it_asked_for() -> (Protocol, NonZeroU64) {
    let (mut node, number) = (node(5), NonZeroU64::MIN);
    node.requested(Time::ZERO, number, run("b"));
    let mut done = entry(1, 6, "b");
    done.served.push(Served {
        id: RequestId {
            from: run("a"),
            number,
        },
        changes: 1,
        last_insert_rowid: 1,
        has_more: true,
    });
    node.received(Time::ZERO, Source::Tail, Position(6), done);
    node.committed(head(&entry(1, 6, "b")));
    assert_eq!(actions(&mut node), ["apply 6"]);
    (node, number)
}

#[test]
fn a_write_that_stands_in_the_log_has_happened_even_if_its_answer_is_lost() {
    let (mut node, number) = got_what_it_asked_for();
    node.unanswered(number);
    assert_eq!(actions(&mut node), ["settled 1: done at 6, None"]);
}

#[test]
fn a_write_that_stands_in_the_log_is_not_made_again_when_others_write() {
    let (mut node, number) = got_what_it_asked_for();
    node.received(Time::ZERO, Source::Tail, Position(7), entry(1, 7, "c"));
    node.committed(head(&entry(1, 7, "c")));
    assert_eq!(actions(&mut node), ["apply 7"]);
    assert!(node.answered(number));
}

#[test]
fn an_append_that_was_refused_may_have_been_refused_by_its_own_copy() {
    let mut node = node(5);
    node.asked(Time::ZERO, Arc::new(entry(1, 6, "a")));
    node.appended(Time::ZERO, 1, Ok(Append::Refused));
    assert_eq!(actions(&mut node), ["append at 6", "read 6"]);
    node.unread(Time::ZERO);
    node.tick(Duration::from_secs(10));
    let told = actions(&mut node);
    assert!(
        told.contains(&"refuse: RESQLITE_OUTCOME_UNKNOWN".into()),
        "{told:?}"
    );
}

// G326
#[test]
fn a_node_stops_where_another_entry_stands_than_it_has_applied_long_since() {
    let mut node = node(5);
    for at in 6..=9 {
        hears(&mut node, at);
        node.committed(head(&entry(1, at, "b")));
    }
    assert!(node.skip_passed(Time::ZERO, Position(7), Some(entry(1, 7, "b").link.hash)));
    assert_eq!(node.stopped(), None);
    assert!(node.skip_passed(Time::ZERO, Position(7), Some(entry(2, 7, "c").link.hash)));
    assert_eq!(node.stopped().unwrap().code, "RESQLITE_LOG_DIVERGED");
}

// G337
#[test]
fn a_write_at_a_position_that_another_base_took_has_not_happened() {
    let mut node = node(0);
    let mut first = entry(1, 1, "a");
    first.link.previous = entry(1, 0, "b").link.hash;
    node.asked(Time::ZERO, Arc::new(first));
    node.appended(Time::ZERO, 1, Err(Failure::Unknown("no answer".into())));
    node.received(Time::ZERO, Source::Tail, Position(1), entry(2, 1, "b"));
    let told = actions(&mut node);
    assert!(told.contains(&"refuse: RESQLITE_FELL_BEHIND".into()), "{told:?}");
    assert!(told.contains(&"stopped: RESQLITE_FELL_BEHIND".into()), "{told:?}");
}

/// Node `a`, whose writes have seen the state at 5, and changed nothing.
fn confirms() -> Protocol {
    let mut node = node(5);
    node.confirm(Time::ZERO, head(&entry(1, 5, "b")), false);
    assert_eq!(actions(&mut node), ["asknewest(1)"]);
    node
}

#[test]
fn writes_without_an_entry_are_answered_when_the_log_has_no_more_than_they_have_seen() {
    let mut node = confirms();
    node.newest_is(Time::ZERO, 1, Ok(Position(5)));
    assert_eq!(actions(&mut node), ["pass"]);
    node.newest_is(Time::ZERO, 1, Ok(Position(5)));
    assert!(actions(&mut node).is_empty());
}

#[test]
fn writes_without_an_entry_are_overtaken_by_what_they_have_not_seen() {
    let mut node = confirms();
    hears(&mut node, 6);
    assert!(actions(&mut node).is_empty(), "it is not applied while they wait");
    node.newest_is(Time::ZERO, 1, Ok(Position(7)));
    assert_eq!(actions(&mut node), ["overtaken by 1"]);

    let mut node = confirms();
    node.newest_is(Time::ZERO, 1, Ok(Position(6)));
    assert_eq!(actions(&mut node), ["read 6"]);
    node.tick(RETRY);
    assert_eq!(actions(&mut node), ["read 6"]);
    node.received(RETRY, Source::Read, Position(6), entry(1, 6, "b"));
    assert_eq!(actions(&mut node), ["overtaken by 1"]);
}

#[test]
fn the_log_is_asked_again_until_the_time_is_up() {
    let mut node = confirms();
    node.newest_is(Time::ZERO, 1, Err("unreachable".into()));
    node.tick(RETRY);
    assert_eq!(actions(&mut node), ["asknewest(2)"]);
    node.newest_is(RETRY, 1, Ok(Position(5)));
    assert!(
        actions(&mut node).is_empty(),
        "an answer to the first question tells of a time before"
    );
    node.tick(Duration::from_secs(10));
    let told = actions(&mut node);
    assert!(told.contains(&"refuse: RESQLITE_NO_QUORUM".into()), "{told:?}");
}

#[test]
fn a_log_that_ends_before_what_is_here_has_lost_entries() {
    let mut node = confirms();
    node.newest_is(Time::ZERO, 1, Ok(Position(4)));
    let told = actions(&mut node);
    assert!(told.contains(&"refuse: RESQLITE_LOG_DIVERGED".into()), "{told:?}");
}

#[test]
fn writes_that_were_overtaken_are_answered_from_what_the_log_had_then() {
    let mut node = confirms();
    node.newest_is(Time::ZERO, 1, Ok(Position(6)));
    hears(&mut node, 6);
    assert_eq!(actions(&mut node), ["read 6", "overtaken by 1"]);
    node.committed(head(&entry(1, 6, "b")));
    hears(&mut node, 7);
    node.confirm(Time::ZERO, head(&entry(1, 6, "b")), true);
    assert_eq!(actions(&mut node), ["apply 7", "pass"]);
    // Other writes were asked for later, perhaps.
    node.confirm(Time::ZERO, head(&entry(1, 6, "b")), true);
    assert_eq!(actions(&mut node), ["asknewest(2)"]);
}

#[test]
fn an_answer_to_writes_of_a_lost_writer_lets_no_transaction_pass() {
    let mut node = confirms();
    node.writer_lost();
    node.asked(Time::ZERO, Arc::new(entry(1, 6, "a")));
    node.newest_is(Time::ZERO, 1, Ok(Position(5)));
    assert_eq!(actions(&mut node), ["askposition", "append at 6"]);
}

#[test]
fn a_node_whose_own_temporary_tables_are_in_the_way_stops_until_it_is_opened_again() {
    let mut node = node(5);
    hears(&mut node, 6);
    node.not_applied(
        Time::ZERO,
        Position(6),
        Unapplied::Hindered("temporary tables".into()),
    );
    assert_eq!(node.stopped().unwrap().code, "RESQLITE_ENTRY_NOT_CARRIED");
}
