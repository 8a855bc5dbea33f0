//! The streams one by one.

use std::sync::Arc;

use super::{
    StreamId,
    skips::{Reached, Skips},
};
use crate::{
    by_stream::ByStream,
    dependencies::{Dependencies, Reason},
    value::Value,
};

/// One registered stream.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) dependencies: Arc<Dependencies>,
    /// The group of its shape.
    pub(super) group: u32,
    /// What there had been before it came.
    pub(super) since: Since,
    /// What was counted for it under other dependencies, if it had any.
    carried: Option<Box<Skips>>,
    /// Commits of which it had to hear.
    pub(super) concerned: u64,
    /// Those of them that are counted as skipped for its group.
    pub(super) exempt: Reached,
    /// The last of them, and where it stands among the streams found.
    hit_for: u64,
    hit_at: usize,
}

/// Counters at the time when a stream came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Since {
    pub(super) commits: u64,
    pub(super) reached: Reached,
}

impl Member {
    pub(super) fn new(dependencies: Arc<Dependencies>, group: u32, since: Since, carried: Skips) -> Self {
        Self {
            dependencies,
            group,
            since,
            carried: (carried != Skips::default()).then(|| Box::new(carried)),
            concerned: 0,
            exempt: Reached::default(),
            hit_for: 0,
            hit_at: 0,
        }
    }

    /// What became of the commits since the stream came.
    pub(super) fn skips(&self, now: Since) -> Skips {
        let skipped = now.reached - self.since.reached - self.exempt;
        let mut skips = Skips::of(now.commits - self.since.commits, skipped, self.concerned);
        if let Some(carried) = &self.carried {
            skips += **carried;
        }
        skips
    }
}

/// The streams found for one commit.
pub(super) struct Hits<'a> {
    members: &'a mut ByStream<Member>,
    /// Each once.
    found: &'a mut Vec<(StreamId, Reason)>,
    commit: u64,
    visited: &'a mut u64,
}

impl<'a> Hits<'a> {
    /// None so far. `commit` is more than that of any before.
    pub(super) fn new(
        members: &'a mut ByStream<Member>,
        found: &'a mut Vec<(StreamId, Reason)>,
        commit: u64,
        visited: &'a mut u64,
    ) -> Self {
        found.clear();
        Self {
            members,
            found,
            commit,
            visited,
        }
    }

    pub(super) fn commit(&self) -> u64 {
        self.commit
    }

    /// So many entries of indexes have been looked at.
    pub(super) fn visit(&mut self, entries: u64) {
        *self.visited += entries;
    }

    /// The commit concerns the stream. The first reason in their order counts.
    pub(super) fn hit(&mut self, id: StreamId, reason: Reason) {
        let Some(member) = self.members.get_mut(id) else {
            debug_assert!(false, "{id:?} is indexed, but no member");
            return;
        };
        if member.hit_for == self.commit {
            let known = &mut self.found[member.hit_at].1;
            *known = reason.min(*known);
            return;
        }
        member.hit_for = self.commit;
        member.hit_at = self.found.len();
        member.concerned += 1;
        self.found.push((id, reason));
    }

    /// The commit concerns every stream.
    pub(super) fn hit_all(&mut self, reason: Reason) {
        for (id, member) in self.members.iter_mut() {
            member.concerned += 1;
            self.found.push((id, reason));
        }
        self.visit(self.found.len() as u64);
    }

    /// Whether the image passes the filter of the stream in the table at that place of its dependencies.
    pub(super) fn passes(&self, id: StreamId, place: usize, watched_images: &[u16], image: &[Value]) -> bool {
        let member = self.members.get(id);
        let filter = member.and_then(|member| member.dependencies.tables[place].filter.as_ref());
        filter.is_none_or(|filter| filter.matches(watched_images, image))
    }

    /// Hands over each member found.
    pub(super) fn for_each(self, mut each: impl FnMut(&mut Member)) {
        for &(id, _) in self.found.iter() {
            if let Some(member) = self.members.get_mut(id) {
                each(member);
            }
        }
    }
}
