//! Every interleaving of the queue, as far as loom's bound reaches. Run by `scripts/loom.sh`.

use std::{
    sync::Arc as StdArc,
    time::{Duration, Instant},
};

use loom::{sync::Arc, thread};

use super::{Popped, Queue, Task, Workers};
use crate::core::workers::{Class, Turn};

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

/// Pops until the queue is closed and empty.
fn consume(queue: &Queue<(u8, u8)>) -> Vec<(u8, u8)> {
    let mut taken = Vec::new();
    let later = Instant::now() + Duration::from_secs(3600);
    while let Popped::Item(item) = queue.pop(later) {
        taken.push(item);
    }
    taken
}

fn produce(queue: &Queue<(u8, u8)>, producer: u8) {
    for n in 0..2 {
        assert!(queue.push((producer, n)).is_ok());
    }
}

fn of(taken: &[(u8, u8)], producer: u8) -> Vec<u8> {
    taken
        .iter()
        .filter(|item| item.0 == producer)
        .map(|item| item.1)
        .collect()
}

#[test]
fn loom_every_item_arrives_once_and_in_the_order_of_its_producer() {
    model(|| {
        let queue = Arc::new(Queue::new(16));
        let producers = [1, 2].map(|producer| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || produce(&queue, producer))
        });
        let closing = Arc::clone(&queue);
        let closer = thread::spawn(move || {
            producers
                .into_iter()
                .for_each(|producer| producer.join().unwrap());
            closing.close();
        });
        let taken = consume(&queue);
        closer.join().unwrap();
        assert_eq!(
            (of(&taken, 1), of(&taken, 2), taken.len()),
            (vec![0, 1], vec![0, 1], 4)
        );
    });
}

#[test]
fn loom_closing_wakes_a_reader_that_sleeps() {
    model(|| {
        let queue = Arc::new(Queue::<(u8, u8)>::new(16));
        let reading = Arc::clone(&queue);
        let reader = thread::spawn(move || consume(&reading));
        queue.close();
        assert!(reader.join().unwrap().is_empty());
    });
}

#[test]
fn loom_an_item_is_either_taken_or_handed_back_by_closing() {
    model(|| {
        let queue = Arc::new(Queue::new(16));
        let pushing = Arc::clone(&queue);
        let producer = thread::spawn(move || pushing.push((1, 0)).is_ok());
        let reading = Arc::clone(&queue);
        let reader = thread::spawn(move || consume(&reading).len());
        let handed_back = queue.close_and_take().len();
        let accepted = producer.join().unwrap();
        assert_eq!(reader.join().unwrap() + handed_back, usize::from(accepted));
    });
}

#[test]
fn loom_an_item_is_either_removed_or_taken() {
    model(|| {
        let queue = Arc::new(Queue::new(16));
        produce(&queue, 1);
        let reading = Arc::clone(&queue);
        let reader = thread::spawn(move || consume(&reading).len());
        let removed = usize::from(queue.remove(|item| item.1 == 1).is_some());
        queue.close();
        assert_eq!(reader.join().unwrap() + removed, 2);
    });
}

/// A consumer that leaves its worker when the queue is empty.
struct Leaves {
    queue: Queue<u8>,
    workers: StdArc<Workers>,
    taken: std::sync::Mutex<Vec<Popped<u8>>>,
}

impl Task for Leaves {
    fn class(&self) -> Class {
        Class::Calls
    }

    fn turn(self: StdArc<Self>, _: &Turn<'_>) {
        let leave = || StdArc::clone(&self) as _;
        let next = || {
            let soon = self.queue.pop_soon(None);
            soon.or_else(|| self.queue.pop_or_leave(&self.workers, leave))
        };
        while let Some(popped) = next() {
            let is_closed = popped == Popped::Closed;
            self.taken.lock().unwrap().push(popped);
            if is_closed {
                return;
            }
        }
    }

    fn unserved(self: StdArc<Self>) {
        panic!("threads can be started");
    }
}

#[test]
fn loom_a_consumer_that_has_left_comes_back_for_every_item_and_for_the_end() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let workers = Workers::new(1);
        let in_use = workers.enter();
        let consumer = StdArc::new(Leaves {
            queue: Queue::new(16),
            workers: StdArc::clone(&workers),
            taken: std::sync::Mutex::default(),
        });
        workers.ready(StdArc::clone(&consumer) as _);
        let pushing = StdArc::clone(&consumer);
        let producer = thread::spawn(move || assert!(pushing.queue.push(1).is_ok()));
        producer.join().unwrap();
        consumer.queue.close();
        drop(in_use);
        workers.wait_for_end();
        let taken = std::mem::take(&mut *consumer.taken.lock().unwrap());
        assert_eq!(taken, [Popped::Item(1), Popped::Closed]);
    });
}
