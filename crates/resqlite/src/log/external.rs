//! The commits of others, and whether there are new ones.
//!
//! The write-ahead log counts the commits of all processes, and the engine knows its own among them. Beside change feeds, other
//! processes of this library count theirs in tables: each commit moves on the position, or a count beside it. A commit that
//! nobody has counted comes from a program that keeps no feeds.

/// The commits of others, as far as they are known in a write transaction that has written nothing yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct External {
    /// SQLite's count of changes by others. SQLite also raises it after errors of its own.
    pub(super) data_version: Option<i64>,
    /// Commits in the write-ahead log that are not this engine's, counted from any start.
    pub(super) in_log: Option<u32>,
    /// The commits among them that the tables of the feeds count, counted from any start; 0 where no table counts.
    pub(super) in_tables: Option<i64>,
}

impl External {
    /// Returns whether the log has, or may have, commits of others since `before` that no table counts.
    pub(super) fn is_news_since(&self, before: &Self) -> bool {
        let in_log = |known: &Self| known.in_log.zip(known.in_tables);
        let is_uncounted = match (in_log(before), in_log(self)) {
            (Some(before), Some(now)) => i64::from(now.0.wrapping_sub(before.0)) != now.1 - before.1,
            _ => true,
        };
        self.data_version != before.data_version && is_uncounted
    }
}

#[cfg(test)]
mod tests {
    use super::External;

    fn known(data_version: i64, in_log: u32, in_tables: i64) -> External {
        External {
            data_version: Some(data_version),
            in_log: Some(in_log),
            in_tables: Some(in_tables),
        }
    }

    #[test]
    fn a_commit_that_only_the_log_counts_is_news() {
        assert!(known(2, 8, 5).is_news_since(&known(1, 7, 5)));
    }

    #[test]
    fn commits_that_the_tables_count_are_none() {
        assert!(!known(2, 1, 7).is_news_since(&known(1, u32::MAX, 5)));
    }

    #[test]
    fn the_log_may_count_what_sqlite_takes_for_no_change() {
        assert!(!known(1, 8, 5).is_news_since(&known(1, 7, 5)));
    }

    #[test]
    fn without_a_count_the_data_version_decides() {
        let uncounted = |data_version| External {
            in_log: None,
            ..known(data_version, 0, 0)
        };
        assert!(uncounted(2).is_news_since(&known(1, 7, 5)));
        assert!(!uncounted(1).is_news_since(&known(1, 7, 5)));
    }
}
