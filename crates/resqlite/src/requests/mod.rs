//! Requests, their replies, and sessions: open transactions, snapshots and cursors.

pub(crate) mod description;
#[cfg(feature = "log")]
pub(crate) mod feed;
pub(crate) mod holders;
pub(crate) mod request;
pub(crate) mod session;
pub(crate) mod statements;
