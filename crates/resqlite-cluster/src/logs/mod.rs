//! The logs that there are, each behind the feature of its name.

#[cfg(feature = "etcd")]
pub mod etcd;
#[cfg(feature = "nats")]
pub mod nats;
mod positions;
mod snapshots;
mod tail;
