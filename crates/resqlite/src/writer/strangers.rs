//! Whether somebody has written to the database who keeps no feeds: another library, or another program.
//!
//! The write-ahead log counts the commits of all processes. Processes of this library count theirs, too: each moves the
//! position on, or a count beside it. If the log has more, strangers have written.

use resqlite_sqlite::{Connection, ValueRef};

use super::{Writer, entry::DATA_VERSION, feed_state::Counted};
use crate::core::error::Result;

impl Writer {
    /// Before a transaction begins: looks whether strangers have written. Those that write from now on are noticed the next
    /// time.
    pub(super) fn notice_strangers(&mut self) -> Result<()> {
        let Some(feeds) = &self.feeds else { return Ok(()) };
        if self.context.location.identity().is_none() {
            // A database in memory is nobody else's.
            return Ok(());
        }
        let (known, is_counted) = (feeds.strangers.data_version, feeds.strangers.counted.is_some());
        if is_counted && self.connection.internal(DATA_VERSION)? == known {
            return Ok(());
        }
        self.control("BEGIN")?;
        // The position is known once something was read.
        let looked = self.count_commits(|connection| connection.log_position().map(|at| at.commits));
        self.control("ROLLBACK")?;
        // The tables may be gone. What else is wrong, BEGIN will say.
        if let Ok((data_version, now)) = looked {
            self.look(data_version, now);
        }
        Ok(())
    }

    /// In a write transaction that has written nothing yet: what strangers write from now on is noticed.
    pub(super) fn begin_to_notice_strangers(&mut self) -> Result<()> {
        if self.feeds.is_none() {
            return Ok(());
        }
        let (data_version, now) = self.count_commits(Connection::log_commits_before)?;
        self.look(data_version, now);
        Ok(())
    }

    fn look(&mut self, data_version: Option<i64>, now: Option<Counted>) {
        if let Some(feeds) = &mut self.feeds
            && feeds.strangers.look(data_version, now)
        {
            feeds.strangers_wrote();
        }
    }

    /// What all counts are. `in_log`: that of the log.
    fn count_commits(
        &mut self,
        in_log: impl FnOnce(&Connection) -> Option<u32>,
    ) -> Result<(Option<i64>, Option<Counted>)> {
        let data_version = self.connection.internal(DATA_VERSION)?;
        let listed =
            "SELECT position + other_commits FROM main._resqlite_position, main._resqlite_feed_state";
        let listed = self.own(listed, &[] as &[ValueRef<'_>])?;
        let own_listed = self.feeds.as_ref().map(|feeds| feeds.strangers.own_listed);
        let own = self.commits.in_main_log();
        let counted = match (listed, own_listed, in_log(&self.connection.sqlite)) {
            (Some([Some(listed)]), Some(own_listed), Some(in_log)) => Some(Counted {
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
