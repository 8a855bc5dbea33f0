//! Sets of streams that mostly have one member.

use std::collections::BTreeSet;

use super::StreamId;

/// Streams, ascending. One alone takes no memory elsewhere.
#[derive(Debug)]
pub(super) enum Ids {
    One(StreamId),
    /// Any number of them.
    Several(BTreeSet<StreamId>),
}

impl Default for Ids {
    fn default() -> Self {
        Self::Several(BTreeSet::new())
    }
}

impl Ids {
    pub(super) fn insert(&mut self, id: StreamId) {
        match self {
            Self::One(only) if *only == id => {}
            Self::One(only) => *self = Self::Several([*only, id].into()),
            Self::Several(ids) if ids.is_empty() => *self = Self::One(id),
            Self::Several(ids) => {
                ids.insert(id);
            }
        }
    }

    pub(super) fn remove(&mut self, id: StreamId) {
        match self {
            Self::One(only) if *only == id => *self = Self::default(),
            Self::One(_) => {}
            Self::Several(ids) => {
                ids.remove(&id);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Several(ids) if ids.is_empty())
    }

    pub(super) fn for_each(&self, mut each: impl FnMut(StreamId)) {
        match self {
            Self::One(only) => each(*only),
            Self::Several(ids) => ids.iter().copied().for_each(each),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::vec, prelude::*};

    use super::{Ids, StreamId};
    use crate::testing::cases;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn they_are_a_set(changes in vec((any::<bool>(), 0..4_u32), 0..12)) {
            let (mut ids, mut model) = (Ids::default(), BTreeSet::new());
            for (comes, id) in changes {
                if comes {
                    ids.insert(StreamId(id));
                    model.insert(StreamId(id));
                } else {
                    ids.remove(StreamId(id));
                    model.remove(&StreamId(id));
                }
                let mut found = Vec::new();
                ids.for_each(|id| found.push(id));
                prop_assert_eq!(ids.is_empty(), model.is_empty());
                prop_assert_eq!(found, model.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
