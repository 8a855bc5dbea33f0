//! Why a statement ran as a whole, although its result can be maintained.

use std::sync::atomic::AtomicU64;

use super::stats::Counters;

/// Why only a run of the whole statement tells its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhyWhole {
    /// Nothing is kept: a whole run is quick, or what would be kept is too large or uncertain.
    NotKept,
    /// It is not known exactly which rows have changed.
    UnknownChanges,
    /// So many have changed that this is quicker.
    ManyChanges,
    /// To look at those that have changed took longer than this does.
    SlowStep,
    /// What is kept and the rows that have changed do not tell the result.
    Undecided,
}

/// What was found, or why the whole statement must run.
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
