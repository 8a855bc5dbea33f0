//! Bounds that several modules keep to.

/// The bytes of a piece of a snapshot, and of a part of a large entry. They are small enough for the default messages of NATS (1
/// MiB) and the default requests of etcd (1.5 MiB). A log that takes less keeps no snapshot.
pub(crate) const PIECE_BYTES: usize = 512 * 1024;
/// The number of pieces, or parts, that are sent at the same time. Each is synced by itself.
pub(crate) const PIECES_AT_ONCE: usize = 4;
