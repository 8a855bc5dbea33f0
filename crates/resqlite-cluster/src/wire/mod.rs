//! The messages between nodes, as bytes. They are sent through the log and in requests.

mod bytes;
mod envelope;
mod error;
mod parts;
mod request;

pub(crate) use envelope::{envelope, hash_in, open_envelope};
pub(crate) use parts::Parts;
pub(crate) use request::{Answer, Request};
