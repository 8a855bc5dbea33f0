//! What the writer knows of the change feeds, and of the commits of others.

use crate::requests::feed::Gap;

/// What the writer knows of the feeds, while there are any.
#[derive(Default)]
pub(super) struct Feeds {
    /// Something has changed that no entry carries. The next entry that is logged says so.
    pub(super) gap: Option<Gap>,
    pub(super) strangers: Strangers,
    /// The last position that this writer has logged.
    pub(super) last_position: u64,
    /// Commits that were logged since what nobody needs was last removed.
    pub(super) uncut: u32,
}

impl Feeds {
    /// Strangers have written to the database.
    pub(super) fn strangers_wrote(&mut self) {
        self.gap.get_or_insert(Gap::External);
    }
}

/// What the writer knows of the commits of others.
#[derive(Default)]
pub(super) struct Strangers {
    /// SQLite's count of changes by others, at the last look.
    pub(super) data_version: Option<i64>,
    pub(super) counted: Option<Counted>,
    /// Commits of this writer that the tables count.
    pub(super) own_in_tables: i64,
    /// By how many the open transaction raises that.
    pub(super) uncommitted: i64,
}

/// Commits, as they were counted at one moment, each from any start.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    /// By the write-ahead log: those of all.
    pub(super) in_log: u32,
    /// Those of this engine among them.
    pub(super) own_in_log: u32,
    /// By the tables: those of all processes of this library.
    pub(super) in_tables: i64,
    /// Those of this writer among them.
    pub(super) own_in_tables: i64,
}

impl Strangers {
    /// This writer has committed.
    pub(super) fn committed(&mut self) {
        self.own_in_tables += std::mem::take(&mut self.uncommitted);
    }

    /// Compares with the last look. Returns whether strangers have written meanwhile, or may have.
    pub(super) fn look(&mut self, data_version: Option<i64>, now: Option<Counted>) -> bool {
        let before = std::mem::replace(&mut self.counted, now);
        let version = std::mem::replace(&mut self.data_version, data_version);
        match (before, now) {
            (Some(before), Some(now)) => now.others_in_log(&before) != now.others_in_tables(&before),
            _ => version.is_some() && version != data_version,
        }
    }
}

impl Counted {
    /// Commits of others since then that the log counts.
    fn others_in_log(&self, before: &Self) -> i64 {
        let all = self.in_log.wrapping_sub(before.in_log);
        all.wrapping_sub(self.own_in_log.wrapping_sub(before.own_in_log))
            .into()
    }

    /// Those of them that the tables count.
    fn others_in_tables(&self, before: &Self) -> i64 {
        (self.in_tables - before.in_tables) - (self.own_in_tables - before.own_in_tables)
    }
}
