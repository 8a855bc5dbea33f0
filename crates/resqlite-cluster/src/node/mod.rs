//! A node: the protocol, driven by what really happens.
//!
//! ```text
//! gate       the writer of the database asks, and is told
//! driver     does what the protocol wants, and tells it what came of it
//! parts      entries that are larger than the log takes
//! lag        for how long the database has not had what the log has
//! tail       what the log tells, as it comes
//! writes     a write, here or elsewhere; requests of other nodes
//! asking     where the log begins, asked until it answers
//! snapshots  copies of the database, to begin from
//! temporary  their files, while they are put or got
//! opening    from nothing to a node that has caught up
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
