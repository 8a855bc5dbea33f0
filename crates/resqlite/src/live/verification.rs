//! Audits: re-runs that should be unnecessary, made to check that nothing has changed.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

use resqlite_live::{LiveQueryId, Reason, Scheduler};

/// The live queries that want audits, and the audits that are due.
#[derive(Default)]
pub(super) struct Audits {
    /// The live queries that want audits, each with its share. A live query is audited after this share of the commits that do
    /// not affect it, and of the re-runs that looked only at changed rows.
    wanted: Vec<(LiveQueryId, f64)>,
    due: HashSet<LiveQueryId>,
    /// Audits that found a difference which another process may have made; the check is pending.
    pub(super) possible_misses: usize,
    random: RandomState,
    draws: u64,
}

impl Audits {
    pub(super) fn add(&mut self, id: LiveQueryId, share: f64) {
        if share > 0.0 {
            self.wanted.push((id, share));
        }
    }

    pub(super) fn remove(&mut self, id: LiveQueryId) {
        self.wanted.retain(|(other, _)| *other != id);
        self.due.remove(&id);
    }

    /// Schedules again an audit that was taken and not made, unless its query has ended meanwhile.
    pub(super) fn put_back(&mut self, id: LiveQueryId, scheduler: &mut Scheduler) {
        if self.share_of(id).is_some() {
            self.schedule(id, scheduler);
        }
    }

    /// Takes the audit that is due for a live query. Returns whether one was due: then the re-run that begins now is an audit.
    pub(super) fn take_due(&mut self, id: LiveQueryId) -> bool {
        self.due.remove(&id)
    }

    /// Returns whether there is something to [`choose`](Self::choose) from.
    pub(super) fn are_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Schedules audits of some of the live queries that a commit does not affect.
    pub(super) fn choose(&mut self, affected: &[(LiveQueryId, Reason)], scheduler: &mut Scheduler) {
        for at in 0..self.wanted.len() {
            let (id, share) = self.wanted[at];
            let skipped = affected.iter().all(|(other, _)| *other != id);
            if skipped && scheduler.is_idle(id) && self.draw() < share {
                self.schedule(id, scheduler);
            }
        }
    }

    /// Perhaps schedules an audit of a live query whose result was made from the result before.
    pub(super) fn choose_step(&mut self, id: LiveQueryId, scheduler: &mut Scheduler) {
        if let Some(share) = self.share_of(id)
            && self.draw() < share
        {
            self.schedule(id, scheduler);
        }
    }

    fn share_of(&self, id: LiveQueryId) -> Option<f64> {
        let wanted = self.wanted.iter().find(|(other, _)| *other == id);
        wanted.map(|(_, share)| *share)
    }

    /// Schedules an audit, unless a run for a later commit is due: that run is no audit.
    fn schedule(&mut self, id: LiveQueryId, scheduler: &mut Scheduler) {
        if !scheduler.is_due(id) {
            self.due.insert(id);
            scheduler.mark_stale(id, false);
        }
    }

    /// Draws a number from 0 to below 1.
    fn draw(&mut self) -> f64 {
        self.draws += 1;
        (self.random.hash_one(self.draws) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
