//! Streams by the range in which a value of theirs must be.
//!
//! A treap: a search tree by lower end, whose shape comes from priorities that are as good as random. Every node
//! knows the greatest upper end below it, so that looking for the ranges around a value leaves out the parts of
//! the tree that end before it or begin after it. That visits O(log n) nodes, and O(log n) for each hit at most.

mod ends;
#[cfg(test)]
mod tests;

use std::{cmp::Ordering, ops::Bound};

use self::ends::{begins_before, compare_lower, compare_upper, ends_after, rank};
use super::{StreamId, slab::Slab};
use crate::value::Value;

/// Looks of one commit that mute nothing: as many as a change of one row needs. Muting costs as much as looking,
/// and pays where many rows concern the same streams.
const FREE_LOOKS: u64 = 2;

/// Ranges with the stream that each belongs to.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    nodes: Slab<Node>,
    root: Link,
    /// The last commit for which there was a look, and how many there were.
    commit: u64,
    looks: u64,
}

type Link = Option<u32>;

#[derive(Debug)]
struct Node {
    /// Read only where the ranks of values do not decide: most nodes on a way are passed without.
    ends: Box<Ends>,
    lower_rank: u64,
    upper_rank: u64,
    /// That of `widest`.
    widest_rank: u64,
    /// The node with the greatest upper end, of this one and all below that are not muted.
    widest: Link,
    left: Link,
    right: Link,
    id: StreamId,
    /// Was accepted and is not to be offered again for the same commit.
    muted: bool,
    /// This node or one below is muted.
    any_muted: bool,
}

#[derive(Debug)]
struct Ends {
    lower: Bound<Value>,
    upper: Bound<Value>,
}

/// A look for ranges around a value.
struct Look<'a, F> {
    value: &'a Value,
    rank: u64,
    mutes: bool,
    visited: &'a mut u64,
    accept: F,
}

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds the range of a stream, which has none here yet.
    pub(super) fn insert(&mut self, lower: &Bound<Value>, upper: &Bound<Value>, id: StreamId) {
        self.unmute();
        let new = self.nodes.insert(Node::new(lower.clone(), upper.clone(), id));
        self.refresh(new);
        self.root = Some(self.insert_below(self.root, new));
    }

    /// Removes what was inserted.
    pub(super) fn remove(&mut self, lower: &Bound<Value>, id: StreamId) {
        self.unmute();
        self.root = self.remove_below(self.root, lower, id);
    }

    /// Offers each stream in whose range the value is. One that was accepted is offered again for the same commit
    /// only a few times, so that many rows do not find the same streams over and over.
    pub(super) fn find(
        &mut self,
        value: &Value,
        commit: u64,
        visited: &mut u64,
        accept: impl FnMut(StreamId) -> bool,
    ) {
        if self.commit != commit {
            self.unmute();
            self.commit = commit;
            self.looks = 0;
        }
        self.looks += 1;
        let mut look = Look {
            value,
            rank: value.rank(),
            mutes: self.looks > FREE_LOOKS,
            visited,
            accept,
        };
        self.find_below(self.root, &mut look);
    }

    /// Whether any node was muted.
    fn find_below(&mut self, link: Link, look: &mut Look<'_, impl FnMut(StreamId) -> bool>) -> bool {
        let Some(at) = link else {
            return false;
        };
        *look.visited += 1;
        let node = &self.nodes[at];
        let reaches = |widest| match node.widest_rank.cmp(&look.rank) {
            Ordering::Equal => self.nodes[widest].ends_after(look),
            ranks => ranks.is_gt(),
        };
        if !node.widest.is_some_and(reaches) {
            return false;
        }
        let (left, right, begun) = (node.left, node.right, node.begins_before(look));
        let mut muted = self.find_below(left, look);
        if begun {
            muted |= self.offer(at, look);
            muted |= self.find_below(right, look);
        }
        if muted {
            self.refresh(at);
        }
        muted
    }

    /// Offers the stream of a node whose range has begun. Whether that muted the node.
    fn offer(&mut self, at: u32, look: &mut Look<'_, impl FnMut(StreamId) -> bool>) -> bool {
        let node = &mut self.nodes[at];
        let accepted = !node.muted && node.ends_after(look) && (look.accept)(node.id);
        let muted = accepted && look.mutes;
        node.muted |= muted;
        muted
    }

    fn unmute(&mut self) {
        self.unmute_below(self.root);
    }

    fn unmute_below(&mut self, link: Link) {
        let Some(at) = link.filter(|&at| self.nodes[at].any_muted) else {
            return;
        };
        let (left, right) = self.children(at);
        self.unmute_below(left);
        self.unmute_below(right);
        self.nodes[at].muted = false;
        self.refresh(at);
    }

    fn insert_below(&mut self, link: Link, new: u32) -> u32 {
        let Some(at) = link else {
            return new;
        };
        let before = self.compare(new, at) == Ordering::Less;
        if priority(self.nodes[new].id) > priority(self.nodes[at].id) {
            let (left, right) = self.split(link, new);
            self.set_children(new, left, right);
            return new;
        }
        let (left, right) = self.children(at);
        if before {
            let left = self.insert_below(left, new);
            self.set_children(at, Some(left), right);
        } else {
            let right = self.insert_below(right, new);
            self.set_children(at, left, Some(right));
        }
        at
    }

    /// The nodes before `new` and those after it.
    fn split(&mut self, link: Link, new: u32) -> (Link, Link) {
        let Some(at) = link else {
            return (None, None);
        };
        let (left, right) = self.children(at);
        if self.compare(new, at) == Ordering::Less {
            let (before, after) = self.split(left, new);
            self.set_children(at, after, right);
            (before, link)
        } else {
            let (before, after) = self.split(right, new);
            self.set_children(at, left, before);
            (link, after)
        }
    }

    fn remove_below(&mut self, link: Link, lower: &Bound<Value>, id: StreamId) -> Link {
        let at = link?;
        let (left, right) = self.children(at);
        let node = &self.nodes[at];
        match compare_lower(lower, &node.ends.lower).then(id.cmp(&node.id)) {
            Ordering::Equal => {
                self.nodes.remove(at);
                return self.join(left, right);
            }
            Ordering::Less => {
                let left = self.remove_below(left, lower, id);
                self.set_children(at, left, right);
            }
            Ordering::Greater => {
                let right = self.remove_below(right, lower, id);
                self.set_children(at, left, right);
            }
        }
        link
    }

    /// Two trees as one; all of the first is before the second.
    fn join(&mut self, before: Link, after: Link) -> Link {
        let (Some(first), Some(second)) = (before, after) else {
            return before.or(after);
        };
        if priority(self.nodes[first].id) > priority(self.nodes[second].id) {
            let (left, right) = self.children(first);
            let right = self.join(right, after);
            self.set_children(first, left, right);
            before
        } else {
            let (left, right) = self.children(second);
            let left = self.join(before, left);
            self.set_children(second, left, right);
            after
        }
    }

    fn children(&self, at: u32) -> (Link, Link) {
        let node = &self.nodes[at];
        (node.left, node.right)
    }

    fn set_children(&mut self, at: u32, left: Link, right: Link) {
        let node = &mut self.nodes[at];
        node.left = left;
        node.right = right;
        self.refresh(at);
    }

    /// Works out again what the node knows of those below.
    fn refresh(&mut self, at: u32) {
        let node = &self.nodes[at];
        let mut widest = (!node.muted).then_some(at);
        let mut any_muted = node.muted;
        for child in [node.left, node.right].into_iter().flatten() {
            let child = &self.nodes[child];
            widest = self.wider(widest, child.widest);
            any_muted |= child.any_muted;
        }
        let widest_rank = widest.map_or(0, |widest| self.nodes[widest].upper_rank);
        let node = &mut self.nodes[at];
        node.widest = widest;
        node.widest_rank = widest_rank;
        node.any_muted = any_muted;
    }

    fn wider(&self, first: Link, second: Link) -> Link {
        let (Some(one), Some(other)) = (first, second) else {
            return first.or(second);
        };
        let (one, other) = (&self.nodes[one], &self.nodes[other]);
        let ranks = one.upper_rank.cmp(&other.upper_rank);
        let order = ranks.then_with(|| compare_upper(&one.ends.upper, &other.ends.upper));
        if order.is_lt() { second } else { first }
    }

    fn compare(&self, left: u32, right: u32) -> Ordering {
        let (left, right) = (&self.nodes[left], &self.nodes[right]);
        let ranks = left.lower_rank.cmp(&right.lower_rank);
        ranks
            .then_with(|| compare_lower(&left.ends.lower, &right.ends.lower))
            .then(left.id.cmp(&right.id))
    }
}

impl Node {
    fn new(lower: Bound<Value>, upper: Bound<Value>, id: StreamId) -> Self {
        Self {
            lower_rank: rank(&lower, u64::MIN),
            upper_rank: rank(&upper, u64::MAX),
            widest_rank: 0,
            ends: Box::new(Ends { lower, upper }),
            widest: None,
            left: None,
            right: None,
            id,
            muted: false,
            any_muted: false,
        }
    }

    fn begins_before<F>(&self, look: &Look<'_, F>) -> bool {
        match self.lower_rank.cmp(&look.rank) {
            Ordering::Equal => begins_before(&self.ends.lower, look.value),
            ranks => ranks.is_lt(),
        }
    }

    fn ends_after<F>(&self, look: &Look<'_, F>) -> bool {
        match self.upper_rank.cmp(&look.rank) {
            Ordering::Equal => ends_after(&self.ends.upper, look.value),
            ranks => ranks.is_gt(),
        }
    }
}

/// As good as random, the same for the same stream: the finaliser of SplitMix64.
fn priority(id: StreamId) -> u64 {
    let mut bits = u64::from(id.0).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
