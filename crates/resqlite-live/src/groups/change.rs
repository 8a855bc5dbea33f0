//! How groups change.

use hashbrown::HashMap;

use crate::{groups::group::Group, value::Value};

/// What a row means to the groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contribution {
    /// The values of the group that it belongs to.
    pub group: Box<[Value]>,
    /// The argument of each aggregate.
    pub arguments: Box<[Value]>,
}

/// The groups that change, as [`Groups::apply`](crate::Groups::apply) makes them.
#[derive(Debug)]
pub struct GroupsChange {
    /// The version of the groups that this was made for.
    pub(super) version: u64,
    /// `None`: the group vanishes.
    pub(super) groups: HashMap<Box<[Value]>, Option<Group>>,
}

impl GroupsChange {
    /// The number of groups that change.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether no group changes.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups that change, by their values, and what they become: `None` if they vanish. In no particular order.
    pub fn groups(&self) -> impl Iterator<Item = (&[Value], Option<&Group>)> {
        self.groups
            .iter()
            .map(|(values, group)| (&**values, group.as_ref()))
    }
}
