//! The calls that a binding to another language makes. No call waits here, and each reply arrives later.

use std::{future::Future, sync::Arc};

use resqlite::{
    Durability,
    binding::{
        ColumnLayout, Outcome, Query, Reply, RowBatch, StatementResult, Token, Write, WriteOp,
        Written as Numbers,
    },
    log::Position,
};

use super::cluster::Cluster;
use crate::{
    core::{
        error::{Error, Result, is_overtaken},
        written::Packed,
    },
    node::Node,
};

/// Receives the reply to a write, which may fail with an error that only a cluster has.
pub trait WriteReply: Reply + 'static {
    /// Ends the request with an error, in place of [`Reply::finish`].
    fn fail(self: Box<Self>, error: Error);
}

/// The state that a node must have before a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Everything that any node has acknowledged before the call.
    Fresh,
    /// A position that another node has named.
    After(Position),
}

type Done<T> = Box<dyn FnOnce(Result<T>) + Send>;

impl Cluster {
    /// Does what [`Engine::write`](resqlite::binding::Engine::write) does, on the node that writes. If the write is cancelled
    /// while another node is being asked, it fails with [`Error::OutcomeUnknown`], since it may happen nevertheless.
    pub fn submit<R: WriteReply>(&self, write: Write, reply: Box<R>) {
        if !write.op.can_travel() {
            return self.database.engine().write(write, reply);
        }
        if self.node.writes_here() {
            let (node, again) = (Arc::clone(&self.node), write.clone());
            let reply = Here {
                node,
                write: again,
                reply,
            };
            return self.database.engine().write(write, Box::new(reply));
        }
        run(&self.node, write, reply);
    }

    /// Does what [`Engine::query`](resqlite::binding::Engine::query) does. A statement that reads runs here; a statement that
    /// writes runs on the node that writes.
    pub fn query<R: WriteReply>(&self, query: Query, durability: Durability, reply: Box<R>) {
        let op = WriteOp::Query {
            sql: Arc::clone(&query.sql),
            params: query.params.clone(),
            limits: query.limits.clone(),
        };
        if !op.can_travel() {
            return self.database.engine().query(query, durability, reply);
        }
        let write = Write {
            op,
            durability,
            integers: query.integers,
            token: query.token,
            tag: None,
        };
        self.submit(write, reply);
    }

    /// Waits until this node has a position, and passes that position to `done`. Fails with [`Error::Late`] after the timeout of
    /// writes.
    pub fn reach(&self, what: Reach, token: Token, done: Done<Position>) {
        let node = Arc::clone(&self.node);
        self.call(token, done, async move {
            let position = match what {
                Reach::Fresh => node.last().await?,
                Reach::After(position) => position,
            };
            let reached = tokio::time::timeout(node.options.write_timeout, node.reach(position));
            reached.await.unwrap_or(Err(Error::Late { position }))?;
            Ok(position)
        });
    }

    /// As [`snapshot`](Self::snapshot).
    pub fn put_snapshot(&self, token: Token, done: Done<Position>) {
        let (node, database) = (Arc::clone(&self.node), Arc::clone(&self.database));
        self.call(token, done, async move { node.put_snapshot(&database).await });
    }

    /// Ends calls whose tokens were cancelled, here and in the engine.
    pub fn drop_cancelled(&self) {
        self.database.engine().drop_cancelled();
        self.node.drop_cancelled();
    }

    fn call<T: Send + 'static>(
        &self,
        token: Token,
        done: Done<T>,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) {
        let node = Arc::clone(&self.node);
        let call = Call(Some(done));
        self.node.run_to_end(async move {
            let result = tokio::select! {
                result = work => result,
                () = node.given_up(&token) => Err(Error::Database(resqlite::Error::Aborted)),
            };
            call.finish(result);
        });
    }
}

/// A call that is answered even if the node ends first.
struct Call<T>(Option<Done<T>>);

impl<T> Call<T> {
    fn finish(mut self, result: Result<T>) {
        if let Some(done) = self.0.take() {
            done(result);
        }
    }
}

impl<T> Drop for Call<T> {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done(Err(Error::Closed));
        }
    }
}

/// Runs a write on the node that writes.
fn run<R: WriteReply>(node: &Arc<Node>, write: Write, reply: Box<R>) {
    let reply = Pending(Some(reply));
    let this = Arc::clone(node);
    node.run_to_end(async move {
        let done = this.run(&write).await;
        reply.finish(&write.op, done);
    });
}

/// The reply to a write that runs here. If other nodes are first again and again, the write is sent to the node that writes.
struct Here<R: WriteReply> {
    node: Arc<Node>,
    write: Write,
    reply: Box<R>,
}

impl<R: WriteReply> Reply for Here<R> {
    fn taken_up(&mut self) {
        self.reply.taken_up();
    }

    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.reply.rows(layout, batch)
    }

    fn finish(self: Box<Self>, outcome: resqlite::Result<Outcome<'_>>) {
        match outcome {
            Err(error) if is_overtaken(&error) => run(&self.node, self.write, self.reply),
            outcome => self.reply.finish(outcome),
        }
    }
}

/// The reply to a write that may have been sent to another node. The reply is given even if this node ends first.
struct Pending<R: WriteReply>(Option<Box<R>>);

impl<R: WriteReply> Pending<R> {
    fn finish(mut self, op: &WriteOp, done: Result<(Position, Vec<Packed>)>) {
        let Some(reply) = self.0.take() else { return };
        match done {
            Ok((position, results)) => answer(reply, op, position, results),
            Err(Error::Database(error)) => reply.finish(Err(error)),
            Err(error) => reply.fail(error),
        }
    }
}

impl<R: WriteReply> Drop for Pending<R> {
    fn drop(&mut self) {
        if let Some(reply) = self.0.take() {
            let message = "the node was closed while another one was asked to run the write: whether it has happened is not \
                           known";
            reply.fail(Error::OutcomeUnknown(message.into()));
        }
    }
}

fn answer<R: WriteReply>(reply: Box<R>, op: &WriteOp, position: Position, mut results: Vec<Packed>) {
    if matches!(op, WriteOp::Query { .. } | WriteOp::Statements(_)) {
        let results: Option<Vec<_>> = results.into_iter().map(statement_result).collect();
        return match results {
            Some(results) => reply.finish(Ok(Outcome::Results(&results, position.into()))),
            None => reply.fail(Error::AnswerLost { position }),
        };
    }
    let done = results.pop().unwrap_or_default();
    let numbers = Numbers {
        changes: done.changes,
        last_insert_rowid: done.last_insert_rowid,
        commit: position.into(),
    };
    reply.finish(Ok(Outcome::Written(&done.rows, numbers)));
}

/// Returns `None` if the answer has no columns.
fn statement_result(packed: Packed) -> Option<StatementResult> {
    Some(StatementResult {
        columns: packed.columns?,
        rows: packed.rows,
        changes: packed.changes,
        last_insert_rowid: packed.last_insert_rowid,
    })
}
