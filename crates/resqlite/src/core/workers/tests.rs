use std::{
    sync::{
        atomic::{AtomicUsize as Count, Ordering::SeqCst},
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use super::*;

/// A task that does something once per turn.
struct Does<F>(Class, F);

impl<F: Fn(&Turn<'_>) + Send + Sync> Task for Does<F> {
    fn class(&self) -> Class {
        self.0
    }

    fn turn(self: Arc<Self>, turn: &Turn<'_>) {
        (self.1)(turn);
    }

    fn unserved(self: Arc<Self>) {
        panic!("threads can be started");
    }
}

/// A task that says that it runs, and then waits until it may end.
fn waits(class: Class) -> (Arc<dyn Task>, Receiver<()>, Sender<()>) {
    let ((runs, is_running), (end, may_end)) = (channel(), channel());
    let may_end = Mutex::new(may_end);
    let task = Does(class, move |_: &Turn<'_>| {
        runs.send(()).unwrap();
        let _ = lock(&may_end).recv();
    });
    (Arc::new(task), is_running, end)
}

fn says(class: Class, what: &'static str, to: &Sender<&'static str>) -> Arc<dyn Task> {
    let to = to.clone();
    Arc::new(Does(class, move |_: &Turn<'_>| to.send(what).unwrap()))
}

#[test]
fn a_task_gets_as_many_turns_as_it_was_made_ready() {
    let workers = Workers::new(2);
    let in_use = workers.enter();
    let turns = Arc::new(Count::new(0));
    let counted = Arc::clone(&turns);
    let task: Arc<dyn Task> = Arc::new(Does(Class::Calls, move |_: &Turn<'_>| {
        counted.fetch_add(1, SeqCst);
    }));
    (0..100).for_each(|_| workers.ready(Arc::clone(&task)));
    drop(in_use);
    workers.wait_for_end();
    assert_eq!(turns.load(SeqCst), 100);
}

#[test]
fn work_that_is_done_once_leaves_workers_for_that_of_another_class() {
    let workers = Workers::new(2);
    let _in_use = workers.enter();
    let ((runs, is_running), (end, may_end)) = (channel(), channel::<()>());
    let may_end = Arc::new(Mutex::new(may_end));
    for nth in 0..=limits::ONCE_MAX {
        let (runs, may_end) = (runs.clone(), Arc::clone(&may_end));
        workers.run(Class::Calls, move || {
            runs.send(nth).unwrap();
            let _ = lock(&may_end).recv();
        });
    }
    let mut begun: Vec<_> = is_running.iter().take(limits::ONCE_MAX).collect();
    begun.sort_unstable();
    assert!(begun.into_iter().eq(0..limits::ONCE_MAX));
    let other = runs.clone();
    workers.run(Class::Upkeep, move || other.send(usize::MAX).unwrap());
    assert_eq!(is_running.recv().unwrap(), usize::MAX);
    end.send(()).unwrap();
    assert_eq!(
        is_running.recv().unwrap(),
        limits::ONCE_MAX,
        "there is a place again"
    );
    drop(end);
}

#[test]
fn a_panic_in_a_turn_ends_no_worker() {
    let workers = Workers::new(1);
    let _in_use = workers.enter();
    workers.ready(Arc::new(Does(Class::Calls, |_: &Turn<'_>| panic!("on purpose"))));
    let (say, said) = channel();
    workers.ready(says(Class::Calls, "goes on", &say));
    assert_eq!(said.recv().unwrap(), "goes on");
}

#[test]
fn one_that_stands_still_loses_its_place_to_another() {
    let workers = Workers::new(1);
    let _in_use = workers.enter();
    let (stands, is_running, end) = waits(Class::Calls);
    workers.ready(stands);
    is_running.recv().unwrap();
    let (say, said) = channel();
    workers.ready(says(Class::Calls, "served", &say));
    assert_eq!(said.recv().unwrap(), "served");
    drop(end);
}

/// Workers with one place, which is taken, while a task waits.
fn crowded() -> (Arc<Workers>, Arc<Worker>) {
    let workers = Workers::new(1);
    let mut state = lock(&workers.state);
    let worker = workers.give_place(&mut state).expect("it is to be started");
    state.tasks.push(says(Class::Calls, "waits", &channel().0));
    drop(state);
    (workers, worker)
}

#[test]
fn one_that_goes_on_keeps_its_place() {
    let (workers, worker) = crowded();
    let mut state = lock(&workers.state);
    let begin = Instant::now();
    for nth in 0..3 {
        worker.goes_on();
        let now = begin + nth * limits::STANDS_STILL_AFTER;
        let (starting, _) = workers.look(&mut state, now);
        assert!(starting.is_none());
    }
    assert!(worker.has_place.load(Relaxed));
}

// G121
#[test]
fn the_place_of_one_that_does_not_go_on_between_two_looks_is_given_to_another() {
    let (workers, worker) = crowded();
    let mut state = lock(&workers.state);
    let begin = Instant::now();
    let looks = [0, 1, 2].map(|nth| {
        let now = begin + nth * limits::STANDS_STILL_AFTER;
        workers.look(&mut state, now).0
    });
    let started = looks.map(|starting| starting.is_some());
    assert_eq!(started, [false, true, false]);
    assert!(!worker.has_place.load(Relaxed));
    assert_eq!((state.places_taken, state.all.len()), (1, 2));
}

#[test]
fn no_place_is_taken_before_the_time_of_the_next_look() {
    let (workers, worker) = crowded();
    let (mut state, now) = (lock(&workers.state), Instant::now());
    let next = Some(now + limits::STANDS_STILL_AFTER);
    for _ in 0..3 {
        let (starting, next_look) = workers.look(&mut state, now);
        assert!(starting.is_none());
        assert_eq!(next_look, next);
    }
    assert!(worker.has_place.load(Relaxed));
}

// G121
#[test]
fn a_task_is_watched_that_comes_before_the_one_ahead_of_it_was_taken() {
    let workers = Workers::new(1);
    let mut state = lock(&workers.state);
    for _ in 0..2 {
        let parked = state.add();
        state.park(&parked);
    }
    drop(state);
    let say = channel().0;
    workers.ready(says(Class::Calls, "gets the place", &say));
    assert!(!lock(&workers.state).is_watched);
    workers.ready(says(Class::Calls, "waits", &say));
    assert!(lock(&workers.state).is_watched);
}

// G121
#[test]
fn a_watcher_that_was_told_in_vain_is_told_again() {
    let workers = Workers::new(1);
    let mut state = lock(&workers.state);
    let watcher = Workers::have_watched(&mut state).expect("it is to be started");
    assert!(state.is_watched);
    assert!(!state.watches(&watcher));
    assert!(!state.is_watched);
}

#[test]
fn one_watcher_is_started_however_often_one_is_missed_before_it_runs() {
    let (workers, _worker) = crowded();
    let mut state = lock(&workers.state);
    assert!(Workers::have_watched(&mut state).is_some());
    assert!(Workers::have_watched(&mut state).is_none());
}

#[test]
fn calls_go_before_runs_and_runs_before_upkeep_but_neither_of_the_last_two_is_forgotten() {
    let (say, said) = channel();
    let mut tasks = Tasks::default();
    for _ in 0..9 {
        for (class, what) in [
            (Class::Upkeep, "upkeep"),
            (Class::Runs, "run"),
            (Class::Calls, "call"),
        ] {
            tasks.push(says(class, what, &say));
        }
    }
    let workers = Workers::new(1);
    let worker = lock(&workers.state).add();
    let turn = Turn {
        progress: &worker.progress,
        waiting: &workers.waiting,
        began: Instant::now(),
        call_another: &|| (),
    };
    std::iter::from_fn(|| tasks.take()).for_each(|task| task.turn(&turn));
    let order: Vec<_> = said.try_iter().collect();
    assert_eq!(
        order[..8],
        ["call", "call", "call", "call", "call", "call", "call", "run"]
    );
    assert_eq!(
        order[8..16],
        ["call", "call", "run", "run", "run", "run", "run", "upkeep"]
    );
    lock(&workers.state).all.clear();
}

struct Tells(Sender<Instant>);

impl Timed for Tells {
    fn is_due(self: Arc<Self>) {
        self.0.send(Instant::now()).unwrap();
    }
}

// G121
#[test]
fn what_waits_for_a_time_is_told_then_in_the_order_of_the_times() {
    let workers = Workers::new(1);
    let _in_use = workers.enter();
    let now = Instant::now();
    let (first, second) = (now + Duration::from_millis(2), now + Duration::from_millis(4));
    let (tell, told) = channel();
    let tells = Arc::new(Tells(tell));
    workers.at(second, &tells);
    workers.at(first, &tells);
    assert!(told.recv().unwrap() >= first);
    assert!(told.recv().unwrap() >= second);
}

struct Panics;

impl Timed for Panics {
    fn is_due(self: Arc<Self>) {
        panic!("on purpose");
    }
}

#[test]
fn a_panic_of_one_that_is_told_keeps_no_other_from_being_told() {
    let workers = Workers::new(1);
    let _in_use = workers.enter();
    let (tell, told) = channel();
    let (panics, tells) = (Arc::new(Panics), Arc::new(Tells(tell)));
    let now = Instant::now();
    workers.at(now, &panics);
    workers.at(now, &tells);
    assert!(told.recv().is_ok());
}

// G121
#[test]
fn a_time_is_told_while_all_workers_stand_still() {
    let workers = Workers::new(1);
    let _in_use = workers.enter();
    let (stands, is_running, end) = waits(Class::Calls);
    let (tell, told) = channel();
    let tells = Arc::new(Tells(tell));
    workers.at(Instant::now() + Duration::from_millis(2), &tells);
    workers.ready(stands);
    is_running.recv().unwrap();
    told.recv().unwrap();
    drop(end);
}

#[test]
fn what_was_dropped_is_told_nothing() {
    let workers = Workers::new(1);
    let _in_use = workers.enter();
    let ((tell, told), (tell_later, told_later)) = (channel(), channel());
    let (dropped, kept) = (Arc::new(Tells(tell)), Arc::new(Tells(tell_later)));
    let now = Instant::now();
    workers.at(now + Duration::from_millis(1), &dropped);
    workers.at(now + Duration::from_millis(2), &kept);
    drop(dropped);
    told_later.recv().unwrap();
    assert!(told.try_recv().is_err());
}

#[test]
fn the_threads_end_with_the_last_use_and_start_again_with_the_next() {
    let workers = Workers::new(2);
    let threads = || lock(&workers.state).all.len();
    for _ in 0..3 {
        let in_use = [workers.enter(), workers.enter()];
        let (say, said) = channel();
        workers.ready(says(Class::Calls, "works", &say));
        said.recv().unwrap();
        let [one, other] = in_use;
        drop(one);
        assert!(threads() > 0);
        drop(other);
        workers.wait_for_end();
        assert_eq!(threads(), 0);
    }
}
