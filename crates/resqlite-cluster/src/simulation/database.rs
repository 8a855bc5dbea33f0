//! The model of a database with its writer: one job after another, and a gate before each commit.

use std::{collections::VecDeque, num::NonZeroU64};

use resqlite::log::{Hash, Head, Position};

use super::{
    fault::planted,
    log::{Model, Snapshot},
    world::TAKEOVERS,
};
use crate::protocol::{RequestId, Run, Served, Unapplied};

/// The party that waits for the outcome of a write.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asker {
    Client,
    TakeOver,
    /// The node itself, which founds the cluster.
    Founder,
    /// Another node, which named this position.
    Node(RequestId, Position),
}

#[derive(Debug, Clone)]
pub(super) struct Write {
    /// The number of the write, which it adds to the list unless it changes nothing.
    pub(super) adds: u64,
    pub(super) asker: Asker,
    pub(super) is_cancelled: bool,
}

/// Returns whether a write of this number changes nothing, so that it needs no entry.
pub(super) fn changes_nothing(write: u64) -> bool {
    write < TAKEOVERS && write % 5 == 4
}

#[derive(Debug)]
pub(super) enum Job {
    Write(Write),
    Apply(Model),
    /// The database reports its position.
    Position,
}

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Done(Position),
    Failed(&'static str),
    Cancelled,
    /// The entry passed the gate, and COMMIT failed.
    NotCommitted,
}

/// A message of the database to its node.
#[derive(Debug)]
pub(super) enum Told {
    Asks(Model),
    /// The writes at the gate change nothing, and have seen this state. The flag is true if they were overtaken just before.
    Confirms(Head, bool),
    Committed(Head),
    NotCommitted,
    NotApplied(Position, Unapplied),
    /// The writer has failed in the middle of its work.
    WriterLost,
    At(Head),
    Outcome(Write, Outcome),
}

pub(super) struct ModelDatabase {
    pub(super) applied: Head,
    pub(super) list: Vec<u64>,
    /// The last commits. A crash may undo them, since nothing is synced here.
    history: Vec<(Head, usize)>,
    jobs: VecDeque<Job>,
    /// The group at the gate, and its entry, if it has one.
    group: Option<(Vec<Write>, Option<Model>)>,
}

impl ModelDatabase {
    /// Returns a file that no cluster has seen.
    pub(super) fn new(content: Vec<u64>) -> Self {
        Self::of(Snapshot {
            at: Head::default(),
            list: content,
        })
    }

    pub(super) fn of(snapshot: Snapshot) -> Self {
        Self {
            applied: snapshot.at,
            history: vec![(snapshot.at, snapshot.list.len())],
            list: snapshot.list,
            jobs: VecDeque::new(),
            group: None,
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            at: self.applied,
            list: self.list.clone(),
        }
    }

    pub(super) fn has_content(&self) -> bool {
        self.applied.position == Position(0) && !self.list.is_empty()
    }

    /// Sets the base that the first entry follows, for good.
    pub(super) fn set_base(&mut self, base: Hash) {
        self.applied = Head {
            position: Position(0),
            hash: base,
        };
        self.history = vec![(self.applied, self.list.len())];
    }

    pub(super) fn push(&mut self, job: Job) {
        self.jobs.push_back(job);
    }

    /// Cancels the requests of nodes that named an earlier position than this.
    pub(super) fn cancel_below(&mut self, position: Position) {
        let queued = self.jobs.iter_mut().filter_map(|job| match job {
            Job::Write(write) => Some(write),
            Job::Apply(_) | Job::Position => None,
        });
        let at_gate = self.group.iter_mut().flat_map(|(writes, _)| writes);
        for write in queued.chain(at_gate) {
            write.is_cancelled |= matches!(write.asker, Asker::Node(_, known) if known < position);
        }
    }

    /// Works on the next job, unless a group is at the gate.
    pub(super) fn work(&mut self, me: &Run) -> Vec<Told> {
        if self.group.is_some() {
            return Vec::new();
        }
        match self.jobs.pop_front() {
            None => Vec::new(),
            Some(Job::Apply(entry)) => vec![self.apply(&entry)],
            Some(Job::Position) => vec![Told::At(self.applied)],
            Some(Job::Write(first)) => {
                let mut writes = vec![first];
                while writes.len() < 4
                    && let Some(Job::Write(_)) = self.jobs.front()
                {
                    let Some(Job::Write(write)) = self.jobs.pop_front() else {
                        unreachable!()
                    };
                    writes.push(write);
                }
                self.run(writes, me, false)
            }
        }
    }

    fn run(&mut self, writes: Vec<Write>, me: &Run, again: bool) -> Vec<Told> {
        let (cancelled, writes): (Vec<_>, Vec<_>) = writes.into_iter().partition(|write| write.is_cancelled);
        let mut told: Vec<_> = cancelled
            .into_iter()
            .map(|write| Told::Outcome(write, Outcome::Cancelled))
            .collect();
        if writes.is_empty() {
            return told;
        }
        let served = writes.iter().filter_map(|write| match &write.asker {
            Asker::Node(id, _) => Some(Served {
                id: id.clone(),
                changes: 1,
                last_insert_rowid: 0,
                has_more: write.adds % 3 == 0,
            }),
            _ => None,
        });
        let adds = writes.iter().map(|write| write.adds);
        let adds: Vec<_> = adds.filter(|&write| !changes_nothing(write)).collect();
        if adds.is_empty() {
            told.push(Told::Confirms(self.applied, again));
            self.group = Some((writes, None));
        } else {
            let entry = Model::new(self.applied, me.clone(), served.collect(), adds);
            told.push(Told::Asks(entry.clone()));
            self.group = Some((writes, Some(entry)));
        }
        told
    }

    /// `commits`: COMMIT works. `is_lost`: the writer fails before it has reported the commit.
    pub(super) fn pass(&mut self, commits: bool, is_lost: bool) -> Vec<Told> {
        let Some((writes, entry)) = self.group.take() else {
            return Vec::new();
        };
        let Some(entry) = entry else {
            let outcome = |write| Told::Outcome(write, Outcome::Done(self.applied.position));
            return writes.into_iter().map(outcome).collect();
        };
        let position = entry.link.position;
        let (first, outcome) = if is_lost {
            commits.then(|| self.commit(&entry));
            (Told::WriterLost, Outcome::NotCommitted)
        } else if commits {
            (self.commit(&entry), Outcome::Done(position))
        } else {
            (Told::NotCommitted, Outcome::NotCommitted)
        };
        let outcomes = writes
            .into_iter()
            .map(|write| Told::Outcome(write, outcome.clone()));
        std::iter::once(first).chain(outcomes).collect()
    }

    pub(super) fn refuse(&mut self, code: &'static str) -> Vec<Told> {
        let (writes, _) = self.group.take().expect("a group is at the gate");
        let outcome = |write| Told::Outcome(write, Outcome::Failed(code));
        writes.into_iter().map(outcome).collect()
    }

    /// `is_lost`: the writer fails once it has applied the entries `by`.
    pub(super) fn overtaken(&mut self, by: &[Model], is_lost: bool, me: &Run) -> Vec<Told> {
        let (writes, _) = self.group.take().expect("a group is at the gate");
        let mut told = Vec::new();
        for entry in by {
            told.push(self.apply(entry));
            if !matches!(told.last(), Some(Told::Committed(_))) {
                let outcome = |write| Told::Outcome(write, Outcome::Failed("misfit"));
                told.extend(writes.into_iter().map(outcome));
                return told;
            }
        }
        if is_lost {
            let outcome = |write| Told::Outcome(write, Outcome::NotCommitted);
            told.push(Told::WriterLost);
            told.extend(writes.into_iter().map(outcome));
        } else {
            told.extend(self.run(writes, me, true));
        }
        told
    }

    fn apply(&mut self, entry: &Model) -> Told {
        let position = entry.link.position;
        if position != self.applied.position.next() {
            if planted("applied_twice") && position <= self.applied.position {
                self.list.extend(&entry.adds);
            }
            return Told::NotApplied(position, Unapplied::Position);
        }
        if entry.link.previous != self.applied.hash {
            return Told::NotApplied(position, Unapplied::Misfit("another history".into()));
        }
        self.commit(entry)
    }

    fn commit(&mut self, entry: &Model) -> Told {
        self.list.extend(&entry.adds);
        self.applied = Head {
            position: entry.link.position,
            hash: entry.link.hash,
        };
        self.history.push((self.applied, self.list.len()));
        Told::Committed(self.applied)
    }

    /// Ends the process. Returns the writes that it was doing.
    pub(super) fn end(&mut self) -> Vec<Write> {
        let queued = std::mem::take(&mut self.jobs)
            .into_iter()
            .filter_map(|job| match job {
                Job::Write(write) => Some(write),
                Job::Apply(_) | Job::Position => None,
            });
        let at_gate = self.group.take().map(|(writes, _)| writes).unwrap_or_default();
        at_gate.into_iter().chain(queued).collect()
    }

    /// Loses the last `count` commits, since nothing syncs them.
    pub(super) fn lose(&mut self, count: usize) {
        let keeps = self.history.len().saturating_sub(count).max(1);
        self.history.truncate(keeps);
        let &(applied, length) = self.history.last().expect("at least the beginning");
        self.applied = applied;
        self.list.truncate(length);
    }
}

pub(super) fn number(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).expect("numbers begin at 1")
}
