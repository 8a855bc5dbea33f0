//! All errors of resqlite, in the words that users read.

use std::fmt;

use resqlite_sqlite::{self as sqlite, codes};

use crate::core::{limits, position::Position};

/// The result of a call into resqlite.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of resqlite. [`code`](Error::code) names it for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// SQLite refused the statement.
    Sqlite(sqlite::Error),
    /// The database could not be opened.
    Open {
        /// The file, as the caller named it.
        path: String,
        /// The reason, for people.
        reason: String,
        /// The error of SQLite, if it was SQLite that refused.
        source: Option<sqlite::Error>,
    },
    /// The key is wrong, missing, or for a database that is not encrypted; this build cannot encrypt; or a key cannot be
    /// changed now.
    EncryptionKey {
        /// The file, as the caller named it.
        path: String,
        /// A description of the fault, for people. It never contains a key.
        reason: String,
    },
    /// A copy of the database could not be made. Nothing is left of the copy.
    Backup {
        /// The file of the copy, as the caller named it.
        path: String,
        /// The reason, for people.
        reason: String,
        /// The error of SQLite, if it was SQLite that failed.
        source: Option<sqlite::Error>,
    },
    /// An option has a value that cannot be used.
    Option(String),
    /// A parameter is missing, too many, misnamed or out of range. Nothing ran.
    Parameter(String),
    /// An INTEGER that a floating-point number cannot hold exactly, where only such numbers are wanted.
    Integer(String),
    /// The SQL text is no single statement, or a statement that is not allowed in this place.
    Statement(String),
    /// A write where only reading is allowed.
    ReadOnly(String),
    /// A transaction (or snapshot, or cursor) cannot do what the caller asked for.
    Transaction {
        /// The method that was called, such as `execute_batch`.
        operation: &'static str,
        /// The reason.
        message: String,
    },
    /// One of several statements, or of several parameter sets, failed, so that none of them had an effect.
    Member {
        /// The index of the failed statement or parameter set, counted from 0.
        index: usize,
        /// The error of that statement or parameter set.
        error: Box<Error>,
    },
    /// The database is closed.
    Closed,
    /// The caller cancelled the request.
    Aborted,
    /// The caller cancelled the request while it waited for another request to release the writer.
    AbortedBehind {
        /// Who held the writer, and since when, for people.
        holder: String,
    },
    /// A transaction took longer than its timeout and was rolled back.
    TimedOut,
    /// A query exceeded one of its [limits](crate::QueryLimits).
    Limit {
        /// The name of the limit: `time`, `steps` or `bytes`.
        limit: &'static str,
        /// An explanation, for people.
        message: String,
    },
    /// Too many requests are already waiting.
    QueueFull,
    /// A file of the database was deleted or replaced while it was in use: nothing committed to it would last.
    FilesLost {
        /// The database, as the caller named it.
        path: String,
    },
    /// An entry of a commit cannot be made, passed on or applied. No part of it was done.
    Entry {
        /// The kind of fault.
        fault: EntryFault,
        /// The reason, for people.
        message: String,
    },
    /// A change feed cannot go on: commits that its consumer has not read are no longer kept, or the feed was removed.
    FeedLost(String),
    /// The most possible snapshots and cursors are open, and all of them are idle.
    TooManyLeases,
    /// The native thread for the request failed or could not be started. The request may not have run.
    WorkerDied,
}

/// The fault of an [entry](crate::log::Entry).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryFault {
    /// The bytes are no entry, are damaged, or have a later format.
    Malformed,
    /// No entry can carry the changes of the transaction, or the entry would be too large.
    NotCarried,
    /// The gate refused the entry.
    Refused,
    /// The gate refused the entry with this code of its own.
    RefusedAs(&'static str),
    /// The log has entries of others at the position of this entry. They are applied here, or will be; after that, the transaction can
    /// run again.
    Overtaken,
    /// The gate let the entry pass, and then COMMIT failed. If a log has the entry, the transaction will be applied from there. Running
    /// it again could apply it twice.
    NotCommitted,
    /// The gate did not answer within its deadline. It is not known here whether the entry is in the gate's log.
    Unanswered,
    /// The entry is not the next one.
    Position,
    /// The entry follows an entry other than the one that was applied last: the histories differ.
    Chain,
    /// A row is not as the entry says.
    Row,
}

impl Error {
    /// Returns the name of the error for programs: SQLite's extended name (`SQLITE_CONSTRAINT_UNIQUE`), or one of resqlite's own names
    /// (`RESQLITE_CLOSED`).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Sqlite(error)
            | Self::Open {
                source: Some(error), ..
            }
            | Self::Backup {
                source: Some(error), ..
            } => error.name(),
            Self::Open { .. } => "RESQLITE_OPEN",
            Self::EncryptionKey { .. } => "RESQLITE_ENCRYPTION_KEY",
            Self::Backup { .. } => "RESQLITE_BACKUP",
            Self::Option(_) => "RESQLITE_OPTION",
            Self::Parameter(_) => "RESQLITE_PARAMETER",
            Self::Integer(_) => "RESQLITE_INTEGER",
            Self::Statement(_) => "RESQLITE_STATEMENT",
            Self::ReadOnly(_) => "RESQLITE_READ_ONLY",
            Self::Transaction { .. } => "RESQLITE_TRANSACTION",
            Self::Member { error, .. } => error.code(),
            Self::Closed => "RESQLITE_CLOSED",
            Self::Aborted | Self::AbortedBehind { .. } => "RESQLITE_ABORTED",
            Self::TimedOut => "RESQLITE_TIMEOUT",
            Self::Limit { .. } => "RESQLITE_LIMIT",
            Self::QueueFull => "RESQLITE_QUEUE_FULL",
            Self::FilesLost { .. } => "RESQLITE_FILES_LOST",
            Self::Entry { fault, .. } => match fault {
                EntryFault::Malformed => "RESQLITE_ENTRY_MALFORMED",
                EntryFault::NotCarried => "RESQLITE_ENTRY_NOT_CARRIED",
                EntryFault::Refused => "RESQLITE_ENTRY_REFUSED",
                EntryFault::RefusedAs(code) => code,
                EntryFault::Overtaken => "RESQLITE_ENTRY_OVERTAKEN",
                EntryFault::NotCommitted => "RESQLITE_ENTRY_NOT_COMMITTED",
                EntryFault::Unanswered => "RESQLITE_ENTRY_UNANSWERED",
                EntryFault::Position => "RESQLITE_ENTRY_POSITION",
                EntryFault::Chain => "RESQLITE_ENTRY_CHAIN",
                EntryFault::Row => "RESQLITE_ENTRY_ROW",
            },
            Self::FeedLost(_) => "RESQLITE_FEED_LOST",
            Self::TooManyLeases => "RESQLITE_LEASES",
            Self::WorkerDied => "RESQLITE_WORKER",
        }
    }

    /// Returns the error of SQLite, if this error comes from SQLite.
    pub fn sqlite(&self) -> Option<&sqlite::Error> {
        match self {
            Self::Sqlite(error)
            | Self::Open {
                source: Some(error), ..
            }
            | Self::Backup {
                source: Some(error), ..
            } => Some(error),
            Self::Member { error, .. } => error.sqlite(),
            _ => None,
        }
    }

    /// Returns whether SQLite ended a statement because the progress handler told it to.
    pub(crate) fn is_interrupt(&self) -> bool {
        self.sqlite()
            .is_some_and(|error| error.primary() == codes::INTERRUPT)
    }

    /// Returns whether the error is transient: the same request may succeed a moment later.
    pub(crate) fn is_transient(&self) -> bool {
        const TRANSIENT: [i32; 6] = [
            codes::BUSY,
            codes::LOCKED,
            codes::CANTOPEN,
            codes::IOERR,
            codes::NOMEM,
            codes::PROTOCOL,
        ];
        let of_sqlite = self.sqlite().map(sqlite::Error::primary);
        of_sqlite.is_some_and(|primary| TRANSIENT.contains(&primary)) || matches!(self, Self::QueueFull)
    }

    /// Returns whether a statement that failed on this state of the database may succeed on another state.
    pub(crate) fn depends_on_state(&self) -> bool {
        match self {
            Self::Member { error, .. } => error.depends_on_state(),
            Self::Sqlite(_) => !self.is_transient() && !self.is_interrupt(),
            Self::Integer(_) | Self::Limit { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the error is about the commit, and not about one of its writes: each write would fail in the same way. A change
    /// that no entry carries may come from only one of many writes.
    pub(crate) fn is_of_commit(&self) -> bool {
        match self {
            Self::Entry { fault, .. } => *fault != EntryFault::NotCarried,
            error => matches!(error, Self::Transaction { .. } | Self::FilesLost { .. }),
        }
    }

    /// Returns whether the entry was overtaken by entries of others.
    pub(crate) fn is_overtaken(&self) -> bool {
        matches!(
            self,
            Self::Entry {
                fault: EntryFault::Overtaken,
                ..
            }
        )
    }

    /// Returns the error of member `index` of several. The end of a request that was given up is not the error of a member, and is
    /// returned as it is.
    pub(crate) fn of_member(self, index: usize) -> Self {
        if matches!(self, Self::Aborted | Self::AbortedBehind { .. } | Self::TimedOut) {
            return self;
        }
        Self::Member {
            index,
            error: Box::new(self),
        }
    }

    pub(crate) fn entry(fault: EntryFault, message: impl Into<String>) -> Self {
        Self::Entry {
            fault,
            message: message.into(),
        }
    }

    /// Makes the error for a feed whose next commits are no longer kept.
    pub(crate) fn feed_lost(name: &str, after: Position, oldest: Position) -> Self {
        Self::FeedLost(format!(
            "the change feed {name:?} cannot go on after the position {after}: the oldest commit that is still kept has \
             {oldest}"
        ))
    }

    /// Makes the error for a feed that should go on after a position that no commit has yet.
    pub(crate) fn feed_is_older(name: &str, after: Position, newest: Position) -> Self {
        Self::FeedLost(format!(
            "the change feed {name:?} cannot go on after the position {after}: the newest commit of this database has {newest}, so it \
             is an older copy"
        ))
    }

    /// Makes the error for the case that another program has removed tables of feeds, or the rows
    /// with their positions.
    pub(crate) fn feed_tables_lost(name: &str) -> Self {
        Self::FeedLost(format!(
            "the change feed {name:?} cannot go on: another program has removed tables in which change feeds are kept, or emptied them; \
             remove the feed (dropFeed), and begin as with a new one"
        ))
    }

    /// Makes the error for a feed that was removed while a consumer reads it.
    pub(crate) fn feed_removed(name: &str) -> Self {
        Self::FeedLost(format!("the change feed {name:?} was removed"))
    }

    pub(crate) fn transaction(operation: &'static str, message: impl Into<String>) -> Self {
        Self::Transaction {
            operation,
            message: message.into(),
        }
    }
}

impl From<sqlite::Error> for Error {
    fn from(error: sqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => f.write_str(error.message()),
            Self::Open { path, reason, .. } => write!(f, "cannot open \"{path}\": {reason}"),
            Self::EncryptionKey { path, reason } => write!(f, "\"{path}\": {reason}"),
            Self::Backup { path, reason, .. } => write!(f, "cannot back up to \"{path}\": {reason}"),
            Self::Option(message)
            | Self::Parameter(message)
            | Self::Integer(message)
            | Self::Statement(message)
            | Self::ReadOnly(message)
            | Self::Transaction { message, .. }
            | Self::Entry { message, .. }
            | Self::FeedLost(message)
            | Self::Limit { message, .. } => f.write_str(message),
            Self::Member { error, .. } => error.fmt(f),
            Self::Closed => f.write_str("the database is closed"),
            Self::Aborted => f.write_str("the operation was aborted"),
            Self::AbortedBehind { holder } => {
                write!(f, "the operation was aborted while it waited for {holder}")
            }
            Self::TimedOut => f.write_str("the transaction took longer than its timeout and was rolled back"),
            Self::QueueFull => f.write_str("too many requests are waiting for this database"),
            Self::FilesLost { path } => write!(
                f,
                "files of \"{path}\" were deleted or replaced while they were open (its write-ahead log, that of an attached \
                 database, or the database itself); nothing is read or written any more: close everything that has the file open, \
                 and open it again"
            ),
            Self::TooManyLeases => write!(
                f,
                "{} snapshots and iterators are open and wait for their callers; diagnostics() tells which",
                limits::LEASES_MAX
            ),
            Self::WorkerDied => {
                f.write_str("the native thread that ran this request failed and was replaced")
            }
        }
    }
}

impl std::error::Error for Error {}
