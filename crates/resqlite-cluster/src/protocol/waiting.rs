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
    /// An append was not answered: the entry may stand in the log, or may still be taken.
    pub(super) in_doubt: bool,
    /// An append was refused. The cause may be this very entry, since an append may arrive twice.
    pub(super) was_refused: bool,
    pub(super) step: Step,
    /// The reason why the log has not taken the entry, for people.
    pub(super) why: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The append of this number is under way.
    Appending(u64),
    /// The entry is appended again at this time.
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
    /// The reason why the writes are not answered yet, for people.
    pub(super) why: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The log was asked for its newest position, with the question of this number.
    Asking(u64),
    /// The log is asked again at this time.
    AskAt(Time),
    /// The log has more than the writes have seen. The next entry is read again at this time.
    At(Time),
}

impl Asked {
    pub(super) fn position(&self) -> Position {
        self.entry.link.position
    }

    /// Returns the refusal that the transaction gets for this reason.
    pub(super) fn refused_for(&self, refusal: &Refusal) -> Refusal {
        if self.is_in_doubt() {
            self.given_up()
        } else {
            refusal.clone()
        }
    }

    /// Notes that another entry stands at the position of the transaction.
    pub(super) fn clear_doubt(&mut self) {
        (self.in_doubt, self.was_refused) = (false, false);
        self.step = Step::Looking;
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt || self.was_refused || matches!(self.step, Step::Appending(_))
    }

    /// Returns the refusal that the transaction gets when its time is up.
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
    /// The newest position that this node knew of when it made the request.
    pub(super) known: Position,
    pub(super) since: Time,
    /// No answer will arrive.
    pub(super) in_doubt: bool,
    /// The position of the write in the log, if its answer has more than the log.
    pub(super) done: Option<Position>,
}
