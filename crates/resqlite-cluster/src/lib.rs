//! A resqlite database on several machines.
//!
//! Each node keeps the whole database, reads from it, and writes to it through resqlite. An existing log keeps the entries in one
//! order on several servers, with compare-and-append ([`Log`]): a commit happens when the log has taken its entry.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod api;
mod core;
mod logs;
mod node;
mod protocol;
#[cfg(test)]
mod simulation;
mod wire;

#[cfg(feature = "etcd")]
pub use self::logs::etcd;
#[cfg(feature = "nats")]
pub use self::logs::nats;
pub use self::{
    api::{
        calls::{Reach, WriteReply},
        cluster::{Cluster, Role, Status, Stopped},
        read_entry::read_entry,
        reseed::reseed,
    },
    core::{
        error::{Error, Result},
        log::{Append, Handler, Log, LogError, NodeName, Part, Serving},
        options::Options,
        written::Written,
    },
    logs::memory::{MemoryConnection, MemoryLog},
    node::Appends,
};
