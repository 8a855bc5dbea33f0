//! A resqlite database on several machines.
//!
//! Each node keeps the whole database, reads from it, and writes to it through resqlite. An engine that exists already keeps
//! an ordered, replicated log with compare-and-append ([`Log`]): a commit happens where the log has taken its entry.

mod api;
mod core;
mod node;
mod protocol;
#[cfg(test)]
mod simulation;
mod wire;

pub use self::{
    api::{
        cluster::{Cluster, Role, Status},
        fake,
    },
    core::{
        error::{Error, Result},
        log::{Append, Handler, Log, LogError, NodeName, Serving},
        options::Options,
        written::Written,
    },
};
