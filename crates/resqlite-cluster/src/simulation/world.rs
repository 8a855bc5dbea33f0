//! Three nodes, a log, clients, and what goes wrong between them, in simulated time.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashMap},
    num::NonZeroU64,
    sync::Arc,
    time::Duration,
};

use resqlite::Hash;

use super::{
    database::{Asker, Job, ModelDatabase, Outcome, Told, Write, number},
    history::{Fate, History},
    log::{Model, ModelLog},
    random::Random,
};
use crate::{
    core::{
        codes,
        log::{Append, NodeName},
        options::Patience,
    },
    protocol::{Acceptance, Action, Failure, Protocol, RequestId, Run, Settled, Source},
};

const NODES: usize = 3;
/// Milliseconds in which things go wrong.
const TROUBLED: u64 = 3_000;
/// Milliseconds in which everything must have come to rest.
const CALM: u64 = 4_000;
const RETRY: u64 = 40;
/// What takeovers write is no client's.
const TAKEOVERS: u64 = 1 << 40;

/// How often things go wrong, in a thousand.
struct Trouble {
    lost: u64,
    late: u64,
    doubled: u64,
    unreachable: u64,
    stale: u64,
    silent: u64,
    crashes: u64,
    commits_fail: u64,
    /// From when to when each node is cut off from the log and the others.
    cut_off: [(u64, u64); NODES],
}

impl Trouble {
    fn none() -> Self {
        Self {
            lost: 0,
            late: 0,
            doubled: 0,
            unreachable: 0,
            stale: 0,
            silent: 0,
            crashes: 0,
            commits_fail: 0,
            cut_off: [(0, 0); NODES],
        }
    }

    /// Some kinds of trouble, at random.
    fn some(random: &mut Random) -> Self {
        let cut_off = [0; NODES].map(|_| {
            let from = random.below(TROUBLED);
            if random.happens(500) {
                (from, from + random.below(2_000))
            } else {
                (0, 0)
            }
        });
        let mut rate = |most: u64| {
            if random.happens(500) {
                random.below(most)
            } else {
                0
            }
        };
        Self {
            lost: rate(200),
            late: rate(200),
            doubled: rate(100),
            unreachable: rate(200),
            stale: rate(500),
            silent: rate(100),
            crashes: rate(30),
            commits_fail: rate(30),
            cut_off,
        }
    }
}

#[derive(Debug)]
enum Event {
    Work,
    Tick,
    Tail,
    Client,
    Restart,
    /// An append reaches the log.
    Appending(u64, u64, Model, Option<u64>),
    Appended(u64, Result<Append, Failure>),
    /// `None`: the log could not be read.
    Read(u64, Option<Option<Model>>),
    End(u64, Option<u64>),
    Request(RequestId, Run, u64, u64),
    Reply(NonZeroU64, Reply),
    NoAnswer(NonZeroU64),
    NotReached(NonZeroU64),
}

#[derive(Debug, Clone)]
enum Reply {
    Done(u64),
    Failed(&'static str),
    NotRun,
    Unknown,
}

/// A run of a node.
struct Live {
    run: Run,
    protocol: Protocol,
    /// The position that the tail gives next.
    tail: u64,
    is_silent: bool,
    /// Which write each request is.
    requests: BTreeMap<NonZeroU64, u64>,
    requested: u64,
    /// Writes that were done elsewhere, and are not seen here yet.
    unseen: Vec<(u64, u64)>,
}

struct Node {
    name: NodeName,
    database: ModelDatabase,
    live: Option<Live>,
}

pub(super) struct World {
    random: Random,
    trouble: Trouble,
    now: u64,
    /// By time, then in the order of their making; for the run of a node, or any.
    events: BinaryHeap<Reverse<(u64, u64)>>,
    told: HashMap<u64, (usize, Option<u64>, Event)>,
    made: u64,
    runs: u64,
    writes: u64,
    takeovers: u64,
    nodes: Vec<Node>,
    pub(super) log: ModelLog,
    models: HashMap<Hash, Model>,
    pub(super) history: History,
    /// The log has forgotten entries, so that nothing is promised but that nodes notice.
    has_forgotten: bool,
    /// Tells what happens: only one seed runs.
    traces: bool,
}

impl World {
    /// Lets three nodes live with trouble, and then without.
    pub(super) fn run(seed: u64) -> Self {
        let mut world = Self::troubled(seed);
        world.calm();
        world.check();
        world
    }

    /// The same, with a log that forgets entries in the midst of it.
    pub(super) fn run_with_fork(seed: u64) -> Self {
        let mut world = Self::new(seed);
        world.until(TROUBLED / 2);
        let had = world.log.end();
        let forgotten = 1 + world.random.below(4) as usize;
        world.log.forget(forgotten);
        world.has_forgotten = had > 0;
        world.until(TROUBLED);
        world.calm();
        world
    }

    fn troubled(seed: u64) -> Self {
        let mut world = Self::new(seed);
        world.until(TROUBLED);
        world
    }

    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let trouble = Trouble::some(&mut random);
        let node = |name| Node {
            name: NodeName::new(name).expect("a name"),
            database: ModelDatabase::new(),
            live: None,
        };
        let mut world = Self {
            random,
            trouble,
            now: 0,
            events: BinaryHeap::new(),
            told: HashMap::new(),
            made: 0,
            runs: 0,
            writes: 0,
            takeovers: 0,
            nodes: ["a", "b", "c"].map(node).into(),
            log: ModelLog::default(),
            models: HashMap::new(),
            history: History::default(),
            has_forgotten: false,
            traces: std::env::var_os("CLUSTER_SEED").is_some(),
        };
        for at in 0..NODES {
            world.start(at);
            let first = world.random.below(30);
            world.later(at, None, first, Event::Client);
        }
        world
    }

    /// Nothing goes wrong any more, and each node writes once.
    fn calm(&mut self) {
        self.trouble = Trouble::none();
        for at in 0..NODES {
            if self.nodes[at].live.is_none() {
                self.start(at);
            }
        }
        self.until(self.now + CALM / 2);
        for at in 0..NODES {
            self.write(at);
        }
        self.until(self.now + CALM / 2);
    }

    fn check(&self) {
        self.history.check(&self.log);
        let last = (1..=self.writes).rev().take(NODES);
        for write in last {
            assert_eq!(
                self.history.0[&write],
                Fate::Acknowledged,
                "write {write}, in the calm"
            );
        }
        let list: Vec<_> = self.log.0.iter().flat_map(|entry| entry.adds.clone()).collect();
        for node in &self.nodes {
            let live = node.live.as_ref().expect("all are started");
            assert_eq!(live.protocol.stopped(), None, "{}", node.name);
            assert_eq!(node.database.applied.position, self.log.end(), "{}", node.name);
            assert_eq!(node.database.list, list, "{}", node.name);
        }
    }

    /// How many nodes have stopped because of this.
    pub(super) fn stopped(&self, code: &str) -> usize {
        let is_stopped = |node: &&Node| {
            let stopped = node.live.as_ref().and_then(|live| live.protocol.stopped());
            stopped.is_some_and(|refusal| refusal.code == code)
        };
        self.nodes.iter().filter(is_stopped).count()
    }

    /// The databases of the nodes that have not stopped.
    pub(super) fn running(&self) -> impl Iterator<Item = &[u64]> {
        let running = self.nodes.iter().filter(|node| {
            node.live
                .as_ref()
                .is_some_and(|live| live.protocol.stopped().is_none())
        });
        running.map(|node| &*node.database.list)
    }

    fn later(&mut self, at: usize, run: Option<u64>, delay: u64, event: Event) {
        self.made += 1;
        self.events.push(Reverse((self.now + delay, self.made)));
        self.told.insert(self.made, (at, run, event));
    }

    /// For the present run of the node.
    fn soon(&mut self, at: usize, delay: u64, event: Event) {
        let run = self.nodes[at].live.as_ref().map(|live| live.run.number);
        self.later(at, run, delay, event);
    }

    /// Whether a message of this node goes astray.
    fn is_lost(&mut self, at: usize) -> bool {
        self.is_cut_off(at) || self.random.happens(self.trouble.lost)
    }

    fn is_unreachable(&mut self, at: usize) -> bool {
        self.random.happens(if self.is_cut_off(at) {
            500
        } else {
            self.trouble.unreachable
        })
    }

    fn is_cut_off(&self, at: usize) -> bool {
        let (from, to) = self.trouble.cut_off[at];
        (from..to).contains(&self.now)
    }

    fn delay(&mut self) -> u64 {
        if self.random.happens(self.trouble.late) {
            50 + self.random.below(800)
        } else {
            1 + self.random.below(6)
        }
    }

    fn until(&mut self, end: u64) {
        while let Some(&Reverse((time, made))) = self.events.peek() {
            if time > end {
                break;
            }
            self.events.pop();
            self.now = time;
            let (at, run, event) = self.told.remove(&made).expect("told once");
            let present = self.nodes[at].live.as_ref().map(|live| live.run.number);
            if run.is_some() && run != present {
                // What is on its way to the log arrives, even if who sent it is no more.
                if let Event::Appending(_, position, entry, _) = event {
                    self.log.append(position, &entry);
                }
                continue;
            }
            if self.traces && !matches!(event, Event::Tick | Event::Tail | Event::Work) {
                println!("{time} {at}: {event:?}");
            }
            self.happen(at, event);
            self.perform(at);
        }
        self.now = end;
    }

    fn time(&self) -> Duration {
        Duration::from_millis(self.now)
    }

    fn start(&mut self, at: usize) {
        self.runs += 1;
        let node = &mut self.nodes[at];
        let run = Run {
            node: node.name.clone(),
            number: self.runs,
        };
        let patience = Patience {
            write: Duration::from_millis(900),
            retry: Duration::from_millis(RETRY),
            tail: Duration::from_millis(200),
        };
        let applied = node.database.applied;
        node.live = Some(Live {
            protocol: Protocol::new(run.clone(), applied, patience),
            run,
            tail: applied.position.max(1),
            is_silent: false,
            requests: BTreeMap::new(),
            requested: 0,
            unseen: Vec::new(),
        });
        self.soon(at, 1, Event::Work);
        self.soon(at, 2, Event::Tail);
        self.soon(at, RETRY, Event::Tick);
    }

    fn crash(&mut self, at: usize) {
        let loses = self.random.below(4) as usize;
        let node = &mut self.nodes[at];
        let Some(live) = node.live.take() else { return };
        let local = node
            .database
            .crash(loses)
            .into_iter()
            .filter(|write| write.asker == Asker::Client);
        let elsewhere = live.requests.into_values();
        let unseen = live.unseen.into_iter().map(|(_, write)| write);
        for write in local.map(|write| write.adds).chain(elsewhere).chain(unseen) {
            self.history.set(write, Fate::Unknown);
        }
        let pause = 20 + self.random.below(600);
        self.later(at, None, pause, Event::Restart);
    }

    fn write(&mut self, at: usize) {
        if self.nodes[at].live.is_none() {
            return;
        }
        self.writes += 1;
        self.history.set(self.writes, Fate::Pending);
        self.begin(at, self.writes);
        self.perform(at);
    }

    /// Runs a write here, or asks another node to.
    fn begin(&mut self, at: usize, write: u64) {
        let time = self.time();
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        let Some(to) = live.protocol.route() else {
            return self.run_here(at, write, Asker::Client);
        };
        live.requested += 1;
        let id = RequestId {
            from: live.run.clone(),
            number: number(live.requested),
        };
        let base = live.protocol.requested(time, id.number, to.clone());
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
            let copies = 1 + u64::from(self.random.happens(self.trouble.doubled));
            for _ in 0..copies {
                let delay = self.delay();
                self.later(
                    target,
                    None,
                    delay,
                    Event::Request(id.clone(), to.clone(), base, write),
                );
            }
        }
        self.soon(at, 250, Event::NoAnswer(id.number));
    }

    fn run_here(&mut self, at: usize, adds: u64, asker: Asker) {
        self.nodes[at].database.push(Job::Write(Write {
            adds,
            asker,
            is_cancelled: false,
        }));
        self.soon(at, 1, Event::Work);
    }

    fn happen(&mut self, at: usize, event: Event) {
        let time = self.time();
        match event {
            Event::Restart if self.nodes[at].live.is_none() => return self.start(at),
            Event::Client if self.now < TROUBLED => {
                let pause = 1 + self.random.below(60);
                self.later(at, None, pause, Event::Client);
                if self.random.happens(self.trouble.crashes) {
                    return self.crash(at);
                }
                return self.write(at);
            }
            Event::Request(id, to, base, write) => return self.request(at, id, &to, base, write),
            _ => {}
        }
        let Some(live) = &mut self.nodes[at].live else {
            return;
        };
        match event {
            Event::Work => {
                let run = live.run.clone();
                let told = self.nodes[at].database.work(&run);
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
            Event::Read(position, Some(None)) => live.protocol.absent(position),
            Event::Read(position, Some(Some(model))) => {
                live.protocol
                    .received(time, Source::Read, position, model.logged());
            }
            Event::End(_, None) => live.protocol.unread(time),
            Event::End(had, Some(end)) => live.protocol.ends(time, had, end),
            Event::Reply(number, reply) => self.reply(at, number, &reply),
            Event::NoAnswer(number) => live.protocol.unanswered(number),
            Event::NotReached(number) => live.protocol.not_run(number, true),
            Event::Restart | Event::Client | Event::Request(..) => {}
        }
    }

    fn tail(&mut self, at: usize) {
        let time = self.time();
        if self.random.happens(self.trouble.silent) {
            self.nodes[at].live.as_mut().expect("it is alive").is_silent = true;
        }
        let most = 1 + self.random.below(4);
        let is_cut_off = self.is_cut_off(at);
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        if self.trouble.silent == 0 {
            live.is_silent = false;
        }
        for _ in 0..most {
            let Some(model) = self.log.at(live.tail).filter(|_| !live.is_silent && !is_cut_off) else {
                break;
            };
            live.protocol
                .received(time, Source::Tail, live.tail, model.logged());
            live.tail += 1;
        }
        let delay = self.delay();
        self.soon(at, delay, Event::Tail);
    }

    /// Another node asks this one to run a write.
    fn request(&mut self, at: usize, id: RequestId, to: &Run, base: u64, write: u64) {
        let Some(live) = &mut self.nodes[at].live else {
            return;
        };
        match live.protocol.accept(&id, to, base) {
            Acceptance::Run => self.run_here(at, write, Asker::Node(id, base)),
            Acceptance::NotRun => self.answer(at, &id, Reply::NotRun),
            Acceptance::Unknown => self.answer(at, &id, Reply::Unknown),
            Acceptance::Doubled => {}
        }
    }

    fn answer(&mut self, at: usize, id: &RequestId, reply: Reply) {
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

    fn reply(&mut self, at: usize, number: NonZeroU64, reply: &Reply) {
        let live = self.nodes[at].live.as_mut().expect("it is alive");
        match reply {
            Reply::NotRun => live.protocol.not_run(number, true),
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

    /// Acknowledges the writes of other nodes that are seen here by now.
    fn see(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let live = node.live.as_mut().expect("it is alive");
        let applied = node.database.applied.position;
        let (seen, unseen) = live.unseen.iter().partition(|(position, _)| *position <= applied);
        live.unseen = unseen;
        let seen: Vec<(u64, u64)> = seen;
        for (_, write) in seen {
            self.acknowledge(at, write);
        }
    }

    /// Who has written reads it at once.
    fn acknowledge(&mut self, at: usize, write: u64) {
        assert!(
            self.has_forgotten || self.nodes[at].database.list.contains(&write),
            "write {write} is not seen where it was asked for"
        );
        self.history.set(write, Fate::Acknowledged);
    }

    fn tell(&mut self, at: usize, told: Vec<Told>) {
        let time = self.time();
        for told in told {
            let live = self.nodes[at].live.as_mut().expect("it is alive");
            match told {
                Told::Asks(model) => {
                    self.models.insert(model.link.hash, model.clone());
                    live.protocol.asked(time, Arc::new(model.logged()));
                }
                Told::Committed(position) => {
                    assert_eq!(
                        position.position,
                        live.protocol.applied().position + 1,
                        "reads never go back"
                    );
                    live.protocol.committed(position);
                    self.see(at);
                }
                Told::NotCommitted => live.protocol.not_committed(time),
                Told::NotApplied(position, why) => live.protocol.not_applied(time, position, why),
                Told::Outcome(write, outcome) => self.outcome(at, &write, &outcome),
            }
        }
    }

    fn outcome(&mut self, at: usize, write: &Write, outcome: &Outcome) {
        match &write.asker {
            Asker::TakeOver => self.nodes[at]
                .live
                .as_mut()
                .expect("it is alive")
                .protocol
                .took_over(),
            Asker::Client => match outcome {
                Outcome::Done(_) => self.acknowledge(at, write.adds),
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
                    Outcome::Failed(code) => Reply::Failed(code),
                    Outcome::Cancelled => Reply::NotRun,
                };
                self.answer(at, id, reply);
            }
        }
    }

    fn perform(&mut self, at: usize) {
        while let Some(live) = &mut self.nodes[at].live
            && let Some(action) = live.protocol.next_action()
        {
            self.act(at, action);
        }
    }

    fn act(&mut self, at: usize, action: Action) {
        if self.traces {
            println!("{} {at}: -> {action:?}", self.now);
        }
        let run = self.nodes[at].live.as_ref().expect("it is alive").run.clone();
        match action {
            Action::Append(number, position, logged) => self.append(at, number, position, logged.link.hash),
            Action::Read(position) => {
                let at_once = self.log.at(position).cloned();
                let delay = self.delay();
                let fails = self.is_cut_off(at) || self.is_unreachable(at);
                let is_stale = self.random.happens(self.trouble.stale);
                let found = if is_stale { None } else { at_once };
                self.soon(at, delay, Event::Read(position, (!fails).then_some(found)));
            }
            Action::AskEnd(had) => {
                let fails = self.is_cut_off(at) || self.is_unreachable(at);
                let delay = self.delay();
                let end = (!fails).then(|| self.log.end());
                self.soon(at, delay, Event::End(had, end));
            }
            Action::Pass => {
                let commits = !self.random.happens(self.trouble.commits_fail);
                let told = self.nodes[at].database.pass(commits);
                self.tell(at, told);
                self.soon(at, 1, Event::Work);
            }
            Action::Overtaken(by) => {
                let by: Vec<_> = by.iter().map(|logged| self.model(logged.link.hash)).collect();
                let told = self.nodes[at].database.overtaken(&by, &run);
                self.tell(at, told);
                self.soon(at, 1, Event::Work);
            }
            Action::Refuse(refusal) => {
                let told = self.nodes[at].database.refuse(refusal.code);
                self.tell(at, told);
                self.soon(at, 1, Event::Work);
            }
            Action::Apply(logged) => {
                let model = self.model(logged.link.hash);
                self.nodes[at].database.push(Job::Apply(model));
                self.soon(at, 1, Event::Work);
            }
            Action::CancelBelow(position) => self.nodes[at].database.cancel_below(position),
            Action::Settled(number, settled) => self.settled(at, number, &settled),
            Action::TakeOver => {
                self.takeovers += 1;
                self.run_here(at, TAKEOVERS + self.takeovers, Asker::TakeOver);
            }
            Action::RestartTail => {
                let node = &mut self.nodes[at];
                let live = node.live.as_mut().expect("it is alive");
                live.tail = node.database.applied.position.max(1);
                live.is_silent = false;
            }
            Action::Stopped(_) => {}
        }
    }

    fn model(&self, hash: Hash) -> Model {
        self.models[&hash].clone()
    }

    fn append(&mut self, at: usize, number: u64, position: u64, hash: Hash) {
        let entry = self.model(hash);
        if self.is_unreachable(at) {
            let failure = Failure::NotSent("unreachable".into());
            return self.soon(at, 2, Event::Appended(number, Err(failure)));
        }
        let arrives = if self.is_cut_off(at) {
            self.random.happens(200)
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
            if self.random.happens(self.trouble.doubled) {
                let delay = self.delay();
                self.soon(at, delay, Event::Appending(number, position, entry, None));
            }
        }
        if answer.is_none() {
            let failure = Failure::Unknown("no answer".into());
            self.soon(at, 60, Event::Appended(number, Err(failure)));
        }
    }

    fn settled(&mut self, at: usize, number: NonZeroU64, settled: &Settled) {
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
