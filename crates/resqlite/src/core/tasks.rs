//! Threads for work that is rare and may take long: copies and checkpoints that callers ask for.

use crate::core::{
    error::Error,
    limits,
    sync::{Mutex, lock},
    threads::{JoinHandle, has_ended, start_thread},
};

/// The threads that are at work.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<State>);

#[derive(Default)]
struct State {
    threads: Vec<JoinHandle<()>>,
    closed: bool,
}

impl Tasks {
    /// Runs `work` on a thread of its own. It gets `reply`, which must answer by itself when it is dropped: it is if no
    /// thread can be started, or if `work` panics.
    ///
    /// # Errors
    /// [`Error::QueueFull`] and [`Error::Closed`], with the reply.
    pub(crate) fn run<R: Send + 'static>(
        &self,
        name: &str,
        reply: R,
        work: impl FnOnce(R) + Send + 'static,
    ) -> Result<(), (R, Error)> {
        let mut state = lock(&self.0);
        state.threads.retain(|thread| !has_ended(thread));
        if state.closed {
            return Err((reply, Error::Closed));
        }
        if state.threads.len() >= limits::TASKS_MAX {
            return Err((reply, Error::QueueFull));
        }
        let started = start_thread(name, move || work(reply));
        state.threads.extend(started);
        Ok(())
    }

    /// Takes no more work, and waits for the end of all that is under way.
    pub(crate) fn close(&self) {
        let threads = {
            let mut state = lock(&self.0);
            state.closed = true;
            std::mem::take(&mut state.threads)
        };
        for thread in threads {
            // A panic in it has been answered.
            let _ = thread.join();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    };

    use super::Tasks;
    use crate::core::{error::Error, limits, sync::lock};

    #[test]
    fn one_more_task_than_may_run_is_refused() {
        let tasks = Tasks::default();
        let (go, may_go) = mpsc::channel::<()>();
        let may_go = Arc::new(Mutex::new(may_go));
        for _ in 0..limits::TASKS_MAX {
            let may_go = Arc::clone(&may_go);
            let wait = move |()| assert!(lock(&may_go).recv().is_err());
            tasks.run("task", (), wait).unwrap();
        }
        let refused = tasks.run("one more", 7, |_| ()).unwrap_err();
        assert_eq!(refused, (7, Error::QueueFull));
        drop(go);
        tasks.close();
    }

    #[test]
    fn closing_waits_for_what_runs_and_refuses_what_comes_later() {
        let (tasks, done) = (Tasks::default(), Arc::new(AtomicBool::new(false)));
        let (started, has_started) = mpsc::channel();
        let ends = Arc::clone(&done);
        let work = move |()| {
            started.send(()).unwrap();
            ends.store(true, Ordering::Relaxed);
        };
        tasks.run("task", (), work).unwrap();
        has_started.recv().unwrap();
        tasks.close();
        assert!(done.load(Ordering::Relaxed));
        assert_eq!(tasks.run("late", 8, |_| ()).unwrap_err(), (8, Error::Closed));
    }
}
