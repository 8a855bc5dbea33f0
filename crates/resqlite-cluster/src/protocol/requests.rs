//! Writes that are sent between nodes: writes of other nodes that run here, and our writes that run elsewhere.

use std::num::NonZeroU64;

use resqlite::log::Position;

use super::{
    state::Protocol,
    types::{Action, Logged, RequestId, Run, Settled, Time},
    waiting::Request,
};

/// The treatment of a request of another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acceptance {
    /// The write is run.
    Run,
    /// The answer is that the write has not run, and never will.
    NotRun,
    /// The answer is that nothing is known of the write.
    Unknown,
    /// Nothing is done: the first copy of the request is answered.
    Doubled,
}

impl Protocol {
    /// Returns the run that should run a write now. `None` stands for this node, or for no node if this node never writes.
    pub(crate) fn route(&self) -> Option<Run> {
        let is_mute = |run: &Run| {
            self.mute
                .as_ref()
                .is_some_and(|(mute, at)| mute == run && self.newest <= *at)
        };
        let writer = self.writer.as_ref().filter(|run| run.node != self.me.node)?;
        // A node that never writes has no other node to ask. A writer that has begun anew answers, and reports its new run.
        let answers = self.never_writes || !is_mute(writer);
        let goes = self.stopped.is_none() && !self.is_taking_over && answers;
        goes.then(|| writer.clone())
    }

    /// Notes that the run `to` is asked to run a write. Returns the position that the request names.
    pub(crate) fn requested(&mut self, now: Time, number: NonZeroU64, to: Run) -> Position {
        let request = Request {
            to,
            known: self.newest,
            since: now,
            in_doubt: false,
            done: None,
        };
        self.requests.insert(number, request);
        self.newest
    }

    /// Notes that a decisive answer has arrived. Returns `false` if the request was decided before.
    pub(crate) fn answered(&mut self, number: NonZeroU64) -> bool {
        self.requests.remove(&number).is_some()
    }

    /// Notes that the other node has not received the request, or has not run the write and never will.
    pub(crate) fn not_run(&mut self, number: NonZeroU64) {
        if let Some(request) = self.requests.remove(&number) {
            self.mute = Some((request.to, self.newest));
            self.act(Action::Settled(number, Settled::Not));
        }
    }

    /// Notes that no answer will arrive.
    pub(crate) fn unanswered(&mut self, number: NonZeroU64) {
        let newest = self.newest;
        let Some(request) = self.requests.get_mut(&number) else {
            return;
        };
        if let Some(position) = request.done {
            self.requests.remove(&number);
            return self.act(Action::Settled(number, Settled::Done(position, None)));
        }
        request.in_doubt = true;
        self.mute = Some((request.to.clone(), newest));
        self.take_over();
    }

    fn take_over(&mut self) {
        if !self.is_taking_over && self.stopped.is_none() && !self.never_writes {
            self.is_taking_over = true;
            self.act(Action::TakeOver);
        }
    }

    /// Notes that the write of [`Action::TakeOver`] has ended, with whatever outcome.
    pub(crate) fn took_over(&mut self) {
        self.is_taking_over = false;
    }

    /// Decides about a request of another node, which was made to the run `to` and named the position `known`.
    pub(crate) fn accept(&mut self, id: &RequestId, to: &Run, known: Position) -> Acceptance {
        // An earlier run of this node may have received the request and run the write. An entry of this run decides that.
        if *to != self.me {
            if to.node == self.me.node && known >= self.foreign {
                self.take_over();
            }
            return Acceptance::Unknown;
        }
        if self.seen.contains(id) {
            return Acceptance::Doubled;
        }
        // The request may be a copy of a request that was forgotten since.
        let is_old = |(run, number): &(Run, _)| *run == id.from && *number >= id.number;
        if self.forgotten.iter().any(is_old) {
            return Acceptance::Unknown;
        }
        if self.stopped.is_some() || known < self.foreign {
            return Acceptance::NotRun;
        }
        if self.seen.len() == self.patience.remembered
            && let Some(oldest) = self.seen.pop_front()
        {
            self.forget(oldest);
        }
        self.seen.push_back(id.clone());
        Acceptance::Run
    }

    /// Forgets a request. It remains known that this request, or a later request of its run, has arrived.
    fn forget(&mut self, oldest: RequestId) {
        let known = self.forgotten.iter_mut().find(|(run, _)| *run == oldest.from);
        match known {
            Some((_, number)) => *number = oldest.number.max(*number),
            None => self.forgotten.push((oldest.from, oldest.number)),
        }
    }

    /// Decides requests, now that the database has this entry and all entries before it.
    pub(super) fn settle_requests(&mut self, logged: &Logged) {
        let position = logged.link.position;
        for served in &logged.served {
            if served.id.from != self.me {
                continue;
            }
            let number = served.id.number;
            let Some(request) = self.requests.get_mut(&number) else {
                continue;
            };
            let numbers = (!served.has_more).then_some((served.changes, served.last_insert_rowid));
            if numbers.is_none() && !request.in_doubt {
                request.done = Some(position);
                continue;
            }
            self.requests.remove(&number);
            self.act(Action::Settled(number, Settled::Done(position, numbers)));
        }
        let never = |request: &Request| {
            request.known < position && request.to != logged.writer && request.done.is_none()
        };
        let never: Vec<_> = self
            .requests
            .iter()
            .filter(|(_, request)| never(request))
            .collect();
        let never: Vec<_> = never.into_iter().map(|(&number, _)| number).collect();
        for number in never {
            self.requests.remove(&number);
            self.act(Action::Settled(number, Settled::Not));
        }
    }

    pub(super) fn hurry_requests(&mut self, now: Time) {
        let is_late =
            |request: &Request| request.in_doubt && now.saturating_sub(request.since) >= self.patience.write;
        let late: Vec<_> = self
            .requests
            .iter()
            .filter(|(_, request)| is_late(request))
            .collect();
        let late: Vec<_> = late.into_iter().map(|(&number, _)| number).collect();
        for number in late {
            self.requests.remove(&number);
            self.act(Action::Settled(number, Settled::Unknown));
        }
        if self.requests.values().any(|request| request.in_doubt) {
            self.take_over();
        }
    }
}
