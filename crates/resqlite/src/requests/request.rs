//! Requests of callers, and the replies to them.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use crate::{
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        options::Durability,
        params::Params,
        queue::Queue,
        token::Token,
    },
    requests::{
        description::Description,
        statements::{StatementResult, Statements},
    },
    rows::{ColumnLayout, Integers, Packed, RowBatch},
};

/// The form of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// All rows, packed.
    #[default]
    Rows,
    /// The first row, packed.
    FirstRow,
    /// All rows as one JSON text.
    Json,
}

/// One statement to read with.
#[derive(Debug, Clone)]
pub struct Query {
    /// The SQL text: one statement.
    pub sql: Arc<str>,
    /// Its parameters.
    pub params: Params,
    /// The form of the result.
    pub format: Format,
    /// The form in which INTEGERs are packed.
    pub integers: Integers,
    /// Ends the run early when it is cancelled.
    pub token: Token,
    /// The limits on the cost of the run.
    pub limits: Option<Box<QueryLimits>>,
}

/// The query of a cursor.
pub(crate) struct CursorQuery {
    pub(crate) query: Query,
    /// The largest number of rows in a batch; at least 1.
    pub(crate) batch_rows: usize,
}

impl CursorQuery {
    pub(crate) fn new(query: Query, batch_rows: usize) -> Self {
        Self {
            query,
            batch_rows: batch_rows.max(1),
        }
    }
}

/// The limits on the cost of one query. `None` means no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryLimits {
    /// The longest time that the statement may run. Waiting for a reader, or for the caller between two batches, does not count.
    pub time: Option<Duration>,
    /// The largest number of steps of SQLite's virtual machine; checked every 1,000 steps.
    pub steps: Option<u64>,
    /// The largest number of bytes of the result, packed or as JSON; checked for each row batch (about 100 KiB).
    pub bytes: Option<u64>,
}

/// One write: succeeds or fails as a whole.
#[derive(Debug, Clone)]
pub struct Write {
    /// The operation to carry out.
    pub op: WriteOp,
    /// The durability at which the write is acknowledged. Writes that share a transaction get the strongest durability among them.
    pub durability: Durability,
    /// The form in which INTEGERs of returned rows are packed.
    pub integers: Integers,
    /// Ends the run early when it is cancelled, as long as the write is not committed.
    pub token: Token,
    /// The tag by which an [entry gate](crate::log::EntryGate::carries) distinguishes the write from others.
    pub tag: Option<NonZeroU64>,
}

impl Write {
    /// Turns a query that writes into a write.
    pub(crate) fn of_query(query: Query, durability: Durability) -> Self {
        let Query {
            sql,
            params,
            integers,
            token,
            limits,
            format: _,
        } = query;
        Self {
            op: WriteOp::Query { sql, params, limits },
            durability,
            integers,
            token,
            tag: None,
        }
    }
}

/// The kinds of writes.
#[derive(Debug, Clone)]
pub enum WriteOp {
    /// One statement.
    Execute {
        /// The SQL text.
        sql: Arc<str>,
        /// Its parameters.
        params: Params,
    },
    /// One statement, once per set of parameters.
    Batch {
        /// The SQL text.
        sql: Arc<str>,
        /// The first sets.
        first: ParamSets,
        /// The source of the further sets, if `first` does not hold all sets.
        more: Option<BatchParts>,
    },
    /// Many statements.
    Script(Arc<str>),
    /// One statement of any kind. The reply has its columns.
    Query {
        /// The SQL text.
        sql: Arc<str>,
        /// Its parameters.
        params: Params,
        /// The limits on its cost.
        limits: Option<Box<QueryLimits>>,
    },
    /// Several statements of any kind. The reply has a result for each.
    Statements(Statements),
}

impl WriteOp {
    /// Returns the limits on the cost of the operation. Only a query can have limits.
    pub(crate) fn limits(&self) -> Option<&QueryLimits> {
        match self {
            Self::Query { limits, .. } => limits.as_deref(),
            _ => None,
        }
    }

    /// Returns whether the operation is a batch whose sets arrive while it runs.
    pub(crate) fn arrives_in_parts(&self) -> bool {
        matches!(self, Self::Batch { more: Some(_), .. })
    }

    /// Returns the name of the method that asks for the operation.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Execute { .. } => "execute",
            Self::Batch { .. } => "execute_batch",
            Self::Script(_) => "exec",
            Self::Query { .. } => "query",
            Self::Statements(_) => "batch",
        }
    }
}

impl WriteOp {
    /// Returns the SQL text, or the first of several.
    pub(crate) fn sql(&self) -> Option<&Arc<str>> {
        match self {
            Self::Execute { sql, .. }
            | Self::Batch { sql, .. }
            | Self::Script(sql)
            | Self::Query { sql, .. } => Some(sql),
            Self::Statements(statements) => statements.texts.first(),
        }
    }
}

/// The options of a transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionOptions {
    /// The time after which the transaction is rolled back, counted from when it holds the writer; default: never.
    pub timeout: Option<Duration>,
    /// Foreign keys are not enforced in the transaction, so that a table that others refer to can be rebuilt. They are checked
    /// before its COMMIT, which fails if one does not hold, whoever violated it. This has no effect in a database whose foreign
    /// keys are off anyway.
    pub foreign_keys_off: bool,
    /// The caller holds the transaction without a body that ends it. [`Holder`](crate::Holder) shows this.
    pub without_body: bool,
    /// The transaction was overtaken just before, and its caller runs it again: see
    /// [`EntryGate::before_answer`](crate::log::EntryGate::before_answer).
    pub again: bool,
}

impl From<Option<Duration>> for TransactionOptions {
    fn from(timeout: Option<Duration>) -> Self {
        Self {
            timeout,
            ..Self::default()
        }
    }
}

/// Some packed sets of parameters.
#[derive(Debug, Clone)]
pub struct ParamSets {
    /// The number of sets.
    pub count: usize,
    /// The sets, back to back.
    pub params: Params,
}

impl ParamSets {
    /// Joins the sets of several parts.
    pub fn joined(parts: &[Self]) -> Self {
        Self {
            count: parts.iter().map(|part| part.count).sum(),
            params: Params::joined(parts.iter().map(|part| (part.count, &part.params))),
        }
    }
}

/// A further part of a batch.
#[derive(Debug)]
pub enum BatchPart {
    /// More sets.
    Sets {
        /// The sets.
        sets: ParamSets,
        /// These are the last sets.
        last: bool,
    },
    /// The caller gave up, so nothing of the batch may be kept.
    Abort,
}

/// Carries the later parts of a batch to the writer, while the writer works on earlier parts.
#[derive(Clone)]
pub struct BatchParts(pub(crate) Arc<Queue<BatchPart>>);

impl Default for BatchParts {
    fn default() -> Self {
        Self(Arc::new(Queue::new(usize::MAX)))
    }
}

impl BatchParts {
    /// Hands over a part.
    pub fn push(&self, chunk: BatchPart) {
        // A closed queue means that the batch has failed already. Its reply reports the failure.
        let _ = self.0.push(chunk);
    }

    /// Returns the number of parts that the writer has not taken up yet. They are in memory, so a caller that hands over many parts
    /// waits
    /// while this number is high.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Debug for BatchParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BatchParts")
    }
}

/// The numbers of a write.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// Rows inserted, updated or deleted by the statements themselves (not by triggers or cascades).
    pub changes: i64,
    /// Row id of the last row inserted in this database; 0 if no row was inserted.
    pub last_insert_rowid: i64,
    /// Number of the commit that made the write visible. In a transaction: number of the last commit before it.
    pub commit: CommitId,
}

/// The outcome of a request that succeeded.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// A read is done. `last` holds the rows that were not handed over yet. `end` means that no more rows can follow
    /// (always true, except for the batches of a cursor).
    Rows {
        /// The column layout.
        layout: &'a Arc<ColumnLayout>,
        /// The last row batch, which may be empty.
        last: RowBatch<'a>,
        /// The query has no further rows.
        end: bool,
    },
    /// JSON text.
    Bytes(Vec<u8>),
    /// A write is done. Holds the rows that `RETURNING` returned, packed, and the numbers of the write.
    Written(&'a [Packed], Written),
    /// Statements of any kind are done. Holds the result of each, and the number of the commit that made them visible or that they
    /// saw.
    Results(&'a [StatementResult], CommitId),
    /// The description of a statement.
    Described(&'a Description),
    /// A step of a transaction, snapshot or cursor is done.
    Done,
}

impl std::fmt::Debug for RowBatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowBatch of {} rows", self.rows())
    }
}

/// Receives the reply to a request. Called on engine threads; must not block for long, except in [`Reply::rows`], which
/// may wait for room.
pub trait Reply: Send {
    /// Called when a thread takes the request up, so that it no longer waits. A request that one thread hands over to another is
    /// taken up twice.
    fn taken_up(&mut self) {}
    /// Receives a row batch that is not the last. Returns `false` if no more rows are wanted.
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool;
    /// Receives the outcome of the request; called exactly once.
    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>);
}

/// A reply that cannot be forgotten: if it is dropped unanswered because a thread died, it reports an error.
pub(crate) struct ReplyGuard(Option<Box<dyn Reply>>);

impl ReplyGuard {
    pub(crate) fn new(reply: Box<dyn Reply>) -> Self {
        Self(Some(reply))
    }

    pub(crate) fn taken_up(&mut self) {
        if let Some(reply) = &mut self.0 {
            reply.taken_up();
        }
    }

    pub(crate) fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.0.as_mut().is_some_and(|reply| reply.rows(layout, batch))
    }

    pub(crate) fn finish(mut self, outcome: Result<Outcome<'_>>) {
        if let Some(reply) = self.0.take() {
            reply.finish(outcome);
        }
    }

    pub(crate) fn fail(self, error: Error) {
        self.finish(Err(error));
    }
}

impl Drop for ReplyGuard {
    fn drop(&mut self) {
        if let Some(reply) = self.0.take() {
            reply.finish(Err(Error::WorkerDied));
        }
    }
}

/// A step of an open transaction, snapshot or cursor.
pub(crate) enum Step {
    Select(Query, ReplyGuard),
    Query(Query, ReplyGuard),
    Describe(Arc<str>, ReplyGuard),
    Write(Write, ReplyGuard),
    Savepoint(u32, ReplyGuard),
    Release(u32, ReplyGuard),
    RollbackTo(u32, ReplyGuard),
    Commit(ReplyGuard),
    End(ReplyGuard),
    /// Is answered when the session ends. If the caller did not end it, the reply carries the reason.
    Ended(ReplyGuard),
    /// Asks for the next batch, in a session that is a cursor.
    Fetch(ReplyGuard),
    /// Opens a cursor in the session. The caller chooses its number.
    OpenCursor(u32, CursorQuery, ReplyGuard),
    FetchFrom(u32, Token, ReplyGuard),
    CloseCursor(u32, ReplyGuard),
}

impl Step {
    /// See [`Reply::taken_up`].
    pub(crate) fn taken_up(&mut self) {
        if let Self::Select(_, reply)
        | Self::Query(_, reply)
        | Self::Describe(_, reply)
        | Self::Write(_, reply)
        | Self::Commit(reply)
        | Self::OpenCursor(_, _, reply) = self
        {
            reply.taken_up();
        }
    }

    pub(crate) fn into_reply(self) -> ReplyGuard {
        match self {
            Self::Select(_, reply)
            | Self::Query(_, reply)
            | Self::Describe(_, reply)
            | Self::Write(_, reply)
            | Self::Savepoint(_, reply)
            | Self::Release(_, reply)
            | Self::RollbackTo(_, reply)
            | Self::Commit(reply)
            | Self::End(reply)
            | Self::Ended(reply)
            | Self::Fetch(reply)
            | Self::OpenCursor(_, _, reply)
            | Self::FetchFrom(_, _, reply)
            | Self::CloseCursor(_, reply) => reply,
        }
    }

    pub(crate) fn operation(&self) -> &'static str {
        match self {
            Self::Select(..) => "select",
            Self::Query(..) => "query",
            Self::Describe(..) => "describe",
            Self::Write(write, _) => write.op.name(),
            Self::Savepoint(..) | Self::Release(..) | Self::RollbackTo(..) => "transaction",
            Self::Commit(_) => "commit",
            Self::End(_) | Self::Ended(_) => "end",
            Self::Fetch(_) | Self::OpenCursor(..) | Self::FetchFrom(..) | Self::CloseCursor(..) => "iterate",
        }
    }
}
