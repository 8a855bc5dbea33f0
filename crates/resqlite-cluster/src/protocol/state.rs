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
    /// This node never takes over the writing.
    pub(super) never_writes: bool,
    /// The position and the hash of the last entry that the database has.
    pub(super) applied: Head,
    /// The later entries of the log that this node knows. There may be gaps.
    pub(super) inbox: BTreeMap<Position, Arc<Logged>>,
    /// The position up to which entries were given to the database.
    pub(super) given: Position,
    /// The time at which entries that the database could not apply are given again.
    pub(super) give_again: Option<Time>,
    /// The transaction at the gate.
    pub(super) asked: Option<Asked>,
    /// The entry of a transaction that the log has taken, and that the database has not yet reported as committed.
    pub(super) passed: Option<Arc<Logged>>,
    /// The writes at the gate that have no entry.
    pub(super) confirming: Option<Confirming>,
    /// The end of the log that last overtook such writes.
    pub(super) told_end: Option<Position>,
    /// The number of the last question for the newest position, which tells the questions apart.
    pub(super) questions: u64,
    /// The number of the last append, which tells the appends apart.
    pub(super) appends: u64,
    /// The newest position known to be taken.
    pub(super) newest: Position,
    /// The run that appended at that position, if it is known.
    pub(super) writer: Option<Run>,
    /// The newest position known to have an entry of another run.
    pub(super) foreign: Position,
    /// Writes that other nodes were asked to run.
    pub(super) requests: BTreeMap<NonZeroU64, Request>,
    /// The requests of other nodes that have arrived.
    pub(super) seen: VecDeque<RequestId>,
    /// For each run, the highest number of a request that has arrived and is not in `seen` any more.
    pub(super) forgotten: Vec<(Run, NonZeroU64)>,
    /// A run that did not answer, and the newest position known at that time.
    pub(super) mute: Option<(Run, Position)>,
    /// A takeover is under way.
    pub(super) is_taking_over: bool,
    /// The gap that was asked for last.
    pub(super) reading_gap: Position,
    /// The time at which the tail last reported an entry, or was checked.
    pub(super) heard: Time,
    /// The position that is read because the tail is silent.
    pub(super) watching: Option<Position>,
    /// The time at which the log was last compared with the database.
    pub(super) compared: Time,
    /// The position down to which older entries were compared.
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

    /// Makes this node write nothing itself from now on.
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

    /// Returns the run that appended the newest entry that this node has seen.
    pub(crate) fn writer(&self) -> Option<&Run> {
        self.writer.as_ref()
    }

    pub(crate) fn stopped(&self) -> Option<&Refusal> {
        self.stopped.as_ref()
    }

    /// Does what is due at this time. It is called whenever [`Patience::retry`] has passed.
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

    /// Stops the node for this reason. It applies nothing and writes nothing any more.
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

    /// Handles an entry that does not follow the entry that stands before it here.
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
