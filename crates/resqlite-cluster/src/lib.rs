//! A resqlite database on several machines.
//!
//! Each node keeps the whole database, reads from it, and writes to it through resqlite. An engine that exists already keeps
//! an ordered, replicated log with compare-and-append ([`Log`]): a commit happens where the log has taken its entry.

mod log;

pub use log::{Append, Handler, Log, LogError, NodeName, Serving};
