use std::{
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{Next, Pool, Submitted, lock, relief::Relief};

fn job(number: u32, snapshot: Option<u64>) -> Next<u32> {
    Next::Job {
        job: number,
        snapshot,
        needs_thread: false,
    }
}

/// The same, where another thread must be started first.
fn job_and_thread(number: u32, snapshot: Option<u64>) -> Next<u32> {
    Next::Job {
        job: number,
        snapshot,
        needs_thread: true,
    }
}

/// A pool with jobs that wait: 1, 2, …
fn waiting(jobs: u32) -> Pool<u32> {
    let pool = Pool::new(1, 100, None);
    for number in 1..=jobs {
        pool.submit(number);
    }
    pool
}

#[test]
fn a_thread_is_asked_for_only_where_nobody_is_free_and_the_bound_allows_it() {
    let pool = Pool::new(2, 100, None);
    assert!(matches!(pool.submit(1), Submitted::NeedsThread));
    assert!(matches!(pool.submit(2), Submitted::NeedsThread));
    assert!(matches!(pool.submit(3), Submitted::Queued));
}

#[test]
fn a_read_transaction_serves_the_jobs_that_waited_when_it_began() {
    let pool = waiting(3);
    assert_eq!(pool.next(false, None), job(1, Some(3)));
    assert_eq!(pool.next(true, Some(3)), job(2, Some(3)));
    assert_eq!(pool.next(true, Some(3)), job(3, Some(3)));
    assert_eq!(pool.next(true, Some(3)), Next::EndSnapshot);
}

#[test]
fn a_read_transaction_never_serves_a_job_that_came_after_it_began() {
    let pool = waiting(2);
    assert_eq!(pool.next(false, None), job(1, Some(2)));
    pool.submit(3);
    assert_eq!(pool.next(true, Some(2)), job(2, Some(2)));
    assert_eq!(pool.next(true, Some(2)), Next::EndSnapshot);
    assert_eq!(pool.next(true, None), job(3, None));
}

#[test]
fn a_job_that_waits_alone_needs_no_read_transaction() {
    let pool = waiting(1);
    assert_eq!(pool.next(false, None), job(1, None));
}

#[test]
fn more_jobs_than_the_bound_are_refused() {
    let pool = Pool::new(1, 2, None);
    pool.submit(1);
    pool.submit(2);
    assert!(matches!(pool.submit(3), Submitted::Full(3)));
}

#[test]
fn a_closed_pool_serves_what_waits_and_refuses_the_rest() {
    let pool = waiting(1);
    pool.close();
    assert!(matches!(pool.submit(2), Submitted::Closed(2)));
    assert_eq!(pool.next(false, None), job(1, None));
    assert_eq!(pool.next(true, None), Next::Quit);
    pool.left();
    pool.join();
}

#[test]
fn there_is_no_pause_while_a_thread_works_longer_than_one_waits() {
    let pool = waiting(1);
    assert_eq!(pool.next(false, None), job(1, None));
    assert_eq!(pool.in_pause(Duration::ZERO, || ()), None);
}

#[test]
fn while_nobody_works_there_is_a_pause_at_once() {
    let pool = waiting(1);
    assert_eq!(pool.in_pause(Duration::ZERO, || 7), Some(7));
    assert_eq!(pool.next(false, None), job(1, None));
}

fn in_an_hour() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// Waits until so many threads are busy.
fn until_busy(pool: &Pool<u32>, busy: usize) {
    while pool.status().busy != busy {
        thread::yield_now();
    }
}

/// A thread that asks for the next job.
fn asking(pool: &Arc<Pool<u32>>, was_busy: bool) -> JoinHandle<Next<u32>> {
    let pool = Arc::clone(pool);
    thread::spawn(move || pool.next(was_busy, None))
}

#[test]
fn held_back_jobs_wait_until_they_are_released_and_whoever_holds_them_is_told_when_nobody_works() {
    let pool = Arc::new(waiting(1));
    assert_eq!(pool.next(false, None), job(1, None));
    let (tell, told) = mpsc::channel();
    assert!(!pool.hold(in_an_hour(), move || tell.send(()).unwrap()));
    pool.submit(2);
    let asks = asking(&pool, true);
    told.recv().unwrap();
    let status = pool.status();
    assert_eq!((status.busy, status.queued), (0, 1));
    assert!(pool.hold(in_an_hour(), || panic!("it is quiet already")));
    pool.release();
    assert_eq!(asks.join().unwrap(), job(2, None));
}

#[test]
fn a_hold_ends_by_itself() {
    let pool = waiting(2);
    assert!(pool.hold(Instant::now(), || ()));
    assert_eq!(pool.next(false, None), job(1, Some(2)));
}

#[test]
fn a_hold_that_is_over_gives_way_to_the_next() {
    let pool = Arc::new(waiting(1));
    assert!(pool.hold(Instant::now(), || ()));
    assert!(pool.hold(in_an_hour(), || ()));
    let asks = asking(&pool, false);
    assert_eq!(pool.status().queued, 1);
    pool.release();
    assert_eq!(asks.join().unwrap(), job(1, None));
}

#[test]
fn a_hold_ends_by_itself_while_threads_wait() {
    let sleeping = Arc::new(waiting(1));
    assert!(sleeping.hold(Instant::now() + Duration::from_millis(1), || ()));
    assert_eq!(asking(&sleeping, false).join().unwrap(), job(1, None));
}

#[test]
fn a_closed_pool_holds_nothing_back() {
    let pool = waiting(1);
    pool.hold(in_an_hour(), || ());
    pool.close();
    assert_eq!(pool.next(false, None), job(1, None));
}

#[test]
fn a_read_transaction_ends_where_jobs_are_held_back() {
    let pool = waiting(2);
    assert_eq!(pool.next(false, None), job(1, Some(2)));
    pool.hold(in_an_hour(), || ());
    assert_eq!(pool.next(true, Some(2)), Next::EndSnapshot);
}

/// The threads to start for what waits. So many sessions are idle after so many steps, and all that waits was asked for then.
fn relieved(pool: &Pool<u32>, idle: usize, steps: u64) -> usize {
    let relief = pool
        .relieve(idle, steps, |_| Some(0), |_| false, |_| false)
        .expect("jobs wait");
    assert_eq!(relief.refused, []);
    relief.threads
}

/// A pool whose only thread serves a session, and in which the jobs 2 and 3 are held back.
fn held_back() -> Arc<Pool<u32>> {
    let pool = Arc::new(Pool::new(1, 100, None).relieved(4));
    pool.submit(1);
    assert_eq!(pool.next(false, None), job(1, None));
    pool.hold(in_an_hour(), || ());
    pool.submit(2);
    pool.submit(3);
    pool
}

#[test]
fn nothing_is_let_through_while_a_session_goes_on() {
    let pool = held_back();
    assert_eq!(relieved(&pool, 1, 1), 0, "it was looked at once");
    assert_eq!(relieved(&pool, 1, 2), 0, "it has gone on");
    assert_eq!(relieved(&pool, 0, 2), 0, "it is at work");
    assert_eq!(relieved(&pool, 1, 2), 0, "so it is looked at once again");
    assert_eq!(relieved(&pool, 1, 2), 1);
}

#[test]
fn once_nothing_moves_one_job_is_let_through_and_until_it_ends_those_that_come_later() {
    let pool = held_back();
    assert_eq!([relieved(&pool, 1, 1), relieved(&pool, 1, 1)], [0, 1]);
    let (next, proceed) = mpsc::channel();
    let taken = Arc::clone(&pool);
    let first = thread::spawn(move || {
        let job = taken.next(false, None);
        proceed.recv().unwrap();
        (job, taken.next(true, None))
    });
    until_busy(&pool, 2);
    pool.submit(4);
    assert_eq!(asking(&pool, false).join().unwrap(), job(4, Some(3)));
    assert_eq!(relieved(&pool, 3, 2), 0);
    assert_eq!(relieved(&pool, 3, 2), 0, "one at a time");
    next.send(()).unwrap();
    until_busy(&pool, 2);
    pool.submit(5);
    assert_eq!(pool.status().queued, 2, "3, and 5, which came after its end");
    pool.release();
    assert_eq!(first.join().unwrap(), (job(2, Some(3)), job(3, Some(5))));
}

/// The job that is let through after so many looks at which nothing has moved.
fn let_through(looks: usize, distance: impl Fn(&u32) -> Option<u64>) -> Option<u32> {
    let pool = held_back();
    let look = || pool.relieve(1, 1, &distance, |_| false, |_| false).unwrap();
    let threads = (0..=looks).find_map(|_| Some(look().threads).filter(|&threads| threads > 0));
    threads.map(|_| match pool.next(false, None) {
        Next::Job { job, .. } => job,
        other => panic!("{other:?}"),
    })
}

#[test]
fn the_job_that_was_asked_for_soonest_after_a_step_of_an_idle_session_goes_first() {
    let soonest = |job: &u32| Some(if *job == 3 { 1 } else { 2 });
    assert_eq!(let_through(1, soonest), Some(3));
    assert_eq!(let_through(1, |_| Some(1)), Some(2), "the first of two");
}

#[test]
fn a_job_that_was_asked_for_before_the_last_steps_of_all_is_let_through_only_after_long() {
    assert_eq!(let_through(1, |_| None), None);
    assert_eq!(let_through(1, |job| (*job == 3).then_some(9)), Some(3));
    assert_eq!(let_through(20, |_| None), Some(2));
}

#[test]
fn the_place_of_one_that_is_cancelled_before_it_starts_is_free_again() {
    let pool = held_back();
    assert_eq!([relieved(&pool, 1, 1), relieved(&pool, 1, 1)], [0, 1]);
    assert_eq!(pool.remove(|_| true), Some(2));
    let asks = asking(&pool, false);
    while pool.status().queued > 0 {
        pool.relieve(1, 1, |_| Some(0), |_| false, |_| false);
    }
    assert_eq!(asks.join().unwrap(), job(3, None));
}

#[test]
fn a_thread_that_is_idle_for_too_long_quits() {
    let pool = Pool::<u32>::new(1, 100, Some(Duration::ZERO));
    pool.submit(1);
    assert_eq!(pool.next(false, None), job(1, None));
    assert_eq!(pool.next(true, None), Next::Quit);
}

#[test]
fn jobs_come_back_when_the_last_thread_could_not_start() {
    let pool = waiting(2);
    assert_eq!(pool.lost_thread(), [1, 2]);
}

#[test]
fn a_job_for_later_is_not_taken_before_its_time() {
    let pool = Pool::new(1, 100, None);
    pool.submit_after(Duration::from_secs(3600), 1);
    pool.submit(2);
    assert_eq!(pool.next(false, None), job(2, None));
}

#[test]
fn a_job_for_later_is_taken_by_a_thread_that_waits() {
    let pool = Pool::new(1, 100, None);
    assert!(matches!(
        pool.submit_after(Duration::from_millis(1), 1),
        Submitted::NeedsThread
    ));
    assert_eq!(pool.next(false, None), job(1, None));
}

#[test]
fn a_job_for_later_gets_a_thread_to_watch_the_clock_while_the_others_are_busy() {
    let pool = Pool::new(3, 100, None);
    assert!(matches!(pool.submit(1), Submitted::NeedsThread));
    assert_eq!(pool.next(false, None), job(1, None));
    let in_an_hour = || pool.submit_after(Duration::from_secs(3600), 2);
    assert!(matches!(in_an_hour(), Submitted::NeedsThread));
}

#[test]
fn a_thread_that_takes_a_job_has_another_one_watch_the_clock() {
    let in_an_hour = |pool: &Pool<u32>| pool.submit_after(Duration::from_secs(3600), 2);
    for (threads_max, taken) in [(1, job(1, None)), (2, job_and_thread(1, None))] {
        let pool = Pool::new(threads_max, 100, None);
        assert!(matches!(pool.submit(1), Submitted::NeedsThread));
        // The thread that was asked for could watch, if it did not take the other job.
        assert!(matches!(in_an_hour(&pool), Submitted::Queued));
        assert_eq!(pool.next(false, None), taken);
    }
}

#[test]
fn so_does_one_that_takes_the_first_of_several_jobs_for_later() {
    for next in [Duration::ZERO, Duration::from_secs(3600)] {
        let pool = Pool::new(3, 100, None);
        assert!(matches!(
            pool.submit_after(Duration::ZERO, 1),
            Submitted::NeedsThread
        ));
        assert!(matches!(pool.submit_after(next, 2), Submitted::Queued));
        let last = next.is_zero().then_some(2);
        assert_eq!(pool.next(false, None), job_and_thread(1, last));
    }
}

/// A thread that waits for a job of which the time comes in an hour.
fn watch_the_clock(pool: &Arc<Pool<u32>>) -> JoinHandle<Next<u32>> {
    assert!(matches!(
        pool.submit_after(Duration::from_secs(3600), 1),
        Submitted::NeedsThread
    ));
    let watching = Arc::clone(pool);
    let watcher = thread::spawn(move || watching.next(false, None));
    while lock(&pool.state).idle == 0 {
        thread::yield_now();
    }
    watcher
}

#[test]
fn the_thread_that_watches_the_clock_takes_the_job_of_one_that_cannot_start() {
    let pool = Arc::new(Pool::new(2, 100, None));
    let watcher = watch_the_clock(&pool);
    assert!(matches!(pool.submit(2), Submitted::NeedsThread));
    assert!(pool.lost_thread().is_empty());
    assert_eq!(watcher.join().unwrap(), job_and_thread(2, None));
}

#[test]
fn the_thread_that_watches_the_clock_is_not_counted_upon_for_other_jobs() {
    let pool = Arc::new(Pool::new(3, 100, None));
    let watcher = watch_the_clock(&pool);
    assert!(matches!(pool.submit(2), Submitted::NeedsThread));
    assert_eq!(pool.next(false, None), job(2, None));
    pool.close();
    assert_eq!(watcher.join().unwrap(), Next::Quit);
}

#[test]
fn jobs_for_later_are_taken_in_the_order_of_their_times() {
    let pool = Pool::new(1, 100, None);
    pool.submit_after(Duration::from_secs(3600), 3);
    pool.submit_after(Duration::from_millis(2), 2);
    pool.submit_after(Duration::ZERO, 1);
    assert_eq!(pool.next(false, None), job(1, None));
    assert_eq!(pool.next(true, None), job(2, None));
}

#[test]
fn a_closed_pool_drops_what_was_to_come_later() {
    let pool = Pool::new(1, 100, None);
    pool.submit_after(Duration::ZERO, 1);
    pool.close();
    assert_eq!(pool.next(false, None), Next::Quit);
}

/// A pool with two threads that are taken, a job that waits, and room for two threads more while jobs rest.
fn taken() -> Pool<u32> {
    let pool = Pool::new(2, 100, None).relieved(4);
    for number in 1..=2 {
        assert!(matches!(pool.submit(number), Submitted::NeedsThread));
        assert!(matches!(pool.next(false, None), Next::Job { .. }));
    }
    assert!(matches!(pool.submit(3), Submitted::NeedsRelief));
    pool
}

fn relieve(
    pool: &Pool<u32>,
    resting: usize,
    late: impl Fn(&u32) -> bool,
    too_late: impl Fn(&u32) -> bool,
) -> Option<Relief<u32>> {
    pool.relieve(resting, 0, |_| None, late, too_late)
}

fn relief(threads: usize, refused: &[u32]) -> Option<Relief<u32>> {
    let refused = refused.to_vec();
    Some(Relief { threads, refused })
}

#[test]
fn one_who_looks_after_the_jobs_that_wait_is_asked_for_once() {
    let pool = taken();
    assert!(matches!(pool.submit(4), Submitted::Queued));
    assert_eq!(pool.next(true, None), job(3, Some(4)));
    assert_eq!(pool.next(true, None), job(4, None));
    assert_eq!(relieve(&pool, 0, |_| true, |_| true), None);
    assert!(matches!(pool.submit(5), Submitted::NeedsRelief));
}

#[test]
fn a_late_job_gets_a_thread_for_each_that_rests() {
    let pool = taken();
    assert_eq!(relieve(&pool, 0, |_| true, |_| false), relief(0, &[]));
    assert_eq!(relieve(&pool, 1, |_| false, |_| false), relief(0, &[]));
    assert_eq!(relieve(&pool, 1, |_| true, |_| false), relief(1, &[]));
    assert_eq!(pool.status().threads, 3);
}

#[test]
fn no_more_threads_are_added_than_jobs_wait_or_than_there_may_be() {
    let pool = taken();
    assert_eq!(relieve(&pool, 2, |_| true, |_| false), relief(1, &[]));
    for number in 4..8 {
        pool.submit(number);
    }
    assert_eq!(relieve(&pool, 3, |_| true, |_| false), relief(1, &[]));
    assert_eq!(relieve(&pool, 4, |_| true, |_| false), relief(0, &[]));
    assert_eq!(pool.status().threads, 4);
}

#[test]
fn a_job_that_is_too_late_is_refused_only_where_no_thread_can_be_added_and_too_few_are_at_work() {
    let pool = taken();
    assert_eq!(relieve(&pool, 1, |_| true, |_| true), relief(1, &[]));
    pool.submit(4);
    assert_eq!(relieve(&pool, 2, |_| true, |_| true), relief(1, &[]));
    assert_eq!(relieve(&pool, 2, |_| true, |_| true), relief(0, &[]));
    assert_eq!(relieve(&pool, 3, |_| true, |job| *job == 4), relief(0, &[4]));
    assert_eq!(pool.next(false, None), job(3, None));
}
