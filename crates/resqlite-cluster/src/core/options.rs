//! The options of a node.

use std::time::Duration;

use super::{deadline::RETRY, log::NodeName};

/// The options of a node.
///
/// ```
/// use resqlite_cluster::{NodeName, Options};
///
/// let options = Options { snapshot_every: None, ..Options::new(NodeName::new("berlin-1").unwrap()) };
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// The name of this node. No two nodes may have the same at the same time.
    pub node: NodeName,
    /// The options of the database. Its durability may stay as it is: the log is on the disks of a majority before a write is
    /// acknowledged, and a node that loses its last commits finds them in the log.
    pub database: resqlite::Options,
    /// The longest time that a write waits for the log; then it fails. Default 10 s. A large write may take a second more for each 4 MiB.
    pub write_timeout: Duration,
    /// The longest time that the log may take for one call; then the log is asked again. Default 2 s.
    pub log_timeout: Duration,
    /// The longest time that another node may take to run a write; then this node takes the writing over. Default 1.5 s.
    pub forward_timeout: Duration,
    /// The longest time that the tail of the log may be silent; then this node checks it. Default 1 s.
    pub tail_timeout: Duration,
    /// The greatest age of the newest snapshot in the log's store, in entries. At that age this node puts another snapshot, and
    /// the log lets go of what is older than the previous snapshot. With `None`, this node puts none. The other nodes wait an
    /// eighth longer than the writer. Default 100,000.
    pub snapshot_every: Option<u64>,
    /// This node may be the writer. If it may not, its writes are sent to the writer, and wait until there is one. A transaction
    /// that has written something then fails at its commit with the code `RESQLITE_NEVER_WRITES`. Such a node founds no cluster,
    /// and puts no snapshots by itself. Default: true.
    pub writes: bool,
}

impl Options {
    /// The default options of a node of this name.
    pub fn new(node: NodeName) -> Self {
        Self {
            node,
            database: resqlite::Options::default(),
            write_timeout: Duration::from_secs(10),
            log_timeout: Duration::from_secs(2),
            forward_timeout: Duration::from_millis(1500),
            tail_timeout: Duration::from_secs(1),
            snapshot_every: Some(100_000),
            writes: true,
        }
    }

    pub(crate) fn patience(&self) -> Patience {
        Patience {
            write: self.write_timeout,
            retry: RETRY,
            tail: self.tail_timeout,
            remembered: REMEMBERED,
        }
    }
}

/// The times that the protocol waits, and the number of requests that it remembers.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    /// The time until a write that the log does not take fails.
    pub(crate) write: Duration,
    /// The time between two tries.
    pub(crate) retry: Duration,
    /// The time until a silent tail is checked.
    pub(crate) tail: Duration,
    /// The number of requests of other nodes that are remembered, so that a late copy of a request does not run.
    pub(crate) remembered: usize,
}

/// See [`Patience::remembered`].
const REMEMBERED: usize = 1024;
/// The bytes of a large entry that the log is to take in a second, at least.
const BYTES_PER_SECOND: u64 = 4 << 20;

impl Patience {
    /// Returns the time until a write whose entry has `bytes` bytes fails.
    pub(crate) fn write_of(&self, bytes: usize) -> Duration {
        self.write + Duration::from_secs(bytes as u64 / BYTES_PER_SECOND)
    }
}
