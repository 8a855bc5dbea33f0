//! The state of a node, and its end.

use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroU64,
    sync::Arc,
};

use resqlite::log::{Hash, Head, Position};

use super::{
    types::{Action, Logged, Refusal, RequestId, Run, Settled, Time},
    waiting::{Asked, Confirming, Request},
};
use crate::core::{codes, options::Patience};

/// The state of a node.
#[derive(Debug)]
pub(crate) struct Protocol {
    pub(super) me: Run,
    pub(super) patience: Patience,
    /// This node never takes the writing over.
    pub(super) never_writes: bool,
    /// The position and the hash of the last entry that the database has.
    pub(super) applied: Head,
    /// The later entries of the log that this node knows. There may be gaps.
    pub(super) inbox: BTreeMap<Position, Arc<Logged>>,
    /// Up to where entries were given to the database.
    pub(super) given: Position,
    /// When entries are given again that the database could not apply.
    pub(super) give_again: Option<Time>,
    /// The transaction at the gate.
    pub(super) asked: Option<Asked>,
    /// Its entry was taken, and the database has not said yet that it is committed.
    pub(super) passed: Option<Arc<Logged>>,
    /// The writes at the gate that have no entry.
    pub(super) confirming: Option<Confirming>,
    /// The end of the log that overtook such writes last.
    pub(super) told_end: Option<Position>,
    /// Tells the questions for the newest position apart.
    pub(super) questions: u64,
    /// Tells the appends apart.
    pub(super) appends: u64,
    /// The newest position known to be taken.
    pub(super) newest: Position,
    /// Who appended there, if that is known.
    pub(super) writer: Option<Run>,
    /// The newest position known to be another run's.
    pub(super) foreign: Position,
    /// Writes that other nodes were asked to run.
    pub(super) requests: BTreeMap<NonZeroU64, Request>,
    /// The requests of other nodes that have come.
    pub(super) seen: VecDeque<RequestId>,
    /// The highest number that came of each run and is not among them any more.
    pub(super) forgotten: Vec<(Run, NonZeroU64)>,
    /// A run that did not answer, and the newest position then.
    pub(super) mute: Option<(Run, Position)>,
    /// A takeover is under way.
    pub(super) is_taking_over: bool,
    /// The gap that was asked for last.
    pub(super) reading_gap: Position,
    /// When the tail has told something last, or was looked after.
    pub(super) heard: Time,
    /// The position that is read because the tail is silent.
    pub(super) watching: Option<Position>,
    /// When it was last looked whether the log still has what the database has.
    pub(super) compared: Time,
    /// Up to where older entries were compared.
    pub(super) comparing: Position,
    /// The hashes of the last entries that the database has.
    pub(super) recent: BTreeMap<Position, Hash>,
    /// The last entry that the database has is too large to be read for comparisons.
    pub(super) is_large: bool,
    pub(super) stopped: Option<Refusal>,
    pub(super) actions: VecDeque<Action>,
}

impl Protocol {
    pub(crate) fn new(me: Run, applied: Head, patience: Patience) -> Self {
        Self {
            me,
            patience,
            never_writes: false,
            applied,
            inbox: BTreeMap::new(),
            given: applied.position,
            give_again: None,
            asked: None,
            confirming: None,
            told_end: None,
            questions: 0,
            passed: None,
            appends: 0,
            newest: applied.position,
            writer: None,
            foreign: applied.position,
            requests: BTreeMap::new(),
            seen: VecDeque::new(),
            forgotten: Vec::new(),
            mute: None,
            is_taking_over: false,
            reading_gap: Position(0),
            heard: Time::ZERO,
            watching: None,
            compared: Time::ZERO,
            comparing: applied.position,
            recent: BTreeMap::from([(applied.position, applied.hash)]),
            is_large: false,
            stopped: None,
            actions: VecDeque::new(),
        }
    }

    /// From now on, this node writes nothing itself.
    pub(crate) fn never_write(&mut self) {
        self.never_writes = true;
    }

    /// Takes the next action that the node is to perform.
    pub(crate) fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub(crate) fn applied(&self) -> Head {
        self.applied
    }

    /// The newest position known to be taken.
    pub(crate) fn newest(&self) -> Position {
        self.newest
    }

    /// Who appended the newest entry that this node has seen.
    pub(crate) fn writer(&self) -> Option<&Run> {
        self.writer.as_ref()
    }

    pub(crate) fn stopped(&self) -> Option<&Refusal> {
        self.stopped.as_ref()
    }

    /// Time has passed. To be called whenever [`Patience::retry`] has.
    pub(crate) fn tick(&mut self, now: Time) {
        self.hurry_gate(now);
        self.hurry_answer(now);
        self.hurry_requests(now);
        if self.give_again.is_some_and(|at| at <= now) {
            self.give_again = None;
        }
        self.give();
        self.compare(now);
        if now.saturating_sub(self.heard) >= self.patience.tail && self.stopped.is_none() {
            self.heard = now;
            let wanted = self.next_wanted();
            self.watching = Some(wanted);
            self.act(Action::Read(wanted));
        }
    }

    /// Nothing more is applied or written: what this node has is not what the log has.
    pub(crate) fn stop(&mut self, code: &'static str, message: String) {
        if self.stopped.is_some() {
            return;
        }
        let refusal = Refusal { code, message };
        self.stopped = Some(refusal.clone());
        self.inbox.clear();
        if let Some(asked) = self.asked.take() {
            self.act(Action::Refuse(asked.refused_for(&refusal)));
        }
        if self.confirming.take().is_some() {
            self.act(Action::Refuse(refusal.clone()));
        }
        for (number, _) in std::mem::take(&mut self.requests) {
            self.act(Action::Settled(number, Settled::Unknown));
        }
        self.act(Action::CancelBelow(Position(u64::MAX)));
        self.act(Action::Stopped(refusal));
    }

    pub(crate) fn diverged(&mut self, what: &str) {
        let message = format!(
            "the log and this node have different histories ({what}): nothing more is applied or written here; compare the \
             nodes, keep the one that is right, and begin the others anew from its snapshot"
        );
        self.stop(codes::LOG_DIVERGED, message);
    }

    /// The entry at this position follows another than the one before it here.
    pub(super) fn does_not_follow(&mut self, position: Position) {
        // A transaction that waits at that position was overtaken: its entry will never be taken.
        if let Some(asked) = self.asked.as_mut().filter(|asked| asked.position() == position) {
            asked.clear_doubt();
        }
        if position > Position(1) {
            let what =
                format!("the entry at position {position} follows another than the one before it here");
            return self.diverged(&what);
        }
        let message = "the cluster began with the content of another node, and this one began without it: open it again, and \
                       it begins from a snapshot";
        self.stop(codes::FELL_BEHIND, message.into());
    }

    pub(super) fn act(&mut self, action: Action) {
        self.actions.push_back(action);
    }
}
