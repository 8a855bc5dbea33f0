//! Commit events: the changes between two commit numbers.

use std::collections::BTreeMap;

use resqlite_live::{Commit, CommitNumber, Operations, RowDetail, TableName};

use super::{merge::Merge, rows::Changes};
use crate::{commits::log::Commits, core::commit_id::CommitId};

/// The changes of one commit, or of several that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitEvent {
    /// The first commit.
    pub first: CommitId,
    /// The last commit.
    pub last: CommitId,
    /// States that one of the commits was external.
    pub is_external: bool,
    /// States that the schema changed. (It may have, if `tables` is `None`.)
    pub schema_changed: bool,
    /// States that some of the commits are no longer in the commit log.
    pub is_truncated: bool,
    /// The tables that changed, by name; `None` if any table may have changed.
    pub tables: Option<Vec<TableEvent>>,
}

/// The changes of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEvent {
    /// The table. Changes to the shadow tables of a virtual table count as changes to the virtual
    /// table.
    pub name: TableName,
    /// The numbers of rows that changed, by operation. A row that changed twice counts twice.
    pub operations: Operations,
    /// The rows, if the listener wants them.
    pub changes: Option<Changes>,
}

/// The point up to which a listener knows of commits.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// The last commit that the listener knows of.
    pub(super) number: CommitNumber,
    /// The id that this commit had when the listener was told of it.
    id: CommitId,
}

impl Seen {
    /// Returns the point after all present commits.
    pub(super) fn all(commits: &Commits) -> Self {
        let number = commits.last();
        Self {
            number,
            id: commits.id(number),
        }
    }
}

impl CommitEvent {
    /// Makes an event of all commits that were not seen, and marks them as seen. There must be at
    /// least one.
    pub(super) fn since(commits: &Commits, seen: &mut Seen, detail: Option<RowDetail>) -> Self {
        let mut event = Self {
            first: CommitId(seen.id.0 + 1),
            last: seen.id,
            is_external: false,
            schema_changed: false,
            is_truncated: false,
            tables: None,
        };
        match commits.since(seen.number) {
            Ok(later) => {
                event.tables = event.merge(&later, detail);
                seen.number = later.last().map_or(seen.number, |last| last.number);
            }
            Err(_) => {
                seen.number = commits.last();
                event.is_truncated = true;
            }
        }
        seen.id = commits.id(seen.number);
        event.last = seen.id;
        // A commit that no entry carries has the id of the commit before it.
        event.first = event.first.min(event.last);
        event
    }

    /// Notes the properties of these commits, and returns their tables.
    fn merge(&mut self, commits: &[Commit], detail: Option<RowDetail>) -> Option<Vec<TableEvent>> {
        let mut tables = BTreeMap::<&TableName, Operations>::new();
        let mut is_known = true;
        for Commit { summary, .. } in commits {
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

    use super::{CommitEvent, Seen};
    use crate::commits::log::Commits;

    #[test]
    fn several_commits_are_one_event() {
        let commits = Commits::default();
        let mut seen = Seen::all(&commits);
        commits.record_unknown();
        let mut seen_first = Seen::all(&commits);
        commits.record_external();
        let event = CommitEvent::since(&commits, &mut seen, None);
        assert_eq!((event.first.0, event.last.0), (1, 2));
        assert!(event.is_external && !event.is_truncated && event.tables.is_none());
        assert!(CommitEvent::since(&commits, &mut seen_first, None).is_external);
    }

    // G254
    #[test]
    fn an_event_says_that_commits_are_missing_when_the_log_does_not_reach_back() {
        let commits = Commits::default();
        let mut seen = Seen::all(&commits);
        commits.record_unknown();
        let mut seen_first = Seen::all(&commits);
        (0..LOG_COMMITS).for_each(|_| commits.record_unknown());
        let missing = CommitEvent::since(&commits, &mut seen, None);
        assert!(missing.is_truncated && missing.tables.is_none());
        assert_eq!((missing.first.0, missing.last.0), (1, LOG_COMMITS as u64 + 1));
        assert!(!CommitEvent::since(&commits, &mut seen_first, None).is_truncated);
    }
}
