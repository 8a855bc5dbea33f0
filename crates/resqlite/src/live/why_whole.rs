//! Why a statement ran as a whole, although its result can be maintained.

use std::sync::atomic::AtomicU64;

use super::stats::Counters;

/// The reason why only a run of the whole statement gives its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhyWhole {
    /// Nothing is kept: a whole run is quick, or what would be kept is too large or uncertain.
    NotKept,
    /// It is not known exactly which rows have changed.
    UnknownChanges,
    /// So many rows have changed that a whole run is quicker.
    ManyChanges,
    /// It took longer to look at the changed rows than a whole run takes.
    SlowStep,
    /// The kept rows or groups and the changed rows do not determine the result.
    Undecided,
}

/// A finding, or the reason why the whole statement must run.
pub(super) type Found<T> = Result<T, WhyWhole>;

impl WhyWhole {
    pub(super) fn counter(self, counters: &Counters) -> &AtomicU64 {
        match self {
            Self::NotKept => &counters.whole_not_kept,
            Self::UnknownChanges => &counters.whole_unknown_changes,
            Self::ManyChanges | Self::SlowStep => &counters.whole_many_changes,
            Self::Undecided => &counters.whole_undecided,
        }
    }
}
