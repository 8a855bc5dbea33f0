//! The seam: what a cluster needs from the log beneath it.

use std::{any::Any, fmt, path::Path, sync::Arc};

use bytes::Bytes;
use futures_util::{future::BoxFuture, stream::BoxStream};
use resqlite::log::Position;

/// An ordered, replicated log with compare-and-append. Positions are dense and begin at 1.
///
/// An entry that `read` or `tail` returns must have been taken by a majority and be on its disks: no other entry may stand at its
/// position later. A `read` may lag behind, and not yet know of a position that is taken.
pub trait Log: Send + Sync + 'static {
    /// Appends the bytes at exactly this position, which must be the next one.
    ///
    /// # Errors
    /// [`LogError::Unreachable`] and [`LogError::TooLarge`] say that the log has not taken the bytes. After every other error,
    /// the log may have taken them, or may still do so.
    fn append(&self, position: Position, bytes: Bytes) -> BoxFuture<'_, Result<Append, LogError>>;

    /// Returns the bytes at a position, or `None` if nothing stands there yet.
    ///
    /// # Errors
    /// [`LogError::Purged`], [`LogError::Damaged`], or the log cannot be asked.
    fn read(&self, position: Position) -> BoxFuture<'_, Result<Option<Bytes>, LogError>>;

    /// Returns the entries from a position on, as they arrive, without gaps. The stream ends with an error where it must be begun
    /// anew; [`LogError::Damaged`] is about the next position.
    fn tail(&self, from: Position) -> BoxStream<'_, Result<(Position, Bytes), LogError>>;

    /// Asks a majority for the position of the last entry. The answer is not older than this call, and is 0 for a log without
    /// entries.
    ///
    /// # Errors
    /// The log cannot be asked.
    fn last(&self) -> BoxFuture<'_, Result<Position, LogError>>;

    /// Puts a snapshot of the database under the position that the database has.
    ///
    /// # Errors
    /// The file cannot be read, or the log cannot keep it.
    fn put_snapshot(&self, position: Position, file: &Path) -> BoxFuture<'_, Result<(), LogError>>;

    /// The position of the newest snapshot; `None` if there is no snapshot.
    ///
    /// # Errors
    /// The log cannot be asked.
    fn last_snapshot(&self) -> BoxFuture<'_, Result<Option<Position>, LogError>>;

    /// Writes the newest snapshot into a new file. Returns the position of the snapshot, or `None` if there is no snapshot.
    ///
    /// # Errors
    /// [`LogError::Damaged`]; the file cannot be written, or the log cannot be asked.
    fn get_snapshot(&self, into: &Path) -> BoxFuture<'_, Result<Option<Position>, LogError>>;

    /// Keeps a part of an entry that is to be appended and is larger than the log takes. The part may be put again, with the same
    /// bytes.
    ///
    /// # Errors
    /// [`LogError::TooLarge`], or the log cannot keep it.
    fn put_part(&self, part: Part, bytes: Bytes) -> BoxFuture<'_, Result<(), LogError>>;

    /// Returns a part, or `None` if it is not there. A part that was put is there once an entry that names it can be read.
    ///
    /// # Errors
    /// The log cannot be asked.
    fn get_part(&self, part: Part) -> BoxFuture<'_, Result<Option<Bytes>, LogError>>;

    /// Lets go of the entries up to this position with their parts, and of the snapshots below it.
    ///
    /// # Errors
    /// The log cannot be asked.
    fn purge(&self, up_to: Position) -> BoxFuture<'_, Result<(), LogError>>;

    /// Sends a request to a node and awaits its answer.
    ///
    /// # Errors
    /// [`LogError::Unreachable`] says that the node has not received the request, for example because nobody serves under this
    /// name. After every other error, the node may have received it, or may still do so.
    fn request(&self, node: &NodeName, bytes: Bytes) -> BoxFuture<'_, Result<Bytes, LogError>>;

    /// Serves the requests to a node, until the [`Serving`] is dropped.
    ///
    /// # Errors
    /// The log cannot be asked.
    fn serve(&self, node: &NodeName, handler: Arc<dyn Handler>) -> BoxFuture<'_, Result<Serving, LogError>>;

    /// Returns the damage that single servers have shown since the log was opened, each with the name of its server, for people.
    /// Other servers had the bytes as they were put, or else the call has failed with [`LogError::Damaged`].
    fn damaged(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The name of a part of an entry that is larger than the log takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The position at which the entry that names the part is to stand; at least 1.
    pub position: Position,
    /// A number that distinguishes the parts of one try to append there from the parts of another try.
    pub of: u64,
    /// The number of the part within that try: 0, 1, 2, …
    pub index: u64,
}

/// The outcome of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Append {
    /// The bytes stand at the position, for ever.
    Taken,
    /// The position is not the next position. The same bytes may stand there from an earlier try.
    Refused,
}

/// The reason why the log gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// The log was not reached: nothing has happened.
    Unreachable(String),
    /// The log may have been reached, but no answer arrived: it is not known whether anything has happened.
    Unknown(String),
    /// The log has let go of the entry that stood there.
    Purged {
        /// The first position that the log still has.
        first: Position,
    },
    /// The bytes are more than the log takes.
    TooLarge {
        /// The most bytes that the log takes.
        limit: usize,
    },
    /// The log cannot do what it must do: for example, a setting is wrong, or a file cannot be written.
    Unfit(String),
    /// The servers of the log were asked one by one, and none has what was put there.
    Damaged(String),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "the log was not reached: {why}"),
            Self::Unknown(why) => write!(f, "the log did not answer: {why}"),
            Self::Purged { first } => write!(f, "the log has let go of what stands before position {first}"),
            Self::TooLarge { limit } => write!(f, "the log takes no more than {limit} bytes at once"),
            Self::Unfit(why) | Self::Damaged(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for LogError {}

/// The name of a node: 1 to 64 letters, digits, `-` and `_`, so that it can be part of a subject or a key. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(Arc<str>);

impl NodeName {
    /// The most bytes that a name has.
    pub const MAX: usize = 64;

    /// Returns `None` if `name` cannot be the name of a node.
    ///
    /// ```
    /// use resqlite_cluster::NodeName;
    ///
    /// assert_eq!(NodeName::new("berlin-1").unwrap().as_str(), "berlin-1");
    /// assert_eq!(NodeName::new("berlin.1"), None);
    /// ```
    pub fn new(name: &str) -> Option<Self> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_name = (1..=Self::MAX).contains(&name.len()) && name.bytes().all(is_allowed);
        is_name.then(|| Self(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Answers the requests to a node.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request with at most `answer_max` bytes, which is what the log carries. Requests may arrive at the same time,
    /// and a request may arrive twice.
    fn handle(&self, request: Bytes, answer_max: usize) -> BoxFuture<'static, Bytes>;
}

/// A guard: requests to a node are served until the guard is dropped.
#[must_use = "nothing is served any more when it is dropped"]
pub struct Serving(#[expect(dead_code, reason = "it is kept to be dropped")] Box<dyn Any + Send + Sync>);

impl Serving {
    /// `guard` ends the serving when it is dropped.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Serving")
    }
}
