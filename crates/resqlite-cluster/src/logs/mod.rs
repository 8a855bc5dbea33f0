//! The logs that there are, each behind the feature of its name.

mod deadline;
#[cfg(feature = "etcd")]
pub mod etcd;
#[cfg(feature = "nats")]
pub mod nats;
mod snapshots;
