//! Batches whose parameter sets have not all arrived.

use resqlite::binding::{BatchPart, BatchParts, ParamSets};

/// A batch that expects further parameter sets.
pub(crate) enum Batch {
    /// The further sets go to the writer, which works on the earlier ones meanwhile.
    Sent(BatchParts),
    /// The further sets are kept with the earlier ones until all have arrived. A node that is overtaken, or that asks
    /// another node, needs all sets.
    Gathered(Vec<ParamSets>, Gathered),
}

/// A function that takes all sets of a batch; `None` if the caller has given up.
pub(crate) type Gathered = Box<dyn FnOnce(Option<ParamSets>) + Send>;

impl Batch {
    /// Takes further sets. Returns the batch if more sets will arrive.
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

    /// Ends the batch, because the caller has given up.
    pub(crate) fn abort(self) {
        match self {
            Self::Sent(parts) => parts.push(BatchPart::Abort),
            Self::Gathered(_, gathered) => gathered(None),
        }
    }
}
