//! The log on etcd: a key for each position, and one that says which is the last.
//!
//! An append is a transaction on condition that the last position is the one before. Reads are linearizable.
//!
//! The disks of etcd have no checksums of what is read from them. So all values are sealed, and what is damaged or missing on
//! one server is read from the others.

mod client;
mod keys;
mod mailbox;
mod options;
mod proto;
mod shelf;
mod store;
mod tail;

pub use self::{options::EtcdOptions, store::EtcdLog};
