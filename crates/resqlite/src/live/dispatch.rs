//! Who makes the re-runs that are ready, and when: the live threads at once, or the writer bit by bit, whenever it has nothing
//! else to do.
//!
//! ```text
//! stale, while others run ──► batched ──── the window ends ────► ready ──► live threads
//!                                │         (750 µs: the writer,    │
//!                                │          1 ms: a live thread)   └────► left to the writer, if all are quick
//!                                │                                          │
//!                                └──── a queued job looks after both ◄──────┘ and takes over what is left for 2 ms
//! ```
//!
//! **Whatever is batched or left to the writer has a queued job behind it.** So the writer owes nothing: it may take up a long
//! write at any time, or die.

use std::time::{Duration, Instant};

use resqlite_live::Scheduler;

use crate::core::limits;

/// Counts the threads that work on re-runs, and those that were called.
pub(super) struct Dispatch {
    /// The most threads.
    slots: usize,
    /// Threads that were called and have not begun.
    called: usize,
    working: usize,
    /// A job that looks after what waits is queued.
    looked_after: bool,
    /// Since when the batching window is open, if it is.
    batching_since: Option<Instant>,
    /// Since when re-runs that are ready are left to the writer, if they are.
    left_since: Option<Instant>,
}

/// The thread that asks for a plan.
#[derive(Clone, Copy)]
pub(super) enum CalledBy {
    /// The writer, which may use so much time for re-runs now: none if something waits for it.
    Writer(Duration),
    Other,
}

impl CalledBy {
    /// The time that this thread has for re-runs.
    fn spare(self) -> Option<Duration> {
        match self {
            Self::Writer(spare) if !spare.is_zero() => Some(spare),
            Self::Writer(_) | Self::Other => None,
        }
    }
}

/// What the caller of [`Dispatch::plan`] must do.
pub(super) struct Plan {
    /// The number of threads to call.
    pub(super) calls: usize,
    /// When to have somebody look after what waits, if nobody will yet.
    pub(super) look_after: Option<Duration>,
    pub(super) runs_on: RunsOn,
}

/// Who makes the re-runs that are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunsOn {
    /// The live threads, which were called, or later the writer.
    Others,
    /// The thread that asked, because the re-runs are quick.
    ThisThread,
}

/// What the job that looks after what waits has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Re-runs that nobody has made in time. The caller is about to make them.
    Overdue,
    /// Nothing yet; something may be overdue after this time.
    Waiting(Duration),
    Nothing,
}

impl Dispatch {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots,
            called: 0,
            working: 0,
            looked_after: false,
            batching_since: None,
            left_since: None,
        }
    }

    /// Plans for the re-runs that are ready.
    pub(super) fn plan(&mut self, scheduler: &mut Scheduler, by: CalledBy, now: Instant) -> Plan {
        let spare = by.spare().map(micros);
        self.follow_window(scheduler, spare.is_some(), now);
        let ready = scheduler.ready();
        let free = self.slots - (self.called + self.working).min(self.slots);
        let fits = |count, micros| scheduler.ready_fits(count, micros);
        let quick = fits(limits::SHARED_READ_RUNS, limits::SHARED_READ_MICROS);
        let at_once = spare.is_some_and(|spare| fits(limits::WRITER_RUNS, spare));
        let one_by_one = spare.is_some() && fits(ready, together(ready));
        let here = self.called == 0 && free > 0 && (at_once || quick && one_by_one);
        if here && !at_once {
            self.left_since.get_or_insert(now);
        } else if !quick || spare.is_some() {
            self.left_since = None;
        }
        let calls = match self.left_since {
            None if !here => ready.saturating_sub(self.called).min(free),
            _ => 0,
        };
        self.called += calls + usize::from(here);
        Plan {
            calls,
            look_after: self.look_after(now),
            runs_on: if here { RunsOn::ThisThread } else { RunsOn::Others },
        }
    }

    /// Notices that the batching window is open. Ends it if the writer has time for what it holds.
    fn follow_window(&mut self, scheduler: &mut Scheduler, has_time: bool, now: Instant) {
        if !scheduler.is_batching() {
            self.batching_since = None;
            return;
        }
        let since = *self.batching_since.get_or_insert(now);
        let most = together(scheduler.batched()).min(limits::SHARED_READ_MICROS);
        let is_time = has_time && now.duration_since(since) >= limits::WRITER_ENDS_WINDOW;
        if is_time && scheduler.batch_fits(limits::SHARED_READ_RUNS, most) {
            scheduler.release_batch();
            self.batching_since = None;
        }
    }

    fn look_after(&mut self, now: Instant) -> Option<Duration> {
        let due = self.due().filter(|_| !self.looked_after)?;
        self.looked_after = true;
        Some(due.saturating_duration_since(now))
    }

    /// When something that waits is overdue.
    fn due(&self) -> Option<Instant> {
        let batch = self.batching_since.map(|since| since + limits::BATCHING_WINDOW);
        let left = self.left_since.map(|since| since + limits::LEFT_TO_WRITER);
        batch.into_iter().chain(left).min()
    }

    /// Called by the job that looks after what waits. Unless it finds nothing, the caller is to call this again.
    pub(super) fn look(&mut self, scheduler: &mut Scheduler, now: Instant) -> Found {
        self.follow_window(scheduler, false, now);
        if scheduler.ready() == 0 {
            self.left_since = None;
        }
        let Some(due) = self.due() else {
            self.looked_after = false;
            return Found::Nothing;
        };
        if now < due {
            return Found::Waiting(due - now);
        }
        self.take_over(scheduler);
        Found::Overdue
    }

    /// Makes everything that waits ready for the caller, which is about to begin work.
    pub(super) fn take_over(&mut self, scheduler: &mut Scheduler) {
        scheduler.release_batch();
        (self.batching_since, self.left_since) = (None, None);
        self.looked_after = false;
        self.called += 1;
    }

    /// A thread that was called begins.
    pub(super) fn work_begins(&mut self) {
        self.called -= 1;
        self.working += 1;
    }

    pub(super) fn work_ends(&mut self) {
        self.working -= 1;
    }
}

/// How many microseconds so many may take together for the writer to make them one by one. On average: one that a busy machine
/// has delayed does not make live threads run the others.
fn together(count: usize) -> u64 {
    micros(limits::WRITER_ONE_BY_ONE).saturating_mul(count as u64)
}

/// In whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use resqlite_live::LiveQueryId;

    use super::*;

    const QUICK: u64 = 12;
    const SPARE: Duration = Duration::from_micros(15);
    const LONG: u64 = 50;

    /// A world with so many stale live queries, each of which took 12 µs the last time.
    struct World {
        dispatch: Dispatch,
        scheduler: Scheduler,
        now: Instant,
    }

    impl World {
        fn with_stale(count: u32) -> Self {
            let mut world = Self {
                dispatch: Dispatch::new(2),
                scheduler: Scheduler::new(2),
                now: Instant::now(),
            };
            (1..=count).for_each(|id| world.becomes_stale(id, QUICK, false));
            world
        }

        fn with_one_of(micros: u64) -> Self {
            let mut world = Self::with_stale(0);
            world.becomes_stale(1, micros, false);
            world
        }

        fn becomes_stale(&mut self, id: u32, micros: u64, batch: bool) {
            let id = LiveQueryId(id);
            self.scheduler.start(id);
            self.scheduler.finished(id, micros, false);
            self.scheduler.mark_stale(id, batch);
        }

        fn plan(&mut self, by: CalledBy) -> Plan {
            self.dispatch.plan(&mut self.scheduler, by, self.now)
        }

        /// Whether the writer makes re-runs now; if so, it makes one.
        fn writer_makes_one(&mut self, spare: Duration) -> bool {
            let is_here = self.plan(CalledBy::Writer(spare)).runs_on == RunsOn::ThisThread;
            if is_here {
                self.dispatch.work_begins();
                let id = self.scheduler.pick().expect("one is ready");
                self.scheduler.finished(id, QUICK, false);
                self.dispatch.work_ends();
            }
            is_here
        }

        fn look(&mut self) -> Found {
            self.dispatch.look(&mut self.scheduler, self.now)
        }
    }

    #[test]
    fn a_writer_makes_re_runs_itself_that_fit_into_its_spare_time() {
        let by_writer = |spare| World::with_one_of(LONG).writer_makes_one(spare);
        let takes = Duration::from_micros(LONG);
        assert!(by_writer(takes));
        assert!(!by_writer(takes - Duration::from_micros(1)));
        assert!(!by_writer(Duration::ZERO));
    }

    #[test]
    fn a_writer_makes_quick_re_runs_one_by_one() {
        let mut world = World::with_stale(5);
        for _ in 0..5 {
            assert!(world.writer_makes_one(SPARE));
        }
        assert!(!world.writer_makes_one(SPARE), "all are made");
        let mut world = World::with_stale(5);
        world.becomes_stale(6, LONG, false);
        assert!(!world.writer_makes_one(SPARE), "they are not quick on average");
    }

    #[test]
    fn live_threads_are_called_for_what_the_writer_has_no_time_for() {
        let calls = |by| World::with_one_of(LONG).plan(by).calls;
        assert_eq!(calls(CalledBy::Writer(SPARE)), 1);
        assert_eq!(calls(CalledBy::Writer(Duration::ZERO)), 1);
        assert_eq!(calls(CalledBy::Other), 1);
    }

    #[test]
    fn a_writer_makes_no_re_runs_itself_while_a_live_thread_was_called_for_them() {
        let mut world = World::with_stale(1);
        assert_eq!(world.plan(CalledBy::Other).calls, 1);
        assert!(!world.writer_makes_one(Duration::MAX));
    }

    #[test]
    fn what_the_writer_has_begun_is_left_to_it_whatever_comes_between() {
        let mut world = World::with_stale(3);
        assert!(world.writer_makes_one(SPARE));
        assert_eq!(world.plan(CalledBy::Other).calls, 0);
        assert_eq!(
            world.plan(CalledBy::Writer(Duration::ZERO)).calls,
            0,
            "a write waits"
        );
        assert!(world.writer_makes_one(SPARE) && world.writer_makes_one(SPARE));
        assert!(!world.writer_makes_one(SPARE), "all are made");
    }

    #[test]
    fn what_is_left_to_the_writer_becomes_that_of_live_threads_if_it_is_too_much() {
        let mut world = World::with_stale(3);
        assert!(world.writer_makes_one(SPARE));
        for id in 10..10 + limits::SHARED_READ_RUNS as u32 {
            world.becomes_stale(id, QUICK, false);
        }
        assert_eq!(world.plan(CalledBy::Other).calls, 2);
    }

    #[test]
    fn somebody_looks_after_what_the_writer_does_not_come_back_for() {
        let mut world = World::with_stale(2);
        let plan = world.plan(CalledBy::Writer(SPARE));
        assert_eq!(plan.look_after, Some(limits::LEFT_TO_WRITER));
        world.dispatch.work_begins();
        world.scheduler.pick();
        world.dispatch.work_ends();
        world.now += limits::LEFT_TO_WRITER / 2;
        assert_eq!(world.look(), Found::Waiting(limits::LEFT_TO_WRITER / 2));
        world.now += limits::LEFT_TO_WRITER / 2;
        assert_eq!(world.look(), Found::Overdue);
        world.dispatch.work_begins();
        assert_eq!(
            world.plan(CalledBy::Other).calls,
            1,
            "nothing is left to the writer"
        );
    }

    #[test]
    fn nobody_looks_after_what_the_writer_makes_at_once() {
        assert_eq!(
            World::with_stale(1).plan(CalledBy::Writer(SPARE)).look_after,
            None
        );
    }

    #[test]
    fn nobody_looks_any_longer_after_what_the_writer_has_made() {
        let mut world = World::with_stale(2);
        assert!(world.writer_makes_one(SPARE) && world.writer_makes_one(SPARE));
        assert_eq!(world.look(), Found::Nothing);
    }

    #[test]
    fn the_batching_window_is_ended_by_the_writer_if_it_has_time_and_by_a_live_thread_if_not() {
        let mut world = World::with_stale(0);
        world.becomes_stale(1, QUICK, true);
        assert_eq!(
            world.plan(CalledBy::Writer(SPARE)).look_after,
            Some(limits::BATCHING_WINDOW)
        );
        world.now += limits::WRITER_ENDS_WINDOW;
        assert_eq!(world.plan(CalledBy::Other).calls, 0);
        assert!(!world.writer_makes_one(Duration::ZERO));
        assert!(world.writer_makes_one(SPARE));

        world.becomes_stale(2, QUICK, true);
        assert_eq!(
            world.plan(CalledBy::Other).look_after,
            None,
            "somebody will look already"
        );
        world.now += limits::BATCHING_WINDOW;
        assert_eq!(world.look(), Found::Overdue);
        assert_eq!(world.scheduler.ready(), 1);
    }

    #[test]
    fn a_window_that_was_opened_later_is_ended_later() {
        let mut world = World::with_stale(0);
        world.becomes_stale(1, QUICK, true);
        world.plan(CalledBy::Other);
        world.now += limits::WRITER_ENDS_WINDOW;
        assert!(world.writer_makes_one(SPARE));
        world.becomes_stale(2, QUICK, true);
        world.plan(CalledBy::Other);
        world.now += limits::BATCHING_WINDOW - limits::WRITER_ENDS_WINDOW;
        assert_eq!(world.look(), Found::Waiting(limits::WRITER_ENDS_WINDOW));
    }
}
