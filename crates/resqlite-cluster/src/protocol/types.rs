//! The types of the protocol.

use std::{fmt, num::NonZeroU64, sync::Arc, time::Duration};

use bytes::Bytes;
use resqlite::log::{Entry, Hash, Position};

use crate::core::log::NodeName;

/// Time since the node was opened.
pub(crate) type Time = Duration;

/// A run of a node: from its opening to its end. A run does not know what the one before was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) node: NodeName,
    /// Tells the runs of a node apart.
    pub(crate) number: u64,
}

/// A write that one node asked another to run. Its number is the asking run's own.
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
    /// Its answer has more than these numbers.
    pub(crate) has_more: bool,
}

/// Where an entry belongs in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) position: Position,
    pub(crate) previous: Hash,
    pub(crate) hash: Hash,
}

/// An entry at a position of the log, and who appended it.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) link: Link,
    pub(crate) writer: Run,
    pub(crate) served: Vec<Served>,
    /// All of it, as the log has it.
    pub(crate) bytes: Bytes,
    /// The entry that the database applies; `None` in the simulation, whose entries are models.
    pub(crate) entry: Option<Entry>,
}

/// The way in which the entry at a position came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Tail,
    Read,
}

/// An action that the node is to perform.
#[derive(Debug)]
pub(crate) enum Action {
    /// Append at this position; tell [`appended`](super::Protocol::appended) with the number, which is the first.
    Append(u64, Position, Arc<Logged>),
    /// Read from the log; tell [`received`](super::Protocol::received), [`absent`](super::Protocol::absent) or
    /// [`unread`](super::Protocol::unread).
    Read(Position),
    /// Ask for the end of the log; tell [`ends`](super::Protocol::ends) with this position, or
    /// [`unread`](super::Protocol::unread).
    AskEnd(Position),
    /// Ask for the newest position of the log, with the number of the question; tell [`newest_is`](super::Protocol::newest_is).
    AskNewest(u64),
    /// Let the transaction commit that waits at the gate, or those writes be answered.
    Pass,
    /// Have the transaction at the gate rolled back, and these applied.
    Overtaken(Vec<Arc<Logged>>),
    /// Refuse the transaction at the gate.
    Refuse(Refusal),
    /// Apply this, after everything that was given before.
    Apply(Arc<Logged>),
    /// Ask the database where it is, after everything that was given before; tell [`told_position`](super::Protocol::told_position).
    AskPosition,
    /// The requests of others that were made before this position must not run any more.
    CancelBelow(Position),
    /// A request to another node is decided.
    Settled(NonZeroU64, Settled),
    /// Write something, so that this node is the writer, and the requests in doubt are decided.
    TakeOver,
    /// The tail has missed something: begin it anew.
    RestartTail,
    /// Nothing more is applied or written.
    Stopped(Refusal),
}

/// The outcome of a request to another node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It stands in the log at this position, and its answer was lost. `None` for numbers that were lost with it.
    Done(Position, Option<(i64, i64)>),
    /// It has not happened, and never will.
    Not,
    /// It could not be found out in time.
    Unknown,
}

/// Why a write was not done, as far as is known.
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

/// Why an append has no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The log has not taken it.
    NotSent(String),
    /// It may have been taken, or may be yet.
    Unknown(String),
}

/// Why an entry was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unapplied {
    /// It is not the next one.
    Position,
    /// It does not fit the database.
    Misfit(String),
    /// Something of this node alone is in its way, until it is opened again.
    Hindered(String),
    /// The database cannot apply it, however often it tries.
    Never(String),
    /// It may work later.
    Later,
}
