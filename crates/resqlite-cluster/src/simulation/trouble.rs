//! The frequency of failures.

use dice::Rng;

use super::world::{NODES, TROUBLED};

/// The frequency of failures, per thousand.
pub(super) struct Trouble {
    pub(super) lost: u64,
    pub(super) late: u64,
    pub(super) doubled: u64,
    pub(super) unreachable: u64,
    pub(super) stale: u64,
    pub(super) silent: u64,
    pub(super) crashes: u64,
    pub(super) commits_fail: u64,
    /// The writer fails in the middle of its work.
    pub(super) writer_lost: u64,
    /// Snapshots are put, and the log lets go of entries.
    pub(super) snapshots: u64,
    /// The times from which and until which each node is cut off from the log and the others.
    pub(super) cut_off: [(u64, u64); NODES],
}

impl Trouble {
    pub(super) fn none() -> Self {
        Self {
            lost: 0,
            late: 0,
            doubled: 0,
            unreachable: 0,
            stale: 0,
            silent: 0,
            crashes: 0,
            commits_fail: 0,
            writer_lost: 0,
            snapshots: 0,
            cut_off: [(0, 0); NODES],
        }
    }

    /// Returns some kinds of trouble, chosen at random.
    pub(super) fn some(random: &mut Rng) -> Self {
        let cut_off = [0; NODES].map(|_| {
            let from = random.below(TROUBLED);
            if random.happens(500) {
                (from, from + random.below(2_000))
            } else {
                (0, 0)
            }
        });
        let mut rate = |most: u64| {
            if random.happens(500) {
                random.below(most)
            } else {
                0
            }
        };
        Self {
            lost: rate(200),
            late: rate(200),
            doubled: rate(100),
            unreachable: rate(200),
            stale: rate(500),
            silent: rate(100),
            crashes: rate(30),
            commits_fail: rate(30),
            writer_lost: rate(30),
            snapshots: rate(60),
            cut_off,
        }
    }
}
