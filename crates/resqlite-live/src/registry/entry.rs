//! One live query in the registry.

use std::sync::Arc;

use super::skips::Skips;
use crate::dependencies::Dependencies;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) dependencies: Arc<Dependencies>,
    /// The number of the group to which the live query's shape belongs.
    pub(super) group: usize,
    /// The skips that were counted under other dependencies, before the live query joined the group.
    pub(super) earlier: Skips,
    /// The skips of the group that are not skips of the live query: all before it joined, and one for each commit that
    /// affected it.
    pub(super) not_own: Skips,
    /// The last commit that affected the live query, and the live query's position among the
    /// [`Hits`](super::hits::Hits) of that commit.
    pub(super) hit_for: u64,
    pub(super) hit_at: usize,
}

impl Entry {
    pub(super) fn new(dependencies: Arc<Dependencies>, group: usize, earlier: Skips, not_own: Skips) -> Self {
        Self {
            dependencies,
            group,
            earlier,
            not_own,
            hit_for: 0,
            hit_at: 0,
        }
    }

    /// Returns the skips of the live query, given those of its group.
    pub(super) fn skips(&self, group: Skips) -> Skips {
        self.earlier + (group - self.not_own)
    }
}
