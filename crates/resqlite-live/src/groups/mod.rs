//! The groups of a query with aggregates, kept so that the rows that come and leave change them without a look at the others.

mod aggregate;
mod all;
mod change;
mod doubt;
mod extreme;
mod group;
#[cfg(test)]
mod properties;
mod sum;

pub use aggregate::{Aggregate, AggregateValue};
pub use all::{GroupTerm, Groups};
pub use change::{Contribution, GroupsChange};
pub use doubt::Doubt;
pub use group::Group;
