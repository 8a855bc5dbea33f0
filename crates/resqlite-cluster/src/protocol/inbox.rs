//! The entries that the log has and the database does not have yet.

use std::sync::Arc;

use resqlite::log::{Hash, Head, Position};

use super::{
    state::Protocol,
    types::{Action, Link, Logged, Source, Time, Unapplied},
    waiting::Asked,
};
use crate::core::codes;

/// The most entries that are given to the database before it has applied the first of them.
const GIVEN_MAX: u64 = 256;
/// The time between two comparisons of the log with the database, in multiples of the time that the tail may be silent.
const COMPARED_EVERY: u32 = 4;
/// The most entries that one comparison reads, besides the last entry.
const COMPARED: usize = 16;
/// The most hashes of applied entries that are remembered for comparisons.
const RECENT_MAX: usize = 4096;
/// The most bytes of an entry that is compared. A larger entry is not remembered, and not read for comparisons.
const COMPARED_BYTES: usize = 1 << 20;
/// The most entries that are kept until the database has them.
const INBOX_MAX: usize = 4096;

impl Protocol {
    /// Takes the entry at a position, which the tail or a read has returned.
    pub(crate) fn received(&mut self, now: Time, source: Source, position: Position, logged: Logged) {
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
        if self.check_known(&logged) {
            if position == self.applied.position {
                self.is_large = logged.bytes.len() > COMPARED_BYTES;
            }
            return;
        }
        self.note(&logged);
        if self.inbox.len() < INBOX_MAX || position == self.applied.position.next() {
            self.inbox.entry(position).or_insert_with(|| Arc::new(logged));
        }
        self.judge();
        self.judge_answer();
        self.give();
        self.fill_gap();
    }

    /// Notes that the tail has reached a position, whose entry has this hash. Returns whether the entry can be skipped because
    /// the database is past it. Such an entry is mostly this node's own.
    pub(crate) fn skip_passed(&mut self, now: Time, position: Position, hash: Option<Hash>) -> bool {
        let is_passed = position < self.applied.position;
        if is_passed {
            self.heard = now;
            let _ = hash.is_none_or(|hash| self.check_same(position, hash));
        }
        is_passed
    }

    /// Notes that the tail is not silent: it is fetching a large entry.
    pub(crate) fn hears(&mut self, now: Time) {
        self.heard = now;
    }

    /// Returns whether the database has the position of the entry. If it has another entry there, the node stops.
    fn check_known(&mut self, logged: &Logged) -> bool {
        let Link { position, hash, .. } = logged.link;
        if !self.check_same(position, hash) {
            return true;
        }
        let is_known = position < self.after_passed();
        if is_known && position >= self.newest {
            self.note(logged);
        }
        is_known
    }

    /// Checks that the database has no entry with another hash at a position. If it has such an entry, the node stops.
    fn check_same(&mut self, position: Position, hash: Hash) -> bool {
        let passed = self.passed.as_ref().map(|passed| passed.link);
        let here = passed
            .filter(|link| link.position == position)
            .map(|link| link.hash);
        let is_same = here
            .or((position == self.applied.position).then_some(self.applied.hash))
            .or(self.recent.get(&position).copied())
            .is_none_or(|here| here == hash);
        if !is_same {
            self.diverged(&format!(
                "another entry stands at position {position} than was applied here"
            ));
        }
        is_same
    }

    /// Notes the hash of the entry that the database has at a position.
    fn remember(&mut self, position: Position, hash: Hash) {
        self.recent.insert(position, hash);
        if self.recent.len() > RECENT_MAX {
            self.recent.pop_first();
        }
    }

    /// Notes that a read has found nothing at a position.
    pub(crate) fn absent(&mut self, position: Position) {
        if self.looks_at(position) || position <= self.applied.position {
            self.act(Action::AskEnd(self.applied.position));
        }
    }

    /// Checks now and then whether the log still has what the database has: the last entry, and some entries before it. A log
    /// that has forgotten entries and has received others since would take entries that do not follow the ones here.
    pub(super) fn compare(&mut self, now: Time) {
        let is_due = now.saturating_sub(self.compared) >= self.patience.tail * COMPARED_EVERY;
        let has_something = self.applied.position > Position(0) && !self.is_large;
        if !is_due || !has_something || self.stopped.is_some() {
            return;
        }
        self.compared = now;
        self.act(Action::Read(self.applied.position));
        let before = self.recent.range(..self.comparing).rev();
        let before: Vec<_> = before.take(COMPARED).map(|(&position, _)| position).collect();
        // When all entries are compared, the newest are next.
        self.comparing = match before.last() {
            Some(&last) if before.len() == COMPARED => last,
            _ => self.applied.position,
        };
        before
            .into_iter()
            .for_each(|position| self.act(Action::Read(position)));
    }

    /// Notes that the log could not be read, or could not be asked for its end.
    pub(crate) fn unread(&mut self, now: Time) {
        if self
            .asked
            .as_ref()
            .is_some_and(|asked| self.looks_at(asked.position()))
        {
            self.look_later(now);
        }
    }

    /// Notes that the log ended at `end`, after a moment when the database had applied `had`.
    pub(crate) fn ends(&mut self, now: Time, had: Position, end: Position) {
        if end < had {
            self.clear_refused();
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

    /// Notes that the log has let go of everything before this position.
    pub(crate) fn purged(&mut self, first: Position) {
        if first > self.next_wanted() {
            let message = format!(
                "the log begins at position {first}, and this node has only what stands before {}: open it again, and it \
                 begins from a snapshot",
                self.next_wanted()
            );
            self.stop(codes::FELL_BEHIND, message);
        }
    }

    /// Notes that the entry at a position is damaged on all servers of the log. The damage does not matter if the entry is here
    /// already.
    pub(crate) fn damaged(&mut self, position: Position, what: &str) {
        if position >= self.next_wanted() {
            let message = format!(
                "{what}: nothing more is applied or written here; name all servers of the log in the options, and open this node \
                 again; if no server has it, put a snapshot on a node that has applied it (clusterSnapshot), and open this node \
                 with a new file"
            );
            self.stop(codes::LOG_DIVERGED, message);
        }
    }

    /// Notes that the database has committed up to `head`: its own transaction, or an entry that was given to it.
    pub(crate) fn committed(&mut self, head: Head) {
        self.note_applied(head);
        self.give();
        self.fill_gap();
    }

    /// Takes the position that the database has reported after something went wrong.
    pub(crate) fn told_position(&mut self, now: Time, head: Head) {
        if self.stopped.is_some() || head.position < self.applied.position {
            return;
        }
        if head.position > self.applied.position {
            self.note_applied(head);
        }
        self.not_committed(now);
        self.given = self.applied.position;
        self.give_again = Some(now + self.patience.retry);
        self.fill_gap();
    }

    /// Notes that the database has everything up to `head`.
    pub(super) fn note_applied(&mut self, head: Head) {
        self.remember(head.position, head.hash);
        self.applied = head;
        self.given = self.given.max(head.position);
        if let Some(passed) = self
            .passed
            .take_if(|passed| passed.link.position <= head.position)
        {
            self.inbox.insert(passed.link.position, passed);
        }
        let later = self.inbox.split_off(&head.position.next());
        for logged in std::mem::replace(&mut self.inbox, later).values() {
            self.settle_requests(logged);
            let Link { position, hash, .. } = logged.link;
            self.is_large = logged.bytes.len() > COMPARED_BYTES;
            if self.is_large {
                self.recent.remove(&position);
            } else {
                self.recent.entry(position).or_insert(hash);
            }
        }
    }

    /// Notes that the database could not apply an entry that was given to it.
    pub(crate) fn not_applied(&mut self, now: Time, position: Position, why: Unapplied) {
        if position <= self.applied.position || self.stopped.is_some() {
            return;
        }
        match why {
            Unapplied::Misfit(what) => self.diverged(&format!("at position {position}: {what}")),
            Unapplied::Hindered(what) => {
                let message =
                    format!("{what}: close this node and open it again, which ends what is temporary");
                self.stop(codes::NOT_CARRIED, message);
            }
            Unapplied::Never(what) => self.cannot_apply(position, &what),
            Unapplied::Position => self.act(Action::AskPosition),
            Unapplied::Later => {
                self.given = self.applied.position;
                self.give_again = Some(now + self.patience.retry);
            }
        }
    }

    fn cannot_apply(&mut self, position: Position, what: &str) {
        let message = format!(
            "the entry at position {position} cannot be applied here, now or later ({what}): nothing more is applied or written \
             here; if the schema needs a function, a collation or an extension that is missing here, open this node again with it; \
             otherwise compare the nodes, keep one that is right, and begin the others anew from its snapshot"
        );
        self.stop(codes::LOG_DIVERGED, message);
    }

    /// Returns the first position of which nothing is known here.
    pub(super) fn next_wanted(&self) -> Position {
        let mut next = self.after_passed();
        while self.inbox.contains_key(&next) {
            next = next.next();
        }
        next
    }

    /// Returns the first position after the entries of the database and after the transaction that passed the gate.
    fn after_passed(&self) -> Position {
        let passed = self.passed.as_ref().map(|passed| passed.link.position);
        self.applied.position.max(passed.unwrap_or_default()).next()
    }

    /// Notes that this entry stands in the log.
    pub(super) fn note(&mut self, logged: &Logged) {
        let position = logged.link.position;
        if position >= self.newest {
            self.newest = position;
            self.writer = Some(logged.writer.clone());
        }
        if logged.writer != self.me && position > self.foreign {
            self.foreign = position;
            self.act(Action::CancelBelow(position));
        }
    }

    /// Gives entries to the database in their order.
    pub(super) fn give(&mut self) {
        if self.give_again.is_some()
            || self.asked.is_some()
            || self.confirming.is_some()
            || self.passed.is_some()
            || self.stopped.is_some()
        {
            return;
        }
        let first = self.applied.position.next();
        let mut next = self.given.max(self.applied.position).next();
        while next < first + GIVEN_MAX
            && let Some(logged) = self.inbox.get(&next)
        {
            let before = match self.inbox.get(&next.before()) {
                _ if next == first => Some(self.applied.hash),
                before => before.map(|before| before.link.hash),
            };
            if before.is_some_and(|hash| hash != logged.link.previous) {
                return self.does_not_follow(next);
            }
            let logged = Arc::clone(logged);
            self.given = next;
            self.act(Action::Apply(logged));
            next = next.next();
        }
    }

    /// Reads the first entry that is missing before a known entry.
    fn fill_gap(&mut self) {
        let beyond = self.inbox.last_key_value().map(|(&last, _)| last);
        let wanted = self.next_wanted();
        if beyond.is_some_and(|last| last > wanted) && self.reading_gap != wanted {
            self.reading_gap = wanted;
            self.act(Action::Read(wanted));
        }
    }
}
