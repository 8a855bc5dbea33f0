//! The rows of a live query's result, kept in order and with the base rows that each row came from, so that a change to few base
//! rows becomes a patch without a walk over the result.

mod border;
#[cfg(test)]
mod border_properties;
mod clip;
mod index;
mod order;
mod plan;
mod prefix_sums;
#[cfg(test)]
mod properties;
mod row;
mod rows;
mod sequence;
mod store;
mod window;

pub use border::KeptWindow;
pub use clip::Clip;
pub use order::{Collation, Order, OrderTerm};
pub use plan::Plan;
pub use row::{KeptRow, SourceKey};
pub use rows::{KeptRows, OutOfOrder};
pub use window::Window;
