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
    pub(super) fn notice_strangers(&mut self) {
        let Some(feeds) = &self.feeds else { return };
        if !self.has_strangers() {
            return;
        }
        let (known, is_counted) = (feeds.strangers.data_version, feeds.strangers.counted.is_some());
        if is_counted
            && self
                .connection
                .internal(DATA_VERSION)
                .is_ok_and(|now| now == known)
        {
            return;
        }
        // If the counts cannot be read, the tables may be gone. The next transaction looks again.
        if let (Ok((data_version, counted)), Some(feeds)) = (self.read_counts(), &mut self.feeds)
            && feeds.strangers.look(data_version, counted)
        {
            feeds.strangers_wrote();
        }
    }

    /// In a write transaction: what strangers write after it is noticed.
    pub(super) fn begin_to_notice_strangers(&mut self) -> Strangers {
        let mut strangers = Strangers::default();
        if self.has_strangers()
            && let Ok((data_version, counted)) = self.read_counts()
        {
            strangers.look(data_version, counted);
        }
        strangers
    }

    /// A database in memory is nobody else's.
    fn has_strangers(&self) -> bool {
        self.context.location.identity().is_some()
    }

    /// In a write transaction: reads all counts, as they were before it.
    fn read_counts(&mut self) -> Result<(Option<i64>, Option<Counted>)> {
        let data_version = self.connection.internal(DATA_VERSION)?;
        let listed =
            "SELECT position + other_commits FROM main._resqlite_position, main._resqlite_feed_state";
        let listed = self.own(listed, &[] as &[ValueRef<'_>])?;
        let own_listed = self.feeds.as_ref().map_or(0, |feeds| feeds.strangers.own_listed);
        let own = self.commits.in_main_log();
        let counted = match (listed, self.connection.sqlite.log_commits_before()) {
            (Some([Some(listed)]), Some(in_log)) => Some(Counted {
                in_log,
                own,
                listed,
                own_listed,
            }),
            _ => None,
        };
        Ok((data_version, counted))
    }
}
