//! The writer's knowledge of the change feeds.

use super::external::External;
use crate::{core::position::Position, requests::feed::Gap};

/// The writer's knowledge of the feeds, while there are any.
#[derive(Default)]
pub(super) struct Feeds {
    /// Something has changed that no entry carries. The next entry that is logged says so.
    pub(super) gap: Option<Gap>,
    /// Scripts that were running when the tables were first read, or were when their processes ended. The gap is theirs.
    pub(super) unlisted: i64,
    /// The commits of others, at the last look.
    pub(super) external: Option<External>,
    /// Commits of this writer that the tables count.
    pub(super) counted: i64,
    /// By how many the open transaction raises that.
    pub(super) uncommitted: i64,
    /// The last position that this writer has logged.
    pub(super) last_position: Position,
    /// Commits that were logged since what nobody needs was last removed.
    pub(super) uncut: u32,
}

impl Feeds {
    /// Somebody has written to the database who keeps no feeds.
    pub(super) fn wrote_external(&mut self) {
        self.gap.get_or_insert(Gap::External);
    }

    /// This writer has committed. An entry tells the gap.
    pub(super) fn committed(&mut self, has_entry: bool) {
        self.counted += std::mem::take(&mut self.uncommitted);
        if has_entry {
            (self.gap, self.unlisted) = (None, 0);
        }
    }
}
