//! The logs that there are: in memory for tests, and each other one behind the feature of its name.

#[cfg(feature = "etcd")]
pub mod etcd;
pub(crate) mod memory;
#[cfg(feature = "nats")]
pub mod nats;
mod positions;
mod snapshots;
#[cfg(any(feature = "nats", feature = "etcd"))]
mod stored;
#[cfg(any(feature = "nats", feature = "etcd"))]
mod tail;
