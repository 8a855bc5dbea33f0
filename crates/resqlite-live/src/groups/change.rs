//! Changes of groups.

use hashbrown::HashMap;

use crate::{
    groups::{doubt::Doubt, group::Group},
    value::Value,
};

/// The contribution of a row to the groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contribution {
    /// The values of the group that the row belongs to.
    pub group: Box<[Value]>,
    /// The argument of each aggregate.
    pub arguments: Box<[Value]>,
}

/// The groups that change. [`Groups::apply`](crate::Groups::apply) makes the change.
#[derive(Debug)]
pub struct GroupsChange {
    /// The version of the groups that this change was made for.
    pub(super) version: u64,
    /// The new groups, by their values; `None` for a group that vanishes.
    pub(super) groups: HashMap<Box<[Value]>, Option<Group>>,
    /// See [`unknown`](GroupsChange::unknown).
    pub(super) unknown: Vec<Box<[Value]>>,
}

impl GroupsChange {
    /// The number of groups that change.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether no group changes.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the values of the groups that are known only from their rows, because a minimum or maximum has left. Before the
    /// change is made, [`know`](Self::know) must be called with these groups.
    pub fn unknown(&self) -> &[Box<[Value]>] {
        &self.unknown
    }

    /// Sets the unknown groups. `made` returns the group of the given values, as all its rows make it now.
    ///
    /// # Errors
    /// [`Doubt::NeverCame`]: one of the groups does not have as many rows as it should.
    pub fn know<'g>(&mut self, made: impl Fn(&[Value]) -> Option<&'g Group>) -> Result<(), Doubt> {
        for values in std::mem::take(&mut self.unknown) {
            let known = self.groups.get_mut(&values).and_then(Option::as_mut);
            let (Some(known), Some(made)) = (known, made(&values)) else {
                return Err(Doubt::NeverCame);
            };
            if known.rows() != made.rows() {
                return Err(Doubt::NeverCame);
            }
            known.clone_from(made);
        }
        Ok(())
    }

    /// Returns the values of the groups that change, each with the new group, in no particular order. `None` stands for a group
    /// that vanishes.
    pub fn groups(&self) -> impl Iterator<Item = (&[Value], Option<&Group>)> {
        self.groups
            .iter()
            .map(|(values, group)| (&**values, group.as_ref()))
    }
}
