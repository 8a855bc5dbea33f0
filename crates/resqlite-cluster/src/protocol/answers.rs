//! Writes that are about to be answered without an entry, because they have failed or changed nothing. Their answer must be true
//! of the newest state, as the answer to a transaction with an entry is.

use std::sync::Arc;

use resqlite::log::{Head, Position};

use super::{
    state::Protocol,
    types::{Action, Link, Logged, Refusal, Time},
    waiting::{Confirming, Look},
};
use crate::core::codes;

/// The most entries by which a transaction is overtaken at once.
const OVERTAKEN_MAX: usize = 256;

impl Protocol {
    /// Checks writes without an entry, which have seen the state at position `at`. [`Action::Pass`], [`Action::Overtaken`] or
    /// [`Action::Refuse`] will answer.
    ///
    /// `again`: the same writes were overtaken before, so they were at the gate already. When they first arrived there, the gate
    /// forgot what the log had said before. So what the gate remembers, the log has said after the writes were asked for. If the
    /// writes have seen all of that now, they need not wait for what has arrived since.
    pub(crate) fn confirm(&mut self, now: Time, at: Head, again: bool) {
        let told = self.told_end.take();
        if let Some(stopped) = &self.stopped {
            return self.act(Action::Refuse(stopped.clone()));
        }
        // As in `asked`, the writer was lost and begins anew.
        if at.position > self.applied.position {
            self.note_applied(at);
        }
        self.not_committed(now);
        if again && told.is_some_and(|end| end <= at.position) {
            return self.act(Action::Pass);
        }
        self.ask_newest(now, "it did not answer".into());
    }

    fn ask_newest(&mut self, since: Time, why: String) {
        self.questions += 1;
        self.confirming = Some(Confirming {
            since,
            look: Look::Asking(self.questions),
            why,
        });
        self.act(Action::AskNewest(self.questions));
    }

    /// Takes the answer of the log to the question for its newest position, or the reason why there is no answer.
    pub(crate) fn newest_is(&mut self, now: Time, number: u64, answer: Result<Position, String>) {
        let is_asked = |confirming: &Confirming| confirming.look == Look::Asking(number);
        if !self.confirming.as_ref().is_some_and(is_asked) {
            return;
        }
        if let Ok(end) = answer {
            self.ends(now, self.applied.position, end);
        }
        // If the log has lost entries, nothing is left to confirm.
        let Some(confirming) = &mut self.confirming else {
            return;
        };
        match answer {
            Ok(end) if end <= self.applied.position => {
                self.confirming = None;
                self.act(Action::Pass);
                self.give();
            }
            Ok(end) => {
                self.told_end = Some(end);
                confirming.why = "it did not give its newest entries".into();
                confirming.look = Look::At(now);
                self.judge_answer();
                self.hurry_answer(now);
            }
            Err(why) => {
                confirming.why = why;
                confirming.look = Look::AskAt(now + self.patience.retry);
            }
        }
    }

    /// Checks whether an entry from the log is one that the writes at the gate have not seen. If so, they are overtaken.
    pub(super) fn judge_answer(&mut self) {
        let is_behind = |confirming: &Confirming| matches!(confirming.look, Look::At(_));
        if !self.confirming.as_ref().is_some_and(is_behind) {
            return;
        }
        let first = self.applied.position.next();
        if !self.inbox.contains_key(&first) {
            return;
        }
        let by = self.following(self.applied);
        if by.is_empty() {
            return self.does_not_follow(first);
        }
        self.confirming = None;
        self.overtaken_by(by);
    }

    pub(super) fn hurry_answer(&mut self, now: Time) {
        let Some(confirming) = &mut self.confirming else {
            return;
        };
        if now.saturating_sub(confirming.since) >= self.patience.write {
            let refusal = confirming.given_up();
            self.confirming = None;
            return self.act(Action::Refuse(refusal));
        }
        let (since, why) = (confirming.since, confirming.why.clone());
        match confirming.look {
            Look::AskAt(at) if at <= now => self.ask_newest(since, why),
            Look::At(at) if at <= now => {
                confirming.look = Look::At(now + self.patience.retry);
                self.act(Action::Read(self.applied.position.next()));
            }
            _ => {}
        }
    }

    /// Returns the known entries of the log after a position, as long as each entry follows the entry before it.
    pub(super) fn following(&self, mut after: Head) -> Vec<Arc<Logged>> {
        let known = self.inbox.range(after.position.next()..);
        known
            .map(|(_, logged)| logged)
            .take(OVERTAKEN_MAX)
            .take_while(|logged| {
                let Link {
                    position,
                    previous,
                    hash,
                } = logged.link;
                let follows = position == after.position.next() && previous == after.hash;
                after = Head { position, hash };
                follows
            })
            .map(Arc::clone)
            .collect()
    }

    pub(super) fn overtaken_by(&mut self, by: Vec<Arc<Logged>>) {
        let last = by.last().map_or(Position(0), |logged| logged.link.position);
        self.given = self.given.max(last);
        self.act(Action::Overtaken(by));
    }
}

impl Confirming {
    /// Returns the refusal that the writes get when their time is up.
    fn given_up(&self) -> Refusal {
        let why = &self.why;
        Refusal {
            code: codes::NO_QUORUM,
            message: format!(
                "the log did not tell in time whether this node has the newest state ({why}); the write has changed nothing"
            ),
        }
    }
}
