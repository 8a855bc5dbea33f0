//! The transaction that waits before COMMIT.

use std::sync::Arc;

use resqlite::log::{Head, Position};

use super::{
    state::Protocol,
    types::{Action, Failure, Logged, Time},
    waiting::{Asked, Step},
};
use crate::core::log::Append;

impl Protocol {
    /// Takes a transaction that is about to commit with this entry. [`Action::Pass`], [`Action::Overtaken`] or [`Action::Refuse`]
    /// will answer it.
    pub(crate) fn asked(&mut self, now: Time, entry: Arc<Logged>) {
        if let Some(stopped) = &self.stopped {
            return self.act(Action::Refuse(stopped.clone()));
        }
        let position = entry.link.position;
        let before = Head {
            position: position.before(),
            hash: entry.link.previous,
        };
        // The writer was lost between a verdict and COMMIT, or between COMMIT and the report of it.
        if before.position > self.applied.position {
            self.note_applied(before);
        }
        self.not_committed(now);
        (self.confirming, self.told_end) = (None, None);
        self.asked = Some(Asked {
            entry,
            since: now,
            in_doubt: false,
            was_refused: false,
            step: Step::Looking,
            why: "it did not answer".into(),
        });
        if self.inbox.contains_key(&position) {
            self.judge();
        } else if self.newest >= position {
            self.act(Action::Read(position));
        } else {
            self.append();
        }
    }

    /// Takes the outcome of the append of this number.
    pub(crate) fn appended(&mut self, now: Time, number: u64, outcome: Result<Append, Failure>) {
        let retry = now + self.patience.retry;
        let Some(asked) = self
            .asked
            .as_mut()
            .filter(|asked| asked.step == Step::Appending(number))
        else {
            return;
        };
        match outcome {
            Ok(Append::Taken) => self.taken(),
            Ok(Append::Refused) => {
                asked.was_refused = true;
                asked.step = Step::Looking;
                asked.why = "something else stands there, and could not be read".into();
                let position = asked.position();
                self.act(Action::Read(position));
            }
            Err(Failure::NotSent(why)) => {
                asked.why = why;
                asked.step = Step::AppendAt(retry);
            }
            Err(Failure::Unknown(why)) => {
                asked.why = why;
                asked.in_doubt = true;
                asked.step = Step::AppendAt(retry);
            }
        }
    }

    /// Judges the entry at the position of the transaction: it is the entry of the transaction, or another.
    pub(super) fn judge(&mut self) {
        let Some(asked) = &self.asked else { return };
        let Some(there) = self.inbox.get(&asked.position()) else {
            return;
        };
        if there.bytes == asked.entry.bytes {
            return self.taken();
        }
        self.refuse_overtaken();
    }

    fn refuse_overtaken(&mut self) {
        let Some(asked) = self.asked.take() else { return };
        let first = asked.position();
        let by = self.following(Head {
            position: first.before(),
            hash: asked.entry.link.previous,
        });
        if by.is_empty() {
            self.asked = Some(asked);
            return self.does_not_follow(first);
        }
        self.overtaken_by(by);
    }

    fn taken(&mut self) {
        let Some(asked) = self.asked.take() else { return };
        self.note(&asked.entry);
        self.passed = Some(asked.entry);
        self.act(Action::Pass);
    }

    fn append(&mut self) {
        let Some(asked) = &mut self.asked else { return };
        self.appends += 1;
        asked.step = Step::Appending(self.appends);
        let entry = Arc::clone(&asked.entry);
        self.act(Action::Append(self.appends, entry.link.position, entry));
    }

    /// Returns whether `position` is that of the transaction at the gate, and is being read.
    pub(super) fn looks_at(&self, position: Position) -> bool {
        let looks = |asked: &Asked| asked.position() == position && asked.step == Step::Looking;
        self.asked.as_ref().is_some_and(looks)
    }

    /// Looks again later, since the entry at the position of the gate could not be read.
    pub(super) fn look_later(&mut self, now: Time) {
        if let Some(asked) = &mut self.asked {
            asked.step = Step::LookAt(now + self.patience.retry);
        }
    }

    /// Notes that the append was not refused because of this entry itself.
    pub(super) fn clear_refused(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.was_refused = false;
        }
    }

    /// Appends again later, since the log has refused the append and yet has nothing at its position.
    pub(super) fn append_later(&mut self, now: Time) {
        if let Some(asked) = &mut self.asked {
            asked.step = Step::AppendAt(now + self.patience.retry);
        }
    }

    pub(super) fn hurry_gate(&mut self, now: Time) {
        let Some(asked) = &mut self.asked else { return };
        if now.saturating_sub(asked.since) >= self.patience.write_of(asked.entry.bytes.len()) {
            let refusal = asked.given_up();
            self.asked = None;
            return self.act(Action::Refuse(refusal));
        }
        match asked.step {
            Step::AppendAt(at) if at <= now => self.append(),
            Step::LookAt(at) if at <= now => {
                asked.step = Step::Looking;
                let position = asked.position();
                self.act(Action::Read(position));
            }
            _ => {}
        }
    }

    /// Notes that the writer has failed in the middle of its work. The transaction at the gate is rolled back. If its entry
    /// stands in the log, the entry is applied from there.
    pub(crate) fn writer_lost(&mut self) {
        self.asked = None;
        self.confirming = None;
        self.act(Action::AskPosition);
    }

    /// Notes that a transaction of this database passed the gate, and then COMMIT failed. The entry stands in the log, and is
    /// applied from there.
    pub(crate) fn not_committed(&mut self, now: Time) {
        if let Some(passed) = self.passed.take() {
            self.inbox.insert(passed.link.position, passed);
            self.give_again = Some(now + self.patience.retry);
        }
    }
}
