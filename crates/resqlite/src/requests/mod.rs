//! Requests, their replies, and sessions: open transactions, snapshots and cursors.

pub(crate) mod holders;
pub(crate) mod request;
pub(crate) mod session;
