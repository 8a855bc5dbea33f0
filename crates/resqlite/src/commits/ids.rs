//! The number by which callers know a commit.
//!
//! The engine numbers its commits, and everything inside the engine compares these numbers. If the copies of a database share a log of
//! entries, callers are given the position of the entry instead, which is the same on every copy. Number and position differ: a copy may
//! apply several entries in one commit, may have numbered other commits before, and may commit things that no entry carries.

use std::collections::VecDeque;

use resqlite_live::CommitNumber;

use crate::core::commit_id::CommitId;

/// The number of steps that are remembered. It exceeds the number of commits of which callers have
/// yet to be told.
const REMEMBERED: usize = 4096;

/// The positions that commits have as their ids.
#[derive(Default)]
pub(super) struct CommitIds {
    /// The steps, in order. Between two steps, each commit has one entry.
    steps: VecDeque<Step>,
    /// The id of the newest commit.
    newest: CommitId,
}

/// A step: from this commit on, ids grow with the numbers.
#[derive(Clone, Copy)]
struct Step {
    number: CommitNumber,
    id: CommitId,
}

impl CommitIds {
    /// Notes that the newest commit has this id.
    pub(super) fn begin(&mut self, number: CommitNumber, id: CommitId) {
        *self = Self {
            steps: [Step { number, id }].into(),
            newest: id,
        };
    }

    /// Adds a commit. `id` is the id of its last entry. A commit without an entry has the id of the commit before it.
    pub(super) fn add(&mut self, number: CommitNumber, id: Option<CommitId>) {
        self.newest = id.unwrap_or(self.newest);
        if self.newest != self.of(number) {
            if self.steps.len() == REMEMBERED {
                self.steps.pop_front();
            }
            self.steps.push_back(Step {
                number,
                id: self.newest,
            });
        }
    }

    /// Returns the id of a commit.
    pub(super) fn of(&self, number: CommitNumber) -> CommitId {
        let after = self.steps.partition_point(|step| step.number <= number);
        CommitId(match after.checked_sub(1).map(|at| self.steps[at]) {
            Some(step) => step.id.0 + (number.0 - step.number.0),
            // Before the first step, the id is no greater than the exact one.
            None => self.steps.front().map_or(number.0, |first| {
                first.id.0.saturating_sub(first.number.0 - number.0)
            }),
        })
    }

    /// Returns the number of the last commit that has no entry after this position.
    pub(super) fn number_at(&self, id: CommitId) -> CommitNumber {
        let after = self.steps.partition_point(|step| step.id <= id);
        let next = self.steps.get(after);
        let end = next.map_or(CommitNumber(u64::MAX), |next| next.number.before());
        match after.checked_sub(1).map(|at| self.steps[at]) {
            Some(step) => CommitNumber(step.number.0.saturating_add(id.0 - step.id.0)).min(end),
            None => CommitNumber(
                self.steps
                    .front()
                    .map_or(id.0, |first| first.number.0.saturating_sub(first.id.0 - id.0)),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CommitId, CommitIds, CommitNumber, REMEMBERED};

    /// The ids of commits that follow each other, each with the position of its entry.
    fn ids(begin: (u64, u64), commits: &[Option<u64>]) -> (CommitIds, Vec<u64>) {
        let mut ids = CommitIds::default();
        ids.begin(CommitNumber(begin.0), CommitId(begin.1));
        let numbers = (begin.0 + 1..).map(CommitNumber);
        numbers
            .zip(commits)
            .for_each(|(number, position)| ids.add(number, position.map(CommitId)));
        let all = (begin.0..=begin.0 + commits.len() as u64).map(CommitNumber);
        let positions = all.map(|number| ids.of(number).0).collect();
        (ids, positions)
    }

    #[test]
    fn a_commit_has_the_position_of_its_entry() {
        assert_eq!(ids((3, 100), &[Some(101), Some(102)]).1, [100, 101, 102]);
    }

    #[test]
    fn a_commit_of_several_entries_has_the_position_of_the_last() {
        assert_eq!(
            ids((0, 7), &[Some(8), Some(20), Some(21), Some(30)]).1,
            [7, 8, 20, 21, 30]
        );
    }

    #[test]
    fn a_commit_without_an_entry_has_the_position_before_it() {
        assert_eq!(ids((5, 7), &[None, Some(8), None, Some(9)]).1, [7, 7, 8, 8, 9]);
    }

    #[test]
    fn a_position_is_that_of_the_last_commit_up_to_there() {
        let (ids, _) = ids((5, 7), &[None, Some(8), Some(12), Some(13)]);
        let numbers: Vec<_> = (6..=13)
            .map(|position| ids.number_at(CommitId(position)).0)
            .collect();
        assert_eq!(numbers, [4, 6, 7, 7, 7, 7, 8, 9]);
    }

    #[test]
    fn a_commit_before_positions_began_has_an_id_as_far_below_the_first() {
        let (ids, _) = ids((3, 100), &[]);
        assert_eq!(ids.of(CommitNumber(1)), CommitId(98));
        assert_eq!(ids.number_at(CommitId(98)), CommitNumber(1));
    }

    #[test]
    fn no_commit_is_after_the_last_position_that_there_can_be() {
        let (ids, _) = ids((9, 7), &[Some(8)]);
        assert_eq!(ids.number_at(CommitId(u64::MAX)), CommitNumber(u64::MAX));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let newest = 2 * REMEMBERED as u64;
        let mut ids = CommitIds::default();
        ids.begin(CommitNumber(0), CommitId(0));
        (1..=newest).for_each(|number| ids.add(CommitNumber(number), Some(CommitId(number * 3))));
        assert_eq!(ids.steps.len(), REMEMBERED);
        assert_eq!(ids.of(CommitNumber(newest - 1)), CommitId((newest - 1) * 3));
    }
}
