//! Looks whether others have committed since the writer's last transaction.

use resqlite_sqlite::ValueRef;

use super::{client::Work, external::External};
use crate::core::error::Result;

impl Work<'_> {
    /// Looks at the commits of others, in a write transaction that has written nothing yet. `in_tables`: what the tables of the
    /// feeds count.
    pub(super) fn external(&mut self, in_tables: Option<i64>) -> Result<External> {
        let in_log = self.writing.connection.sqlite.log_commits_before();
        Ok(External {
            data_version: self.data_version()?,
            in_log: in_log.map(|all| all.wrapping_sub(self.writing.commits.in_main_log())),
            in_tables,
        })
    }

    fn data_version(&mut self) -> Result<Option<i64>> {
        self.writing.connection.internal("PRAGMA main.data_version")
    }

    /// In a write transaction that has written nothing yet: notes a gap if somebody who keeps no feeds has written since the
    /// last time.
    ///
    /// # Errors
    /// The error of SQLite, if it cannot be asked or has rolled the transaction back.
    pub(super) fn notice_external_beside_feeds(&mut self) -> Result<()> {
        let Some(feeds) = &self.log.feeds else {
            return Ok(());
        };
        if !self.may_be_shared() {
            return Ok(());
        }
        if let Some(before) = feeds.external
            && before.in_tables.is_some()
            && self.data_version()? == before.data_version
        {
            return Ok(());
        }
        // The others may also have emptied the tables.
        self.notice_feeds()?;
        if self.log.feeds.is_none() {
            return Ok(());
        }
        let now = self.external_beside_feeds()?;
        if let Some(feeds) = &mut self.log.feeds {
            // These may be other feeds now, which begin here.
            let before = feeds.external.replace(now);
            if before.is_some_and(|before| now.is_news_since(&before)) {
                feeds.wrote_external();
            }
        }
        Ok(())
    }

    /// Looks in a write transaction beside feeds, so that later commits of others are noticed.
    pub(super) fn external_from_here(&mut self) -> Result<Option<External>> {
        self.may_be_shared()
            .then(|| self.external_beside_feeds())
            .transpose()
    }

    /// Returns whether others may use the database. Nobody else uses a database in memory.
    fn may_be_shared(&self) -> bool {
        self.writing.context.location.identity().is_some()
    }

    /// Looks at the commits of others beside feeds, whose tables do not count the open transaction yet.
    fn external_beside_feeds(&mut self) -> Result<External> {
        let in_tables =
            "SELECT position + other_commits FROM main._resqlite_position, main._resqlite_feed_state";
        let all = self.own(in_tables, &[] as &[ValueRef<'_>])?;
        let own = self.log.feeds.as_ref().map_or(0, |feeds| feeds.counted);
        let in_tables = match all {
            Some([Some(all)]) => Some(all - own),
            _ => None,
        };
        self.external(in_tables)
    }
}
