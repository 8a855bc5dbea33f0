//! Mistakes that checkers must find.

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) enum Plant {
    Nothing,
    /// Fresh reads do not ask the log.
    StaleRead,
    /// Each twentieth single write is acknowledged, and not done.
    LostWrite(AtomicU64),
}

impl Plant {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "stale-read" => Some(Self::StaleRead),
            "lost-write" => Some(Self::LostWrite(AtomicU64::new(0))),
            _ => None,
        }
    }

    pub(crate) fn reads_stale(&self) -> bool {
        matches!(self, Self::StaleRead)
    }

    pub(crate) fn loses_this_write(&self) -> bool {
        matches!(self, Self::LostWrite(count) if count.fetch_add(1, Ordering::Relaxed) % 20 == 19)
    }
}
