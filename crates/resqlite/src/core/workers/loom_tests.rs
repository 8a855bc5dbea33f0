//! Every interleaving of the workers, as far as loom's bound reaches. Run by `scripts/loom.sh`. In the model no time passes.

use std::sync::atomic::{AtomicUsize as Count, Ordering::SeqCst};

use loom::thread;

use super::*;

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(test);
}

/// Counts its turns.
#[derive(Default)]
struct Counts(Count);

impl Task for Counts {
    fn class(&self) -> Class {
        Class::Calls
    }

    fn turn(self: Arc<Self>, _: &Turn<'_>) {
        self.0.fetch_add(1, SeqCst);
    }

    fn unserved(self: Arc<Self>) {
        panic!("threads can be started");
    }
}

impl Timed for Counts {
    fn is_due(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn loom_every_task_gets_its_turns_and_all_threads_end() {
    for places in [1, 2] {
        model(move || {
            let (workers, task) = (Workers::new(places), Arc::<Counts>::default());
            let in_use = workers.enter();
            (0..2).for_each(|_| workers.ready(Arc::clone(&task) as _));
            drop(in_use);
            workers.wait_for_end();
            assert_eq!(task.0.load(SeqCst), 2);
            assert!(lock(&workers.state).all.is_empty());
        });
    }
}

#[test]
fn loom_tasks_of_two_threads_get_their_turns() {
    model(|| {
        let (workers, task) = (Workers::new(1), Arc::<Counts>::default());
        let (other, others) = (Arc::clone(&workers), Arc::clone(&task));
        let in_use = workers.enter();
        let caller = thread::spawn(move || {
            let _in_use = other.enter();
            other.ready(others);
        });
        workers.ready(Arc::clone(&task) as _);
        drop(in_use);
        workers.wait_for_end();
        caller.join().unwrap();
        workers.wait_for_end();
        assert_eq!(task.0.load(SeqCst), 2);
        assert!(lock(&workers.state).all.is_empty());
    });
}

#[test]
fn loom_what_is_due_is_told_beside_a_task() {
    model(|| {
        let (workers, task) = (Workers::new(1), Arc::<Counts>::default());
        let (tells, in_use) = (Arc::<Counts>::default(), workers.enter());
        workers.at(Instant::now(), &tells);
        workers.ready(Arc::clone(&task) as _);
        while tells.0.load(SeqCst) == 0 {
            thread::yield_now();
        }
        drop(in_use);
        workers.wait_for_end();
        assert_eq!(task.0.load(SeqCst), 1);
    });
}
