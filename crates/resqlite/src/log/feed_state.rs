//! The writer's knowledge of the change feeds.

use super::external::External;
use crate::{core::position::Position, requests::feed::Gap};

/// The writer's knowledge of the feeds, while there are any.
#[derive(Default)]
pub(super) struct Feeds {
    /// The gap that the next logged entry must report: something has changed that no entry carries.
    pub(super) gap: Option<Gap>,
    /// The number of scripts that were running when the tables were first read, or when their processes ended. The gap comes
    /// from these scripts.
    pub(super) unlisted: i64,
    /// The commits of others, at the last look.
    pub(super) external: Option<External>,
    /// Commits of this writer that the tables count.
    pub(super) counted: i64,
    /// The number by which the open transaction raises `counted`.
    pub(super) uncommitted: i64,
    /// The last position that this writer has logged.
    pub(super) last_position: Position,
    /// The number of commits that were logged since unneeded entries were last removed.
    pub(super) uncut: u32,
}

impl Feeds {
    /// Notes that somebody who keeps no feeds has written to the database.
    pub(super) fn wrote_external(&mut self) {
        self.gap.get_or_insert(Gap::External);
    }

    /// Notes that this writer has committed. An entry reports the gap, so none is left after it.
    pub(super) fn committed(&mut self, has_entry: bool) {
        self.counted += std::mem::take(&mut self.uncommitted);
        if has_entry {
            (self.gap, self.unlisted) = (None, 0);
        }
    }
}
