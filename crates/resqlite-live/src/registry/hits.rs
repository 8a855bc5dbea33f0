//! The live queries that one commit affects.

use super::entry::Entry;
use crate::{impact::Reason, live_query_id::LiveQueryId, live_query_map::LiveQueryMap, value::Value};

/// Collects the live queries that a commit affects, each once.
pub(super) struct Hits<'a> {
    entries: &'a mut LiveQueryMap<Entry>,
    affected: &'a mut Vec<(LiveQueryId, Reason)>,
    commit: u64,
    visited: &'a mut u64,
}

impl<'a> Hits<'a> {
    /// Makes an empty collection of hits. `commit` is greater than the commits of all earlier collections.
    pub(super) fn new(
        entries: &'a mut LiveQueryMap<Entry>,
        affected: &'a mut Vec<(LiveQueryId, Reason)>,
        commit: u64,
        visited: &'a mut u64,
    ) -> Self {
        affected.clear();
        Self {
            entries,
            affected,
            commit,
            visited,
        }
    }

    pub(super) fn commit(&self) -> u64 {
        self.commit
    }

    /// Counts index entries that were visited.
    pub(super) fn visit(&mut self, entries: u64) {
        *self.visited += entries;
    }

    /// Notes that the commit affects the live query. If there are several reasons, the least one counts.
    pub(super) fn hit(&mut self, id: LiveQueryId, reason: Reason) {
        let Some(entry) = self.entries.get_mut(id) else {
            debug_assert!(false, "{id:?} is in an index, but not in the registry");
            return;
        };
        if entry.hit_for == self.commit {
            let first = &mut self.affected[entry.hit_at].1;
            *first = reason.min(*first);
            return;
        }
        entry.hit_for = self.commit;
        entry.hit_at = self.affected.len();
        self.affected.push((id, reason));
    }

    /// Notes that the commit affects every live query.
    pub(super) fn hit_all(&mut self, reason: Reason) {
        self.affected.extend(self.entries.ids().map(|id| (id, reason)));
        self.visit(self.affected.len() as u64);
    }

    /// Returns whether the row image passes the filter that the live query has for its table at this position.
    pub(super) fn passes(
        &self,
        id: LiveQueryId,
        position: usize,
        watched_images: &[u16],
        image: &[Value],
    ) -> bool {
        let entry = self.entries.get(id);
        let filter = entry.and_then(|entry| entry.dependencies.tables[position].filter.as_ref());
        filter.is_none_or(|filter| filter.matches(watched_images, image))
    }
}
