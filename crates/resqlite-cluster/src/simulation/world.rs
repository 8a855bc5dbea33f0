//! Three nodes, a log, clients, and what goes wrong between them, in simulated time.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashMap},
    num::NonZeroU64,
    time::Duration,
};

use resqlite::log::{Hash, Position};

use super::{
    database::ModelDatabase,
    history::{Fate, History},
    log::{Model, ModelLog, Snapshot, There},
    opening::Step,
    plan::{Dice, Plan},
    trouble::Trouble,
};
use crate::{
    core::log::{Append, NodeName},
    protocol::{Failure, Protocol, RequestId, Run},
};

pub(super) const NODES: usize = 3;
/// The milliseconds in which things go wrong.
pub(super) const TROUBLED: u64 = 3_000;
/// The milliseconds within which everything must come to rest.
const CALM: u64 = 8_000;
pub(super) const RETRY: u64 = 40;
/// The first number of the writes of takeovers and founders, which are writes of no client.
pub(super) const TAKEOVERS: u64 = 1 << 40;
/// The first number of the contents that files begin with.
const CONTENT: u64 = 1 << 50;

#[derive(Debug)]
pub(super) enum Event {
    /// The node is started.
    Start,
    /// The node is being opened.
    Open(Step),
    /// The node is closed, and opened again.
    Close,
    /// The node checks whether other nodes can begin.
    Beginning,
    Work,
    Tick,
    Tail,
    Client,
    /// An append reaches the log.
    Appending(u64, Position, Model, Option<u64>),
    Appended(u64, Result<Append, Failure>),
    /// The result of a read; `None` if the log could not be read.
    Read(Position, Option<There>),
    End(Position, Option<Position>),
    /// A question for the newest position reaches the log, or fails. The answer takes as long as the last field says.
    AskingNewest(u64, bool, u64),
    Newest(u64, Option<Position>),
    /// A snapshot reaches the log, with the position up to which the log then lets go of entries.
    Put(Snapshot, Option<Position>),
    Request(RequestId, Run, Position, u64),
    Reply(NonZeroU64, Reply),
    NoAnswer(NonZeroU64),
    NotReached(NonZeroU64),
}

#[derive(Debug, Clone)]
pub(super) enum Reply {
    Done(Position),
    Failed(&'static str),
    NotRun,
    Unknown,
}

/// A run of a node once its database is open.
pub(super) struct Live {
    pub(super) protocol: Protocol,
    /// Clients can write: the node has founded the cluster, or did not want to.
    pub(super) is_open: bool,
    /// The position that the tail returns next.
    pub(super) tail: Position,
    pub(super) is_silent: bool,
    /// The number of the write of each request.
    pub(super) requests: BTreeMap<NonZeroU64, u64>,
    pub(super) requested: u64,
    /// Writes that were done elsewhere and are not seen here yet.
    pub(super) unseen: Vec<(Position, u64)>,
    /// The position of the last snapshot that the node has put.
    pub(super) snapshot: Option<Position>,
}

pub(super) struct Node {
    pub(super) name: NodeName,
    /// The file of the node; `None` if there is no file yet.
    pub(super) file: Option<ModelDatabase>,
    /// The run of the node, from its start to its end.
    pub(super) run: Option<Run>,
    /// The time at which the node was started.
    pub(super) since: u64,
    pub(super) live: Option<Live>,
}

impl Node {
    /// Returns the database of the node, which is open.
    pub(super) fn database(&mut self) -> &mut ModelDatabase {
        self.file.as_mut().expect("it is open")
    }
}

pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) trouble: Trouble,
    /// The time until which clients write.
    pub(super) ends: u64,
    pub(super) now: u64,
    /// The times and numbers of the events, in the order of time and then of their making. An event is for one run of a node, or
    /// for any run.
    events: BinaryHeap<Reverse<(u64, u64)>>,
    told: HashMap<u64, (usize, Option<u64>, Event)>,
    made: u64,
    pub(super) runs: u64,
    pub(super) writes: u64,
    pub(super) takeovers: u64,
    pub(super) nodes: Vec<Node>,
    pub(super) log: ModelLog,
    pub(super) models: HashMap<Hash, Model>,
    /// The content of the file that has this base.
    pub(super) bases: HashMap<Hash, Vec<u64>>,
    pub(super) history: History,
    /// The newest position of a write that a client was told of.
    pub(super) told_newest: Position,
    /// By write that changes nothing, the value of `told_newest` when the write was asked for.
    pub(super) asked_at: BTreeMap<u64, Position>,
    /// The log has forgotten entries. Then it is promised only that nodes notice.
    pub(super) has_forgotten: bool,
    pub(super) counts: Counts,
    /// The events are printed, since only one plan runs.
    pub(super) traces: bool,
}

/// Counts of the events of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) founded: u64,
    pub(super) refused: u64,
    pub(super) from_snapshots: u64,
    pub(super) fell_behind: u64,
    pub(super) lost_writers: u64,
}

impl World {
    /// Runs three nodes with trouble, and then without.
    pub(super) fn run(plan: &Plan) -> Self {
        let mut world = Self::new(plan);
        world.until(plan.until);
        world.calm();
        world.check();
        world
    }

    /// Does the same with a log that forgets entries in the middle of the run. There are no snapshots, and no crashes afterwards,
    /// because what a node remembers of the log begins with its run.
    pub(super) fn run_with_fork(plan: &Plan) -> Self {
        let mut world = Self::new(plan);
        world.trouble.snapshots = 0;
        world.until(plan.until / 2);
        let had = world.log.end();
        let forgotten = 1 + world.dice.below(4) as usize;
        world.log.forget(forgotten);
        world.has_forgotten = had > Position(0);
        world.trouble.crashes = 0;
        world.until(plan.until);
        world.calm();
        let list = world.list();
        for node in world.running() {
            assert!(
                list.starts_with(node),
                "a node has another history than the log, and goes on"
            );
        }
        world
    }

    fn new(plan: &Plan) -> Self {
        let mut dice = Dice::new(plan);
        let trouble = Trouble::some(dice.random());
        let begin_alike = dice.random().happens(500);
        let mut file = |at: u64| {
            let has_content = !begin_alike && dice.random().happens(500);
            has_content.then(|| ModelDatabase::new(vec![CONTENT + at]))
        };
        let files = [0, 1, 2].map(&mut file);
        let node = |(name, file)| Node {
            name: NodeName::new(name).expect("a name"),
            file,
            run: None,
            since: 0,
            live: None,
        };
        let mut world = Self {
            dice,
            trouble,
            ends: plan.until,
            now: 0,
            events: BinaryHeap::new(),
            told: HashMap::new(),
            made: 0,
            runs: 0,
            writes: 0,
            takeovers: 0,
            nodes: ["a", "b", "c"].into_iter().zip(files).map(node).collect(),
            log: ModelLog::default(),
            models: HashMap::new(),
            bases: HashMap::from([(Hash::default(), Vec::new())]),
            history: History::default(),
            told_newest: Position(0),
            asked_at: BTreeMap::new(),
            has_forgotten: false,
            counts: Counts::default(),
            traces: std::env::var_os("CLUSTER_PLAN").is_some(),
        };
        for at in 0..NODES {
            let started = if begin_alike { 0 } else { world.dice.below(200) };
            world.later(at, None, started, Event::Start);
            let first = world.dice.below(30);
            world.later(at, None, first, Event::Client);
        }
        world
    }

    /// Lets nothing go wrong any more, and lets each node write once.
    fn calm(&mut self) {
        self.trouble = Trouble::none();
        self.ends = 0;
        for at in 0..NODES {
            if self.nodes[at].run.is_none() {
                self.later(at, None, 0, Event::Start);
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
            let fate = &self.history.0[&write];
            let is_done = matches!(fate, Fate::Acknowledged | Fate::ChangedNothing);
            assert!(is_done, "write {write}, in the calm: {fate:?}");
        }
        let list = self.list();
        for node in &self.nodes {
            let live = node.live.as_ref().expect("all are started");
            assert_eq!(live.protocol.stopped(), None, "{}", node.name);
            let database = node.file.as_ref().expect("it is open");
            assert_eq!(database.applied.position, self.log.end(), "{}", node.name);
            assert_eq!(database.list, list, "{}", node.name);
        }
    }

    /// Returns the list that results from the content that the log began with and from all its entries.
    fn list(&self) -> Vec<u64> {
        let base = self.log.base().map(|base| self.bases[&base].clone());
        let entries = self.log.entries.iter().flat_map(|entry| entry.adds.clone());
        base.unwrap_or_default().into_iter().chain(entries).collect()
    }

    /// Counts the nodes that have stopped with this code.
    pub(super) fn stopped(&self, code: &str) -> usize {
        let is_stopped = |node: &&Node| {
            let stopped = node.live.as_ref().and_then(|live| live.protocol.stopped());
            stopped.is_some_and(|refusal| refusal.code == code)
        };
        self.nodes.iter().filter(is_stopped).count()
    }

    /// Returns the databases of the nodes that have not stopped.
    fn running(&self) -> impl Iterator<Item = &[u64]> {
        let running = self.nodes.iter().filter(|node| {
            node.live
                .as_ref()
                .is_some_and(|live| live.protocol.stopped().is_none())
        });
        running.filter_map(|node| Some(&*node.file.as_ref()?.list))
    }

    pub(super) fn later(&mut self, at: usize, run: Option<u64>, delay: u64, event: Event) {
        self.made += 1;
        self.events.push(Reverse((self.now + delay, self.made)));
        self.told.insert(self.made, (at, run, event));
    }

    /// Schedules an event for the present run of the node.
    pub(super) fn soon(&mut self, at: usize, delay: u64, event: Event) {
        let run = self.nodes[at].run.as_ref().map(|run| run.number);
        self.later(at, run, delay, event);
    }

    /// Returns whether a message of this node is lost.
    pub(super) fn is_lost(&mut self, at: usize) -> bool {
        self.is_cut_off(at) || self.dice.fails(self.trouble.lost)
    }

    pub(super) fn is_unreachable(&mut self, at: usize) -> bool {
        self.dice.fails(if self.is_cut_off(at) {
            500
        } else {
            self.trouble.unreachable
        })
    }

    pub(super) fn is_cut_off(&self, at: usize) -> bool {
        let (from, to) = self.trouble.cut_off[at];
        (from..to).contains(&self.now)
    }

    pub(super) fn delay(&mut self) -> u64 {
        if self.dice.fails(self.trouble.late) {
            50 + self.dice.below(800)
        } else {
            1 + self.dice.below(6)
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
            let present = self.nodes[at].run.as_ref().map(|run| run.number);
            if run.is_some() && run != present {
                // A message on its way to the log arrives, even if its sender has ended.
                match event {
                    Event::Appending(_, position, entry, _) => drop(self.log.append(position, &entry)),
                    Event::Put(snapshot, purges) => self.log.put(snapshot, purges),
                    _ => {}
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

    pub(super) fn time(&self) -> Duration {
        Duration::from_millis(self.now)
    }
}
