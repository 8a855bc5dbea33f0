//! Every bound of the binding, in one place. The bounds of the engine are in `resqlite::limits`.

use std::time::Duration;

use crate::protocol::FRAME_HEADER;

/// The most bytes of a payload that is in the frame itself. Larger payloads travel by slab or by themselves.
pub(crate) const INLINE_BYTES: usize = 8 * 1024;
// The result of a quick query is in its frame.
const _: () = assert!(resqlite::limits::INLINE_BYTES <= INLINE_BYTES);
/// The time within which a query must have been answered to be tried on the realm's own thread.
pub(crate) const QUICK: Duration = Duration::from_micros(100);
/// The most queries that run on the realm's own thread in one turn of its event loop. [`TURN_TIME`] bounds their time.
/// Timers and sockets wait meanwhile.
pub(crate) const TURN_QUERIES: u32 = 64;
/// See [`TURN_QUERIES`].
pub(crate) const TURN_TIME: Duration = Duration::from_micros(500);
/// The number of turns, after a turn of the event loop that has found several events, in which no query runs on the
/// realm's own thread.
pub(crate) const CROWDED_TURNS: u32 = 16;
/// Bytes of the longest frame; the inbox of a realm must hold one.
pub(crate) const FRAME_BYTES: usize = FRAME_HEADER + INLINE_BYTES + 8;
/// Bytes of a slab; larger row batches travel by themselves.
pub(crate) const SLAB_BYTES: usize = 256 * 1024;
/// The most slabs of one realm. They bound how far engine threads may be ahead of the realm.
pub(crate) const SLABS: usize = 32;
/// The most bytes of row batches that travel by themselves and have not been taken. Threads wait when this bound is
/// reached.
pub(crate) const OWNED_BYTES: usize = 16 << 20;
/// The longest time that one request waits, over all its row batches, for its realm to catch up. After that its rows are kept
/// in memory: a realm that is blocked must not hold up readers or the writer, which other realms need.
pub(crate) const REALM_PATIENCE: Duration = Duration::from_millis(50);
/// Row batches that wait in slabs before the realm is woken, although their request is not finished.
pub(crate) const BATCHES_BEFORE_WAKE: usize = 4;
/// The most column layouts that a realm knows, and the most columns of statements. Before it learns one more, it
/// forgets them all.
pub(crate) const KNOWN_LAYOUTS: usize = 4096;
/// The most bytes of JSON of one commit of a change feed, because of the length of V8's longest string. A longer commit
/// is a gap.
pub(crate) const FEED_COMMIT_JSON: usize = (1 << 29) - 1024;
/// The most bytes of JSON that a change feed reads at a time, unless the first commit alone has more.
pub(crate) const FEED_PAGE_JSON: usize = 8 << 20;
