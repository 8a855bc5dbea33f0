//! The transaction at the gate, writes without an entry, and requests to other nodes, while they wait.

use std::sync::Arc;

use resqlite::log::Position;

use super::types::{Logged, Refusal, Run, Time};
use crate::core::codes;

/// The transaction at the gate.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) entry: Arc<Logged>,
    pub(super) since: Time,
    /// An append was not answered: the entry may stand in the log, or may come to stand there.
    pub(super) in_doubt: bool,
    /// An append was refused: by this very entry, perhaps, since an append may arrive twice.
    pub(super) was_refused: bool,
    pub(super) step: Step,
    /// Why the log has not taken it, for people.
    pub(super) why: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The append of this number is under way.
    Appending(u64),
    /// The next try is due.
    AppendAt(Time),
    /// Something stands at the position: it is being read.
    Looking,
    LookAt(Time),
}

/// The writes at the gate that have no entry.
#[derive(Debug)]
pub(super) struct Confirming {
    pub(super) since: Time,
    pub(super) look: Look,
    /// Why they are not answered yet, for people.
    pub(super) why: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The log was asked for its newest position: the question of this number.
    Asking(u64),
    /// It is asked again.
    AskAt(Time),
    /// The log has more than the writes have seen. The next entry is read again at this time.
    At(Time),
}

impl Asked {
    pub(super) fn position(&self) -> Position {
        self.entry.link.position
    }

    /// The refusal that the transaction gets for this reason.
    pub(super) fn refused_for(&self, refusal: &Refusal) -> Refusal {
        if self.is_in_doubt() {
            self.given_up()
        } else {
            refusal.clone()
        }
    }

    /// Another entry stands at its position.
    pub(super) fn clear_doubt(&mut self) {
        (self.in_doubt, self.was_refused) = (false, false);
        self.step = Step::Looking;
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt || self.was_refused || matches!(self.step, Step::Appending(_))
    }

    /// The refusal that the transaction gets when its time is up.
    pub(super) fn given_up(&self) -> Refusal {
        let position = self.position();
        let why = &self.why;
        if self.is_in_doubt() {
            Refusal {
                code: codes::OUTCOME_UNKNOWN,
                message: format!(
                    "the log did not say in time whether it has taken the write at position {position} ({why}): read \
                     whether it has happened before you write again"
                ),
            }
        } else {
            Refusal {
                code: codes::NO_QUORUM,
                message: format!(
                    "the log did not take the write in time ({why}); the write has not happened"
                ),
            }
        }
    }
}

/// A write that another node was asked to run.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) to: Run,
    /// The newest position that this node knew of then.
    pub(super) known: Position,
    pub(super) since: Time,
    /// No answer will come.
    pub(super) in_doubt: bool,
    /// It stands in the log there, and its answer has more than the log.
    pub(super) done: Option<Position>,
}
