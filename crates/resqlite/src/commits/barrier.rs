//! The commit barrier: readers that need one state of several databases can hold commits back for a moment.
//!
//! SQLite takes the snapshot of each database with the first read from that database. A commit in between would tear a snapshot of
//! several databases, so the reader tries again. If a writer commits all the time, the reader would never succeed. After a few attempts
//! it therefore closes the barrier, and the next commit waits in front of it.

use crate::core::{
    clock, limits,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
        lock, wait_for,
    },
};

pub(super) struct CommitBarrier {
    /// Number of readers that hold the barrier closed. The writer passes an open barrier without a lock.
    holders: AtomicUsize,
    /// Held between a check and the wait for `changed`, and before `changed` is signalled: no wake-up is lost.
    lock: Mutex<()>,
    /// Announces that a reader has opened the barrier, or that the writer has finished a commit.
    changed: Condvar,
}

/// Holds the barrier closed until it is dropped.
pub(crate) struct HeldBack<'a>(&'a CommitBarrier);

impl CommitBarrier {
    pub(super) fn new() -> Self {
        Self {
            holders: AtomicUsize::new(0),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    pub(super) fn close(&self) -> HeldBack<'_> {
        self.holders.fetch_add(1, Ordering::SeqCst);
        HeldBack(self)
    }

    fn is_open(&self) -> bool {
        self.holders.load(Ordering::SeqCst) == 0
    }

    /// Waits before a commit while the barrier is closed, for [`limits::COMMIT_BARRIER`] at most.
    pub(super) fn pass(&self) {
        if !self.is_open() {
            self.wait(|| self.is_open());
        }
    }

    /// Notes the end of a commit.
    pub(super) fn committed(&self) {
        if !self.is_open() {
            self.signal();
        }
    }

    fn signal(&self) {
        drop(lock(&self.lock));
        self.changed.notify_all();
    }

    /// Waits until `is_over` returns `true`, which a signal announces. Returns `false` if this takes longer than
    /// [`limits::COMMIT_BARRIER`].
    pub(super) fn wait(&self, is_over: impl Fn() -> bool) -> bool {
        let end = clock::now() + limits::COMMIT_BARRIER;
        let mut held = lock(&self.lock);
        while !is_over() {
            let left = end.saturating_duration_since(clock::now());
            if left.is_zero() {
                return false;
            }
            held = wait_for(&self.changed, held, left);
        }
        true
    }
}

impl Drop for HeldBack<'_> {
    fn drop(&mut self) {
        self.0.holders.fetch_sub(1, Ordering::SeqCst);
        self.0.signal();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, AtomicU64, Ordering},
        thread,
        time::Duration,
    };

    use crate::commits::log::Commits;

    /// There are several attempts, since a commit may have begun already, and a thread may lose its core for long.
    const ATTEMPTS: usize = 10;

    /// Runs `work` beside a thread that commits all the time: each commit adds 1 to both numbers.
    fn beside_commits(work: impl FnOnce(&Commits, &[AtomicU64; 2])) {
        let (commits, numbers) = (Commits::default(), [AtomicU64::new(0), AtomicU64::new(0)]);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    commits.begins();
                    for number in &numbers {
                        number.fetch_add(1, Ordering::SeqCst);
                    }
                    commits.settle();
                }
            });
            work(&commits, &numbers);
            is_over.store(true, Ordering::SeqCst);
        });
    }

    // G37
    #[test]
    fn while_commits_are_held_back_one_state_can_be_read() {
        beside_commits(|commits, numbers| {
            for _ in 0..1000 {
                let _held_back = commits.hold_back();
                let read = || {
                    commits.wait_until_settled(Duration::from_secs(30));
                    let settled = commits.settled();
                    let [a, b] = numbers.each_ref().map(|number| {
                        thread::yield_now();
                        number.load(Ordering::SeqCst)
                    });
                    (settled.is_some() && settled == commits.settled()).then_some((a, b))
                };
                let (a, b) = (0..ATTEMPTS).find_map(|_| read()).expect("commits are held back");
                assert_eq!(a, b);
            }
        });
    }

    #[test]
    fn afterwards_commits_go_on() {
        beside_commits(|commits, numbers| {
            drop(commits.hold_back());
            let before = numbers[1].load(Ordering::SeqCst);
            while numbers[1].load(Ordering::SeqCst) == before {
                thread::yield_now();
            }
        });
    }
}
