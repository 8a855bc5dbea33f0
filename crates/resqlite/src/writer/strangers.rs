//! Whether somebody has written to the database who keeps no feeds: another library, or another program.
//!
//! The write-ahead log counts the commits of all processes. Processes of this library count theirs, too: each moves the
//! position on, or a count beside it. If the log has more, strangers have written.

use resqlite_sqlite::ValueRef;

use super::{
    Writer,
    entry::DATA_VERSION,
    feed_state::{Counted, Strangers},
};
use crate::core::error::Result;

impl Writer {
    /// In a write transaction that has written nothing yet: looks whether strangers have written since the last time.
    ///
    /// # Errors
    /// Those after which SQLite has rolled the transaction back.
    pub(super) fn notice_strangers(&mut self) -> Result<()> {
        let Some(feeds) = &self.feeds else { return Ok(()) };
        if !self.has_strangers() {
            return Ok(());
        }
        let known = feeds.strangers.counted.map(|_| feeds.strangers.data_version);
        let data_version = self.connection.internal(DATA_VERSION)?;
        if known == Some(data_version) {
            return Ok(());
        }
        match self.read_counts() {
            Ok(counted) => self.look(data_version, counted),
            Err(error) if self.connection.sqlite.is_autocommit() => return Err(error),
            // The tables may be gone. The next transaction looks again.
            Err(_) => {}
        }
        Ok(())
    }

    fn look(&mut self, data_version: Option<i64>, counted: Option<Counted>) {
        if let Some(feeds) = &mut self.feeds
            && feeds.strangers.look(data_version, counted)
        {
            feeds.strangers_wrote();
        }
    }

    /// In a write transaction: what strangers write after it is noticed.
    pub(super) fn begin_to_notice_strangers(&mut self) -> Result<Strangers> {
        let mut strangers = Strangers::default();
        if self.has_strangers() {
            let data_version = self.connection.internal(DATA_VERSION)?;
            strangers.look(data_version, self.read_counts()?);
        }
        Ok(strangers)
    }

    /// A database in memory is nobody else's.
    fn has_strangers(&self) -> bool {
        self.context.location.identity().is_some()
    }

    /// In a write transaction that is not listed yet: reads all counts.
    fn read_counts(&mut self) -> Result<Option<Counted>> {
        let listed =
            "SELECT position + other_commits FROM main._resqlite_position, main._resqlite_feed_state";
        let listed = self.own(listed, &[] as &[ValueRef<'_>])?;
        let own_listed = self.feeds.as_ref().map_or(0, |feeds| feeds.strangers.own_listed);
        let own = self.commits.in_main_log();
        Ok(match (listed, self.connection.sqlite.log_commits_before()) {
            (Some([Some(listed)]), Some(in_log)) => Some(Counted {
                in_log,
                own,
                listed,
                own_listed,
            }),
            _ => None,
        })
    }
}
