//! A node: the protocol, driven by real events.
//!
//! ```text
//! gate       the writer of the database asks, and receives a verdict
//! driver     does what the protocol wants, and reports the results
//! parts      entries that are larger than the log takes
//! lag        the time for which the database has not had what the log has
//! tail       the entries of the log, as they arrive
//! writes     a write, here or elsewhere; requests of other nodes
//! asking     the question where the log begins, until it is answered
//! snapshots  copies of the database, to begin from
//! temporary  the files of snapshots, while they are put or got
//! opening    opens a node, until it has caught up
//! ```

mod asking;
mod driver;
mod gate;
mod lag;
mod opening;
mod parts;
mod snapshots;
mod tail;
mod temporary;
mod writes;

pub use self::driver::Appends;
pub(crate) use self::{driver::Node, opening::open, parts::read};
