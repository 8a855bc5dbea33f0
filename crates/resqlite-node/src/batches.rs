//! Batches whose parameter sets have not all arrived.

use resqlite::binding::{BatchPart, BatchParts, ParamSets};

/// Where the further sets of a batch go.
pub(crate) enum Batch {
    /// To the writer, which works on the earlier ones meanwhile.
    Sent(BatchParts),
    /// To the earlier ones, until all are there: a node that is overtaken, and one that asks another, needs all of them.
    Gathered(Vec<ParamSets>, Gathered),
}

/// Takes all sets of a batch; `None` if the caller has given up.
pub(crate) type Gathered = Box<dyn FnOnce(Option<ParamSets>) + Send>;

impl Batch {
    /// Takes further sets; gives the batch back if more will come.
    pub(crate) fn push(self, sets: ParamSets, last: bool) -> Option<Self> {
        match self {
            Self::Sent(parts) => {
                parts.push(BatchPart::Sets { sets, last });
                (!last).then_some(Self::Sent(parts))
            }
            Self::Gathered(mut parts, gathered) => {
                parts.push(sets);
                if !last {
                    return Some(Self::Gathered(parts, gathered));
                }
                gathered(Some(ParamSets::joined(&parts)));
                None
            }
        }
    }

    /// The number of parts that the writer has not taken up yet.
    pub(crate) fn waiting(&self) -> usize {
        match self {
            Self::Sent(parts) => parts.waiting(),
            Self::Gathered(..) => 0,
        }
    }

    /// The caller has given up.
    pub(crate) fn abort(self) {
        match self {
            Self::Sent(parts) => parts.push(BatchPart::Abort),
            Self::Gathered(_, gathered) => gathered(None),
        }
    }
}
