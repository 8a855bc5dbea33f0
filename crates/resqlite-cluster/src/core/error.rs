//! The errors of a cluster, in the words that users read.

use std::fmt;

use resqlite::{EntryFault, log::Position};

use super::{codes, log::LogError};

/// The result of a call into a cluster.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a cluster. [`code`](Error::code) names it for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The database of this node refused. The write has not happened, unless the code of the error says so.
    Database(resqlite::Error),
    /// The database of the node that ran the write refused.
    Elsewhere {
        /// The code of the error.
        code: String,
        /// The message of the error.
        message: String,
    },
    /// A majority of the log was not reached in time. Nothing has happened.
    NoQuorum(String),
    /// It is not known whether the write has happened: read before you write again.
    OutcomeUnknown(String),
    /// The write has happened, at this position. Its answer was lost with the node that ran it, or this node did not receive the
    /// write in time, or stopped first.
    AnswerLost {
        /// The position of the write in the log.
        position: Position,
    },
    /// Another node has done the write, which is committed at this position or before. The answer is larger than the log carries
    /// between nodes.
    AnswerTooLarge {
        /// The position of the write in the log.
        position: Position,
    },
    /// This node has stopped, and has not done what was asked: the log has another history than the node, has let go of entries
    /// that the node needs, or has an entry that can never be applied here.
    Stopped {
        /// `RESQLITE_LOG_DIVERGED`, `RESQLITE_FELL_BEHIND` or `RESQLITE_ENTRY_NOT_CARRIED`.
        code: &'static str,
        /// The reason, and what to do.
        message: String,
    },
    /// The log cannot do what it must do.
    Log(LogError),
    /// This node did not have a position in time.
    Late {
        /// The position.
        position: Position,
    },
    /// A file cannot be used for a cluster.
    File(String),
    /// This node is closed.
    Closed,
}

impl Error {
    /// The name of the error for programs.
    pub fn code(&self) -> &str {
        match self {
            Self::Database(error) => error.code(),
            Self::Elsewhere { code, .. } => code,
            Self::NoQuorum(_) => codes::NO_QUORUM,
            Self::OutcomeUnknown(_) => codes::OUTCOME_UNKNOWN,
            Self::AnswerLost { .. } | Self::AnswerTooLarge { .. } => "RESQLITE_ANSWER_LOST",
            Self::Stopped { code, .. } => code,
            Self::Log(_) => "RESQLITE_LOG",
            Self::Late { .. } => "RESQLITE_TIMEOUT",
            Self::File(_) => "RESQLITE_CLUSTER_FILE",
            Self::Closed => "RESQLITE_CLOSED",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Elsewhere { message, .. }
            | Self::NoQuorum(message)
            | Self::OutcomeUnknown(message)
            | Self::Stopped { message, .. }
            | Self::File(message) => f.write_str(message),
            Self::AnswerLost { position } => write!(
                f,
                "the write was committed at position {position}; its answer was lost, or this node has not got the write in time, \
                 or has stopped before"
            ),
            Self::AnswerTooLarge { position } => write!(
                f,
                "the statement ran on the node that writes, and what it has written is committed at position {position}; its \
                 rows are larger than the log carries between nodes: read them here, once this node has that position"
            ),
            Self::Log(error) => error.fmt(f),
            Self::Late { position } => {
                write!(f, "this node did not have position {position} of the log in time")
            }
            Self::Closed => f.write_str("this node is closed"),
        }
    }
}

impl std::error::Error for Error {}

impl From<resqlite::Error> for Error {
    /// Recognises a refusal of the gate by its code.
    fn from(error: resqlite::Error) -> Self {
        let message = error.to_string();
        // The entry may have passed the gate before the worker died.
        if matches!(error, resqlite::Error::WorkerDied) {
            return Self::OutcomeUnknown(message);
        }
        match error.code() {
            codes::NO_QUORUM => Self::NoQuorum(message),
            codes::OUTCOME_UNKNOWN | "RESQLITE_ENTRY_NOT_COMMITTED" => Self::OutcomeUnknown(message),
            code @ (codes::LOG_DIVERGED | codes::FELL_BEHIND) => Self::Stopped { code, message },
            _ => Self::Database(error),
        }
    }
}

/// Returns whether another node was first.
pub(crate) fn is_overtaken(error: &resqlite::Error) -> bool {
    let overtaken = EntryFault::Overtaken;
    matches!(error, resqlite::Error::Entry { fault, .. } if *fault == overtaken)
}

impl LogError {
    /// Returns the error for a call that only asks the log: nothing has changed, whether the log answered or not.
    pub(crate) fn unanswered(self) -> Error {
        match self {
            Self::Unreachable(why) | Self::Unknown(why) => Error::NoQuorum(why),
            error => Error::Log(error),
        }
    }
}
