//! Finds out which file of a crate uses which, and checks that they do so one way only.
//!
//! [`Source`] reads the modules of a crate without its tests, and [`graph`] resolves the paths in them. The checks are
//! [`cycles`], [`out_of_order`] and [`foreign_crates`].
//!
//! Only names are resolved, not types. A method call alone is not seen as a use of the file that defines the method.

mod attributes;
mod cycles;
mod graph;
mod order;
mod resolve;
mod source;
mod visit;

pub use cycles::{Cycle, cycles};
pub use graph::{Graph, Use};
pub use order::{foreign_crates, out_of_order};
pub use resolve::graph;
pub use source::Source;
