//! Work that is rare and may take long: copies and checkpoints that callers ask for.

use std::sync::Arc;

use crate::core::{
    error::Error,
    limits,
    sync::{Condvar, Mutex, lock, wait},
    workers::{Class, Workers},
};

/// The long work that is under way for one file.
#[derive(Default)]
pub(crate) struct LongWork {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    closed: bool,
}

impl LongWork {
    /// Runs `work` on a worker. `work` gets `reply`, which is dropped if there is no worker, or if `work` panics; so `reply` must answer
    /// by itself when it is dropped.
    ///
    /// # Errors
    /// [`Error::QueueFull`] and [`Error::Closed`], with the reply.
    pub(crate) fn run<R: Send + 'static>(
        self: &Arc<Self>,
        workers: &Arc<Workers>,
        reply: R,
        work: impl FnOnce(R) + Send + 'static,
    ) -> Result<(), (R, Error)> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err((reply, Error::Closed));
        }
        if state.running >= limits::LONG_WORKS_MAX {
            return Err((reply, Error::QueueFull));
        }
        state.running += 1;
        drop(state);
        let running = Running(Arc::clone(self));
        workers.run(Class::Upkeep, move || {
            let _running = running;
            work(reply);
        });
        Ok(())
    }

    /// Accepts no more work, and waits until all work that is under way has ended.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        while state.running > 0 {
            state = wait(&self.ended, state);
        }
    }
}

struct Running(Arc<LongWork>);

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.0.state).running -= 1;
        self.0.ended.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    };

    use super::LongWork;
    use crate::core::{error::Error, limits, sync::lock, workers::Workers};

    #[test]
    fn one_more_work_than_may_run_is_refused() {
        let (works, workers) = (Arc::<LongWork>::default(), Workers::of_process());
        let (go, may_go) = mpsc::channel::<()>();
        let may_go = Arc::new(Mutex::new(may_go));
        for _ in 0..limits::LONG_WORKS_MAX {
            let may_go = Arc::clone(&may_go);
            let wait = move |()| assert!(lock(&may_go).recv().is_err());
            works.run(&workers, (), wait).unwrap();
        }
        let refused = works.run(&workers, 7, |_| ()).unwrap_err();
        assert_eq!(refused, (7, Error::QueueFull));
        drop(go);
        works.close();
    }

    #[test]
    fn closing_waits_for_what_runs_and_refuses_what_comes_later() {
        let (works, workers) = (Arc::<LongWork>::default(), Workers::of_process());
        let done = Arc::new(AtomicBool::new(false));
        let (started, has_started) = mpsc::channel();
        let ends = Arc::clone(&done);
        let work = move |()| {
            started.send(()).unwrap();
            ends.store(true, Ordering::Relaxed);
        };
        works.run(&workers, (), work).unwrap();
        has_started.recv().unwrap();
        works.close();
        assert!(done.load(Ordering::Relaxed));
        assert_eq!(works.run(&workers, 8, |_| ()).unwrap_err(), (8, Error::Closed));
    }
}
