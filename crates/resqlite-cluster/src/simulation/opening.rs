//! The opening and the end of nodes. As in `node/opening.rs`, a node asks the log one question after another; here it may crash
//! between them.

use std::{collections::BTreeMap, time::Duration};

use dice::Rng;
use resqlite::log::{Hash, Head, Position};

use super::{
    database::{Asker, ModelDatabase, Outcome},
    fault::planted,
    history::Fate,
    log::Snapshot,
    world::{Event, Live, RETRY, TAKEOVERS, World},
};
use crate::{
    core::{codes, options::Patience},
    protocol::{Begin, Beginning, Protocol, Run},
};

/// The time for which a node asks the log while it is opened, in milliseconds.
const PATIENCE: u64 = 900;

/// A step of the opening of a node.
#[derive(Debug)]
pub(super) enum Step {
    /// The node looks at its file and at the log.
    Look,
    /// The log has reported where it begins.
    Begins(Beginning),
    /// The node waits for a snapshot.
    Await,
    /// A snapshot has arrived, and replaces the file.
    Got(Snapshot),
    /// The founder's snapshot is in the log's store.
    Founded,
}

impl World {
    pub(super) fn start(&mut self, at: usize) {
        if self.nodes[at].run.is_some() {
            return;
        }
        self.runs += 1;
        let node = &mut self.nodes[at];
        node.run = Some(Run {
            node: node.name.clone(),
            number: self.runs,
        });
        node.since = self.now;
        self.open(at, Step::Look);
    }

    pub(super) fn open(&mut self, at: usize, step: Step) {
        if self.dice.fails(self.trouble.crashes * 3) {
            return self.crash(at);
        }
        if self.traces {
            println!("{} {at}: {step:?}", self.now);
        }
        match step {
            Step::Look => self.look(at),
            Step::Begins(beginning) => self.begin_at(at, beginning),
            Step::Await => self.await_snapshot(at),
            Step::Got(snapshot) => {
                self.counts.from_snapshots += 1;
                self.nodes[at].file = Some(ModelDatabase::of(snapshot));
                self.go_live(at, true);
            }
            Step::Founded => {
                self.counts.founded += 1;
                let live = self.nodes[at].live.as_mut().expect("it is alive");
                live.is_open = true;
                // The other nodes may have been quicker.
                let stopped = live.protocol.stopped().map(|refusal| refusal.code);
                stopped.inspect(|code| self.node_stopped(at, code));
            }
        }
    }

    fn look(&mut self, at: usize) {
        if self.is_unreachable(at) || self.is_lost(at) {
            return self.look_again(at);
        }
        let delay = self.delay();
        let Some(database) = &self.nodes[at].file else {
            if self.log.snapshots.is_empty() {
                self.nodes[at].file = Some(ModelDatabase::new(Vec::new()));
                return self.soon(at, delay, Event::Open(Step::Look));
            }
            return self.soon(at, delay, Event::Open(Step::Await));
        };
        let applied = database.applied.position;
        if applied == Position(0) {
            let beginning = self.log.beginning();
            self.soon(at, delay, Event::Open(Step::Begins(beginning)));
        } else if self.log.first() > applied.next() {
            self.await_snapshot(at);
        } else {
            self.go_live(at, true);
        }
    }

    /// Looks again later, since the log has not answered.
    fn look_again(&mut self, at: usize) {
        let node = &self.nodes[at];
        if self.now < node.since + PATIENCE {
            return self.soon(at, RETRY, Event::Open(Step::Look));
        }
        match &node.file {
            // The file can be read without the log.
            Some(database) if database.applied.position > Position(0) || !database.has_content() => {
                self.go_live(at, true);
            }
            _ => self.close(at),
        }
    }

    fn begin_at(&mut self, at: usize, beginning: Beginning) {
        let database = self.nodes[at].database();
        let base = database.applied.hash;
        match Begin::of(database.has_content(), base, beginning) {
            Begin::FromLog => self.go_live(at, true),
            Begin::FromSnapshot => self.await_snapshot(at),
            Begin::Refuse => self.refuse(at),
            Begin::Found => {
                if base == Hash::default() && !planted("base_ignored") {
                    let mut random = Rng(self.dice.below(u64::MAX));
                    let mut hash = Hash::default();
                    hash.0
                        .chunks_mut(8)
                        .for_each(|word| word.copy_from_slice(&random.any().to_le_bytes()));
                    let database = self.nodes[at].database();
                    database.set_base(hash);
                    let content = database.list.clone();
                    self.bases.insert(hash, content);
                    if self.dice.fails(self.trouble.crashes * 3) {
                        return self.crash(at);
                    }
                }
                self.go_live(at, false);
                self.takeovers += 1;
                self.run_here(at, TAKEOVERS + self.takeovers, Asker::Founder);
            }
        }
    }

    fn await_snapshot(&mut self, at: usize) {
        let applied = self.nodes[at]
            .file
            .as_ref()
            .map_or(Position(0), |database| database.applied.position);
        let newest = self.log.snapshots.last_key_value();
        let newest = newest
            .filter(|(position, _)| **position > applied)
            .map(|(_, snapshot)| snapshot.clone());
        match newest {
            Some(snapshot) if !self.is_unreachable(at) && !self.is_lost(at) => {
                let delay = self.delay();
                self.soon(at, delay, Event::Open(Step::Got(snapshot)));
            }
            _ if self.now < self.nodes[at].since + PATIENCE => {
                self.soon(at, RETRY, Event::Open(Step::Await));
            }
            _ => self.close(at),
        }
    }

    fn go_live(&mut self, at: usize, is_open: bool) {
        let node = &mut self.nodes[at];
        let patience = Patience {
            write: Duration::from_millis(900),
            retry: Duration::from_millis(RETRY),
            tail: Duration::from_millis(200),
            remembered: 8,
        };
        let applied = node.database().applied;
        let run = node.run.clone().expect("it was started");
        node.live = Some(Live {
            protocol: Protocol::new(run, applied, patience),
            is_open,
            tail: applied.position.max(Position(1)),
            is_silent: false,
            requests: BTreeMap::new(),
            requested: 0,
            unseen: Vec::new(),
            snapshot: None,
        });
        self.soon(at, 1, Event::Work);
        self.soon(at, 2, Event::Tail);
        self.soon(at, RETRY, Event::Tick);
        if is_open {
            self.soon(at, RETRY, Event::Beginning);
        }
    }

    /// Handles the end of the first write of a founder.
    pub(super) fn founded(&mut self, at: usize, outcome: &Outcome) {
        let live = self.nodes[at].live.as_ref().expect("it is alive");
        let is_first = !matches!(outcome, Outcome::Done(_))
            && live.protocol.stopped().is_some()
            && self.nodes[at].database().applied.position == Position(0);
        match outcome {
            _ if is_first => self.refuse(at),
            Outcome::Done(_) if self.put_snapshot(at) => {
                let delay = self.delay();
                self.soon(at, delay, Event::Open(Step::Founded));
            }
            _ => self.close(at),
        }
    }

    /// Refuses the file, since the cluster has begun in another way. The file is as it was, and is removed.
    fn refuse(&mut self, at: usize) {
        self.counts.refused += 1;
        let database = self.nodes[at].database();
        if database.applied.hash != Hash::default() {
            database.set_base(Hash::default());
        }
        assert_eq!(database.applied, Head::default());
        assert_eq!(database.list.len(), 1, "its content is as it was");
        self.end(at);
        self.nodes[at].file = None;
        self.later(at, None, 300, Event::Start);
    }

    /// Closes a node that could not be opened or must be opened again.
    pub(super) fn close(&mut self, at: usize) {
        self.end(at);
        self.later(at, None, 100, Event::Start);
    }

    pub(super) fn crash(&mut self, at: usize) {
        if self.nodes[at].run.is_none() {
            return;
        }
        let loses = self.dice.below(4) as usize;
        self.end(at);
        if let Some(database) = &mut self.nodes[at].file {
            database.lose(loses);
        }
        let pause = 20 + self.dice.below(600);
        self.later(at, None, pause, Event::Start);
    }

    /// Ends a run. The writes that it was doing have an unknown outcome.
    fn end(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        node.run = None;
        let Some(live) = node.live.take() else { return };
        let local = node
            .database()
            .end()
            .into_iter()
            .filter(|write| write.asker == Asker::Client);
        let elsewhere = live.requests.into_values();
        let unseen = live.unseen.into_iter().map(|(_, write)| write);
        for write in local.map(|write| write.adds).chain(elsewhere).chain(unseen) {
            self.history.set(write, Fate::Unknown);
        }
    }

    /// Handles the stop of a protocol. Writes that were done elsewhere are no longer seen here, but have happened nevertheless.
    pub(super) fn node_stopped(&mut self, at: usize, code: &'static str) {
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        let is_open = live.is_open;
        for (_, write) in std::mem::take(&mut live.unseen) {
            let is_there = !self.asked_at.contains_key(&write);
            let fate = if is_there {
                Fate::Acknowledged
            } else {
                Fate::ChangedNothing
            };
            self.history.set(write, fate);
        }
        if code == codes::FELL_BEHIND && is_open {
            self.counts.fell_behind += 1;
            // The node closes after the answers to its writes.
            self.soon(at, 50, Event::Close);
        }
    }

    /// Makes sure that there is a snapshot if the cluster began with content, since other nodes can then begin only from a
    /// snapshot.
    pub(super) fn keep_beginning(&mut self, at: usize) {
        let live = self.nodes[at].live.as_ref().expect("it is alive");
        if live.protocol.stopped().is_some() {
            return;
        }
        let has_begun = live.protocol.applied().position > Position(0);
        let began_empty = self.log.base() == Some(Hash::default());
        let is_there = has_begun && (began_empty || !self.log.snapshots.is_empty());
        if !is_there && (!has_begun || self.is_unreachable(at) || !self.put_snapshot(at)) {
            self.soon(at, 200, Event::Beginning);
        }
    }

    /// Puts a snapshot. Returns `false` if the node did not reach the log.
    pub(super) fn put_snapshot(&mut self, at: usize) -> bool {
        let arrives = !self.is_lost(at);
        let delay = self.delay();
        let node = &mut self.nodes[at];
        let Some(live) = node
            .live
            .as_mut()
            .filter(|live| live.protocol.stopped().is_none())
        else {
            return false;
        };
        let snapshot = node.file.as_ref().expect("it is open").snapshot();
        if snapshot.at.position > Position(0) && arrives {
            let purges = live.snapshot.replace(snapshot.at.position);
            self.soon(at, delay, Event::Put(snapshot, purges));
        }
        arrives
    }
}
