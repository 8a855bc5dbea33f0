//! Callers that wait until a live query has caught up: until it shows, and has handed over, every commit before their call.

use resqlite_live::LiveQueryId;

/// Called once, without a lock.
pub(super) type Done = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct CatchUps(Vec<CatchUp>);

struct CatchUp {
    id: LiveQueryId,
    /// The newest commit at the time of the call.
    commit: u64,
    /// A run has shown it.
    is_shown: bool,
    done: Done,
}

impl CatchUps {
    pub(super) fn add(&mut self, id: LiveQueryId, commit: u64, done: Done) {
        self.0.push(CatchUp {
            id,
            commit,
            is_shown: false,
            done,
        });
    }

    /// A run of this live query has ended that shows the commits up to this one.
    pub(super) fn has_run(&mut self, id: LiveQueryId, since: u64) {
        for wait in self.0.iter_mut().filter(|wait| wait.id == id) {
            wait.is_shown |= wait.commit <= since;
        }
    }

    /// Takes those that wait no longer. `is_over`: whether a live query that has made no such run has caught up with a commit,
    /// since that does not affect it, or has ended.
    pub(super) fn take_done(
        &mut self,
        is_over: impl Fn(LiveQueryId, u64) -> bool,
    ) -> impl Iterator<Item = Done> {
        self.0
            .extract_if(.., move |wait| wait.is_shown || is_over(wait.id, wait.commit))
            .map(|wait| wait.done)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::{CatchUps, LiveQueryId};

    const A: LiveQueryId = LiveQueryId(1);
    const B: LiveQueryId = LiveQueryId(2);

    /// Waits of these live queries for these commits; each says when it ends.
    fn waits<const N: usize>(of: [(LiveQueryId, u64); N]) -> (CatchUps, Receiver<(LiveQueryId, u64)>) {
        let (tell, ended) = channel();
        let mut waits = CatchUps::default();
        for (id, commit) in of {
            let tell = tell.clone();
            waits.add(id, commit, Box::new(move || tell.send((id, commit)).unwrap()));
        }
        (waits, ended)
    }

    #[test]
    fn a_wait_ends_with_a_run_that_shows_its_commit() {
        let (mut waits, ended) = waits([(A, 5), (A, 7), (B, 5)]);
        waits.has_run(A, 6);
        waits.take_done(|_, _| false).for_each(|done| done());
        assert_eq!(ended.try_iter().collect::<Vec<_>>(), [(A, 5)]);
    }

    #[test]
    fn a_wait_ends_when_the_commit_turns_out_not_to_affect_the_query() {
        let (mut waits, ended) = waits([(A, 5), (A, 7), (B, 5)]);
        waits
            .take_done(|id, commit| id == A && commit < 7)
            .for_each(|done| done());
        assert_eq!(ended.try_iter().collect::<Vec<_>>(), [(A, 5)]);
    }
}
