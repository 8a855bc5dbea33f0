//! A resqlite database on several machines.
//!
//! Each node keeps the whole database, reads from it, and writes to it through resqlite. An engine that exists already keeps
//! an ordered, replicated log with compare-and-append ([`Log`]): a commit happens where the log has taken its entry.

mod api;
mod core;
#[cfg(any(feature = "nats", feature = "etcd"))]
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
        fake,
        read_entry::read_entry,
        reseed::reseed,
    },
    core::{
        error::{Error, Result},
        log::{Append, Handler, Log, LogError, NodeName, Part, Serving},
        options::Options,
        written::Written,
    },
};
