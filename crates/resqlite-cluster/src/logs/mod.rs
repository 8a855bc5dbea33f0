//! The available logs: one in memory for tests, and each other log behind the feature of its name.

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
