//! Whether somebody has written to the database who keeps no feeds: another library, or another program.
//!
//! The write-ahead log counts the commits of all processes. Processes of this library count theirs, too: each moves the
//! position on, or a count beside it. If the log has more, strangers have written.

use resqlite_sqlite::ValueRef;

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
        let looked = self.count_commits();
        self.control("ROLLBACK")?;
        // The tables may be gone. What else is wrong, BEGIN will say.
        let Ok((data_version, now)) = looked else {
            return Ok(());
        };
        if let Some(feeds) = &mut self.feeds
            && feeds.strangers.look(data_version, now)
        {
            feeds.strangers_wrote();
        }
        Ok(())
    }

    /// In a read transaction: what all counts are.
    fn count_commits(&mut self) -> Result<(Option<i64>, Option<Counted>)> {
        let data_version = self.connection.internal(DATA_VERSION)?;
        let listed =
            "SELECT position + other_commits FROM main._resqlite_position, main._resqlite_feed_state";
        let listed = self.own(listed, &[] as &[ValueRef<'_>])?;
        let own_listed = self.feeds.as_ref().map(|feeds| feeds.strangers.own_listed);
        let own = self.commits.in_main_log();
        let counted = match (
            listed,
            own_listed,
            self.connection.sqlite.log_position().map(|at| at.commits),
        ) {
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
