//! The number by which callers know a commit.
//!
//! The engine counts its commits, and everything inside compares these counts. Where the copies of a database share a log of
//! entries, callers are told the position of the entry instead, which is the same on every copy. The two differ: a copy may
//! apply several entries in one commit, has counted other commits before, and commits things that no entry carries.

use std::collections::VecDeque;

/// Steps that are remembered: more than commits that anybody is still to be told of.
const REMEMBERED: usize = 4096;

/// Which positions commits have.
#[derive(Default)]
pub(super) struct Numbers {
    /// In order. Between two steps, each commit has one entry.
    steps: VecDeque<Step>,
    /// The position of the newest commit.
    position: u64,
}

/// From this commit on, positions grow with the counts.
#[derive(Clone, Copy)]
struct Step {
    count: u64,
    position: u64,
}

impl Numbers {
    /// The newest commit has this position.
    pub(super) fn begin(&mut self, count: u64, position: u64) {
        *self = Self {
            steps: [Step { count, position }].into(),
            position,
        };
    }

    /// There is another commit. `position`: of its last entry. Without one, it has the position before it.
    pub(super) fn add(&mut self, count: u64, position: Option<u64>) {
        self.position = position.unwrap_or(self.position);
        if self.position != self.of(count) {
            if self.steps.len() == REMEMBERED {
                self.steps.pop_front();
            }
            let position = self.position;
            self.steps.push_back(Step { count, position });
        }
    }

    /// The position of a commit.
    pub(super) fn of(&self, count: u64) -> u64 {
        let after = self.steps.partition_point(|step| step.count <= count);
        match after.checked_sub(1).map(|at| self.steps[at]) {
            Some(step) => step.position + (count - step.count),
            // Before the first step: no greater than this.
            None => self
                .steps
                .front()
                .map_or(count, |first| first.position.saturating_sub(first.count - count)),
        }
    }

    /// The last commit of which no entry stands behind this position.
    pub(super) fn count_at(&self, position: u64) -> u64 {
        let after = self.steps.partition_point(|step| step.position <= position);
        let end = self.steps.get(after).map_or(u64::MAX, |next| next.count - 1);
        match after.checked_sub(1).map(|at| self.steps[at]) {
            Some(step) => (step.count + (position - step.position)).min(end),
            None => self.steps.front().map_or(position, |first| {
                first.count.saturating_sub(first.position - position)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, REMEMBERED};

    /// The count and the position of each commit.
    fn numbers(begin: (u64, u64), commits: &[Option<u64>]) -> (Numbers, Vec<u64>) {
        let mut numbers = Numbers::default();
        numbers.begin(begin.0, begin.1);
        let counts = begin.0 + 1..;
        counts
            .zip(commits)
            .for_each(|(count, position)| numbers.add(count, *position));
        let all = begin.0..=begin.0 + commits.len() as u64;
        let positions = all.map(|count| numbers.of(count)).collect();
        (numbers, positions)
    }

    #[test]
    fn a_commit_has_the_position_of_its_entry() {
        assert_eq!(numbers((3, 100), &[Some(101), Some(102)]).1, [100, 101, 102]);
    }

    #[test]
    fn a_commit_of_several_entries_has_the_position_of_the_last() {
        assert_eq!(
            numbers((0, 7), &[Some(8), Some(20), Some(21), Some(30)]).1,
            [7, 8, 20, 21, 30]
        );
    }

    #[test]
    fn a_commit_without_an_entry_has_the_position_before_it() {
        assert_eq!(
            numbers((5, 7), &[None, Some(8), None, Some(9)]).1,
            [7, 7, 8, 8, 9]
        );
    }

    #[test]
    fn a_position_is_that_of_the_last_commit_up_to_there() {
        let (numbers, _) = numbers((5, 7), &[None, Some(8), Some(12), Some(13)]);
        let counts: Vec<_> = (6..=13).map(|position| numbers.count_at(position)).collect();
        assert_eq!(counts, [4, 6, 7, 7, 7, 7, 8, 9]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut numbers = Numbers::default();
        numbers.begin(0, 0);
        (1..=2 * REMEMBERED as u64).for_each(|count| numbers.add(count, Some(count * 3)));
        assert_eq!(numbers.steps.len(), REMEMBERED);
        let newest = 2 * REMEMBERED as u64;
        assert_eq!(numbers.of(newest - 1), (newest - 1) * 3);
    }
}
