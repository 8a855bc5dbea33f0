//! What happened between two commit numbers.

use std::collections::BTreeMap;

use resqlite_live::{Commit, Operations, RowDetail, TableName};

use super::{merge::Merge, rows::Changes};
use crate::commits::log::Commits;

/// One commit, or several that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitEvent {
    /// The number of the first commit.
    pub first: u64,
    /// The number of the last commit.
    pub last: u64,
    /// One of the commits was external.
    pub is_external: bool,
    /// The schema changed. (It may have, if `tables` is `None`.)
    pub schema_changed: bool,
    /// Some of the commits are no longer in the commit log.
    pub is_truncated: bool,
    /// The tables that changed, by name; `None` if any table may have changed.
    pub tables: Option<Vec<TableEvent>>,
}

/// What happened to a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEvent {
    /// The table. Changes to the shadow tables of a virtual table count as changes of it.
    pub name: TableName,
    /// How many rows, by operation. A row that changed twice counts twice.
    pub operations: Operations,
    /// The rows, if the listener wants them.
    pub changes: Option<Changes>,
}

impl CommitEvent {
    /// All commits after this number; there must be one.
    pub(super) fn since(commits: &Commits, number: u64, detail: Option<RowDetail>) -> Self {
        let mut event = Self {
            first: number + 1,
            last: number,
            is_external: false,
            schema_changed: false,
            is_truncated: false,
            tables: None,
        };
        match commits.since(number) {
            Ok(later) => event.tables = event.merge(&later, detail),
            Err(_) => {
                event.last = commits.last();
                event.is_truncated = true;
            }
        }
        event
    }

    /// Notes what these commits are, and returns their tables.
    fn merge(&mut self, commits: &[Commit], detail: Option<RowDetail>) -> Option<Vec<TableEvent>> {
        let mut tables = BTreeMap::<&TableName, Operations>::new();
        let mut is_known = true;
        for Commit { number, summary } in commits {
            self.last = *number;
            self.is_external |= summary.is_external();
            self.schema_changed |= summary.schema_changed();
            is_known &= !summary.everything_changed();
            for (name, change) in summary.tables() {
                let sums = tables.entry(name).or_default();
                sums.inserts += change.operations.inserts;
                sums.updates += change.operations.updates;
                sums.deletes += change.operations.deletes;
            }
        }
        let mut rows = detail
            .filter(|_| is_known)
            .map(|detail| Merge::of(commits, detail));
        let event = |(name, operations): (&TableName, Operations)| TableEvent {
            name: name.clone(),
            operations,
            changes: rows.as_mut().map(|rows| rows.changes(name)),
        };
        is_known.then(|| tables.into_iter().map(event).collect())
    }
}

#[cfg(test)]
mod tests {
    use resqlite_live::limits::LOG_COMMITS;

    use super::CommitEvent;
    use crate::commits::log::Commits;

    #[test]
    fn several_commits_are_one_event() {
        let commits = Commits::default();
        commits.record_unknown();
        commits.record_external();
        let event = CommitEvent::since(&commits, 0, None);
        assert_eq!((event.first, event.last), (1, 2));
        assert!(event.is_external && !event.is_truncated && event.tables.is_none());
        assert!(CommitEvent::since(&commits, 1, None).is_external);
    }

    #[test]
    fn an_event_says_that_commits_are_missing_when_the_log_does_not_reach_back() {
        let commits = Commits::default();
        (0..=LOG_COMMITS).for_each(|_| commits.record_unknown());
        let missing = CommitEvent::since(&commits, 0, None);
        assert!(missing.is_truncated && missing.tables.is_none());
        assert_eq!((missing.first, missing.last), (1, LOG_COMMITS as u64 + 1));
        assert!(!CommitEvent::since(&commits, 1, None).is_truncated);
    }
}
