//! What nodes say to each other, as bytes: through the log, and in requests.

mod bytes;
mod envelope;
mod request;

pub(crate) use envelope::{entry_in, envelope, open_envelope};
pub(crate) use request::{Answer, Request};
