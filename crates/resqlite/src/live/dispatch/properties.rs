//! Whatever becomes stale, and however the threads take turns: no quick re-run waits for a slow one, and none is forgotten.
//!
//! A model of the threads around [`Dispatch`]. Each step is what one of them does under the lock of the coordinator.

use std::collections::VecDeque;

use proptest::{collection::vec, prelude::*};
use resqlite_live::LiveQueryId;

use super::*;

const SLOTS: usize = 2;
const SPARE: Duration = Duration::from_micros(15);

/// The run time of each live query, in microseconds: the index is its number. A slow one may never end again.
const TAKES: [u64; 8] = [1_000_000, 1_000_000, 400, 400, 50, 5, 5, 5];

#[derive(Debug, Clone)]
enum Step {
    /// The writer commits what affects some live queries, and perhaps has time to spare.
    Commit {
        affects: Vec<usize>,
        has_time: bool,
    },
    /// A thread that was called begins.
    Begin,
    /// The thread that looks after what waits does so, when it is time.
    Look,
    /// A thread ends its run. `goes_on`: it takes more.
    End {
        thread: usize,
        goes_on: bool,
    },
    /// An emission is delivered.
    Deliver(usize),
    Pass(u64),
}

struct Engine {
    dispatch: Dispatch,
    scheduler: Scheduler,
    now: Instant,
    /// Jobs that were submitted and have not begun.
    called: usize,
    /// The time at which the job that looks after what waits is to do so.
    looks_at: Option<Instant>,
    /// The re-runs that each thread at work has taken: it runs the first.
    threads: Vec<VecDeque<usize>>,
    /// The live queries whose emissions are on their way.
    emitted: [bool; TAKES.len()],
    slow_ones_end: bool,
}

fn id(number: usize) -> LiveQueryId {
    LiveQueryId(number as u32 + 1)
}

fn number(id: LiveQueryId) -> usize {
    id.0 as usize - 1
}

fn is_slow(number: usize) -> bool {
    TAKES[number] == TAKES[0]
}

impl Engine {
    /// All have run once.
    fn new(slow_ones_end: bool) -> Self {
        let mut scheduler = Scheduler::new(SLOTS);
        for (number, takes) in TAKES.into_iter().enumerate() {
            scheduler.start(id(number));
            scheduler.finished(id(number), takes, false);
        }
        Self {
            dispatch: Dispatch::default(),
            scheduler,
            now: Instant::now(),
            called: 0,
            looks_at: None,
            threads: Vec::new(),
            emitted: [false; TAKES.len()],
            slow_ones_end,
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Commit { affects, has_time } => {
                self.commit(&affects, if has_time { SPARE } else { Duration::ZERO })
            }
            Step::Begin => drop(self.begin()),
            Step::Look => drop(self.look()),
            Step::End { thread, goes_on } => drop(self.end(thread, goes_on)),
            Step::Deliver(number) => self.deliver(number),
            Step::Pass(micros) => self.now += Duration::from_micros(micros),
        }
    }

    fn plan(&mut self, spare: Duration) -> RunsOn {
        let plan = self.dispatch.plan(&mut self.scheduler, spare, self.now);
        self.called += plan.calls;
        if let Some(pause) = plan.look_after {
            assert_eq!(self.looks_at, None, "one looks already");
            self.looks_at = Some(self.now + pause);
        }
        plan.runs_on
    }

    fn commit(&mut self, affects: &[usize], spare: Duration) {
        let batch = self.scheduler.is_active();
        for &number in affects {
            self.scheduler.mark_stale(id(number), batch);
        }
        while let RunsOn::ThisThread(time) = self.plan(spare) {
            self.dispatch.work_begins();
            for id in self.scheduler.pick_several(limits::WRITER_RUNS, micros(time)) {
                self.finished(number(id));
            }
            self.work_ends();
        }
    }

    /// Returns whether a thread could begin.
    fn begin(&mut self) -> bool {
        let can = self.called > 0 && self.threads.len() < Scheduler::slots_max(SLOTS);
        if can {
            self.called -= 1;
            self.work();
        }
        can
    }

    fn look(&mut self) -> bool {
        let is_time = self.looks_at.is_some_and(|at| at <= self.now)
            && self.threads.len() < Scheduler::slots_max(SLOTS);
        if is_time {
            self.looks_at = None;
            match self.dispatch.look(&mut self.scheduler, self.now) {
                Wait::Over { calls } => {
                    self.called += calls;
                    self.work();
                }
                Wait::For(pause) => self.looks_at = Some(self.now + pause),
                Wait::Nothing => {}
            }
        }
        is_time
    }

    fn work(&mut self) {
        self.dispatch.work_begins();
        self.threads.push(VecDeque::new());
        self.take_more(self.threads.len() - 1);
    }

    fn take_more(&mut self, thread: usize) {
        let picked = self
            .scheduler
            .pick_several(limits::SHARED_READ_RUNS, limits::SHARED_READ_MICROS);
        self.threads[thread] = picked.into_iter().map(number).collect();
        if self.threads[thread].is_empty() {
            self.threads.remove(thread);
            self.work_ends();
        }
    }

    fn work_ends(&mut self) {
        self.dispatch.work_ends();
        self.plan(Duration::ZERO);
    }

    fn end(&mut self, thread: usize, goes_on: bool) -> bool {
        let Some(&first) = self.threads.get(thread).and_then(VecDeque::front) else {
            return false;
        };
        if is_slow(first) && !self.slow_ones_end {
            return false;
        }
        self.threads[thread].pop_front();
        self.finished(first);
        if self.threads[thread].is_empty() && goes_on {
            self.take_more(thread);
        } else if self.threads[thread].is_empty() {
            self.threads.remove(thread);
            self.work_ends();
        }
        true
    }

    fn finished(&mut self, number: usize) {
        self.emitted[number] = true;
        self.scheduler.finished(id(number), TAKES[number], true);
        self.plan(Duration::ZERO);
    }

    fn deliver(&mut self, number: usize) {
        if std::mem::take(&mut self.emitted[number]) {
            self.scheduler.delivered(id(number));
            self.plan(Duration::ZERO);
        }
    }

    /// Lets happen what can without another commit.
    fn come_to_rest(&mut self) {
        loop {
            (0..TAKES.len()).for_each(|number| self.deliver(number));
            let began = self.begin();
            self.now = self.looks_at.map_or(self.now, |at| self.now.max(at));
            let looked = self.look();
            let ended = (0..self.threads.len()).rev().any(|thread| self.end(thread, true));
            if !(began || looked || ended) {
                return;
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let affects = vec(0..TAKES.len(), 1..4);
    prop_oneof![
        4 => (affects, any::<bool>()).prop_map(|(affects, has_time)| Step::Commit { affects, has_time }),
        2 => Just(Step::Begin),
        2 => Just(Step::Look),
        3 => (0..SLOTS, any::<bool>()).prop_map(|(thread, goes_on)| Step::End { thread, goes_on }),
        3 => (0..TAKES.len()).prop_map(Step::Deliver),
        2 => prop_oneof![Just(1), Just(800), Just(1_100)].prop_map(Step::Pass),
    ]
}

proptest! {
    #![proptest_config(dice::cases(2_000))]

    // G121
    #[test]
    fn no_quick_re_run_waits_for_a_slow_one_that_does_not_end(steps in vec(step(), 0..40)) {
        let mut engine = Engine::new(false);
        steps.into_iter().for_each(|step| engine.take(step));
        engine.come_to_rest();
        for number in (0..TAKES.len()).filter(|&number| !is_slow(number)) {
            prop_assert!(engine.scheduler.is_idle(id(number)), "{number} waits");
        }
    }

    // G121
    #[test]
    fn every_re_run_is_made(steps in vec(step(), 0..40)) {
        let mut engine = Engine::new(true);
        steps.into_iter().for_each(|step| engine.take(step));
        engine.come_to_rest();
        prop_assert!(engine.scheduler.is_quiet());
        prop_assert_eq!((engine.called, engine.looks_at), (0, None));
    }
}
