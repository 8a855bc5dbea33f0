//! Changes of groups.

use hashbrown::HashMap;

use crate::{
    groups::{doubt::Doubt, group::Group},
    value::Value,
};

/// The contribution of a row to the groups.
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

    /// The values of the groups that are known only from their rows, because a minimum or maximum has left. Before the change
    /// is made, [`know`](Self::know) must tell them.
    pub fn unknown(&self) -> &[Box<[Value]>] {
        &self.unknown
    }

    /// Tells what the unknown groups become: `made` gives the group of these values that all its rows make now.
    ///
    /// # Errors
    /// [`Doubt::NeverCame`]: one of them has not as many rows as it should.
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

    /// The groups that change, by their values, and what they become: `None` if they vanish. In no particular order.
    pub fn groups(&self) -> impl Iterator<Item = (&[Value], Option<&Group>)> {
        self.groups
            .iter()
            .map(|(values, group)| (&**values, group.as_ref()))
    }
}
