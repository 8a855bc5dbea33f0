use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use super::{Calls, Next, Pool, Submitted};
use crate::core::limits;

fn job(number: u32, snapshot: Option<u64>) -> Next<u32> {
    Next::Job {
        job: number,
        snapshot,
    }
}

/// Queues a job. Returns how many workers are to be called for it.
fn submit(pool: &Pool<u32>, job: u32) -> usize {
    match pool.submit(job) {
        Submitted::Queued(Calls(workers)) => workers,
        Submitted::Full(_) | Submitted::Closed(_) => panic!("the pool is open and has room"),
    }
}

/// A pool with jobs that wait: 1, 2, … and a worker that has come for them.
fn waiting(jobs: u32) -> Pool<u32> {
    let pool = Pool::new(1, 100);
    let calls: usize = (1..=jobs).map(|number| submit(&pool, number)).sum();
    assert_eq!(calls, 1);
    assert_eq!(pool.came(), Calls(0));
    pool
}

#[test]
fn a_worker_is_called_for_each_job_until_there_are_as_many_as_there_may_be() {
    let pool = Pool::new(2, 100);
    assert_eq!([1, 2, 3].map(|number| submit(&pool, number)), [1, 1, 0]);
}

#[test]
fn no_worker_is_called_for_a_job_that_one_comes_for() {
    let pool = Pool::new(2, 100);
    assert_eq!(submit(&pool, 1), 1);
    assert_eq!(pool.remove(|_| true), Some(1));
    assert_eq!(submit(&pool, 2), 0);
}

#[test]
fn a_worker_that_leaves_is_called_again_for_what_came_before_it_had_left() {
    let pool = waiting(1);
    assert_eq!(pool.next(false, None), job(1, None));
    assert_eq!(pool.next(true, None), Next::Leave);
    assert_eq!(submit(&pool, 2), 0, "there may be one");
    assert_eq!(pool.left(), Calls(1));
}

#[test]
fn a_worker_that_gives_way_is_called_again_for_what_waits() {
    let pool = waiting(2);
    assert_eq!(pool.next(false, None), job(1, Some(2)));
    pool.gives_way();
    assert_eq!((pool.status().busy, pool.left()), (0, Calls(1)));
    assert_eq!(pool.came(), Calls(0));
    assert_eq!(pool.next(false, None), job(2, None));
}

#[test]
fn of_many_calls_some_workers_are_called_and_each_that_comes_calls_the_next() {
    let pool = Pool::new(limits::READERS_MAX, 100);
    let calls: usize = (0..6).map(|number| submit(&pool, number)).sum();
    assert_eq!(calls, limits::CALLED_MAX);
    let further = [(); 3].map(|()| {
        let calls = pool.came();
        pool.next(false, None);
        calls
    });
    assert_eq!(further, [Calls(1), Calls(1), Calls(0)]);
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
    submit(&pool, 3);
    assert_eq!(pool.next(true, Some(2)), job(2, Some(2)));
    assert_eq!(pool.next(true, Some(2)), Next::EndSnapshot);
    assert_eq!(pool.next(true, None), job(3, None));
}

#[test]
fn a_job_that_waits_alone_needs_no_read_transaction() {
    let pool = waiting(1);
    assert_eq!(pool.next(false, None), job(1, None));
}

// G104
#[test]
fn more_jobs_than_the_bound_are_refused() {
    let pool = Pool::new(1, 2);
    submit(&pool, 1);
    submit(&pool, 2);
    assert!(matches!(pool.submit(3), Submitted::Full(3)));
}

#[test]
fn a_closed_pool_serves_what_waits_and_refuses_the_rest() {
    let pool = waiting(1);
    assert_eq!(pool.close(), Calls(0));
    assert!(matches!(pool.submit(2), Submitted::Closed(2)));
    assert_eq!(pool.next(false, None), job(1, None));
    assert_eq!(pool.next(true, None), Next::Leave);
    assert_eq!(pool.left(), Calls(0));
    pool.join();
}

#[test]
fn there_is_no_pause_while_a_worker_works_longer_than_one_waits() {
    let pool = waiting(1);
    assert_eq!(pool.next(false, None), job(1, None));
    assert_eq!(pool.in_pause(Duration::ZERO, || ()), (None, Calls(0)));
}

#[test]
fn while_nobody_works_there_is_a_pause_at_once() {
    let pool = waiting(1);
    assert_eq!(pool.in_pause(Duration::ZERO, || 7), (Some(7), Calls(0)));
    assert_eq!(pool.next(false, None), job(1, None));
}

#[test]
fn a_worker_that_finds_a_pause_leaves_and_is_called_after_it() {
    let pool = waiting(1);
    let in_pause = || {
        assert_eq!(pool.next(false, None), Next::Leave);
        assert_eq!(pool.left(), Calls(0));
        submit(&pool, 2)
    };
    assert_eq!(pool.in_pause(Duration::ZERO, in_pause), (Some(0), Calls(1)));
}

fn in_an_hour() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

// G101
#[test]
fn held_back_jobs_wait_until_they_are_released_and_whoever_holds_them_is_told_when_nobody_works() {
    let pool = waiting(1);
    assert_eq!(pool.next(false, None), job(1, None));
    let (tell, told) = mpsc::channel();
    assert!(!pool.hold(in_an_hour(), move || tell.send(()).unwrap()));
    assert_eq!(submit(&pool, 2), 0);
    assert!(told.try_recv().is_err());
    assert_eq!(pool.next(true, None), Next::Leave);
    told.try_recv().expect("nobody works");
    assert_eq!(pool.left(), Calls(0));
    assert!(pool.hold(in_an_hour(), || panic!("it is quiet already")));
    assert_eq!(pool.release(), Calls(1));
    assert_eq!(pool.came(), Calls(0));
    assert_eq!(pool.next(false, None), job(2, None));
}

// G101
#[test]
fn a_hold_ends_by_itself() {
    let pool = Pool::new(1, 100);
    assert!(pool.hold(Instant::now(), || ()));
    assert_eq!(submit(&pool, 1), 1);
}

// G101
#[test]
fn workers_are_called_when_a_hold_is_over() {
    let (pool, until) = (Pool::new(1, 100), Instant::now() + Duration::from_millis(1));
    assert!(pool.hold(until, || ()));
    let calls = submit(&pool, 1);
    while Instant::now() < until {
        thread::yield_now();
    }
    assert_eq!(pool.come_due(), Calls(1 - calls));
}

#[test]
fn a_hold_that_is_over_gives_way_to_the_next() {
    let pool = Pool::new(1, 100);
    assert!(pool.hold(Instant::now(), || ()));
    assert!(pool.hold(in_an_hour(), || ()));
    assert_eq!(submit(&pool, 1), 0);
    assert_eq!(pool.release(), Calls(1));
}

// G101
#[test]
fn a_closed_pool_holds_nothing_back() {
    let pool = Pool::new(1, 100);
    pool.hold(in_an_hour(), || ());
    assert_eq!(submit(&pool, 1), 0);
    assert_eq!(pool.close(), Calls(1));
}

// G101
#[test]
fn a_read_transaction_ends_where_jobs_are_held_back() {
    let pool = waiting(2);
    assert_eq!(pool.next(false, None), job(1, Some(2)));
    pool.hold(in_an_hour(), || ());
    assert_eq!(pool.next(true, Some(2)), Next::EndSnapshot);
}

#[test]
fn all_jobs_come_back_when_no_worker_can_be_started() {
    let pool = Pool::new(1, 100);
    assert_eq!([1, 2].map(|number| submit(&pool, number)), [1, 0]);
    pool.submit_at(in_an_hour(), 3).unwrap();
    assert_eq!(pool.unserved(), [1, 2, 3]);
    pool.join();
}

// G126
#[test]
fn jobs_for_later_are_queued_when_their_time_has_come_in_the_order_of_their_times() {
    let (pool, now) = (Pool::new(1, 100), Instant::now());
    pool.submit_at(in_an_hour(), 3).unwrap();
    pool.submit_at(now, 2).unwrap();
    pool.submit_at(now - Duration::from_millis(1), 1).unwrap();
    assert_eq!(pool.come_due(), Calls(1));
    assert_eq!(pool.came(), Calls(0));
    assert_eq!(pool.next(false, None), job(1, Some(2)));
    assert_eq!(pool.next(true, Some(2)), job(2, Some(2)));
    assert_eq!(pool.next(true, Some(2)), Next::EndSnapshot);
    assert_eq!(pool.next(true, None), Next::Leave);
}

#[test]
fn a_closed_pool_drops_what_was_to_come_later() {
    let (pool, job) = (Pool::new(1, 100), Arc::new(()));
    assert!(pool.submit_at(in_an_hour(), Arc::clone(&job)).is_ok());
    assert_eq!(pool.close(), Calls(0));
    assert_eq!(Arc::strong_count(&job), 1);
    assert!(pool.submit_at(in_an_hour(), job).is_err());
}
