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
    /// SQLite's, if it cannot be asked or has rolled the transaction back.
    pub(super) fn notice_strangers(&mut self) -> Result<()> {
        let Some(feeds) = &self.feeds else { return Ok(()) };
        if !self.may_have_strangers() {
            return Ok(());
        }
        let known = feeds.strangers.counted.map(|_| feeds.strangers.data_version);
        let data_version = self.connection.internal(DATA_VERSION)?;
        if known == Some(data_version) {
            return Ok(());
        }
        // Strangers may also have emptied the tables.
        self.notice_feeds()?;
        if self.feeds.is_some() {
            let counted = self.read_counts()?;
            self.look(data_version, counted);
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

    /// What the writer knows of strangers at this moment, in a write transaction: what they write later is noticed.
    pub(super) fn strangers_from_here(&mut self) -> Result<Strangers> {
        let mut strangers = Strangers::default();
        if self.may_have_strangers() {
            let data_version = self.connection.internal(DATA_VERSION)?;
            strangers.look(data_version, self.read_counts()?);
        }
        Ok(strangers)
    }

    /// A database in memory is nobody else's.
    fn may_have_strangers(&self) -> bool {
        self.context.location.identity().is_some()
    }

    /// Reads all counts, in a write transaction that the tables do not count yet.
    fn read_counts(&mut self) -> Result<Option<Counted>> {
        let in_tables =
            "SELECT position + other_commits FROM main._resqlite_position, main._resqlite_feed_state";
        let in_tables = self.own(in_tables, &[] as &[ValueRef<'_>])?;
        let own_in_tables = self
            .feeds
            .as_ref()
            .map_or(0, |feeds| feeds.strangers.own_in_tables);
        let own_in_log = self.commits.in_main_log();
        Ok(match (in_tables, self.connection.sqlite.log_commits_before()) {
            (Some([Some(in_tables)]), Some(in_log)) => Some(Counted {
                in_log,
                own_in_log,
                in_tables,
                own_in_tables,
            }),
            _ => None,
        })
    }
}
