//! The events of a node, the actions that its protocol then wants, and the results of these actions.

use std::sync::Arc;

use resqlite::log::{Hash, Position};

use super::{
    database::{Asker, Job, Told},
    log::{Model, There},
    world::{Event, RETRY, TAKEOVERS, World},
};
use crate::protocol::{Action, Failure, Source};

impl World {
    pub(super) fn happen(&mut self, at: usize, event: Event) {
        let time = self.time();
        match event {
            Event::Start => return self.start(at),
            Event::Open(step) => return self.open(at, step),
            Event::Close => return self.close(at),
            Event::Put(snapshot, purges) => return self.log.put(snapshot, purges),
            Event::Client if self.now < self.ends => return self.client(at),
            Event::Request(id, to, known, write) => return self.request(at, id, &to, known, write),
            _ => {}
        }
        let Some(live) = &mut self.nodes[at].live else {
            return;
        };
        match event {
            Event::Work => {
                let run = self.nodes[at].run.clone().expect("it is alive");
                let told = self.nodes[at].database().work(&run);
                let idle = told.is_empty();
                self.tell(at, told);
                if !idle {
                    self.soon(at, 1, Event::Work);
                }
            }
            Event::Tick => {
                live.protocol.tick(time);
                self.soon(at, RETRY, Event::Tick);
            }
            Event::Tail => self.tail(at),
            Event::Appending(number, position, entry, answer) => {
                let done = self.log.append(position, &entry);
                if let Some(delay) = answer {
                    self.soon(at, delay, Event::Appended(number, Ok(done)));
                }
            }
            Event::Appended(number, outcome) => live.protocol.appended(time, number, outcome),
            Event::Read(_, None) => live.protocol.unread(time),
            Event::Read(position, Some(There::Nothing)) => live.protocol.absent(position),
            Event::Read(_, Some(There::Purged(first))) => live.protocol.purged(first),
            Event::Read(position, Some(There::Entry(model))) => {
                live.protocol
                    .received(time, Source::Read, position, model.logged());
            }
            Event::End(_, None) => live.protocol.unread(time),
            Event::End(had, Some(end)) => live.protocol.ends(time, had, end),
            Event::AskingNewest(number, fails, back) => {
                let newest = (!fails).then(|| self.log.end());
                self.soon(at, back, Event::Newest(number, newest));
            }
            Event::Newest(number, newest) => {
                let answer = newest.ok_or_else(|| "no answer".into());
                live.protocol.newest_is(time, number, answer);
            }
            Event::Reply(number, reply) => self.reply(at, number, &reply),
            Event::NoAnswer(number) => live.protocol.unanswered(number),
            Event::NotReached(number) => live.protocol.not_run(number),
            Event::Beginning => self.keep_beginning(at),
            Event::Start
            | Event::Open(_)
            | Event::Close
            | Event::Put(..)
            | Event::Client
            | Event::Request(..) => {}
        }
    }

    fn client(&mut self, at: usize) {
        let pause = 1 + self.dice.below(60);
        self.later(at, None, pause, Event::Client);
        if self.dice.fails(self.trouble.crashes) {
            return self.crash(at);
        }
        if self.dice.fails(self.trouble.snapshots) {
            self.put_snapshot(at);
        }
        if self.dice.step() {
            self.write(at);
        }
    }

    fn tail(&mut self, at: usize) {
        let time = self.time();
        let falls_silent = self.dice.fails(self.trouble.silent);
        let most = 1 + self.dice.below(4);
        let is_cut_off = self.is_cut_off(at);
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        live.is_silent = (live.is_silent || falls_silent) && self.trouble.silent > 0;
        for _ in 0..most {
            if live.is_silent || is_cut_off {
                break;
            }
            match self.log.at(live.tail) {
                There::Entry(model) => {
                    let hash = Some(model.link.hash);
                    if !live.protocol.skip_passed(time, live.tail, hash) {
                        live.protocol
                            .received(time, Source::Tail, live.tail, model.logged());
                    }
                    live.tail = live.tail.next();
                }
                There::Nothing => break,
                There::Purged(first) => {
                    live.protocol.purged(first);
                    let applied = live.protocol.applied().position;
                    live.tail = first.min(applied.next());
                    break;
                }
            }
        }
        let delay = self.delay();
        self.soon(at, delay, Event::Tail);
    }

    pub(super) fn tell(&mut self, at: usize, told: Vec<Told>) {
        let time = self.time();
        for told in told {
            let live = self.nodes[at].live.as_mut().expect("it is alive");
            match told {
                Told::Asks(model) => {
                    self.models.insert(model.link.hash, model.clone());
                    live.protocol.asked(time, Arc::new(model.logged()));
                }
                Told::Confirms(at, again) => live.protocol.confirm(time, at, again),
                Told::Committed(head) => {
                    live.protocol.committed(head);
                    self.see(at);
                }
                Told::WriterLost => {
                    self.counts.lost_writers += 1;
                    live.protocol.writer_lost();
                }
                Told::At(head) => {
                    live.protocol.told_position(time, head);
                    self.see(at);
                }
                Told::NotCommitted => live.protocol.not_committed(time),
                Told::NotApplied(position, why) => live.protocol.not_applied(time, position, why),
                Told::Outcome(write, outcome) => self.outcome(at, &write, &outcome),
            }
        }
    }

    pub(super) fn perform(&mut self, at: usize) {
        while let Some(live) = &mut self.nodes[at].live
            && let Some(action) = live.protocol.next_action()
        {
            self.act(at, action);
        }
    }

    pub(super) fn act(&mut self, at: usize, action: Action) {
        if self.traces {
            println!("{} {at}: -> {action:?}", self.now);
        }
        let run = self.nodes[at].run.clone().expect("it is alive");
        match action {
            Action::Append(number, position, logged) => self.append(at, number, position, logged.link.hash),
            Action::Read(position) => {
                let at_once = self.log.at(position);
                let delay = self.delay();
                let fails = self.is_cut_off(at) || self.is_unreachable(at);
                let is_stale = self.dice.fails(self.trouble.stale);
                let found = if is_stale { There::Nothing } else { at_once };
                self.soon(at, delay, Event::Read(position, (!fails).then_some(found)));
            }
            Action::AskEnd(had) => {
                let fails = self.is_cut_off(at) || self.is_unreachable(at);
                let delay = self.delay();
                let end = (!fails).then(|| self.log.end());
                self.soon(at, delay, Event::End(had, end));
            }
            Action::AskNewest(number) => {
                let fails = self.is_cut_off(at) || self.is_unreachable(at);
                let (there, back) = (self.delay(), self.delay());
                self.soon(at, there, Event::AskingNewest(number, fails, back));
            }
            Action::Pass => {
                let commits = !self.dice.fails(self.trouble.commits_fail);
                let is_lost = self.dice.fails(self.trouble.writer_lost);
                let told = self.nodes[at].database().pass(commits, is_lost);
                self.tell(at, told);
                self.soon(at, 1, Event::Work);
            }
            Action::Overtaken(by) => {
                let by: Vec<_> = by.iter().map(|logged| self.model(logged.link.hash)).collect();
                let is_lost = self.dice.fails(self.trouble.writer_lost);
                let applies = if is_lost {
                    self.dice.below(by.len() as u64) as usize
                } else {
                    by.len()
                };
                let told = self.nodes[at].database().overtaken(&by[..applies], is_lost, &run);
                self.tell(at, told);
                self.soon(at, 1, Event::Work);
            }
            Action::Refuse(refusal) => {
                let told = self.nodes[at].database().refuse(refusal.code);
                self.tell(at, told);
                self.soon(at, 1, Event::Work);
            }
            Action::Apply(logged) => {
                let model = self.model(logged.link.hash);
                self.nodes[at].database().push(Job::Apply(model));
                self.soon(at, 1, Event::Work);
            }
            Action::CancelBelow(position) => self.nodes[at].database().cancel_below(position),
            Action::Settled(number, settled) => self.settled(at, number, &settled),
            Action::TakeOver => {
                self.takeovers += 1;
                self.run_here(at, TAKEOVERS + self.takeovers, Asker::TakeOver);
            }
            Action::RestartTail => {
                let node = &mut self.nodes[at];
                let live = node.live.as_mut().expect("it is alive");
                let applied = live.protocol.applied().position;
                live.tail = applied.earlier(8).max(Position(1));
                live.is_silent = false;
            }
            Action::AskPosition => {
                self.nodes[at].database().push(Job::Position);
                self.soon(at, 1, Event::Work);
            }
            Action::Stopped(refusal) => self.node_stopped(at, refusal.code),
        }
    }

    pub(super) fn model(&self, hash: Hash) -> Model {
        self.models[&hash].clone()
    }

    pub(super) fn append(&mut self, at: usize, number: u64, position: Position, hash: Hash) {
        let entry = self.model(hash);
        if self.is_unreachable(at) {
            let failure = Failure::NotSent("unreachable".into());
            return self.soon(at, 2, Event::Appended(number, Err(failure)));
        }
        let arrives = if self.is_cut_off(at) {
            self.dice.fails(200)
        } else {
            !self.is_lost(at)
        };
        let answers = arrives && !self.is_lost(at);
        let (there, back) = (self.delay(), self.delay());
        let is_late = there + back > 60;
        let answer = (answers && !is_late).then_some(back);
        if arrives {
            self.soon(
                at,
                there,
                Event::Appending(number, position, entry.clone(), answer),
            );
            if self.dice.fails(self.trouble.doubled) {
                let delay = self.delay();
                self.soon(at, delay, Event::Appending(number, position, entry, None));
            }
        }
        if answer.is_none() {
            let failure = Failure::Unknown("no answer".into());
            self.soon(at, 60, Event::Appended(number, Err(failure)));
        }
    }
}
