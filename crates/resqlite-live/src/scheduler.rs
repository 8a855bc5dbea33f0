//! In what order live queries run again: at most one run at a time for each, and at most one owed.

use std::collections::VecDeque;

use crate::{ByStream, StreamId, fault::planted, limits};

/// Where a live query stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Its result is up to date.
    Idle,
    /// It waits to be queued together with others.
    Gathering,
    /// It waits to be run.
    Queued,
    /// It is being run.
    Running,
    /// It has a new result, which its consumer has not taken yet.
    Delivering,
}

#[derive(Debug)]
struct Entry {
    phase: Phase,
    /// A commit concerned it after its run began, or before the consumer took its result.
    owed: bool,
    /// The consumer took the result of a run of which it is not known yet here that it has ended.
    taken_early: bool,
    /// How long it ran the last time.
    micros: u64,
}

impl Entry {
    fn is_slow(&self) -> bool {
        self.micros >= limits::SLOW_MICROS
    }
}

/// The queries that wait, oldest first, each with its place in line.
type Line = VecDeque<(u64, StreamId)>;

/// What became of a query that a commit concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// It waits to be run now.
    Queued,
    /// It waits for others, to be queued together by [`Scheduler::release`].
    Gathered,
    /// It will run when its present run, or its consumer, is done.
    Owed,
    /// It was due anyway.
    Coalesced,
    /// It is not known: it has ended.
    Unknown,
}

/// Decides which live query runs next.
///
/// Queries run in the order in which they became stale. One that takes long runs only while another slot stays free
/// for the quick ones. Where commits come quicker than queries run, those that are stale gather for a moment: then a
/// burst of commits costs few runs.
///
/// ```
/// use resqlite_live::{Scheduler, Stale, StreamId};
/// let mut scheduler = Scheduler::new(2);
/// let id = StreamId(1);
/// scheduler.start(id);
/// scheduler.finished(id, 100, false);
/// assert_eq!(scheduler.stale(id, false), Stale::Queued);
/// assert_eq!(scheduler.pick(), Some(id));
/// assert_eq!(scheduler.stale(id, false), Stale::Owed);
/// assert_eq!(scheduler.pick(), None, "never twice at once");
/// scheduler.finished(id, 100, false);
/// scheduler.release();
/// assert_eq!(scheduler.pick(), Some(id));
/// ```
#[derive(Debug)]
pub struct Scheduler {
    entries: ByStream<Entry>,
    quick: Line,
    slow: Line,
    gathering: Vec<StreamId>,
    places: u64,
    slow_running: usize,
    slow_max: usize,
    running: usize,
    delivering: usize,
}

impl Scheduler {
    /// A scheduler for this many runs at once.
    pub fn new(slots: usize) -> Self {
        Self {
            entries: ByStream::default(),
            quick: Line::new(),
            slow: Line::new(),
            gathering: Vec::new(),
            places: 0,
            slow_running: 0,
            slow_max: slots.saturating_sub(1).max(1),
            running: 0,
            delivering: 0,
        }
    }

    /// A query begins with its first run.
    pub fn start(&mut self, id: StreamId) {
        self.running += 1;
        self.entries.insert(
            id,
            Entry {
                phase: Phase::Running,
                owed: false,
                taken_early: false,
                micros: 0,
            },
        );
    }

    /// A query ends. A run of it that goes on counts no more.
    pub fn remove(&mut self, id: StreamId) {
        let Some(entry) = self.entries.remove(id) else {
            return;
        };
        match entry.phase {
            Phase::Idle => {}
            Phase::Gathering => self.gathering.retain(|other| *other != id),
            Phase::Queued => self.line(entry.is_slow()).retain(|(_, other)| *other != id),
            Phase::Running => self.leave_running(entry.is_slow()),
            Phase::Delivering => self.delivering -= 1,
        }
    }

    /// A commit concerns the query. `gather`: if it could run at once, it waits for others instead.
    pub fn stale(&mut self, id: StreamId, gather: bool) -> Stale {
        let Some(entry) = self.entries.get_mut(id) else {
            return Stale::Unknown;
        };
        match entry.phase {
            Phase::Idle if gather => {
                self.gather(id);
                Stale::Gathered
            }
            Phase::Idle => {
                self.queue(id);
                Stale::Queued
            }
            Phase::Gathering | Phase::Queued => Stale::Coalesced,
            Phase::Running | Phase::Delivering if entry.owed => Stale::Coalesced,
            Phase::Running | Phase::Delivering => {
                entry.owed = !planted("lose_owed");
                Stale::Owed
            }
        }
    }

    /// The query to run now, if there is one: from now on it is running.
    pub fn pick(&mut self) -> Option<StreamId> {
        let may_be_slow = self.slow_running < self.slow_max;
        let slow_first = match (self.quick.front(), self.slow.front()) {
            (Some((quick, _)), Some((slow, _))) => may_be_slow && slow < quick,
            (None, Some(_)) if may_be_slow => true,
            (None, _) => return None,
            (Some(_), None) => false,
        };
        let (_, id) = self.line(slow_first).pop_front()?;
        self.slow_running += usize::from(slow_first);
        self.run(id);
        Some(id)
    }

    /// The queries to run now, one after the other: the first that is due, and those behind it as long as there are
    /// at most `count` and all of them took at most `micros` the last time. They are running from now on.
    pub fn pick_several(&mut self, count: usize, micros: u64) -> Vec<StreamId> {
        let Some(first) = self.pick() else {
            return Vec::new();
        };
        let took = |scheduler: &Self, id| scheduler.entries.get(id).map_or(0, |entry: &Entry| entry.micros);
        let mut picked = vec![first];
        let mut total = took(self, first);
        while picked.len() < count
            && let Some((_, id)) = self.quick.front().copied()
            && total + took(self, id) <= micros
        {
            total += took(self, id);
            self.quick.pop_front();
            self.run(id);
            picked.push(id);
        }
        picked
    }

    /// Whether all that [`pick_several`](Self::pick_several) would give now are at most `count` and took at most
    /// `micros` together the last time; and there are any.
    pub fn is_little(&self, count: usize, micros: u64) -> bool {
        let took = |&(_, id): &(u64, StreamId)| self.entries.get(id).map_or(0, |entry| entry.micros);
        let ready = self.ready();
        ready == self.quick.len()
            && (1..=count).contains(&ready)
            && self.quick.iter().map(took).sum::<u64>() <= micros
    }

    fn run(&mut self, id: StreamId) {
        self.running += 1;
        if let Some(entry) = self.entries.get_mut(id) {
            entry.phase = Phase::Running;
        }
    }

    /// A run has ended after this many microseconds. `emitted`: its consumer has a new result to take.
    pub fn finished(&mut self, id: StreamId, micros: u64, emitted: bool) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let was_slow = entry.is_slow();
        entry.micros = micros;
        let taken = std::mem::take(&mut entry.taken_early);
        if emitted && !taken {
            entry.phase = Phase::Delivering;
            self.delivering += 1;
            return self.leave_running(was_slow);
        }
        self.leave_running(was_slow);
        self.rest(id);
    }

    /// The consumer has taken the new result.
    pub fn delivered(&mut self, id: StreamId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        match entry.phase {
            Phase::Delivering => {
                self.delivering -= 1;
                self.rest(id);
            }
            // It was quicker than the news that the run has ended.
            Phase::Running => entry.taken_early = true,
            Phase::Idle | Phase::Gathering | Phase::Queued => {}
        }
    }

    /// Queues the queries that gather.
    pub fn release(&mut self) {
        for id in std::mem::take(&mut self.gathering) {
            self.queue(id);
        }
    }

    /// Whether queries gather.
    pub fn gathers(&self) -> bool {
        !self.gathering.is_empty()
    }

    /// Whether queries run, other than slow ones, or wait to be run, or have a result to be taken.
    pub fn is_active(&self) -> bool {
        self.running > self.slow_running || self.delivering > 0 || self.gathers() || !self.quick.is_empty()
    }

    /// Whether the query neither runs nor waits, and its result has been taken.
    pub fn is_idle(&self, id: StreamId) -> bool {
        self.entries
            .get(id)
            .is_some_and(|entry| entry.phase == Phase::Idle)
    }

    /// Queries that wait to be run.
    pub fn queued(&self) -> usize {
        self.quick.len() + self.slow.len() + self.gathering.len()
    }

    /// Queries that [`pick`](Self::pick) would give now.
    pub fn ready(&self) -> usize {
        self.quick.len() + self.slow.len().min(self.slow_max - self.slow_running)
    }

    /// Queries that are being run.
    pub fn running(&self) -> usize {
        self.running
    }

    /// Whether nothing runs, waits, or has yet to be taken.
    pub fn is_quiet(&self) -> bool {
        self.running == 0 && self.delivering == 0 && self.queued() == 0
    }

    fn rest(&mut self, id: StreamId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.phase = Phase::Idle;
        if std::mem::take(&mut entry.owed) {
            self.gather(id);
        }
    }

    fn gather(&mut self, id: StreamId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.phase = Phase::Gathering;
            self.gathering.push(id);
        }
    }

    fn queue(&mut self, id: StreamId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.phase = Phase::Queued;
        let slow = entry.is_slow();
        self.places += 1;
        let place = self.places;
        self.line(slow).push_back((place, id));
    }

    fn leave_running(&mut self, slow: bool) {
        self.running -= 1;
        self.slow_running -= usize::from(slow);
    }

    fn line(&mut self, slow: bool) -> &mut Line {
        if slow { &mut self.slow } else { &mut self.quick }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::{Scheduler, Stale, StreamId};
    use crate::{limits::SLOW_MICROS, testing::cases};

    const A: StreamId = StreamId(1);
    const B: StreamId = StreamId(2);
    const C: StreamId = StreamId(3);

    /// All queries known, idle, and of this speed.
    fn idle(slots: usize, queries: &[(StreamId, u64)]) -> Scheduler {
        let mut scheduler = Scheduler::new(slots);
        for &(id, micros) in queries {
            scheduler.start(id);
            scheduler.finished(id, micros, false);
        }
        scheduler
    }

    #[test]
    fn what_is_due_is_little_if_all_of_it_is() {
        let due = |micros: &[u64]| {
            let queries: Vec<_> = [A, B, C].into_iter().zip(micros.iter().copied()).collect();
            let mut scheduler = idle(2, &queries);
            for (id, _) in queries {
                scheduler.stale(id, false);
            }
            scheduler
        };
        assert!(due(&[5, 5]).is_little(2, 10));
        assert!(!due(&[]).is_little(2, 10), "nothing is");
        assert!(!due(&[5, 6]).is_little(2, 10), "it takes longer");
        assert!(!due(&[1, 1, 1]).is_little(2, 10), "there are more");
        assert!(!due(&[1, SLOW_MICROS]).is_little(2, 10), "one is slow");
    }

    #[test]
    fn queries_run_in_the_order_in_which_they_became_stale() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1), (C, 1)]);
        for id in [B, A, C] {
            assert_eq!(scheduler.stale(id, false), Stale::Queued);
        }
        let order: Vec<_> = std::iter::from_fn(|| scheduler.pick()).collect();
        assert_eq!(order, [B, A, C]);
    }

    #[test]
    fn commits_that_come_while_a_query_waits_need_no_run_of_their_own() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.stale(A, false);
        assert_eq!(scheduler.stale(A, false), Stale::Coalesced);
        assert_eq!(scheduler.pick(), Some(A));
        assert_eq!(scheduler.pick(), None);
    }

    #[test]
    fn a_commit_during_a_run_is_owed_one_run_after_it() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.stale(A, false);
        scheduler.pick();
        assert_eq!(scheduler.stale(A, false), Stale::Owed);
        assert_eq!(scheduler.stale(A, false), Stale::Coalesced);
        assert_eq!(scheduler.pick(), None);
        scheduler.finished(A, 1, false);
        scheduler.release();
        assert_eq!(scheduler.pick(), Some(A));
        scheduler.finished(A, 1, false);
        scheduler.release();
        assert_eq!(scheduler.pick(), None);
    }

    #[test]
    fn a_result_that_was_not_taken_yet_holds_the_next_run_back() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.stale(A, false);
        scheduler.pick();
        scheduler.finished(A, 1, true);
        assert_eq!(scheduler.stale(A, false), Stale::Owed);
        assert_eq!(scheduler.pick(), None);
        scheduler.delivered(A);
        scheduler.release();
        assert_eq!(scheduler.pick(), Some(A));
    }

    #[test]
    fn queries_that_gather_run_together() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1)]);
        assert_eq!(scheduler.stale(A, true), Stale::Gathered);
        assert_eq!(scheduler.stale(B, true), Stale::Gathered);
        assert_eq!(scheduler.stale(A, true), Stale::Coalesced);
        assert_eq!(scheduler.pick(), None);
        scheduler.release();
        assert_eq!((scheduler.pick(), scheduler.pick()), (Some(A), Some(B)));
    }

    #[test]
    fn quick_queries_are_picked_together() {
        let mut scheduler = idle(1, &[(A, 10), (B, 20), (C, 30)]);
        for id in [A, B, C] {
            scheduler.stale(id, false);
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
            scheduler.stale(id, false);
        }
        assert_eq!(scheduler.pick_several(9, 50), [A]);
        assert_eq!(scheduler.pick_several(9, 50), [B]);
    }

    #[test]
    fn no_more_queries_are_picked_together_than_are_wanted() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1), (C, 1)]);
        for id in [A, B, C] {
            scheduler.stale(id, false);
        }
        assert_eq!(scheduler.pick_several(2, 50), [A, B]);
    }

    #[test]
    fn slow_queries_make_no_others_gather() {
        let mut scheduler = idle(2, &[(A, SLOW_MICROS), (B, 1)]);
        assert!(!scheduler.is_active());
        scheduler.stale(A, false);
        scheduler.pick();
        assert!(!scheduler.is_active());
        scheduler.stale(B, false);
        assert!(scheduler.is_active());
    }

    #[test]
    fn a_consumer_may_be_quicker_than_the_end_of_the_run() {
        let mut scheduler = idle(1, &[(A, 1)]);
        scheduler.stale(A, false);
        scheduler.pick();
        scheduler.delivered(A);
        scheduler.finished(A, 1, true);
        assert!(scheduler.is_quiet());
        scheduler.stale(A, false);
        assert_eq!(scheduler.pick(), Some(A));
    }

    #[test]
    fn slow_queries_leave_a_slot_to_the_quick_ones() {
        let mut scheduler = idle(2, &[(A, SLOW_MICROS), (B, SLOW_MICROS), (C, 1)]);
        for id in [A, B, C] {
            scheduler.stale(id, false);
        }
        assert_eq!(scheduler.ready(), 2);
        assert_eq!(scheduler.pick(), Some(A));
        assert_eq!(scheduler.pick(), Some(C));
        assert_eq!(scheduler.pick(), None, "B would take the last slot");
        scheduler.finished(A, SLOW_MICROS, false);
        assert_eq!(scheduler.pick(), Some(B));
    }

    #[test]
    fn a_slow_query_runs_where_there_is_but_one_slot() {
        let mut scheduler = idle(1, &[(A, SLOW_MICROS)]);
        scheduler.stale(A, false);
        assert_eq!(scheduler.pick(), Some(A));
    }

    #[test]
    fn a_query_that_ended_never_runs() {
        let mut scheduler = idle(1, &[(A, 1), (B, 1)]);
        scheduler.stale(A, false);
        scheduler.stale(B, false);
        scheduler.remove(A);
        assert_eq!(scheduler.stale(A, false), Stale::Unknown);
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
            3 => (id(), any::<bool>()).prop_map(|(id, gather)| Event::Stale(id, gather)),
            1 => Just(Event::Release),
            3 => Just(Event::Next),
            3 => (id(), micros, any::<bool>()).prop_map(|(id, micros, emitted)| Event::Finished(id, micros, emitted)),
            3 => id().prop_map(Event::Delivered),
        ]
    }

    proptest! {
        #![proptest_config(cases(512))]

        #[test]
        fn no_run_is_lost_and_none_runs_twice_at_once(slots in 1..4_usize, events in vec(event(), 0..60)) {
            let mut scheduler = Scheduler::new(slots);
            // Per query: whether it runs, whether a result of it is on its way, whether its last result may be old.
            let mut model: [Option<(bool, bool, bool)>; 4] = [None; 4];
            for event in events {
                match event {
                    Event::Start(id) if model[id as usize].is_none() => {
                        scheduler.start(StreamId(id));
                        model[id as usize] = Some((true, false, false));
                    }
                    Event::Remove(id) => {
                        scheduler.remove(StreamId(id));
                        model[id as usize] = None;
                    }
                    Event::Release => scheduler.release(),
                    Event::Stale(id, gather) => {
                        let known = scheduler.stale(StreamId(id), gather) != Stale::Unknown;
                        prop_assert_eq!(known, model[id as usize].is_some());
                        if let Some((_, _, old)) = &mut model[id as usize] {
                            *old = true;
                        }
                    }
                    Event::Next => if let Some(StreamId(id)) = scheduler.pick() {
                        let (running, delivering, old) = model[id as usize].as_mut().expect("only known queries run");
                        prop_assert!(!*running && !*delivering && *old);
                        (*running, *old) = (true, false);
                    },
                    Event::Finished(id, micros, emitted) => if let Some((running @ true, delivering, _)) = &mut model[id as usize] {
                        scheduler.finished(StreamId(id), micros, emitted);
                        (*running, *delivering) = (false, emitted);
                    },
                    Event::Delivered(id) => if let Some((_, delivering @ true, _)) = &mut model[id as usize] {
                        scheduler.delivered(StreamId(id));
                        *delivering = false;
                    },
                    Event::Start(_) => {}
                }
            }
            // Let everything come to rest: whatever is old must get its run.
            loop {
                for (id, state) in model.iter_mut().enumerate() {
                    if let Some((running, delivering, _)) = state {
                        if std::mem::take(running) {
                            scheduler.finished(StreamId(id as u32), 1, false);
                        }
                        if std::mem::take(delivering) {
                            scheduler.delivered(StreamId(id as u32));
                        }
                    }
                }
                scheduler.release();
                let Some(StreamId(id)) = scheduler.pick() else { break };
                model[id as usize] = Some((true, false, false));
            }
            prop_assert!(scheduler.is_quiet());
            prop_assert!(model.iter().flatten().all(|&(_, _, old)| !old), "a run was lost: {:?}", model);
        }
    }
}
