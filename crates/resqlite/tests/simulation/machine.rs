//! A machine for simulated processes: which of their threads goes on, and when time does, follows from a seed.

use std::{
    cell::{Cell, RefCell},
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    time::Duration,
};

use dice::Rng;
use resqlite::binding::simulated;
use shuttle::{
    Config, FailurePersistence, MaxSteps, Runner,
    scheduler::{Schedule, Scheduler, Task, TaskId},
    thread,
};

use crate::folder::temp_folder;

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
    /// All threads but that of the clock wait.
    static IS_IDLE: Cell<bool> = const { Cell::new(false) };
    static HAS_ENDED: Cell<bool> = const { Cell::new(false) };
    /// Time does not jump while a thread can go on.
    static IS_PUNCTUAL: Cell<bool> = const { Cell::new(false) };
    /// The orders of the processes so far, each as a number.
    static ORDERS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The thread that is started first.
const CLOCK: usize = 1;
const STACK_BYTES: usize = 1 << 20;
/// A process that takes more steps hangs.
const STEPS_MAX: usize = 3_000_000;

/// The seeds of today, of which `all` are made on request.
pub fn seeds(all: u64) -> Range<u64> {
    let first = dice::first_seed();
    first..first + dice::throws(all)
}

/// Runs `body` in a process of its own for each seed. All threads that it has started have to end. Returns for each seed a number
/// that tells in which order they went on.
pub fn simulate(seeds: Range<u64>, body: impl Fn(&mut Rng) + Send + Sync + 'static) -> Vec<u64> {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    let _failed = TellSeed;
    Runner::new(Choices::of(seeds), config).run(move || {
        simulated::restart();
        HAS_ENDED.set(false);
        IS_PUNCTUAL.set(false);
        let clock = thread::spawn(run_clock);
        body(&mut Rng(SEED.get()));
        HAS_ENDED.set(true);
        clock.join().unwrap();
    });
    ORDERS.take()
}

/// In the process that runs, time goes on slowly while a thread can, so that it tells what waits for what.
pub fn be_punctual() {
    IS_PUNCTUAL.set(true);
}

/// As [`simulate`]; each process has a folder of its own for files.
pub fn simulate_with_files(seeds: Range<u64>, body: impl Fn(&str, &mut Rng) + Send + Sync + 'static) {
    simulate(seeds, move |rng| {
        let folder = temp_folder();
        body(folder.path().to_str().unwrap(), rng);
    });
}

struct TellSeed;

impl Drop for TellSeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("RESQLITE_SEED={} RESQLITE_THROWS=1 repeats it", SEED.get());
        }
    }
}

fn run_clock() {
    while !HAS_ENDED.get() {
        let goes_on = simulated::tick();
        assert!(
            goes_on || !IS_IDLE.get(),
            "all threads wait, and none of them for a time"
        );
        thread::yield_now();
    }
}

/// Decides which thread goes on.
struct Choices {
    seeds: Range<u64>,
    rng: Rng,
    /// Of 100 steps, after so many another thread goes on.
    switches: usize,
    /// Microseconds that a step takes at most.
    step: u64,
    /// The order of the process that runs, if there is one.
    order: Option<DefaultHasher>,
}

impl Choices {
    fn of(seeds: Range<u64>) -> Self {
        Self {
            seeds,
            rng: Rng(0),
            switches: 0,
            step: 0,
            order: None,
        }
    }

    fn choose(&mut self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> TaskId {
        let is_clock = |task: &&&Task| usize::from(task.id()) == CLOCK;
        let clock = runnable.iter().find(is_clock);
        let others: Vec<_> = runnable.iter().filter(|task| !is_clock(task)).collect();
        IS_IDLE.set(others.is_empty());
        if let Some(clock) = clock
            && (others.is_empty() || self.rng.below(200) == 0 && !IS_PUNCTUAL.get())
        {
            return clock.id();
        }
        let goes_on = others.iter().find(|task| Some(task.id()) == current);
        match goes_on {
            Some(task) if !yields && self.rng.below(100) >= self.switches => task.id(),
            _ => others[self.rng.below(others.len())].id(),
        }
    }
}

impl Scheduler for Choices {
    fn new_execution(&mut self) -> Option<Schedule> {
        if let Some(order) = self.order.take() {
            ORDERS.with_borrow_mut(|orders| orders.push(order.finish()));
        }
        let seed = self.seeds.next()?;
        SEED.set(seed);
        self.order = Some(DefaultHasher::new());
        self.rng = Rng(!seed);
        self.switches = self.rng.one_of(&[100, 50, 20, 5]);
        self.step = self.rng.one_of(&[0, 1, 10, 50]);
        Some(Schedule::new(seed))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let task = self.choose(runnable, current, yields);
        if let Some(order) = &mut self.order {
            (usize::from(task), runnable.len()).hash(order);
        }
        simulated::pass(Duration::from_micros(self.rng.below(self.step + 1)));
        Some(task)
    }

    fn next_u64(&mut self) -> u64 {
        self.rng.any()
    }
}
