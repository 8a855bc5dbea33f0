//! The engine under power cuts.
//!
//! A random [workload](workload) runs on a file system that records what is written, in which order, and what is made
//! to last. From the record the states are made in which a power cut at any moment could have left the
//! [disk](disk): of what was not made to last, anything may be there or not, in sectors, in any order. Each
//! state is opened and [judged](judge).

mod disk;
mod failed_sync;
mod full_sync;
mod judge;
#[path = "../support/key.rs"]
mod key;
#[cfg(feature = "ciphers")]
mod rekey;
mod suite;
mod workload;
