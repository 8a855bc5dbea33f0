//! Streams of one shape.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    StreamId,
    members::Hits,
    shape::Shape,
    skips::Reached,
    slot::{Concerned, Slot},
};
use crate::{
    dependencies::{Dependencies, Reason, Skip},
    summary::TableChange,
};

/// The streams that need the same of the same tables, but for the values of their filters.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) shape: Arc<Shape>,
    pub(super) members: BTreeSet<StreamId>,
    /// One per table of the shape, in its order.
    slots: Box<[Slot]>,
    /// Commits so far by what was needed to see that they do not concern the members, those excepted that they
    /// do concern.
    pub(super) reached: Reached,
    /// The same for one commit.
    current: Current,
}

/// What is known of a group for one commit, the last that changed one of its tables.
#[derive(Debug)]
struct Current {
    commit: u64,
    skip: Skip,
    /// Members whom it concerns.
    concerned: u64,
}

impl Group {
    pub(super) fn new(shape: Arc<Shape>) -> Self {
        let slots = (0..).zip(&shape.tables);
        Self {
            slots: slots.map(|(place, table)| Slot::new(place, table)).collect(),
            shape,
            members: BTreeSet::new(),
            reached: Reached::default(),
            current: Current {
                commit: 0,
                skip: Skip::Table,
                concerned: 0,
            },
        }
    }

    pub(super) fn insert(&mut self, dependencies: &Dependencies, id: StreamId) {
        self.members.insert(id);
        for (slot, table) in self.slots.iter_mut().zip(&dependencies.tables) {
            slot.insert(table.filter.as_ref(), id);
        }
    }

    pub(super) fn remove(&mut self, dependencies: &Dependencies, id: StreamId) {
        self.members.remove(&id);
        for (slot, table) in self.slots.iter_mut().zip(&dependencies.tables) {
            slot.remove(table.filter.as_ref(), id);
        }
    }

    /// Reports the members whom the change to the table at this place concerns. Whether it is the first change of
    /// the commit to one of the group's tables.
    pub(super) fn find(&mut self, place: usize, change: &TableChange, hits: &mut Hits<'_>) -> bool {
        let is_first = self.current.commit != hits.commit();
        if is_first {
            self.current = Current {
                commit: hits.commit(),
                skip: Skip::Table,
                concerned: 0,
            };
        }
        match self.slots[place].find(change, hits) {
            Concerned::All(reason) => self.hit_all(reason, hits),
            Concerned::Some(skip) => self.current.skip = self.current.skip.max(skip),
        }
        is_first
    }

    /// The commit concerns all members.
    pub(super) fn hit_all(&self, reason: Reason, hits: &mut Hits<'_>) {
        hits.visit(self.members.len() as u64);
        self.members.iter().for_each(|&id| hits.hit(id, reason));
    }

    /// The commit concerns a member: it is not among those for which `reached` will count the commit. What has to
    /// be taken from that for the member.
    pub(super) fn exempt(&mut self, commit: u64) -> Reached {
        if self.current.commit != commit {
            return Reached::default();
        }
        self.current.concerned += 1;
        self.current.skip.reached(1)
    }

    /// Counts the commit, once all changes have been seen and all members exempted whom it concerns. What it adds
    /// over all members.
    pub(super) fn count(&mut self) -> Reached {
        self.reached += self.current.skip.reached(1);
        let skipped = self.members.len() as u64 - self.current.concerned;
        self.current.skip.reached(skipped)
    }
}

impl Skip {
    /// So many commits that got this far.
    fn reached(self, commits: u64) -> Reached {
        match self {
            Skip::Table => Reached::default(),
            Skip::Column => Reached {
                column: commits,
                key: 0,
            },
            Skip::Key => Reached {
                column: 0,
                key: commits,
            },
        }
    }
}
