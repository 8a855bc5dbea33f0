use resqlite_live::LiveQueryId;

use super::*;

const QUICK: u64 = 12;
const LONG: u64 = 50;
const SPARE: Duration = Duration::from_micros(15);
const NONE: Duration = Duration::ZERO;

struct World {
    dispatch: Dispatch,
    scheduler: Scheduler,
    now: Instant,
}

impl World {
    /// So many live queries are stale, and quick.
    fn with_stale(count: u32) -> Self {
        let mut world = Self {
            dispatch: Dispatch::default(),
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

    /// A live query that took so long the last time becomes stale.
    fn becomes_stale(&mut self, id: u32, micros: u64, batch: bool) {
        let id = LiveQueryId(id);
        self.scheduler.start(id);
        self.scheduler.finished(id, micros, false);
        self.scheduler.mark_stale(id, batch);
    }

    fn plan(&mut self, spare: Duration) -> Plan {
        self.dispatch.plan(&mut self.scheduler, spare, self.now)
    }

    /// Returns true if the writer makes re-runs now. If so, it makes one.
    fn writer_makes_one(&mut self, spare: Duration) -> bool {
        let is_here = self.plan(spare).runs_on == RunsOn::ThisThread(spare);
        if is_here {
            self.dispatch.work_begins();
            let id = self.scheduler.pick().expect("one is ready");
            self.scheduler.finished(id, QUICK, false);
            self.dispatch.work_ends();
        }
        is_here
    }

    fn look(&mut self) -> Wait {
        self.dispatch.look(&mut self.scheduler, self.now)
    }
}

// G121
#[test]
fn a_writer_makes_re_runs_itself_that_fit_into_its_spare_time() {
    let by_writer = |spare| World::with_one_of(LONG).writer_makes_one(spare);
    let takes = Duration::from_micros(LONG);
    assert!(by_writer(takes));
    assert!(!by_writer(takes - Duration::from_micros(1)));
    assert!(!by_writer(NONE));
}

// G121
#[test]
fn a_writer_works_off_more_re_runs_if_they_are_quick() {
    let mut world = World::with_stale(5);
    for _ in 0..5 {
        assert!(world.writer_makes_one(SPARE));
    }
    assert!(!world.writer_makes_one(SPARE), "all are made");
}

#[test]
fn a_writer_works_off_no_re_runs_that_are_not_quick() {
    let mut world = World::with_stale(5);
    world.becomes_stale(6, LONG, false);
    assert!(!world.writer_makes_one(SPARE));
}

#[test]
fn live_threads_are_called_for_what_the_writer_has_no_time_for() {
    let calls = |spare| World::with_one_of(LONG).plan(spare).calls;
    assert_eq!([calls(SPARE), calls(NONE)], [1, 1]);
}

#[test]
fn a_writer_makes_no_re_runs_itself_while_a_live_thread_was_called_for_them() {
    let mut world = World::with_stale(1);
    assert_eq!(world.plan(NONE).calls, 1);
    assert!(!world.writer_makes_one(Duration::MAX));
}

// G121
#[test]
fn what_the_writer_has_begun_is_left_to_it_while_a_write_waits() {
    let mut world = World::with_stale(3);
    assert!(world.writer_makes_one(SPARE));
    assert_eq!(world.plan(NONE).calls, 0);
    assert!(world.writer_makes_one(SPARE));
}

#[test]
fn what_is_left_to_the_writer_becomes_that_of_live_threads_if_it_is_too_much() {
    let mut world = World::with_stale(3);
    assert!(world.writer_makes_one(SPARE));
    for id in 10..10 + limits::SHARED_READ_RUNS as u32 {
        world.becomes_stale(id, QUICK, false);
    }
    assert_eq!(world.plan(NONE).calls, 2);
}

// G121
#[test]
fn somebody_looks_after_what_the_writer_does_not_come_back_for() {
    let mut world = World::with_stale(3);
    assert_eq!(world.plan(SPARE).look_after, Some(limits::BATCHING_WINDOW));
    world.dispatch.work_begins();
    world.scheduler.pick();
    world.dispatch.work_ends();
    world.now += limits::BATCHING_WINDOW / 2;
    assert_eq!(world.look(), Wait::For(limits::BATCHING_WINDOW / 2));
    world.now += limits::BATCHING_WINDOW / 2;
    assert_eq!(world.look(), Wait::Over { calls: 0 });
    world.dispatch.work_begins();
    assert_eq!(world.plan(NONE).calls, 1, "nothing is left to the writer");
}

#[test]
fn nobody_looks_after_what_the_writer_makes_at_once() {
    assert_eq!(World::with_stale(1).plan(SPARE).look_after, None);
}

#[test]
fn nobody_looks_any_longer_after_what_the_writer_has_made() {
    let mut world = World::with_stale(2);
    assert!(world.writer_makes_one(SPARE) && world.writer_makes_one(SPARE));
    assert_eq!(world.look(), Wait::Nothing);
}

#[test]
fn the_writer_ends_the_batching_window_if_it_has_time_for_what_it_holds() {
    let mut world = World::with_stale(0);
    world.becomes_stale(1, QUICK, true);
    assert!(!world.writer_makes_one(SPARE), "it has just been opened");
    world.now += limits::WRITER_ENDS_WINDOW;
    assert!(!world.writer_makes_one(NONE));
    assert!(world.writer_makes_one(SPARE));
}

// G121
#[test]
fn a_live_thread_ends_the_batching_window_if_the_writer_does_not() {
    let mut world = World::with_stale(0);
    world.becomes_stale(1, LONG, true);
    assert_eq!(world.plan(SPARE).look_after, Some(limits::BATCHING_WINDOW));
    world.now += limits::WRITER_ENDS_WINDOW;
    assert_eq!(world.plan(SPARE).calls, 0, "it takes too long for the writer");
    world.now += limits::BATCHING_WINDOW - limits::WRITER_ENDS_WINDOW;
    assert_eq!(world.look(), Wait::Over { calls: 0 });
    assert_eq!(world.scheduler.ready(), 1);
}

// G121
#[test]
fn a_window_that_holds_a_slow_re_run_before_a_quick_one_ends_with_a_thread_for_each() {
    let mut world = World::with_stale(0);
    world.becomes_stale(1, 1_000_000, true);
    world.becomes_stale(2, QUICK, true);
    world.plan(SPARE);
    world.now += limits::BATCHING_WINDOW;
    assert_eq!(world.look(), Wait::Over { calls: 1 });
}

#[test]
fn a_window_that_holds_what_one_thread_makes_in_one_read_ends_with_one_thread() {
    let mut world = World::with_stale(0);
    (1..=8).for_each(|id| world.becomes_stale(id, QUICK, true));
    world.plan(NONE);
    world.now += limits::BATCHING_WINDOW;
    assert_eq!(world.look(), Wait::Over { calls: 0 });
}

// G121
#[test]
fn a_window_that_opens_while_something_is_left_to_the_writer_ends_in_time() {
    let mut world = World::with_stale(2);
    assert_eq!(world.plan(SPARE).look_after, Some(limits::BATCHING_WINDOW));
    world.dispatch.work_begins();
    world.scheduler.pick();
    world.scheduler.pick();
    world.dispatch.work_ends();
    world.becomes_stale(3, QUICK, true);
    world.now += limits::BATCHING_WINDOW / 2;
    assert_eq!(world.plan(NONE).look_after, None, "somebody will look already");
    world.now += limits::BATCHING_WINDOW / 2;
    assert_eq!(world.look(), Wait::For(limits::BATCHING_WINDOW / 2));
}
