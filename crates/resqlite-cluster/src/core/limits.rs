//! Bounds that several rooms keep to.

/// Bytes of a piece of a snapshot, and of a part of a large entry: small enough for the messages of NATS (1 MiB) and the
/// requests of etcd (1.5 MiB) as they are installed. A log that takes less keeps no snapshot.
pub(crate) const PIECE_BYTES: usize = 512 * 1024;
/// Pieces, or parts, that are on their way at the same time: each is synced by itself.
pub(crate) const PIECES_AT_ONCE: usize = 4;
