//! Requests as the Rust API makes them, and their replies as futures.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_channel::oneshot;

use crate::{
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        options::Durability,
        params::{Params, pack},
        token::Token,
        value::Value,
    },
    requests::{
        description::Description,
        request::{Format, Outcome, ParamSets, Query, Reply, Write, WriteOp, Written},
        statements::StatementResult,
    },
    rows::{ColumnLayout, Columns, Integers, RowBatch, Rows},
};

/// The result of a write, with the rows that `RETURNING` returned.
#[derive(Debug, Clone, Default)]
pub struct WriteResult {
    /// The rows that `RETURNING` returned; empty for a statement without `RETURNING`.
    pub rows: Rows,
    /// Rows inserted, updated or deleted by the statement itself.
    pub changes: i64,
    /// Row id of the last row inserted; 0 if no row was inserted.
    pub last_insert_rowid: i64,
    /// Number of the commit that made the write visible. Inside a transaction: the number of the last commit before the transaction.
    pub commit: CommitId,
}

/// The result of one statement of any kind.
#[derive(Debug, Clone)]
pub struct QueryResult {
    /// The rows of the statement. For a write, these are the rows that `RETURNING` returned.
    pub rows: Rows,
    /// The columns of the rows, also if there are no rows. Empty for a statement that gives no rows.
    pub columns: Arc<Columns>,
    /// Rows inserted, updated or deleted by the statement itself.
    pub changes: i64,
    /// Row id of the last row inserted; 0 if no row was inserted.
    pub last_insert_rowid: i64,
    /// For a write: as in [`WriteResult`]. For a read: the number of a commit that the read saw, with all commits before it.
    pub commit: CommitId,
}

/// Integers are asked for as 64-bit values, so that Rust sees exactly what is stored.
pub(super) fn query(sql: &str, params: Params, format: Format) -> Query {
    Query {
        sql: sql.into(),
        params,
        format,
        integers: Integers::BigInt,
        token: Token::default(),
        limits: None,
    }
}

pub(super) fn write(op: WriteOp, durability: Durability) -> Write {
    Write {
        op,
        durability,
        integers: Integers::BigInt,
        token: Token::default(),
        tag: None,
    }
}

pub(super) fn batch(sql: &str, sets: &[Vec<Value>]) -> WriteOp {
    let mut packed = Vec::new();
    sets.iter().for_each(|set| pack(&mut packed, set));
    let range = 0..packed.len();
    let first = ParamSets {
        count: sets.len(),
        params: Params::packed(packed.into(), range),
    };
    WriteOp::Batch {
        sql: sql.into(),
        first,
        more: None,
    }
}

/// Cancels a read whose future was dropped. Once the read has ended, dropping this has no effect.
pub(super) struct CancelOnDrop(pub(super) Token);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The reply of an engine thread, to be awaited.
pub(super) struct Answer<T>(oneshot::Receiver<Result<T>>);

impl<T> Future for Answer<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|answer| answer.unwrap_or(Err(Error::WorkerDied)))
    }
}

/// Collects a reply: rows as they arrive, and a function that makes the result at the end.
struct Collect<T, F> {
    rows: Rows,
    done: F,
    answer: oneshot::Sender<Result<T>>,
}

impl<T, F> Reply for Collect<T, F>
where
    T: Send + 'static,
    F: FnOnce(Rows, Outcome<'_>) -> Result<T> + Send + 'static,
{
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.rows.extend(layout, &batch.to_bytes());
        !self.answer.is_canceled()
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let Self { rows, done, answer } = *self;
        // The caller may have dropped the future.
        let _ = answer.send(outcome.and_then(|outcome| done(rows, outcome)));
    }
}

fn reply<T: Send + 'static>(
    done: impl FnOnce(Rows, Outcome<'_>) -> Result<T> + Send + 'static,
) -> (Box<dyn Reply>, Answer<T>) {
    let (answer, receiver) = oneshot::channel();
    (
        Box::new(Collect {
            rows: Rows::default(),
            done,
            answer,
        }),
        Answer(receiver),
    )
}

pub(super) fn rows_reply() -> (Box<dyn Reply>, Answer<Rows>) {
    reply(|mut rows, outcome| match outcome {
        Outcome::Rows { layout, last, .. } => {
            rows.extend(layout, &last.to_bytes());
            Ok(rows)
        }
        _ => Err(Error::WorkerDied),
    })
}

/// Makes a reply that collects one batch, and whether that batch is the last.
pub(super) fn batch_reply() -> (Box<dyn Reply>, Answer<(Rows, bool)>) {
    reply(|mut rows, outcome| match outcome {
        Outcome::Rows { layout, last, end } => {
            rows.extend(layout, &last.to_bytes());
            Ok((rows, end))
        }
        _ => Err(Error::WorkerDied),
    })
}

pub(super) fn bytes_reply() -> (Box<dyn Reply>, Answer<Vec<u8>>) {
    reply(|_, outcome| match outcome {
        Outcome::Bytes(bytes) => Ok(bytes),
        _ => Err(Error::WorkerDied),
    })
}

pub(super) fn write_reply() -> (Box<dyn Reply>, Answer<WriteResult>) {
    reply(|mut rows, outcome| match outcome {
        Outcome::Written(
            returned,
            Written {
                changes,
                last_insert_rowid,
                commit,
            },
        ) => {
            returned
                .iter()
                .for_each(|(layout, batch)| rows.extend(layout, batch));
            Ok(WriteResult {
                rows,
                changes,
                last_insert_rowid,
                commit,
            })
        }
        _ => Err(Error::WorkerDied),
    })
}

pub(super) fn query_reply() -> (Box<dyn Reply>, Answer<QueryResult>) {
    reply(|rows, outcome| {
        let mut results = query_results(outcome)?;
        let result = results.pop().ok_or(Error::WorkerDied)?;
        // A read delivers its rows before its outcome.
        let rows = if result.rows.is_empty() { rows } else { result.rows };
        Ok(QueryResult { rows, ..result })
    })
}

pub(super) fn batch_of_statements_reply() -> (Box<dyn Reply>, Answer<Vec<QueryResult>>) {
    reply(|_, outcome| query_results(outcome))
}

fn query_results(outcome: Outcome<'_>) -> Result<Vec<QueryResult>> {
    let Outcome::Results(results, commit) = outcome else {
        return Err(Error::WorkerDied);
    };
    let result = |result: &StatementResult| {
        let mut rows = Rows::default();
        for (layout, batch) in &result.rows {
            rows.extend(layout, batch);
        }
        QueryResult {
            rows,
            columns: Arc::clone(&result.columns),
            changes: result.changes,
            last_insert_rowid: result.last_insert_rowid,
            commit,
        }
    };
    Ok(results.iter().map(result).collect())
}

pub(super) fn description_reply() -> (Box<dyn Reply>, Answer<Description>) {
    reply(|_, outcome| match outcome {
        Outcome::Described(description) => Ok(description.clone()),
        _ => Err(Error::WorkerDied),
    })
}

pub(super) fn step_reply() -> (Box<dyn Reply>, Answer<()>) {
    reply(|_, _| Ok(()))
}

/// Receives the outcome of a request that has no rows.
pub(super) type Done<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// Makes a request by calling `ask`, and waits for its outcome.
pub(super) async fn answer<T: Send + 'static>(ask: impl FnOnce(Done<T>)) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    ask(Box::new(|outcome| drop(sender.send(outcome))));
    receiver.await.unwrap_or(Err(Error::WorkerDied))
}
