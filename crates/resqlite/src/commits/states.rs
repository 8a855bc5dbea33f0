//! The states that the last commits of the engine have made in the main database.
//!
//! A reader may take its snapshot while the writer commits one group after the other. It then finds no moment when the state is settled.
//! But the snapshot shows how many commits the write-ahead log has had. While the writer holds the write lock, it knows how many commits
//! the log will have with its own. So the reader can find the commit that made the state of its snapshot.

use std::collections::VecDeque;

use resqlite_live::CommitNumber;
use resqlite_sqlite::LogPosition;

use crate::core::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering::Relaxed},
    lock,
};

/// The number of commits that are remembered: those that a snapshot taken a moment ago may show.
const REMEMBERED: usize = 256;

/// The state that a commit has made in the main database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommittedState {
    pub(crate) log: LogPosition,
    /// The number of commits that the engine has made to this log, including this commit.
    pub(crate) own_commits: u32,
    /// The number of the commit.
    pub(crate) number: CommitNumber,
}

/// The origin of the state at a position of the log, as far as it is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// This commit of the engine has made it.
    As(CommittedState),
    /// The state is newer than all known states.
    NotYet,
    /// Another program has made the state, or the state is old.
    Never,
}

/// The states that the last commits have made, recorded only on request.
#[derive(Default)]
pub(crate) struct States {
    are_wanted: AtomicBool,
    /// The states, in order. A commit of another program is a gap.
    last: Mutex<VecDeque<CommittedState>>,
}

impl States {
    /// Makes the writer record the states that it makes, or stop recording them.
    pub(crate) fn want(&self, are_wanted: bool) {
        if self.are_wanted.load(Relaxed) != are_wanted {
            self.are_wanted.store(are_wanted, Relaxed);
        }
    }

    /// Returns whether the writer records the state that its next commit makes.
    pub(crate) fn are_wanted(&self) -> bool {
        self.are_wanted.load(Relaxed)
    }

    /// Forgets the states: the log of the main database is about to end, and the next log will
    /// count anew.
    pub(crate) fn forget(&self) {
        lock(&self.last).clear();
    }

    /// Records a state, once the commit log has the commit that made it.
    pub(crate) fn record(&self, state: CommittedState) {
        let mut last = lock(&self.last);
        if last.len() == REMEMBERED {
            last.pop_front();
        }
        last.push_back(state);
    }

    /// Finds the origin of the state of a snapshot that ends at this position.
    pub(crate) fn at(&self, log: LogPosition) -> Known {
        let last = lock(&self.last);
        let is_ahead = |state: &CommittedState| log.commits.wrapping_sub(state.log.commits) as i32 > 0;
        match last.iter().rev().find(|state| state.log == log) {
            Some(state) => Known::As(*state),
            None if last.back().is_some_and(is_ahead) => Known::NotYet,
            None => Known::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use resqlite_live::CommitNumber;
    use resqlite_sqlite::LogPosition;

    use super::{CommittedState, Known, REMEMBERED, States};

    fn at(commits: u32, pages: u32) -> LogPosition {
        LogPosition { commits, pages }
    }

    fn state(commits: u32, pages: u32) -> CommittedState {
        CommittedState {
            log: at(commits, pages),
            own_commits: 1,
            number: CommitNumber(u64::from(commits) + 100),
        }
    }

    fn states(all: impl IntoIterator<Item = CommittedState>) -> States {
        let states = States::default();
        all.into_iter().for_each(|state| states.record(state));
        states
    }

    #[test]
    fn a_position_is_that_of_the_commit_that_ended_there() {
        let states = states([state(7, 20), state(8, 22)]);
        assert_eq!(states.at(at(7, 20)), Known::As(state(7, 20)));
        assert_eq!(states.at(at(8, 22)), Known::As(state(8, 22)));
    }

    #[test]
    fn a_later_position_is_not_known_yet() {
        let states = states([state(u32::MAX, 20)]);
        assert_eq!(states.at(at(0, 22)), Known::NotYet);
    }

    // G137
    #[test]
    fn what_somebody_else_has_committed_in_between_is_never_known() {
        let states = states([state(7, 20), state(9, 24)]);
        assert_eq!(states.at(at(8, 22)), Known::Never);
    }

    #[test]
    fn as_many_commits_in_a_log_of_another_length_are_another_state() {
        assert_eq!(states([state(7, 20)]).at(at(7, 21)), Known::Never);
    }

    #[test]
    fn old_states_are_forgotten() {
        let states = states((0..=REMEMBERED as u32).map(|commits| state(commits, 1)));
        assert_eq!(states.at(at(0, 1)), Known::Never);
        assert_eq!(states.at(at(1, 1)), Known::As(state(1, 1)));
    }

    #[test]
    fn before_the_first_one_nothing_is_known() {
        assert_eq!(States::default().at(at(1, 1)), Known::Never);
    }
}
