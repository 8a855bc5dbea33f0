//! The types of the protocol.

use std::{fmt, num::NonZeroU64, sync::Arc, time::Duration};

use bytes::Bytes;
use resqlite::log::{Entry, Hash, Position};

use crate::core::log::NodeName;

/// Time since the node was opened.
pub(crate) type Time = Duration;

/// A run of a node, from its opening to its end. A run does not know what the run before it was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) node: NodeName,
    /// A number that tells the runs of a node apart.
    pub(crate) number: u64,
}

/// A write that one node asked another to run. The asking run chooses the number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId {
    pub(crate) from: Run,
    pub(crate) number: NonZeroU64,
}

/// The part of an entry about a write that another node asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) id: RequestId,
    pub(crate) changes: i64,
    pub(crate) last_insert_rowid: i64,
    /// The answer to the write has more than these numbers.
    pub(crate) has_more: bool,
}

/// The place of an entry in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) position: Position,
    pub(crate) previous: Hash,
    pub(crate) hash: Hash,
}

/// An entry at a position of the log, with the run that appended it.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) link: Link,
    pub(crate) writer: Run,
    pub(crate) served: Vec<Served>,
    /// The bytes of the whole entry, as the log has them.
    pub(crate) bytes: Bytes,
    /// The entry that the database applies; `None` in the simulation, whose entries are models.
    pub(crate) entry: Option<Entry>,
}

/// The way in which the entry at a position became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Tail,
    Read,
}

/// An action that the node is to perform.
#[derive(Debug)]
pub(crate) enum Action {
    /// Append at this position, then call [`appended`](super::Protocol::appended) with the number, which is the first field.
    Append(u64, Position, Arc<Logged>),
    /// Read from the log, then call [`received`](super::Protocol::received), [`absent`](super::Protocol::absent) or
    /// [`unread`](super::Protocol::unread).
    Read(Position),
    /// Ask for the end of the log, then call [`ends`](super::Protocol::ends) with this position, or
    /// [`unread`](super::Protocol::unread).
    AskEnd(Position),
    /// Ask for the newest position of the log, with the number of the question, then call
    /// [`newest_is`](super::Protocol::newest_is).
    AskNewest(u64),
    /// Let the transaction at the gate commit, or let the writes that wait there without an entry be answered.
    Pass,
    /// Have the transaction at the gate rolled back, and these entries applied.
    Overtaken(Vec<Arc<Logged>>),
    /// Refuse the transaction at the gate.
    Refuse(Refusal),
    /// Apply this entry, after everything that was given before.
    Apply(Arc<Logged>),
    /// Ask the database for its position, after everything that was given before, then call
    /// [`told_position`](super::Protocol::told_position).
    AskPosition,
    /// Cancel the requests of other nodes that named an earlier position. They must not run any more.
    CancelBelow(Position),
    /// Report that a request to another node is decided.
    Settled(NonZeroU64, Settled),
    /// Write something, so that this node is the writer, and the requests in doubt are decided.
    TakeOver,
    /// Begin the tail anew: it has missed something.
    RestartTail,
    /// Report that nothing more is applied or written.
    Stopped(Refusal),
}

/// The outcome of a request to another node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The write stands in the log at this position, and its answer was lost. `None` stands for numbers that were lost with the
    /// answer.
    Done(Position, Option<(i64, i64)>),
    /// The write has not happened, and never will.
    Not,
    /// The outcome could not be found out in time.
    Unknown,
}

/// The reason why a write was not done, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The reason why an append has no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The log has not taken the entry.
    NotSent(String),
    /// The log may have taken the entry, or may still do so.
    Unknown(String),
}

/// The reason why an entry was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unapplied {
    /// The entry is not the next one.
    Position,
    /// The entry does not fit the database.
    Misfit(String),
    /// Something that only this node has is in the way of the entry, until the node is opened again.
    Hindered(String),
    /// The database cannot apply the entry, however often it tries.
    Never(String),
    /// The entry may be applied later.
    Later,
}
