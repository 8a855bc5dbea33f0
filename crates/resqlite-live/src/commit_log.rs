//! The last commits, in order.

use std::{
    collections::{VecDeque, vec_deque},
    error, fmt,
    sync::Arc,
};

use crate::{commit_number::CommitNumber, limits, summary::ChangeSummary};

/// One commit in the log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The number of the commit.
    pub number: CommitNumber,
    /// The changes of the commit.
    pub summary: Arc<ChangeSummary>,
}

impl Commit {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.summary.weight()
    }
}

/// As many of the last commits as the bounds in [`limits`] allow, in order.
///
/// ```
/// use resqlite_live::{ChangeSet, CommitLog, CommitNumber};
/// let mut log = CommitLog::new();
/// let before = log.last();
/// assert_eq!(before, CommitNumber(0));
/// assert_eq!(log.append(ChangeSet::new().finish()), CommitNumber(1));
/// assert_eq!(log.since(before).unwrap().count(), 1);
/// assert_eq!(log.since(log.last()).unwrap().count(), 0);
/// ```
#[derive(Debug)]
pub struct CommitLog {
    /// The commits without gaps. The newest is at the end and has the number `last`.
    commits: VecDeque<Commit>,
    last: CommitNumber,
    /// The weight of all commits.
    bytes: usize,
    max_commits: usize,
    max_bytes: usize,
}

impl Default for CommitLog {
    fn default() -> Self {
        Self::with_bounds(limits::LOG_COMMITS, limits::LOG_BYTES)
    }
}

impl CommitLog {
    /// An empty log. Its first commit will have the number 1.
    pub fn new() -> Self {
        Self::default()
    }

    fn with_bounds(max_commits: usize, max_bytes: usize) -> Self {
        Self {
            commits: VecDeque::new(),
            last: CommitNumber::default(),
            bytes: 0,
            max_commits,
            max_bytes,
        }
    }

    /// Adds a commit and returns its number, which is one more than the last number. Older commits that no longer fit are
    /// dropped.
    pub fn append(&mut self, summary: impl Into<Arc<ChangeSummary>>) -> CommitNumber {
        self.last = self.last.next();
        let commit = Commit {
            number: self.last,
            summary: summary.into(),
        };
        self.bytes += commit.weight();
        self.commits.push_back(commit);
        self.trim();
        self.last
    }

    /// Returns the number of the newest commit, or 0 before the first.
    pub fn last(&self) -> CommitNumber {
        self.last
    }

    /// Returns the commits after this number, oldest first.
    ///
    /// # Errors
    /// [`Overflow`] if some of these commits have been dropped.
    pub fn since(&self, number: CommitNumber) -> Result<vec_deque::Iter<'_, Commit>, Overflow> {
        let reaches_back_to = CommitNumber(self.last.0 - self.commits.len() as u64);
        if number < reaches_back_to {
            return Err(Overflow {
                number,
                reaches_back_to,
            });
        }
        // `older` is at most the length, even for a number greater than the last.
        let older = number.min(self.last).0 - reaches_back_to.0;
        Ok(self.commits.range(older as usize..))
    }

    fn trim(&mut self) {
        while self.commits.len() > self.max_commits || self.bytes > self.max_bytes {
            let Some(oldest) = self.commits.pop_front() else {
                break;
            };
            self.bytes -= oldest.weight();
        }
    }
}

/// The log no longer has all commits since a commit number: anything may have changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    /// The commit number.
    pub number: CommitNumber,
    /// The oldest commit number since which the log has all commits.
    pub reaches_back_to: CommitNumber,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            number,
            reaches_back_to,
        } = self;
        write!(
            f,
            "the commit log reaches back to commit {reaches_back_to}, not to {number}"
        )
    }
}

impl error::Error for Overflow {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dice::cases;
    use proptest::{collection::vec, prelude::*};

    use super::{Commit, CommitLog, CommitNumber, Overflow};
    use crate::{
        change_set::ChangeSet, image::Watched, row_change::RowChange, summary::ChangeSummary,
        table_name::TableName, value::Value,
    };

    /// Returns a commit that inserted rows 0, 1, and so on. With more rows, the commit is heavier.
    fn inserts(rows: i64) -> ChangeSummary {
        let table = TableName::new("main", "t");
        let watched = Arc::new(Watched {
            images: [0].into(),
            ..Watched::default()
        });
        let mut changes = ChangeSet::new();
        for id in 0..rows {
            let new = Some([Value::Integer(id)].into());
            changes.record(&table, &watched, RowChange::Insert { new });
        }
        changes.finish()
    }

    fn numbers(log: &CommitLog, since: u64) -> Result<Vec<u64>, Overflow> {
        Ok(log
            .since(CommitNumber(since))?
            .map(|commit| commit.number.0)
            .collect())
    }

    #[test]
    fn the_first_commit_is_number_one() {
        let mut log = CommitLog::new();
        assert_eq!(log.last(), CommitNumber(0));
        assert_eq!(log.append(inserts(1)), CommitNumber(1));
        assert_eq!(log.last(), CommitNumber(1));
    }

    #[test]
    fn since_returns_the_later_commits_in_order() {
        let mut log = CommitLog::new();
        for _ in 0..3 {
            log.append(inserts(1));
        }
        assert_eq!(numbers(&log, 0), Ok(vec![1, 2, 3]));
        assert_eq!(numbers(&log, 2), Ok(vec![3]));
        assert_eq!(numbers(&log, 3), Ok(vec![]));
    }

    #[test]
    fn there_are_no_commits_after_a_number_greater_than_the_last() {
        let mut log = CommitLog::new();
        log.append(inserts(1));
        assert_eq!(numbers(&log, u64::MAX), Ok(vec![]));
    }

    #[test]
    fn a_log_that_dropped_the_next_commit_returns_an_overflow_with_how_far_it_reaches_back() {
        let mut log = CommitLog::with_bounds(2, usize::MAX);
        for _ in 0..3 {
            log.append(inserts(1));
        }
        let overflow = Overflow {
            number: CommitNumber(0),
            reaches_back_to: CommitNumber(1),
        };
        assert_eq!(numbers(&log, 0), Err(overflow));
        assert_eq!(numbers(&log, 1), Ok(vec![2, 3]));
        assert_eq!(
            overflow.to_string(),
            "the commit log reaches back to commit 1, not to 0"
        );
    }

    #[test]
    fn heavy_commits_push_older_ones_out() {
        let weight = |rows| {
            Commit {
                number: CommitNumber(1),
                summary: Arc::new(inserts(rows)),
            }
            .weight()
        };
        let mut log = CommitLog::with_bounds(100, 3 * weight(0) + weight(50));
        for _ in 0..3 {
            log.append(inserts(0));
        }
        log.append(inserts(50));
        assert_eq!(numbers(&log, 0), Ok(vec![1, 2, 3, 4]));
        log.append(inserts(50));
        assert_eq!(numbers(&log, 4), Ok(vec![5]));
        assert!(numbers(&log, 3).is_err());
    }

    #[test]
    fn a_commit_heavier_than_the_log_is_dropped_but_has_a_number() {
        let mut log = CommitLog::with_bounds(100, inserts(10).weight());
        log.append(inserts(100));
        assert_eq!(log.bytes, 0);
        assert_eq!(numbers(&log, 1), Ok(vec![]));
        assert!(numbers(&log, 0).is_err());
        assert_eq!(log.append(inserts(0)), CommitNumber(2));
        assert_eq!(numbers(&log, 1), Ok(vec![2]));
    }

    #[test]
    fn the_log_shares_summaries_instead_of_copying_them() {
        let mut log = CommitLog::new();
        let summary = Arc::new(inserts(3));
        log.append(Arc::clone(&summary));
        assert!(
            log.since(CommitNumber(0))
                .unwrap()
                .all(|commit| Arc::ptr_eq(&commit.summary, &summary))
        );
    }

    // G104
    #[test]
    fn the_log_stays_within_its_bound_of_commits() {
        let max = if cfg!(miri) {
            50
        } else {
            crate::limits::LOG_COMMITS
        };
        let mut log = CommitLog::with_bounds(max, crate::limits::LOG_BYTES);
        let summary = Arc::new(inserts(0));
        for _ in 0..max + 10 {
            log.append(Arc::clone(&summary));
        }
        assert_eq!(log.commits.len(), max);
        assert!(log.since(CommitNumber(10)).is_ok());
        assert!(log.since(CommitNumber(9)).is_err());
    }

    proptest! {
        #![proptest_config(cases(256))]

        // G100
        #[test]
        fn since_returns_all_later_commits_or_an_overflow_and_never_a_gap(
            sizes in vec(0..20_i64, 0..40), max_commits in 0..20_usize, max_bytes in 0..10_000_usize,
        ) {
            let mut log = CommitLog::with_bounds(max_commits, max_bytes);
            let mut model: Vec<(CommitNumber, Arc<ChangeSummary>)> = Vec::new();
            for size in sizes {
                let summary = Arc::new(inserts(size));
                let number = log.append(Arc::clone(&summary));
                prop_assert_eq!(number.0, model.len() as u64 + 1);
                model.push((number, summary));

                prop_assert!(log.commits.len() <= max_commits && log.bytes <= max_bytes);
                prop_assert_eq!(log.bytes, log.commits.iter().map(Commit::weight).sum::<usize>());
                for since in (0..=number.0 + 1).map(CommitNumber) {
                    let expected = model.iter().filter(|(number, _)| *number > since);
                    match log.since(since) {
                        Ok(commits) => prop_assert!(
                            commits.map(|commit| (commit.number, Arc::as_ptr(&commit.summary)))
                                .eq(expected.map(|(number, summary)| (*number, Arc::as_ptr(summary))))
                        ),
                        Err(overflow) => {
                            prop_assert_eq!(overflow.number, since);
                            prop_assert!(since < overflow.reaches_back_to);
                            prop_assert!(log.since(overflow.reaches_back_to).is_ok());
                        }
                    }
                }
            }
        }
    }
}
