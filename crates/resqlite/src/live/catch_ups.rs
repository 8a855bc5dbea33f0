//! Callers that wait until a live query has caught up: until it shows, and has handed over, every commit before their call.
//!
//! Waits are checked only when something may have ended them: a run of the query has ended, the query has ended, or a commit
//! has been looked at that had not been looked at when the wait began.

use std::collections::HashMap;

use resqlite_live::{CommitNumber, LiveQueryId, Scheduler};

/// Called once, without the lock of the coordinator.
pub(super) type Done = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct CatchUps {
    waits: HashMap<LiveQueryId, Vec<Wait>>,
    /// Live queries with waits that began before their commit was looked at.
    unseen: Vec<LiveQueryId>,
    /// The callbacks of callers who no longer wait. They have not been called yet.
    over: Vec<Done>,
}

struct Wait {
    /// The newest commit when the wait began.
    commit: CommitNumber,
    done: Done,
}

/// The progress of a live query.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// The newest commit that was looked at.
    pub(super) seen: CommitNumber,
    /// The query neither runs nor is due to run: it shows every commit that was looked at.
    pub(super) is_settled: bool,
}

impl Known {
    pub(super) fn of(id: LiveQueryId, scheduler: &Scheduler, seen: CommitNumber) -> Self {
        Self {
            seen,
            is_settled: scheduler.is_settled(id),
        }
    }
}

impl CatchUps {
    /// Begins a wait for a commit.
    pub(super) fn add(&mut self, id: LiveQueryId, commit: CommitNumber, done: Done, known: Known) {
        let is_seen = commit <= known.seen;
        if is_seen && known.is_settled {
            return self.over.push(done);
        }
        if !is_seen {
            self.unseen.push(id);
        }
        self.waits.entry(id).or_default().push(Wait { commit, done });
    }

    /// Notes that a run of this live query has ended. The run shows the commits up to number `since`.
    pub(super) fn has_run(&mut self, id: LiveQueryId, since: CommitNumber, known: Known) {
        let shown = if known.is_settled {
            since.max(known.seen)
        } else {
            since
        };
        self.end(id, shown);
    }

    /// Notes that this live query has ended.
    pub(super) fn has_ended(&mut self, id: LiveQueryId) {
        self.end(id, CommitNumber(u64::MAX));
    }

    /// Notes that commits have been looked at.
    pub(super) fn have_been_seen(&mut self, known: impl Fn(LiveQueryId) -> Known) {
        for id in std::mem::take(&mut self.unseen) {
            let Known { seen, is_settled } = known(id);
            if is_settled {
                self.end(id, seen);
            }
            let is_unseen = |waits: &Vec<Wait>| waits.iter().any(|wait| wait.commit > seen);
            if self.waits.get(&id).is_some_and(is_unseen) {
                self.unseen.push(id);
            }
        }
    }

    /// Takes the callbacks to be called now.
    pub(super) fn take_over(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.over)
    }

    fn end(&mut self, id: LiveQueryId, shown: CommitNumber) {
        let Some(waits) = self.waits.get_mut(&id) else {
            return;
        };
        let over = waits.extract_if(.., |wait| wait.commit <= shown);
        self.over.extend(over.map(|wait| wait.done));
        if waits.is_empty() {
            self.waits.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::{CatchUps, CommitNumber, Known, LiveQueryId};

    const A: LiveQueryId = LiveQueryId(1);
    const B: LiveQueryId = LiveQueryId(2);

    const RUNS: Known = Known {
        seen: CommitNumber(5),
        is_settled: false,
    };
    const RESTS: Known = Known {
        seen: CommitNumber(5),
        is_settled: true,
    };

    struct Waiting {
        waits: CatchUps,
        tell: Sender<(LiveQueryId, u64)>,
        ended: Receiver<(LiveQueryId, u64)>,
    }

    impl Waiting {
        fn new() -> Self {
            let (tell, ended) = channel();
            Self {
                waits: CatchUps::default(),
                tell,
                ended,
            }
        }

        fn add(&mut self, id: LiveQueryId, commit: u64, known: Known) {
            let tell = self.tell.clone();
            let done = Box::new(move || tell.send((id, commit)).unwrap());
            self.waits.add(id, CommitNumber(commit), done, known);
        }

        /// The waits that have ended since the last call.
        fn over(&mut self) -> Vec<(LiveQueryId, u64)> {
            self.waits.take_over().into_iter().for_each(|done| done());
            self.ended.try_iter().collect()
        }
    }

    #[test]
    fn a_wait_for_what_is_shown_ends_at_once() {
        let mut waiting = Waiting::new();
        waiting.add(A, 5, RESTS);
        assert_eq!(waiting.over(), [(A, 5)]);
    }

    #[test]
    fn a_wait_ends_with_a_run_that_shows_its_commit() {
        let mut waiting = Waiting::new();
        waiting.add(A, 5, RUNS);
        waiting.add(B, 5, RUNS);
        waiting.waits.has_run(A, CommitNumber(4), RUNS);
        assert_eq!(waiting.over(), []);
        waiting.waits.has_run(A, CommitNumber(5), RUNS);
        assert_eq!(waiting.over(), [(A, 5)]);
    }

    #[test]
    fn a_wait_ends_with_a_run_before_its_commit_if_that_does_not_affect_the_query() {
        let mut waiting = Waiting::new();
        waiting.add(A, 5, RUNS);
        waiting.waits.has_run(A, CommitNumber(3), RESTS);
        assert_eq!(waiting.over(), [(A, 5)]);
    }

    #[test]
    fn a_wait_ends_when_its_commit_is_looked_at_and_does_not_affect_the_query() {
        let mut waiting = Waiting::new();
        for commit in [6, 7] {
            waiting.add(A, commit, RESTS);
        }
        waiting.add(B, 6, RESTS);
        assert_eq!(waiting.over(), []);
        waiting.waits.have_been_seen(|id| Known {
            seen: CommitNumber(6),
            is_settled: id == A,
        });
        assert_eq!(waiting.over(), [(A, 6)]);
        waiting.waits.have_been_seen(|id| Known {
            seen: CommitNumber(7),
            is_settled: id == A,
        });
        assert_eq!(waiting.over(), [(A, 7)]);
    }

    #[test]
    fn a_wait_ends_with_the_query() {
        let mut waiting = Waiting::new();
        waiting.add(A, 5, RUNS);
        waiting.waits.has_ended(A);
        assert_eq!(waiting.over(), [(A, 5)]);
    }
}
