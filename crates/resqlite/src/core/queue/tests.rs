use std::time::{Duration, Instant};

use super::{Popped, Queue, Refused};

fn later() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

#[test]
fn items_come_out_in_the_order_they_went_in() {
    let queue = Queue::new(10);
    (0..3).for_each(|item| assert!(queue.push(item).is_ok()));
    assert_eq!([(); 3].map(|()| queue.pop(later())), [0, 1, 2].map(Popped::Item));
}

// G104
#[test]
fn one_item_more_than_the_bound_is_refused() {
    let queue = Queue::new(1);
    assert!(queue.push('a').is_ok());
    assert!(matches!(queue.push('b'), Err(Refused::Full('b'))));
}

#[test]
fn an_item_that_waits_is_taken_even_after_the_deadline() {
    let queue = Queue::new(1);
    let past = Instant::now();
    assert_eq!(queue.pop(past), Popped::TimedOut);
    assert!(queue.push('a').is_ok());
    assert_eq!(queue.pop(past), Popped::Item('a'));
}

#[test]
fn a_closed_queue_gives_what_waits_and_then_says_closed() {
    let queue = Queue::new(2);
    assert!(queue.push('a').is_ok());
    queue.close();
    assert!(matches!(queue.push('b'), Err(Refused::Closed('b'))));
    assert_eq!(
        (queue.pop(later()), queue.pop(later())),
        (Popped::Item('a'), Popped::Closed)
    );
}

#[test]
fn draining_stops_at_the_first_item_that_is_not_wanted_and_at_the_bound() {
    let queue = Queue::new(10);
    [1, 2, 30, 4]
        .into_iter()
        .for_each(|item| assert!(queue.push(item).is_ok()));
    let mut taken = Vec::new();
    queue.drain_while(&mut taken, 1, |item| *item < 10);
    assert_eq!(taken, [1]);
    queue.drain_while(&mut taken, 10, |item| *item < 10);
    assert_eq!((taken, queue.len()), (vec![1, 2], 2));
}

#[test]
fn the_first_item_that_matches_is_removed() {
    let queue = Queue::new(10);
    [1, 2, 3]
        .into_iter()
        .for_each(|item| assert!(queue.push(item).is_ok()));
    assert_eq!(queue.remove(|item| *item > 1), Some(2));
    assert_eq!(queue.remove(|item| *item > 9), None);
    assert_eq!(
        (queue.pop(later()), queue.pop(later())),
        (Popped::Item(1), Popped::Item(3))
    );
}
