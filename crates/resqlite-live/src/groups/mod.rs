//! The groups of a query with aggregates, kept so that rows that enter and leave change the groups without a look at the other
//! rows.

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
