//! The log on etcd: a key for each position, and a key that holds the last position.
//!
//! An append is a transaction on condition that the last position is the position before the entry. Reads are linearizable.
//!
//! The data that etcd reads from its disks has no checksums. So all values are sealed, and a value that is damaged or missing on one
//! server is read from the others.

mod client;
mod keys;
mod mailbox;
mod options;
mod proto;
mod shelf;
mod store;
mod tail;

pub use self::{options::EtcdOptions, store::EtcdLog};
