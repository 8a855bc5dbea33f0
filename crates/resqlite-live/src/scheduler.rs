//! The order in which live queries run. Each runs at most once at a time, with at most one re-run pending.

use std::collections::VecDeque;

use crate::{
    limits::{LEVELS, SLOW_MICROS, run_max},
    live_query_id::LiveQueryId,
    live_query_map::LiveQueryMap,
};

/// The state of a live query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Its result is up to date.
    Idle,
    /// It waits for the end of the batching window.
    Batching,
    /// It waits to run.
    Queued,
    /// It runs.
    Running,
    /// Its emission is not delivered yet.
    Delivering,
}

#[derive(Debug)]
struct Entry {
    phase: Phase,
    /// A commit affected the live query while it ran, or before its emission was delivered.
    rerun_pending: bool,
    /// The emission of the present run was delivered before [`Scheduler::finished`] was called for it.
    delivered_before_finish: bool,
    /// The time that the last run counts as having taken, in microseconds.
    micros: u64,
    /// See [`Scheduler::run_alone`].
    alone: bool,
}

impl Entry {
    fn level(&self) -> usize {
        level_of(self.micros)
    }
}

/// Returns the level of a live query whose last run counts as having taken `micros`: 0 for quick queries, and otherwise
/// the first level whose runs may take that long.
fn level_of(micros: u64) -> usize {
    match micros {
        ..SLOW_MICROS => 0,
        _ => (1..LEVELS - 1)
            .find(|&level| micros < run_max(level))
            .unwrap_or(LEVELS - 1),
    }
}

/// Live queries that wait, each with its position among all that wait, ascending.
type Line = VecDeque<(u64, LiveQueryId)>;

/// The effect of [`Scheduler::mark_stale`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkOutcome {
    /// The live query is queued.
    Queued,
    /// The live query waits for [`Scheduler::release_batch`] to queue it together with others.
    Batched,
    /// The live query will re-run after its present run has ended and the emission is delivered.
    RerunPending,
    /// The live query was stale already: one re-run serves both commits.
    Coalesced,
    /// The live query has ended.
    Ended,
}

/// Decides which live query runs next.
///
/// Live queries run in the order in which they became stale, each at the level of its last run. Runs of a level may
/// take no longer than [`run_max`]. A run that is given up there is made again at the next level, and a live query
/// whose run was quick returns to the first level. Quick queries always have a slot, and each other level has a slot of
/// its own, so that no live query waits for a slower one. Slow queries share the remaining slots. If commits outpace
/// the runs, stale live queries are batched for a moment, so that a burst of commits costs few runs.
///
/// ```
/// use resqlite_live::{LiveQueryId, MarkOutcome, Scheduler};
/// let mut scheduler = Scheduler::new(2);
/// let id = LiveQueryId(1);
/// scheduler.start(id);
/// scheduler.finished(id, 100, false);
/// assert_eq!(scheduler.mark_stale(id, false), MarkOutcome::Queued);
/// assert_eq!(scheduler.pick(), Some(id));
/// assert_eq!(scheduler.mark_stale(id, false), MarkOutcome::RerunPending);
/// assert_eq!(scheduler.pick(), None, "never twice at once");
/// scheduler.finished(id, 100, false);
/// scheduler.release_batch();
/// assert_eq!(scheduler.pick(), Some(id));
/// ```
#[derive(Debug)]
pub struct Scheduler {
    entries: LiveQueryMap<Entry>,
    /// The live queries that wait to run, by level.
    lines: [Line; LEVELS],
    batch: Vec<LiveQueryId>,
    /// The last position that was given to a live query in a line.
    position: u64,
    /// The number of live queries that run, by level. First runs count as quick, however long they take.
    running: [usize; LEVELS],
    slots: usize,
    delivering: usize,
}

impl Scheduler {
    /// Makes a scheduler for `slots` runs at once, and a few more if runs of several levels coincide: see
    /// [`slots`](Self::slots).
    pub fn new(slots: usize) -> Self {
        Self {
            entries: LiveQueryMap::default(),
            lines: Default::default(),
            batch: Vec::new(),
            position: 0,
            running: [0; LEVELS],
            slots,
            delivering: 0,
        }
    }

    /// The largest number that [`slots`](Self::slots) can become.
    pub const fn slots_max(slots: usize) -> usize {
        let two = if slots < 2 { 2 } else { slots };
        two + LEVELS - 2
    }

    /// Returns how many runs may be made at once now. Each level that has running or waiting slow queries has a slot of
    /// its own, and one slot is left for quick queries.
    pub fn slots(&self) -> usize {
        let is_used = |&level: &usize| self.running[level] > 0 || !self.lines[level].is_empty();
        match (1..LEVELS).filter(is_used).count() {
            0 => self.slots,
            used => self.slots.max(2) + used - 1,
        }
    }

    /// Adds a live query, which begins with its first run.
    pub fn start(&mut self, id: LiveQueryId) {
        self.running[0] += 1;
        self.entries.insert(
            id,
            Entry {
                phase: Phase::Running,
                rerun_pending: false,
                delivered_before_finish: false,
                micros: 0,
                alone: false,
            },
        );
    }

    /// Makes sure that a live query never runs together with others, however quick it is. While it waits,
    /// [`ready_fits`](Self::ready_fits) or [`batch_fits`](Self::batch_fits) returns `false`.
    pub fn run_alone(&mut self, id: LiveQueryId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.alone = true;
        }
    }

    /// Removes a live query. A run of it that has not ended yet no longer occupies a slot.
    pub fn remove(&mut self, id: LiveQueryId) {
        let Some(entry) = self.entries.remove(id) else {
            return;
        };
        match entry.phase {
            Phase::Idle => {}
            Phase::Batching => self.batch.retain(|other| *other != id),
            Phase::Queued => self.lines[entry.level()].retain(|(_, other)| *other != id),
            Phase::Running => self.running[entry.level()] -= 1,
            Phase::Delivering => self.delivering -= 1,
        }
    }

    /// Notes that a commit affects the live query. With `batch`, a live query that could be queued now joins the batch
    /// instead.
    pub fn mark_stale(&mut self, id: LiveQueryId, batch: bool) -> MarkOutcome {
        let Some(entry) = self.entries.get_mut(id) else {
            return MarkOutcome::Ended;
        };
        match entry.phase {
            Phase::Idle if batch => {
                self.batch(id);
                MarkOutcome::Batched
            }
            Phase::Idle => {
                self.queue(id);
                MarkOutcome::Queued
            }
            Phase::Batching | Phase::Queued => MarkOutcome::Coalesced,
            Phase::Running | Phase::Delivering if entry.rerun_pending => MarkOutcome::Coalesced,
            Phase::Running | Phase::Delivering => {
                entry.rerun_pending = true;
                MarkOutcome::RerunPending
            }
        }
    }

    /// Takes the next live query to run, if one may run now. It counts as running from here on.
    pub fn pick(&mut self) -> Option<LiveQueryId> {
        let next = |level: usize| {
            let (position, _) = self.lines[level].front()?;
            self.may_run(level).then_some((*position, level))
        };
        let (_, level) = (0..LEVELS).filter_map(next).min()?;
        let (_, id) = self.lines[level].pop_front()?;
        self.run(id);
        Some(id)
    }

    /// Returns whether one more live query may run at this level.
    fn may_run(&self, level: usize) -> bool {
        level == 0 || self.running[level] == 0 || self.shared_left() > 0
    }

    /// Returns how many slots are left to slow queries whose level has used its own slot. Two slots are not shared: one
    /// is for quick queries, and one for the level itself.
    fn shared_left(&self) -> usize {
        let used: usize = self.running[1..]
            .iter()
            .map(|running| running.saturating_sub(1))
            .sum();
        self.slots.saturating_sub(2 + used)
    }

    /// Takes live queries to run one after the other on one thread: the next one, and the quick ones behind it while
    /// there are at most `count`, their last runs took at most `micros` together, and none
    /// [runs alone](Self::run_alone). They count as running from here on.
    pub fn pick_several(&mut self, count: usize, micros: u64) -> Vec<LiveQueryId> {
        let Some(first) = self.pick() else {
            return Vec::new();
        };
        let mut picked = vec![first];
        let mut total = self.micros_if_shared(first);
        while picked.len() < count
            && let Some((_, id)) = self.lines[0].front().copied()
            && let (Some(so_far), Some(more)) = (total, self.micros_if_shared(id))
            && so_far + more <= micros
        {
            total = Some(so_far + more);
            self.lines[0].pop_front();
            self.run(id);
            picked.push(id);
        }
        picked
    }

    /// Returns whether some live queries are ready, and one [`pick_several`](Self::pick_several) with these bounds would
    /// take all of them.
    pub fn ready_fits(&self, count: usize, micros: u64) -> bool {
        let ready = self.ready();
        let quick = self.lines[0].iter().map(|&(_, id)| id);
        ready == self.lines[0].len() && (1..=count).contains(&ready) && self.fit(quick, micros)
    }

    /// Returns whether the batch is within these bounds.
    pub fn batch_fits(&self, count: usize, micros: u64) -> bool {
        self.batch.len() <= count && self.fit(self.batch.iter().copied(), micros)
    }

    fn fit(&self, ids: impl Iterator<Item = LiveQueryId>, micros: u64) -> bool {
        let took = ids.map(|id| self.micros_if_shared(id));
        took.sum::<Option<u64>>().is_some_and(|took| took <= micros)
    }

    /// The time of the live query's last run; `None` if it runs alone.
    fn micros_if_shared(&self, id: LiveQueryId) -> Option<u64> {
        let entry = self.entries.get(id).filter(|entry| !entry.alone);
        entry.map(|entry| entry.micros)
    }

    fn run(&mut self, id: LiveQueryId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.phase = Phase::Running;
            self.running[entry.level()] += 1;
        }
    }

    /// Notes that a run has ended after `micros` microseconds. `emitted` means that it has an emission, which is to be
    /// delivered.
    pub fn finished(&mut self, id: LiveQueryId, micros: u64, emitted: bool) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        self.running[entry.level()] -= 1;
        entry.micros = micros;
        let delivered = std::mem::take(&mut entry.delivered_before_finish);
        if emitted && !delivered {
            entry.phase = Phase::Delivering;
            self.delivering += 1;
            return;
        }
        self.rest(id);
    }

    /// Notes that a run that was picked was not made. The live query keeps the duration of its previous run.
    pub fn not_made(&mut self, id: LiveQueryId) {
        if let Some(micros) = self.entries.get(id).map(|entry| entry.micros) {
            self.finished(id, micros, false);
        }
    }

    /// Notes that the emission of the last run is delivered.
    pub fn delivered(&mut self, id: LiveQueryId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        match entry.phase {
            Phase::Delivering => {
                self.delivering -= 1;
                self.rest(id);
            }
            // Another thread delivered the emission before this one called `finished`.
            Phase::Running => entry.delivered_before_finish = true,
            Phase::Idle | Phase::Batching | Phase::Queued => {}
        }
    }

    /// Ends the batching window: queues the batch.
    pub fn release_batch(&mut self) {
        for id in std::mem::take(&mut self.batch) {
            self.queue(id);
        }
    }

    /// The number of live queries in the batch.
    pub fn batched(&self) -> usize {
        self.batch.len()
    }

    /// Returns whether the batch has live queries.
    pub fn is_batching(&self) -> bool {
        !self.batch.is_empty()
    }

    /// Returns whether quick live queries run or wait to run, or any live query is batched or has an undelivered emission.
    pub fn is_active(&self) -> bool {
        self.running[0] > 0 || self.delivering > 0 || self.is_batching() || !self.lines[0].is_empty()
    }

    /// Returns whether the live query neither runs nor waits, and its last emission is delivered.
    pub fn is_idle(&self, id: LiveQueryId) -> bool {
        self.entries
            .get(id)
            .is_some_and(|entry| entry.phase == Phase::Idle)
    }

    /// Returns the level at which the live query runs.
    pub fn level(&self, id: LiveQueryId) -> usize {
        self.entries.get(id).map_or(0, Entry::level)
    }

    /// Returns whether the live query neither runs nor waits nor is to run again. Its last emission may not be delivered yet.
    pub fn is_settled(&self, id: LiveQueryId) -> bool {
        let rests = |entry: &Entry| matches!(entry.phase, Phase::Idle | Phase::Delivering);
        self.entries
            .get(id)
            .is_some_and(|entry| rests(entry) && !entry.rerun_pending)
    }

    /// Returns whether the live query waits to run, or runs again as soon as it can.
    pub fn is_due(&self, id: LiveQueryId) -> bool {
        let waits = |entry: &Entry| matches!(entry.phase, Phase::Batching | Phase::Queued);
        self.entries
            .get(id)
            .is_some_and(|entry| entry.rerun_pending || waits(entry))
    }

    /// The number of live queries that wait to run.
    pub fn queued(&self) -> usize {
        self.lines.iter().map(Line::len).sum::<usize>() + self.batch.len()
    }

    /// The number of live queries that could run now, if each had a slot.
    pub fn ready(&self) -> usize {
        let (mut own, mut others) = (0, 0);
        for level in 1..LEVELS {
            let own_slot = usize::from(self.running[level] == 0).min(self.lines[level].len());
            own += own_slot;
            others += self.lines[level].len() - own_slot;
        }
        self.lines[0].len() + own + others.min(self.shared_left())
    }

    /// The number of live queries that run.
    pub fn running(&self) -> usize {
        self.running.iter().sum()
    }

    /// Returns whether nothing runs, waits to run, or waits to be delivered.
    pub fn is_quiet(&self) -> bool {
        self.running() == 0 && self.delivering == 0 && self.queued() == 0
    }

    fn rest(&mut self, id: LiveQueryId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.phase = Phase::Idle;
        if std::mem::take(&mut entry.rerun_pending) {
            self.batch(id);
        }
    }

    fn batch(&mut self, id: LiveQueryId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.phase = Phase::Batching;
            self.batch.push(id);
        }
    }

    fn queue(&mut self, id: LiveQueryId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.phase = Phase::Queued;
        self.position += 1;
        self.lines[entry.level()].push_back((self.position, id));
    }
}

#[cfg(test)]
mod tests {
    use dice::cases;
    use proptest::{collection::vec, prelude::*};

    use super::{LiveQueryId, MarkOutcome, Scheduler, level_of};
    use crate::limits::{LEVELS, SLOW_MICROS, run_max};

    const A: LiveQueryId = LiveQueryId(1);
    const B: LiveQueryId = LiveQueryId(2);
    const C: LiveQueryId = LiveQueryId(3);

    /// A scheduler with idle live queries, each with the duration of its last run.
    fn idle(slots: usize, queries: &[(LiveQueryId, u64)]) -> Scheduler {
        let mut scheduler = Scheduler::new(slots);
        for &(id, micros) in queries {
            scheduler.start(id);
            scheduler.finished(id, micros, false);
        }
        scheduler
    }

    // G121
    #[test]
    fn ready_queries_fit_if_one_pick_takes_all_of_them() {
        let stale = |micros: &[u64]| {
            let queries: Vec<_> = [A, B, C].into_iter().zip(micros.iter().copied()).collect();
            let mut scheduler = idle(2, &queries);
            for (id, _) in queries {
                scheduler.mark_stale(id, false);
            }
            scheduler
        };
        assert!(stale(&[5, 5]).ready_fits(2, 10));
        assert!(!stale(&[]).ready_fits(2, 10), "none is ready");
        assert!(!stale(&[5, 6]).ready_fits(2, 10), "they take longer");
        assert!(!stale(&[1, 1, 1]).ready_fits(2, 10), "there are too many");
        assert!(!stale(&[1, SLOW_MICROS]).ready_fits(2, 10), "one is slow");
    }

    #[test]
    fn a_query_that_runs_alone_does_not_fit_however_quick_it_is() {
        let mut scheduler = idle(2, &[(A, 1), (B, 1)]);
        scheduler.run_alone(B);
        scheduler.mark_stale(A, true);
        assert!(scheduler.batch_fits(2, 10));
        scheduler.mark_stale(B, true);
        assert!(!scheduler.batch_fits(2, 10));
        scheduler.release_batch();
        assert!(!scheduler.ready_fits(2, 10));
    }

    // G121
    #[test]
    fn a_query_that_runs_alone_is_not_picked_with_others() {
        let mut scheduler = idle(2, &[(A, 1), (B, 1), (C, 1)]);
        scheduler.run_alone(B);
        for id in [A, B, C] {
            scheduler.mark_stale(id, false);
        }
        let mut pick = || scheduler.pick_several(3, 10);
        assert_eq!([pick(), pick(), pick()], [[A], [B], [C]]);
    }

    #[test]
    fn a_batch_fits_if_it_is_within_both_bounds() {
        let mut scheduler = idle(2, &[(A, 5), (B, 6), (C, SLOW_MICROS)]);
        for id in [A, B] {
            scheduler.mark_stale(id, true);
        }
        scheduler.mark_stale(C, false);
        assert!(scheduler.batch_fits(2, 11), "C is not in it");
        assert!(!scheduler.batch_fits(1, 11));
        assert!(!scheduler.batch_fits(2, 10));
    }

    #[test]
    fn queries_run_in_the_order_in_which_they_became_stale() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1), (C, 1)]);
        for id in [B, A, C] {
            assert_eq!(scheduler.mark_stale(id, false), MarkOutcome::Queued);
        }
        let order: Vec<_> = std::iter::from_fn(|| scheduler.pick()).collect();
        assert_eq!(order, [B, A, C]);
    }

    #[test]
    fn a_commit_while_a_query_waits_needs_no_run_of_its_own() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.mark_stale(A, false);
        assert_eq!(scheduler.mark_stale(A, false), MarkOutcome::Coalesced);
        assert_eq!(scheduler.pick(), Some(A));
        assert_eq!(scheduler.pick(), None);
    }

    // G120
    #[test]
    fn commits_during_a_run_cause_one_re_run_after_it() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.mark_stale(A, false);
        scheduler.pick();
        assert_eq!(scheduler.mark_stale(A, false), MarkOutcome::RerunPending);
        assert_eq!(scheduler.mark_stale(A, false), MarkOutcome::Coalesced);
        assert_eq!(scheduler.pick(), None);
        scheduler.finished(A, 1, false);
        scheduler.release_batch();
        assert_eq!(scheduler.pick(), Some(A));
        scheduler.finished(A, 1, false);
        scheduler.release_batch();
        assert_eq!(scheduler.pick(), None);
    }

    // G120
    #[test]
    fn an_emission_that_is_not_delivered_yet_delays_the_next_run() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.mark_stale(A, false);
        scheduler.pick();
        scheduler.finished(A, 1, true);
        assert_eq!(scheduler.mark_stale(A, false), MarkOutcome::RerunPending);
        assert_eq!(scheduler.pick(), None);
        scheduler.delivered(A);
        scheduler.release_batch();
        assert_eq!(scheduler.pick(), Some(A));
    }

    // G121
    #[test]
    fn a_batch_is_queued_together() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1)]);
        assert_eq!(scheduler.mark_stale(A, true), MarkOutcome::Batched);
        assert_eq!(scheduler.mark_stale(B, true), MarkOutcome::Batched);
        assert_eq!(scheduler.mark_stale(A, true), MarkOutcome::Coalesced);
        assert_eq!(scheduler.pick(), None);
        scheduler.release_batch();
        assert_eq!((scheduler.pick(), scheduler.pick()), (Some(A), Some(B)));
    }

    #[test]
    fn quick_queries_are_picked_together() {
        let mut scheduler = idle(1, &[(A, 10), (B, 20), (C, 30)]);
        for id in [A, B, C] {
            scheduler.mark_stale(id, false);
        }
        assert_eq!(scheduler.pick_several(9, 50), [A, B], "C would take too long");
        assert_eq!(scheduler.pick_several(9, 50), [C]);
        assert_eq!(scheduler.pick_several(9, 50), []);
        assert_eq!(scheduler.running(), 3);
    }

    #[test]
    fn no_query_is_picked_together_with_a_slow_one() {
        let mut scheduler = idle(2, &[(A, SLOW_MICROS), (B, 1)]);
        for id in [A, B] {
            scheduler.mark_stale(id, false);
        }
        assert_eq!(scheduler.pick_several(9, 50), [A]);
        assert_eq!(scheduler.pick_several(9, 50), [B]);
    }

    #[test]
    fn no_more_queries_are_picked_together_than_are_wanted() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1), (C, 1)]);
        for id in [A, B, C] {
            scheduler.mark_stale(id, false);
        }
        assert_eq!(scheduler.pick_several(2, 50), [A, B]);
    }

    #[test]
    fn slow_queries_do_not_make_the_scheduler_active() {
        let mut scheduler = idle(2, &[(A, SLOW_MICROS), (B, 1)]);
        assert!(!scheduler.is_active());
        scheduler.mark_stale(A, false);
        scheduler.pick();
        assert!(!scheduler.is_active());
        scheduler.mark_stale(B, false);
        assert!(scheduler.is_active());
    }

    #[test]
    fn an_emission_may_be_delivered_before_its_run_is_finished() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.mark_stale(A, false);
        scheduler.pick();
        scheduler.delivered(A);
        scheduler.finished(A, 1, true);
        assert!(scheduler.is_quiet());
        scheduler.mark_stale(A, false);
        assert_eq!(scheduler.pick(), Some(A));
    }

    // G121
    #[test]
    fn slow_queries_leave_a_slot_to_the_quick_ones() {
        let mut scheduler = idle(2, &[(A, SLOW_MICROS), (B, SLOW_MICROS), (C, 1)]);
        for id in [A, B, C] {
            scheduler.mark_stale(id, false);
        }
        assert_eq!(scheduler.ready(), 2);
        assert_eq!(scheduler.pick(), Some(A));
        assert_eq!(scheduler.pick(), Some(C));
        assert_eq!(scheduler.pick(), None, "B would take the last slot");
        scheduler.finished(A, SLOW_MICROS, false);
        assert_eq!(scheduler.pick(), Some(B));
    }

    #[test]
    fn a_slow_query_runs_even_if_there_is_only_one_slot() {
        let mut scheduler = idle(1, &[(A, SLOW_MICROS)]);
        scheduler.mark_stale(A, false);
        assert_eq!(scheduler.pick(), Some(A));
    }

    // G121
    #[test]
    fn each_level_has_a_slot_of_its_own_and_one_is_left_for_quick_queries() {
        let slower = |level: usize| run_max(level - 1);
        let levels: Vec<_> = (1..LEVELS)
            .flat_map(|level| [(level, 0), (level, 1)])
            .map(|(level, twin)| {
                (
                    LiveQueryId((2 * level + twin) as u32),
                    slower(level).max(SLOW_MICROS),
                )
            })
            .collect();
        let mut scheduler = idle(2, &levels);
        scheduler.start(A);
        scheduler.finished(A, 1, false);
        for &(id, _) in &levels {
            scheduler.mark_stale(id, false);
        }
        let picked: Vec<_> = std::iter::from_fn(|| scheduler.pick()).collect();
        assert_eq!(picked.len(), LEVELS - 1, "one of each level");
        assert_eq!(scheduler.slots(), Scheduler::slots_max(2));
        scheduler.mark_stale(A, false);
        assert_eq!(scheduler.pick(), Some(A));
        assert!(scheduler.running() <= scheduler.slots());
    }

    // G121
    #[test]
    fn a_query_that_is_given_up_is_made_again_at_the_next_level_and_returns_when_it_is_quick() {
        let mut scheduler = idle(2, &[(A, 1)]);
        for level in (0..LEVELS).chain([LEVELS - 1]) {
            assert_eq!(scheduler.level(A), level);
            scheduler.mark_stale(A, false);
            scheduler.pick();
            scheduler.finished(A, run_max(level), false);
        }
        scheduler.mark_stale(A, false);
        scheduler.pick();
        scheduler.finished(A, 1, false);
        assert_eq!(scheduler.level(A), 0);
    }

    #[test]
    fn a_query_that_ended_never_runs() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1)]);
        scheduler.mark_stale(A, false);
        scheduler.mark_stale(B, false);
        scheduler.remove(A);
        assert_eq!(scheduler.mark_stale(A, false), MarkOutcome::Ended);
        assert_eq!(scheduler.pick(), Some(B));
        scheduler.remove(B);
        scheduler.finished(B, 1, true);
        assert!(scheduler.is_quiet());
    }

    #[derive(Debug, Clone, Copy)]
    enum Event {
        Start(u32),
        Remove(u32),
        Stale(u32, bool),
        Release,
        Next,
        Finished(u32, u64, bool),
        Delivered(u32),
    }

    fn event() -> impl Strategy<Value = Event> {
        let id = || 0..4_u32;
        let micros = prop_oneof![Just(1), Just(SLOW_MICROS)];
        prop_oneof![
            1 => id().prop_map(Event::Start),
            1 => id().prop_map(Event::Remove),
            3 => (id(), any::<bool>()).prop_map(|(id, batch)| Event::Stale(id, batch)),
            1 => Just(Event::Release),
            3 => Just(Event::Next),
            3 => (id(), micros, any::<bool>()).prop_map(|(id, micros, emitted)| Event::Finished(id, micros, emitted)),
            3 => id().prop_map(Event::Delivered),
        ]
    }

    proptest! {
        #![proptest_config(cases(512))]

        // G120
        #[test]
        fn no_run_is_lost_and_none_runs_twice_at_once(slots in 1..4_usize, events in vec(event(), 0..60)) {
            let mut scheduler = Scheduler::new(slots);
            // Per query: whether it runs, whether an emission is not delivered, whether its last result may be old.
            let mut model: [Option<(bool, bool, bool)>; 4] = [None; 4];
            for event in events {
                match event {
                    Event::Start(id) if model[id as usize].is_none() => {
                        scheduler.start(LiveQueryId(id));
                        model[id as usize] = Some((true, false, false));
                    }
                    Event::Remove(id) => {
                        scheduler.remove(LiveQueryId(id));
                        model[id as usize] = None;
                    }
                    Event::Release => scheduler.release_batch(),
                    Event::Stale(id, batch) => {
                        let known = scheduler.mark_stale(LiveQueryId(id), batch) != MarkOutcome::Ended;
                        prop_assert_eq!(known, model[id as usize].is_some());
                        if let Some((_, _, old)) = &mut model[id as usize] {
                            *old = true;
                        }
                    }
                    Event::Next => if let Some(LiveQueryId(id)) = scheduler.pick() {
                        let (running, delivering, old) = model[id as usize].as_mut().expect("only present queries run");
                        prop_assert!(!*running && !*delivering && *old);
                        (*running, *old) = (true, false);
                    },
                    Event::Finished(id, micros, emitted) => if let Some((running @ true, delivering, _)) = &mut model[id as usize] {
                        scheduler.finished(LiveQueryId(id), micros, emitted);
                        (*running, *delivering) = (false, emitted);
                    },
                    Event::Delivered(id) => if let Some((_, delivering @ true, _)) = &mut model[id as usize] {
                        scheduler.delivered(LiveQueryId(id));
                        *delivering = false;
                    },
                    Event::Start(_) => {}
                }
            }
            // Let everything finish: each old result must get its run.
            loop {
                for (id, state) in model.iter_mut().enumerate() {
                    if let Some((running, delivering, _)) = state {
                        if std::mem::take(running) {
                            scheduler.finished(LiveQueryId(id as u32), 1, false);
                        }
                        if std::mem::take(delivering) {
                            scheduler.delivered(LiveQueryId(id as u32));
                        }
                    }
                }
                scheduler.release_batch();
                let Some(LiveQueryId(id)) = scheduler.pick() else { break };
                model[id as usize] = Some((true, false, false));
            }
            prop_assert!(scheduler.is_quiet());
            prop_assert!(model.iter().flatten().all(|&(_, _, old)| !old), "a run was lost: {:?}", model);
        }

        /// Runs in virtual time. Each run takes the time that its query takes. If its level does not allow that much
        /// time, the run takes the most that the level allows, and is then made again.
        // G121
        #[test]
        fn what_ends_is_shown_in_time_whatever_the_others_do(
            slots in 1..5_usize,
            takes in vec(prop_oneof![1_u64..300_000, 250_000_u64..20_000_000, Just(u64::MAX)], 1..8),
            stale in vec((0..8_usize, 0_u64..500_000), 1..80),
        ) {
            let mut scheduler = Scheduler::new(slots);
            for id in 0..takes.len() {
                scheduler.start(LiveQueryId(id as u32));
                scheduler.finished(LiveQueryId(id as u32), 1, false);
            }
            let (mut now, mut running, mut since) = (0, Vec::new(), vec![None; takes.len()]);
            let mut stale = stale.into_iter().filter(|(id, _)| *id < takes.len());
            let mut next = stale.next().map(|(id, pause)| (pause, id));
            // At each level that this query passes, as many runs as there are queries may come first, each up to the
            // maximum of that level.
            let bound = |took: u64| -> u64 {
                let level = level_of(took);
                (0..=level).map(|level| 2 * takes.len() as u64 * run_max(level)).sum()
            };
            loop {
                while running.len() < scheduler.slots() && let Some(id) = scheduler.pick() {
                    let took = takes[id.0 as usize].min(run_max(scheduler.level(id)));
                    running.push((now + took, id, took));
                }
                running.sort_unstable_by_key(|&(end, _, _)| std::cmp::Reverse(end));
                let end = running.last().map(|&(end, _, _)| end);
                match (next, end) {
                    (Some((at, id)), end) if end.is_none_or(|end| at <= end) => {
                        now = at;
                        scheduler.mark_stale(LiveQueryId(id as u32), false);
                        since[id].get_or_insert(now);
                        next = stale.next().map(|(id, pause)| (now + pause, id));
                    }
                    (_, Some(end)) => {
                        now = end;
                        let (_, id, took) = running.pop().expect("one ends");
                        let number = id.0 as usize;
                        let is_done = took == takes[number];
                        scheduler.finished(id, took, false);
                        if is_done && let Some(since) = since[number].take() {
                            prop_assert!(now - since <= bound(took), "{took}: {}", now - since);
                        }
                        if !is_done {
                            scheduler.mark_stale(id, false);
                        }
                        scheduler.release_batch();
                    }
                    (None, None) => break,
                    (Some(_), None) => unreachable!("the first arm has it"),
                }
                let waits = |(id, since): (usize, &Option<u64>)| since.is_some_and(|since| now - since > bound(takes[id]));
                let late = since.iter().enumerate().find(|&(id, since)| takes[id] < u64::MAX && waits((id, since)));
                prop_assert!(late.is_none(), "{late:?} at {now}");
                if next.is_none() && since.iter().zip(&takes).all(|(since, &took)| since.is_none() || took == u64::MAX) {
                    break;
                }
            }
        }
    }
}
