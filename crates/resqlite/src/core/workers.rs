//! The threads of the process that run the work of all open files.
//!
//! ```text
//! ready(task) ──► calls │ runs │ upkeep ──► a worker takes a turn of the task ──► parks when nothing is left
//! at(time, …) ──► timers ──► the watcher tells those to whom they belong
//! ```
//!
//! - **A limited number of workers have a place**, as many as there are cores but at least two, and only they take tasks. If a worker
//!   makes no progress for a millisecond while a task waits, it loses its place to another worker: its query is slow, or its disk
//!   hangs. So there are more threads only if some of them stand still.
//! - **The worker that parked last is woken first**, because its caches are warm.
//! - **The worker that parked first is the watcher**. It waits for the next timer. While tasks wait, it checks whether the workers that
//!   have a place make progress. If the watcher has to take a task itself while something must be watched, another worker becomes the
//!   watcher.
//! - **The threads end with the last open file.** A program that unloads the code waits for that.

mod lane;
mod once;
mod tasks;
mod timers;
mod turn;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Weak},
    time::Instant,
};

use self::{lane::Lane, tasks::Tasks, timers::Timers};
pub(crate) use self::{
    tasks::{Class, Task},
    timers::Timed,
    turn::Turn,
};
use super::{
    clock, limits, spin,
    sync::{
        AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, OfProcess, Ordering::Relaxed, lock, wait,
        wait_for,
    },
    threads::{JoinHandle, has_ended, start_thread},
};

/// The workers of the process.
pub(crate) struct Workers {
    state: Mutex<State>,
    /// Announces that a worker has ended.
    ended: Condvar,
    /// The number of tasks that wait; written under the lock.
    waiting: AtomicUsize,
    /// The most workers that may have a place at a time.
    places: usize,
    /// Work that is done once, by class.
    once: Mutex<[Lane; Class::ALL]>,
}

#[derive(Default)]
struct State {
    tasks: Tasks,
    timers: Timers,
    places_taken: usize,
    /// Workers without a place that have nothing to do. The first one is the watcher.
    parked: Vec<Arc<Worker>>,
    /// States that the watcher knows that tasks wait, or was told to check.
    is_watched: bool,
    /// Until this time, the watcher takes no place from anybody, because its last check was too
    /// recent.
    next_look: Option<Instant>,
    all: Vec<Arc<Worker>>,
    /// Threads that are about to end.
    ending: Vec<JoinHandle<()>>,
    /// The number of open files, and of works that are done once.
    users: usize,
}

/// A worker. Its flags are written under the lock of [`Workers`].
pub(crate) struct Worker {
    wake: Condvar,
    /// States that the worker is among the parked ones.
    is_parked: AtomicBool,
    /// States that the worker may take tasks, until the watcher finds that it stands still.
    has_place: AtomicBool,
    /// A number that grows with everything that the worker does.
    progress: AtomicUsize,
    /// The progress when the watcher last checked it.
    seen: AtomicUsize,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// A use of the workers. When the last one is dropped, the workers begin to end.
pub(crate) struct InUse(Arc<Workers>);

/// A worker whose thread must be started without the lock.
type Starting = Option<Arc<Worker>>;

impl Workers {
    /// Makes the workers. `places` is the number of workers that may be at work while all of them
    /// make progress.
    pub(crate) fn new(places: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            ended: Condvar::new(),
            waiting: AtomicUsize::new(0),
            places,
            once: Mutex::default(),
        })
    }

    /// Returns the workers of the process.
    pub(crate) fn of_process() -> Arc<Self> {
        static WORKERS: OfProcess<Arc<Workers>> = OfProcess::new(|| Workers::new(spin::cores().max(2)));
        Arc::clone(WORKERS.get())
    }

    /// Keeps the workers until the result is dropped.
    pub(crate) fn enter(self: &Arc<Self>) -> InUse {
        let mut state = lock(&self.state);
        if state.users == 0 {
            // The timers belong to files that are closed.
            state.timers = Timers::default();
        }
        state.users += 1;
        drop(state);
        // A thread that waits for the end need not wait any longer.
        self.ended.notify_all();
        InUse(Arc::clone(self))
    }

    /// Waits until no thread is left, unless there is work for the threads. A worker must not call this, because it would wait for
    /// itself.
    pub(crate) fn wait_for_end(&self) {
        let mut state = lock(&self.state);
        while state.users == 0 && !state.all.is_empty() {
            state = wait(&self.ended, state);
        }
        let ending = std::mem::take(&mut state.ending);
        drop(state);
        for thread in ending {
            // A panic in a turn was caught.
            let _ = thread.join();
        }
    }

    /// Returns the number of open files. Works that are done once count, too.
    pub(crate) fn users(&self) -> usize {
        lock(&self.state).users
    }

    /// Makes a worker take a turn of the task.
    pub(crate) fn ready(self: &Arc<Self>, task: Arc<dyn Task>) {
        let mut state = lock(&self.state);
        state.tasks.push(task);
        self.waiting.store(state.tasks.len(), Relaxed);
        let starting = if spin::call_lingering() {
            None
        } else {
            self.call_worker(&mut state)
        };
        drop(state);
        self.start(starting);
    }

    /// Notifies `timed` at the time `due`, unless it was dropped before.
    pub(crate) fn at<T: Timed + 'static>(self: &Arc<Self>, due: Instant, timed: &Arc<T>) {
        let timed: Weak<T> = Arc::downgrade(timed);
        let mut state = lock(&self.state);
        let is_next = state.timers.add(due, timed);
        let starting = is_next.then(|| Self::have_watched(&mut state)).flatten();
        drop(state);
        self.start(starting);
    }

    /// Calls another worker, because the one that was called goes on with something else.
    fn call_another(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        let starting = self.call_worker(&mut state);
        drop(state);
        self.start(starting);
    }

    /// Calls a worker for the tasks that wait, if there are any.
    fn call_worker(&self, state: &mut State) -> Starting {
        if state.tasks.is_empty() {
            return None;
        }
        if state.places_taken < self.places {
            return self.give_place(state);
        }
        spin::is_wanted_elsewhere();
        if state.is_watched {
            return None;
        }
        // As long as a task waits, the watcher checks often.
        Self::have_watched(state)
    }

    /// Gives the free place to a worker.
    fn give_place(&self, state: &mut State) -> Starting {
        state.places_taken += 1;
        let parked = state.parked.pop();
        state.is_watched &= !state.parked.is_empty();
        let worker = parked.clone().unwrap_or_else(|| state.add());
        worker.is_parked.store(false, Relaxed);
        worker.has_place.store(true, Relaxed);
        worker.goes_on();
        if parked.is_some() {
            worker.wake.notify_one();
            return None;
        }
        Some(worker)
    }

    /// Makes the watcher find out how long it may wait now.
    fn have_watched(state: &mut State) -> Starting {
        state.is_watched = true;
        if let Some(watcher) = state.parked.first() {
            watcher.wake.notify_one();
            return None;
        }
        let watcher = state.add();
        // The watcher parks before its thread runs, so that nobody starts another watcher.
        state.park(&watcher);
        Some(watcher)
    }

    fn start(self: &Arc<Self>, starting: Starting) {
        let Some(worker) = starting else { return };
        let (workers, own) = (Arc::clone(self), Arc::clone(&worker));
        // The lock is held until the thread is known, so that the worker does not end before.
        let mut thread = lock(&worker.thread);
        *thread = start_thread("resqlite-worker", move || workers.serve(&own)).ok();
        if thread.is_none() {
            drop(thread);
            self.could_not_start(&worker);
        }
    }

    /// Handles the case that the system can start no more threads. Other workers take the waiting
    /// tasks. If there are none, `unserved` is called on each task.
    fn could_not_start(&self, worker: &Arc<Worker>) {
        let mut state = lock(&self.state);
        state.places_taken -= usize::from(worker.has_place.load(Relaxed));
        state.forget(worker);
        let unserved = if state.all.is_empty() {
            state.tasks.take_all()
        } else {
            Vec::new()
        };
        self.waiting.store(state.tasks.len(), Relaxed);
        drop(state);
        self.ended.notify_all();
        unserved.into_iter().for_each(|task| task.unserved());
    }

    /// The body of a worker's thread.
    fn serve(self: &Arc<Self>, worker: &Arc<Worker>) {
        let mut state = lock(&self.state);
        loop {
            // From here on, the worker looks for tasks.
            spin::take_call();
            if worker.is_parked.load(Relaxed) {
                match self.park(state, worker) {
                    Some(relocked) => state = relocked,
                    None => return,
                }
            } else if self.has_place(&mut state, worker)
                && let Some(task) = state.tasks.take()
            {
                self.waiting.store(state.tasks.len(), Relaxed);
                let is_unwatched = state.parked.is_empty() && state.has_to_be_watched();
                let starting = is_unwatched.then(|| Self::have_watched(&mut state)).flatten();
                drop(state);
                self.start(starting);
                // If the task panics, it is dropped, and its caller then gets a reply.
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    task.turn(&Turn {
                        progress: &worker.progress,
                        waiting: &self.waiting,
                        began: clock::now(),
                        call_another: &|| self.call_another(),
                    })
                }));
                worker.goes_on();
                state = lock(&self.state);
            } else {
                state.places_taken -= usize::from(worker.has_place.swap(false, Relaxed));
                state.park(worker);
            }
        }
    }

    /// Returns whether the worker has a place. The worker takes a free place if it has lost its
    /// own.
    fn has_place(&self, state: &mut State, worker: &Worker) -> bool {
        if !worker.has_place.load(Relaxed) && state.places_taken < self.places {
            state.places_taken += 1;
            worker.has_place.store(true, Relaxed);
            worker.goes_on();
        }
        worker.has_place.load(Relaxed)
    }

    /// Waits until the worker is given a place. Returns `None` if the worker ends.
    fn park<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        worker: &Arc<Worker>,
    ) -> Option<MutexGuard<'a, State>> {
        let mut now = clock::now();
        let idle_end = now + limits::THREAD_IDLE;
        while worker.is_parked.load(Relaxed) {
            let mut end = idle_end;
            if state.watches(worker) {
                let due = state.timers.take_due(now);
                if !due.is_empty() {
                    drop(state);
                    due.iter()
                        .filter_map(Weak::upgrade)
                        .for_each(|timed| drop(catch_unwind(AssertUnwindSafe(|| timed.is_due()))));
                    (state, now) = (lock(&self.state), clock::now());
                    continue;
                }
                let (starting, next_look) = self.look(&mut state, now);
                if starting.is_some() {
                    drop(state);
                    self.start(starting);
                    (state, now) = (lock(&self.state), clock::now());
                    continue;
                }
                if !worker.is_parked.load(Relaxed) {
                    break;
                }
                end = state
                    .timers
                    .next()
                    .into_iter()
                    .chain(next_look)
                    .min()
                    .unwrap_or(idle_end);
            } else if state.users == 0 || now >= idle_end {
                self.end(state, worker);
                return None;
            }
            state = wait_for(&worker.wake, state, end.saturating_duration_since(now));
            now = clock::now();
        }
        Some(state)
    }

    /// While tasks wait, takes the places of workers that stand still, and gives a place to another worker. Returns the time of the next
    /// check.
    fn look(&self, state: &mut State, now: Instant) -> (Starting, Option<Instant>) {
        if state.tasks.is_empty() {
            return (None, None);
        }
        if let Some(next_look) = state.next_look
            && now < next_look
        {
            return (None, Some(next_look));
        }
        let next_look = *state.next_look.insert(now + limits::STANDS_STILL_AFTER);
        for worker in &state.all {
            let progress = worker.progress.load(Relaxed);
            let stands_still = worker.seen.swap(progress, Relaxed) == progress;
            if stands_still && worker.has_place.load(Relaxed) && state.all.len() < limits::WORKERS_MAX {
                worker.has_place.store(false, Relaxed);
                state.places_taken -= 1;
            }
        }
        let starting = (state.places_taken < self.places)
            .then(|| self.give_place(state))
            .flatten();
        (starting, Some(next_look))
    }

    fn end(&self, mut state: MutexGuard<'_, State>, worker: &Arc<Worker>) {
        state.forget(worker);
        let thread = lock(&worker.thread).take();
        state.ending.retain(|thread| !has_ended(thread));
        state.ending.extend(thread);
        drop(state);
        self.ended.notify_all();
    }
}

impl State {
    fn has_to_be_watched(&self) -> bool {
        self.users > 0 && !(self.timers.is_empty() && self.tasks.is_empty())
    }

    /// Returns whether a parked worker must watch. The watcher thereby notes whether tasks wait.
    fn watches(&mut self, worker: &Arc<Worker>) -> bool {
        let is_watcher = Arc::ptr_eq(&self.parked[0], worker);
        if is_watcher {
            self.is_watched = !self.tasks.is_empty();
        }
        is_watcher && self.has_to_be_watched()
    }

    /// Adds a worker. The caller must start its thread.
    fn add(&mut self) -> Arc<Worker> {
        let worker = Arc::new(Worker {
            wake: Condvar::new(),
            is_parked: AtomicBool::new(false),
            has_place: AtomicBool::new(false),
            progress: AtomicUsize::new(0),
            seen: AtomicUsize::new(0),
            thread: Mutex::new(None),
        });
        self.all.push(Arc::clone(&worker));
        worker
    }

    fn park(&mut self, worker: &Arc<Worker>) {
        worker.is_parked.store(true, Relaxed);
        self.parked.push(Arc::clone(worker));
    }

    /// Removes a worker. If it was the watcher, another worker becomes the watcher.
    fn forget(&mut self, worker: &Arc<Worker>) {
        self.parked.retain(|other| !Arc::ptr_eq(other, worker));
        self.all.retain(|other| !Arc::ptr_eq(other, worker));
        self.is_watched = false;
        self.parked.first().inspect(|watcher| watcher.wake.notify_one());
    }
}

impl Worker {
    fn goes_on(&self) {
        self.progress.fetch_add(1, Relaxed);
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.users -= 1;
        if state.users == 0 {
            state.parked.iter().for_each(|worker| worker.wake.notify_one());
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
