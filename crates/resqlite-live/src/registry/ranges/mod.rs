//! Live queries by the range in which a value must be.
//!
//! The structure is a treap: a search tree by lower end that is also a heap by priorities. The priorities are as good
//! as random, so the tree stays flat. Each node knows the greatest upper end in its subtree. A search for the ranges
//! around a value leaves out the subtrees that end before the value or begin after it: it visits O(log n) nodes, and at
//! most O(log n) more per match.
//!
//! If many rows of a commit match many ranges (10,000 rows, and 1,000 queries `WHERE id > ?`), such searches would make
//! millions of matches, nearly all with ranges that an earlier row has found. So a search also leaves out each subtree
//! if an earlier search for the same commit has found all its ranges.

mod ends;
#[cfg(test)]
mod tests;

use std::{cmp::Ordering, ops::Bound};

use slab::Slab;

use self::ends::{begins_before, compare_lower, compare_upper, ends_after};
use crate::{live_query_id::LiveQueryId, value::Value};

/// Ranges, each with its live query.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    nodes: Slab<Node>,
    root: Link,
}

type Link = Option<usize>;

#[derive(Debug)]
struct Node {
    id: LiveQueryId,
    lower: Bound<Value>,
    upper: Bound<Value>,
    /// The node with the greatest upper end in this subtree.
    widest: usize,
    left: Link,
    right: Link,
    /// The last commit for which one search has found all ranges of this subtree.
    found_for: u64,
}

/// A search for the ranges around a value.
struct Search<'a, F> {
    value: &'a Value,
    commit: u64,
    visited: &'a mut u64,
    accept: F,
}

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds the range of a live query that has no range here yet.
    pub(super) fn insert(&mut self, lower: &Bound<Value>, upper: &Bound<Value>, id: LiveQueryId) {
        let entry = self.nodes.vacant_entry();
        let new = entry.key();
        entry.insert(Node {
            id,
            lower: lower.clone(),
            upper: upper.clone(),
            widest: new,
            left: None,
            right: None,
            found_for: 0,
        });
        self.root = Some(self.insert_below(self.root, new));
    }

    /// Removes the range of a live query.
    pub(super) fn remove(&mut self, lower: &Bound<Value>, id: LiveQueryId) {
        self.root = self.remove_below(self.root, lower, id);
    }

    /// Offers to `accept` each live query whose range contains the value. Some live queries that were accepted are not
    /// offered again for the same commit. Commits are numbered from 1, and ranges are neither added nor removed between
    /// the searches for one commit.
    pub(super) fn find(
        &mut self,
        value: &Value,
        commit: u64,
        visited: &mut u64,
        accept: impl FnMut(LiveQueryId) -> bool,
    ) {
        let mut search = Search {
            value,
            commit,
            visited,
            accept,
        };
        self.find_below(self.root, &mut search);
    }

    /// Returns whether all ranges of the subtree are found.
    fn find_below(&mut self, link: Link, search: &mut Search<'_, impl FnMut(LiveQueryId) -> bool>) -> bool {
        let Some(at) = link else {
            return true;
        };
        *search.visited += 1;
        let node = &self.nodes[at];
        if node.found_for == search.commit {
            return true;
        }
        if !ends_after(&self.nodes[node.widest].upper, search.value) {
            return false;
        }
        let (left, right) = (node.left, node.right);
        let left_found = self.find_below(left, search);
        let node = &self.nodes[at];
        if !begins_before(&node.lower, search.value) {
            return false;
        }
        let found = ends_after(&node.upper, search.value) && (search.accept)(node.id);
        let right_found = self.find_below(right, search);
        let all_found = left_found && found && right_found;
        if all_found {
            self.nodes[at].found_for = search.commit;
        }
        all_found
    }

    fn insert_below(&mut self, link: Link, new: usize) -> usize {
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

    /// Splits a subtree into the nodes before `new` and the nodes after it.
    fn split(&mut self, link: Link, new: usize) -> (Link, Link) {
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

    fn remove_below(&mut self, link: Link, lower: &Bound<Value>, id: LiveQueryId) -> Link {
        let at = link?;
        let (left, right) = self.children(at);
        let node = &self.nodes[at];
        match compare_lower(lower, &node.lower).then(id.cmp(&node.id)) {
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

    /// Joins two trees into one. All nodes of the first tree are before those of the second.
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

    fn children(&self, at: usize) -> (Link, Link) {
        let node = &self.nodes[at];
        (node.left, node.right)
    }

    fn set_children(&mut self, at: usize, left: Link, right: Link) {
        let node = &mut self.nodes[at];
        node.left = left;
        node.right = right;
        self.refresh(at);
    }

    /// Works out again which node of the subtree has the greatest upper end.
    fn refresh(&mut self, at: usize) {
        let node = &self.nodes[at];
        let children = [node.left, node.right].into_iter().flatten();
        let widest = children
            .map(|child| self.nodes[child].widest)
            .fold(at, |one, other| {
                if compare_upper(&self.nodes[one].upper, &self.nodes[other].upper).is_lt() {
                    other
                } else {
                    one
                }
            });
        self.nodes[at].widest = widest;
    }

    fn compare(&self, left: usize, right: usize) -> Ordering {
        let (left, right) = (&self.nodes[left], &self.nodes[right]);
        compare_lower(&left.lower, &right.lower).then(left.id.cmp(&right.id))
    }
}

/// Returns the priority of a live query. It is as good as random, and always the same for the same live query: the
/// finaliser of SplitMix64.
fn priority(id: LiveQueryId) -> u64 {
    let mut bits = u64::from(id.0).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
