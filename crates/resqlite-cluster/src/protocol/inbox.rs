//! What the log has and the database has not yet.

use std::sync::Arc;

use resqlite::Position;

use super::{
    fault::planted,
    state::Protocol,
    types::{Action, Logged, Source, Time, Unapplied},
    waiting::Asked,
};
use crate::core::codes;

/// Entries that are given to the database before it has applied the first of them.
const GIVEN_MAX: u64 = 64;
/// How many times the tail may be silent, until the log is compared with what the database has.
const COMPARED_EVERY: u32 = 4;
/// Entries that are kept for it.
const INBOX_MAX: usize = 4096;

impl Protocol {
    /// The tail, or a read, has told what stands at a position.
    pub(crate) fn received(&mut self, now: Time, source: Source, position: u64, logged: Logged) {
        if self.stopped.is_some() {
            return;
        }
        if source == Source::Tail {
            self.heard = now;
        } else if self.watching == Some(position) && position == self.next_wanted() {
            self.watching = None;
            self.act(Action::RestartTail);
        }
        if logged.link.position != position {
            let what = format!(
                "at position {position} stands an entry of position {}",
                logged.link.position
            );
            return self.diverged(&what);
        }
        if self.has_already(&logged) {
            return;
        }
        self.note(&logged);
        if self.inbox.len() < INBOX_MAX || position == self.applied.position + 1 {
            self.inbox.entry(position).or_insert_with(|| Arc::new(logged));
        }
        self.judge();
        self.give();
        self.fill_gap();
    }

    /// The tail has come to a position. Whether it is of no interest any more what stands there: mostly an entry of this
    /// node's own.
    pub(crate) fn has_passed(&mut self, now: Time, position: u64) -> bool {
        let has_passed = position < self.applied.position;
        if has_passed {
            self.heard = now;
        }
        has_passed
    }

    /// Whether the database has what stands at that position. If it has something else, the node stops.
    fn has_already(&mut self, logged: &Logged) -> bool {
        let position = logged.link.position;
        let had = self.comparing.take_if(|had| had.position == position);
        let passed = self.passed.as_ref().map(|passed| passed.link);
        let here = had.map(|had| had.hash);
        let here = here.or((position == self.applied.position).then_some(self.applied.hash));
        let here = here.or(passed
            .filter(|link| link.position == position)
            .map(|link| link.hash));
        if here.is_some_and(|hash| hash != logged.link.hash) {
            self.diverged(&format!(
                "another entry stands at position {position} than was applied here"
            ));
            return true;
        }
        if here.is_some() && position >= self.newest {
            self.note(logged);
        }
        here.is_some() || position < self.applied.position
    }

    /// A read has found nothing.
    pub(crate) fn absent(&mut self, position: u64) {
        let had = self.comparing.take_if(|had| had.position == position);
        if self.looks_at(position) || had.is_some() {
            self.act(Action::AskEnd(self.applied.position));
        }
    }

    /// Now and then, looks whether the log still has what the database has. A log that has forgotten entries, and has got others
    /// since, would take what does not follow them.
    pub(super) fn compare(&mut self, now: Time) {
        let is_due = now.saturating_sub(self.compared) >= self.patience.tail * COMPARED_EVERY;
        if is_due && self.applied.position > 0 && self.stopped.is_none() && !planted("never_compares") {
            self.compared = now;
            self.comparing = Some(self.applied);
            self.act(Action::Read(self.applied.position));
        }
    }

    /// The log could not be read, or asked for its end.
    pub(crate) fn unread(&mut self, now: Time) {
        if self
            .asked
            .as_ref()
            .is_some_and(|asked| self.looks_at(asked.position()))
        {
            self.look_later(now);
        }
    }

    /// The log ended there, after a moment when the database had applied `had`.
    pub(crate) fn ends(&mut self, now: Time, had: u64, end: u64) {
        if end < had {
            self.is_not_there();
            let what = format!("it ends at position {end}, and {had} was applied here: it has lost entries");
            return self.diverged(&what);
        }
        self.newest = self.newest.max(end);
        let Some(position) = self.asked.as_ref().map(Asked::position) else {
            return;
        };
        if self.looks_at(position) {
            if end < position {
                self.append_later(now);
            } else {
                self.look_later(now);
            }
        }
    }

    /// The log has let go of everything before this position.
    pub(crate) fn purged(&mut self, first: u64) {
        if first > self.applied.position + 1 {
            let message = format!(
                "the log begins at position {first}, and this node has only what stands before {}: open it again, and it \
                 starts from a snapshot",
                self.applied.position + 1
            );
            self.stop(codes::FELL_BEHIND, message);
        }
    }

    /// The database has committed this: its own transaction, or an entry that was given.
    pub(crate) fn committed(&mut self, position: Position) {
        self.applied = position;
        self.given = self.given.max(position.position);
        let passed = self
            .passed
            .take()
            .filter(|passed| passed.link.position == position.position);
        let mut later = self.inbox.split_off(&(position.position + 1));
        std::mem::swap(&mut self.inbox, &mut later);
        let logged = passed.or_else(|| later.remove(&position.position));
        if let Some(logged) = logged {
            self.settle_requests(&logged);
        }
        self.give();
        self.fill_gap();
    }

    /// The database could not apply an entry that was given.
    pub(crate) fn not_applied(&mut self, now: Time, position: u64, why: Unapplied) {
        if position <= self.applied.position || self.stopped.is_some() {
            return;
        }
        match why {
            Unapplied::Misfit(what) => self.diverged(&what),
            Unapplied::Position | Unapplied::Later(_) => {
                self.given = self.applied.position;
                self.give_again = Some(now + self.patience.retry);
            }
        }
    }

    /// The first position of which nothing is known here.
    pub(super) fn next_wanted(&self) -> u64 {
        let mut next = self.after_passed();
        while self.inbox.contains_key(&next) {
            next += 1;
        }
        next
    }

    /// The first position that is not the database's.
    fn after_passed(&self) -> u64 {
        let passed = self.passed.as_ref().map_or(0, |passed| passed.link.position);
        self.applied.position.max(passed) + 1
    }

    /// Notes that this stands in the log.
    pub(super) fn note(&mut self, logged: &Logged) {
        let position = logged.link.position;
        if position >= self.newest {
            self.newest = position;
            self.writer = Some(logged.writer.clone());
        }
        if logged.writer != self.me && position > self.foreign {
            self.foreign = position;
            if !planted("stale_writer") {
                self.act(Action::CancelBelow(position));
            }
        }
    }

    /// Gives entries to the database, in their order.
    pub(super) fn give(&mut self) {
        if self.give_again.is_some()
            || self.asked.is_some()
            || self.passed.is_some()
            || self.stopped.is_some()
        {
            return;
        }
        let first = self.applied.position + 1;
        let mut next = self.given.max(self.applied.position) + 1;
        while next < first + GIVEN_MAX
            && let Some(logged) = self.inbox.get(&next)
        {
            let before = match self.inbox.get(&(next - 1)) {
                _ if next == first => Some(self.applied.hash),
                before => before.map(|before| before.link.hash),
            };
            if before.is_some_and(|hash| hash != logged.link.previous) && !planted("chain_ignored") {
                let what =
                    format!("the entry at position {next} follows another than the one before it here");
                return self.diverged(&what);
            }
            let logged = Arc::clone(logged);
            self.given = next;
            self.act(Action::Apply(logged));
            next += 1;
        }
    }

    /// Reads what is missing between what is known.
    fn fill_gap(&mut self) {
        let beyond = self.inbox.last_key_value().map(|(&last, _)| last);
        let wanted = self.next_wanted();
        if beyond.is_some_and(|last| last > wanted) && self.reading_gap != wanted {
            self.reading_gap = wanted;
            self.act(Action::Read(wanted));
        }
    }
}
