//! The log on NATS JetStream: one stream, whose sequence numbers are the positions.
//!
//! An append names the sequence number that the stream must have reached. Nothing else adds to the stream, and a purge leaves its
//! sequence where it is, so that the numbers stay dense. Message ids are not used: the server would treat a second try as a
//! duplicate, and answer without the position of the entry.

mod barrier;
mod connection;
mod error;
mod mailbox;
mod options;
mod shelf;
mod store;
mod streams;
mod sync;
mod tail;

pub use self::{options::NatsOptions, store::NatsLog};
