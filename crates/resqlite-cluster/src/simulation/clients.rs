//! Clients that write here or through another node, and the answers that they receive.

use std::num::NonZeroU64;

use resqlite::log::Position;

use super::{
    database::{Asker, Job, Outcome, Write, changes_nothing, number},
    history::Fate,
    world::{Event, Reply, World},
};
use crate::{
    core::codes,
    protocol::{Acceptance, RequestId, Run, Settled},
};

impl World {
    pub(super) fn write(&mut self, at: usize) {
        let is_open = |live: &super::world::Live| live.is_open;
        if !self.nodes[at].live.as_ref().is_some_and(is_open) {
            return;
        }
        self.writes += 1;
        self.history.set(self.writes, Fate::Pending);
        if changes_nothing(self.writes) {
            self.asked_at.insert(self.writes, self.told_newest);
        }
        self.begin(at, self.writes);
        self.perform(at);
    }

    /// Runs a write here, or asks another node to run it.
    pub(super) fn begin(&mut self, at: usize, write: u64) {
        let time = self.time();
        let me = self.nodes[at].run.clone().expect("it is alive");
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        let Some(to) = live.protocol.route() else {
            return self.run_here(at, write, Asker::Client);
        };
        live.requested += 1;
        let id = RequestId {
            from: me,
            number: number(live.requested),
        };
        let known = live.protocol.requested(time, id.number, to.clone());
        live.requests.insert(id.number, write);
        let target = self
            .nodes
            .iter()
            .position(|node| node.name == to.node)
            .expect("a node");
        if self.is_unreachable(at) {
            return self.soon(at, 3, Event::NotReached(id.number));
        }
        let lost = self.is_lost(at) || self.is_cut_off(target);
        if !lost {
            let copies = 1 + u64::from(self.dice.fails(self.trouble.doubled));
            for _ in 0..copies {
                let delay = self.delay();
                self.later(
                    target,
                    None,
                    delay,
                    Event::Request(id.clone(), to.clone(), known, write),
                );
            }
        }
        self.soon(at, 250, Event::NoAnswer(id.number));
    }

    pub(super) fn run_here(&mut self, at: usize, adds: u64, asker: Asker) {
        self.nodes[at].database().push(Job::Write(Write {
            adds,
            asker,
            is_cancelled: false,
        }));
        self.soon(at, 1, Event::Work);
    }

    /// Handles the request of another node to run a write here.
    pub(super) fn request(&mut self, at: usize, id: RequestId, to: &Run, known: Position, write: u64) {
        let Some(live) = &mut self.nodes[at].live else {
            return;
        };
        match live.protocol.accept(&id, to, known) {
            Acceptance::Run => self.run_here(at, write, Asker::Node(id, known)),
            Acceptance::NotRun => self.answer(at, &id, Reply::NotRun),
            Acceptance::Unknown => self.answer(at, &id, Reply::Unknown),
            Acceptance::Doubled => {}
        }
    }

    pub(super) fn answer(&mut self, at: usize, id: &RequestId, reply: Reply) {
        let delay = self.delay();
        let to = self
            .nodes
            .iter()
            .position(|node| node.name == id.from.node)
            .expect("a node");
        if self.is_lost(at) || self.is_cut_off(to) {
            return;
        }
        self.later(to, Some(id.from.number), delay, Event::Reply(id.number, reply));
    }

    pub(super) fn reply(&mut self, at: usize, number: NonZeroU64, reply: &Reply) {
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        match reply {
            Reply::NotRun => live.protocol.not_run(number),
            Reply::Unknown => live.protocol.unanswered(number),
            Reply::Done(_) | Reply::Failed(_) if !live.protocol.answered(number) => {}
            Reply::Done(position) => {
                let write = live.requests.remove(&number).expect("it is open");
                live.unseen.push((*position, write));
                self.see(at);
            }
            Reply::Failed(code) => {
                let write = live.requests.remove(&number).expect("it is open");
                self.history.set(write, Fate::Failed(code));
            }
        }
    }

    /// Acknowledges the writes that ran on other nodes and are seen here by now.
    pub(super) fn see(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let live = node.live.as_mut().expect("it is alive");
        let applied = live.protocol.applied().position;
        let (seen, unseen) = live.unseen.iter().partition(|(position, _)| *position <= applied);
        live.unseen = unseen;
        let seen: Vec<(Position, u64)> = seen;
        for (position, write) in seen {
            self.acknowledge(at, write, position);
        }
    }

    /// Acknowledges a write. The client can read its write at once. The answer to a write that changes nothing is about a state
    /// that has everything acknowledged before.
    fn acknowledge(&mut self, at: usize, write: u64, position: Position) {
        if let Some(&before) = self.asked_at.get(&write) {
            assert!(
                self.has_forgotten || position >= before,
                "write {write} is told of position {position}, and {before} was acknowledged before it"
            );
            return self.history.set(write, Fate::ChangedNothing);
        }
        assert!(
            self.has_forgotten || self.nodes[at].database().list.contains(&write),
            "write {write} is not seen where it was asked for"
        );
        self.told_newest = self.told_newest.max(position);
        self.history.set(write, Fate::Acknowledged);
    }

    pub(super) fn outcome(&mut self, at: usize, write: &Write, outcome: &Outcome) {
        match &write.asker {
            Asker::TakeOver => self.nodes[at]
                .live
                .as_mut()
                .expect("it is alive")
                .protocol
                .took_over(),
            Asker::Founder => self.founded(at, outcome),
            Asker::Client => match outcome {
                Outcome::Done(position) => self.acknowledge(at, write.adds, *position),
                Outcome::Failed(codes::OUTCOME_UNKNOWN) | Outcome::NotCommitted => {
                    self.history.set(write.adds, Fate::Unknown);
                }
                Outcome::Failed(code) => self.history.set(write.adds, Fate::Failed(code)),
                Outcome::Cancelled => unreachable!("nobody cancels it"),
            },
            Asker::Node(id, _) => {
                let reply = match outcome {
                    Outcome::Done(position) => Reply::Done(*position),
                    Outcome::Failed(codes::OUTCOME_UNKNOWN) | Outcome::NotCommitted => Reply::Unknown,
                    Outcome::Failed(codes::FELL_BEHIND | codes::LOG_DIVERGED) => Reply::NotRun,
                    Outcome::Failed(code) => Reply::Failed(code),
                    Outcome::Cancelled => Reply::NotRun,
                };
                self.answer(at, id, reply);
            }
        }
    }

    pub(super) fn settled(&mut self, at: usize, number: NonZeroU64, settled: &Settled) {
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        let Some(write) = live.requests.remove(&number) else {
            panic!("request {number} is settled twice");
        };
        match settled {
            Settled::Done(position, _) => {
                live.unseen.push((*position, write));
                self.see(at);
            }
            Settled::Not => self.begin(at, write),
            Settled::Unknown => self.history.set(write, Fate::Unknown),
        }
    }
}
