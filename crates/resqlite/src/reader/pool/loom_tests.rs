//! Every interleaving of the pool, as far as loom's bound reaches. Run by `scripts/loom.sh`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use loom::{
    sync::{
        Notify,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
};

use super::{Calls, Next, Pool, Submitted};

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(test);
}

/// A pool and what its workers did.
struct Watched {
    pool: Pool<usize>,
    /// The number of times that each job ran.
    runs: [AtomicUsize; 3],
    /// Workers that have a job or a read transaction.
    at_work: AtomicUsize,
}

impl Watched {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self {
            pool: Pool::new(workers, 16),
            runs: std::array::from_fn(|_| AtomicUsize::new(0)),
            at_work: AtomicUsize::new(0),
        })
    }

    fn submit(self: &Arc<Self>, job: usize) -> Option<JoinHandle<()>> {
        match self.pool.submit(job) {
            Submitted::Queued(Calls(0)) => None,
            Submitted::Queued(calls) => {
                let watched = Arc::clone(self);
                Some(thread::spawn(move || watched.serve(calls)))
            }
            Submitted::Full(_) | Submitted::Closed(_) => panic!("the pool is open and has room"),
        }
    }

    /// As workers do it that were called.
    fn serve(&self, Calls(mut calls): Calls) {
        while calls > 0 {
            let Calls(besides) = self.pool.came();
            self.serve_once();
            let Calls(more) = self.pool.left();
            calls += besides + more;
            calls -= 1;
        }
    }

    fn serve_once(&self) {
        let (mut was_busy, mut snapshot) = (false, None);
        loop {
            let next = self.pool.next(was_busy, snapshot);
            was_busy = true;
            match next {
                Next::Leave => break,
                Next::EndSnapshot => snapshot = None,
                Next::Job {
                    job,
                    snapshot: wanted,
                } => {
                    self.at_work.fetch_add(usize::from(snapshot.is_none()), SeqCst);
                    self.runs[job].fetch_add(1, SeqCst);
                    snapshot = snapshot.or(wanted);
                }
            }
            self.at_work.fetch_sub(usize::from(snapshot.is_none()), SeqCst);
        }
    }

    fn finish(&self, threads: impl IntoIterator<Item = JoinHandle<()>>) {
        self.serve(self.pool.close());
        self.pool.join();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    fn ran(&self) -> [usize; 3] {
        std::array::from_fn(|job| self.runs[job].load(SeqCst))
    }
}

#[test]
fn loom_every_job_runs_once_and_closing_waits_for_every_worker() {
    model(|| {
        let watched = Watched::new(2);
        let threads: Vec<_> = (0..3).filter_map(|job| watched.submit(job)).collect();
        watched.finish(threads);
        assert_eq!(watched.ran(), [1, 1, 1]);
    });
}

#[test]
fn loom_one_worker_at_a_time_serves_all_jobs() {
    model(|| {
        let watched = Watched::new(1);
        let threads: Vec<_> = (0..3).filter_map(|job| watched.submit(job)).collect();
        watched.finish(threads);
        assert_eq!(watched.ran(), [1, 1, 1]);
    });
}

#[test]
fn loom_jobs_of_two_callers_run_once() {
    model(|| {
        let watched = Watched::new(1);
        let other = Arc::clone(&watched);
        let caller = thread::spawn(move || other.submit(0));
        let mine = watched.submit(1);
        let theirs = caller.join().unwrap();
        watched.finish(mine.into_iter().chain(theirs));
        assert_eq!(watched.ran(), [1, 1, 0]);
    });
}

#[test]
fn loom_in_a_pause_nobody_is_at_work_and_work_goes_on_after_it() {
    model(|| {
        let watched = Watched::new(2);
        let mut threads: Vec<_> = watched.submit(0).into_iter().collect();
        let pauses = Arc::clone(&watched);
        let pause = thread::spawn(move || {
            let quiet = || assert_eq!(pauses.at_work.load(SeqCst), 0);
            let (done, calls) = pauses.pool.in_pause(Duration::from_secs(3600), quiet);
            done.expect("nobody works for an hour");
            pauses.serve(calls);
        });
        threads.extend(watched.submit(1));
        pause.join().unwrap();
        watched.finish(threads);
        assert_eq!(watched.ran(), [1, 1, 0]);
    });
}

#[test]
fn loom_nobody_is_at_work_when_whoever_holds_jobs_back_is_told_so_and_work_goes_on_after_the_release() {
    model(|| {
        let watched = Watched::new(2);
        let mut threads: Vec<_> = watched.submit(0).into_iter().collect();
        let holds = Arc::clone(&watched);
        let hold = thread::spawn(move || {
            let told = Arc::new((Notify::new(), AtomicUsize::new(0)));
            let tell = Arc::clone(&told);
            let tells = move || {
                tell.1.store(1, SeqCst);
                tell.0.notify();
            };
            let until = Instant::now() + Duration::from_secs(3600);
            if !holds.pool.hold(until, tells) {
                // It may wake for nothing.
                while told.1.load(SeqCst) == 0 {
                    told.0.wait();
                }
            }
            assert_eq!(holds.at_work.load(SeqCst), 0);
            holds.serve(holds.pool.release());
        });
        threads.extend(watched.submit(1));
        hold.join().unwrap();
        watched.finish(threads);
        assert_eq!(watched.ran(), [1, 1, 0]);
    });
}

#[test]
fn loom_a_job_is_either_removed_or_run() {
    model(|| {
        let watched = Watched::new(1);
        let threads: Vec<_> = (0..2).filter_map(|job| watched.submit(job)).collect();
        let removed = usize::from(watched.pool.remove(|job| *job == 1).is_some());
        watched.finish(threads);
        assert_eq!(watched.ran(), [1, 1 - removed, 0]);
    });
}
