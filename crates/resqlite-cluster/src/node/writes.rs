//! Writes that run here or on the node that writes, and the writes of other nodes that run here.

use std::{num::NonZeroU64, sync::Arc, time::Instant};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use resqlite::{
    CommitId, Durability, EntryFault, Params,
    binding::{ColumnLayout, Integers, Outcome as Done, Reply, RowBatch, Statements, Token, Write, WriteOp},
    log::Position,
};
use tokio::sync::oneshot;

use super::{
    Node,
    driver::{CLOSED, Outcome, Serving},
};
use crate::{
    core::{
        deadline::RETRY,
        error::{Error, Result, is_overtaken},
        log::{Handler, LogError},
        written::{Packed, Written},
    },
    protocol::{Acceptance, RequestId, Run, Settled},
    wire::{Answer, Request},
};

impl Node {
    /// Runs a write on the node that writes. Every INTEGER is returned as it is.
    pub(crate) async fn write(self: &Arc<Self>, op: WriteOp) -> Result<Vec<Written>> {
        let (position, results) = self
            .run(&write(op, Integers::BigInt, Token::default(), None))
            .await?;
        Ok(results
            .into_iter()
            .map(|result| result.unpack(position))
            .collect())
    }

    /// Runs a write on the node that writes. Cancelling its token ends the waiting, and also the write itself if it has not
    /// begun.
    pub(crate) async fn run(self: &Arc<Self>, write: &Write) -> Result<(Position, Vec<Packed>)> {
        let end = Instant::now() + self.options.write_timeout;
        loop {
            if write.token.is_cancelled() {
                return Err(Error::Database(resqlite::Error::Aborted));
            }
            let Some((position, results)) = self.run_once(write).await? else {
                self.check_running()?;
                if Instant::now() >= end {
                    return Err(if self.options.writes {
                        never_first()
                    } else {
                        nobody_writes()
                    });
                }
                if !self.options.writes {
                    tokio::time::sleep(RETRY).await;
                }
                continue;
            };
            // The write has happened, though this node may not receive it in time, or may stop first, or nobody may wait for it.
            let reached = tokio::select! {
                biased;
                reached = tokio::time::timeout(self.options.write_timeout, self.reach(position)) => {
                    reached.unwrap_or(Err(Error::Closed))
                }
                () = self.given_up(&write.token) => Err(Error::Closed),
            };
            reached.map_err(|_| Error::AnswerLost { position })?;
            return Ok((position, results));
        }
    }

    /// Returns whether writes run here now.
    pub(crate) fn writes_here(self: &Arc<Self>) -> bool {
        self.options.writes && self.tell(|state, _| state.protocol.route().is_none())
    }

    /// Waits until the token is cancelled and [`drop_cancelled`](Self::drop_cancelled) is called.
    pub(crate) async fn given_up(&self, token: &Token) {
        let mut cancelled = self.cancelled.subscribe();
        while !token.is_cancelled() {
            if cancelled.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// Notes that tokens have been cancelled.
    pub(crate) fn drop_cancelled(&self) {
        self.cancelled.send_replace(());
    }

    /// Tries to run a write once. Returns `None` if the write was not run and must be routed anew.
    async fn run_once(self: &Arc<Self>, write: &Write) -> Result<Option<(Position, Vec<Packed>)>> {
        let Some(to) = self.tell(|state, _| state.protocol.route()) else {
            if !self.options.writes {
                return Ok(None);
            }
            let written = self.write_here(write.clone()).await;
            return match written {
                Err(Error::Database(error)) if is_overtaken(&error) => Ok(None),
                written => written.map(Some),
            };
        };
        match self.write_there(write, to).await? {
            Outcome::Answer(Answer::Done(position, results)) => Ok(Some((position, results))),
            Outcome::Answer(Answer::TooLarge(position)) => Err(Error::AnswerTooLarge { position }),
            Outcome::Answer(Answer::Failed(error)) => Err(error),
            Outcome::Settled(Settled::Done(position, Some((changes, last_insert_rowid)))) => {
                let done = Packed {
                    changes,
                    last_insert_rowid,
                    ..Packed::default()
                };
                Ok(Some((position, vec![done])))
            }
            Outcome::Settled(Settled::Done(position, None)) => Err(Error::AnswerLost { position }),
            Outcome::Settled(Settled::Unknown) => Err(Error::OutcomeUnknown(
                "the node that was to run the write did not answer, and the log could not tell in time whether it has \
                 happened: read before you write again"
                    .into(),
            )),
            Outcome::Settled(Settled::Not) | Outcome::Answer(Answer::NotRun | Answer::Unknown) => Ok(None),
        }
    }

    /// Runs a write here. Returns its position.
    async fn write_here(&self, write: Write) -> Result<(Position, Vec<Packed>)> {
        let (collect, done) = Collect::new();
        self.engine.upgrade().ok_or(Error::Closed)?.write(write, collect);
        Ok(done.await.unwrap_or(Err(resqlite::Error::Closed))?)
    }

    /// Asks another node to run a write, and waits until the outcome is known or nobody waits for it any more.
    async fn write_there(self: &Arc<Self>, write: &Write, to: Run) -> Result<Outcome> {
        let (waits, outcome) = oneshot::channel();
        let request = self.tell(|state, now| {
            let number = state.next_number();
            state.requests.insert(number, waits);
            Request {
                known: state.protocol.requested(now, number, to.clone()),
                id: RequestId {
                    from: self.run.clone(),
                    number,
                },
                to,
                integers: write.integers,
                op: write.op.clone(),
            }
        });
        let node = Arc::clone(self);
        self.run_to_end(async move { node.send(request).await });
        tokio::select! {
            biased;
            outcome = outcome => outcome.map_err(|_| Error::Closed),
            () = self.given_up(&write.token) => Err(Error::OutcomeUnknown(
                "the call was given up while another node was asked to run the write: whether it has happened, or will, is \
                 not known; read before you write again"
                    .into(),
            )),
        }
    }

    async fn send(self: Arc<Self>, request: Request) {
        let (number, bytes) = (request.id.number, request.to_bytes());
        let asked = self.log.request(&request.to.node, bytes);
        let asked = tokio::time::timeout(self.options.forward_timeout, asked).await;
        self.tell(|state, _| {
            let protocol = &mut state.protocol;
            let answer = match asked {
                Ok(Ok(bytes)) => Answer::from_bytes(&bytes),
                Ok(Err(LogError::Unreachable(_) | LogError::TooLarge { .. })) => Some(Answer::NotRun),
                Ok(Err(_)) | Err(_) => None,
            };
            match answer {
                Some(Answer::NotRun) => protocol.not_run(number),
                None | Some(Answer::Unknown) => protocol.unanswered(number),
                Some(answer) => {
                    if protocol.answered(number)
                        && let Some(waits) = state.requests.remove(&number)
                    {
                        let _ = waits.send(Outcome::Answer(answer));
                    }
                }
            }
        });
    }

    /// Runs a write of another node.
    async fn serve(self: Arc<Self>, bytes: Bytes) -> Answer {
        let Some(request) = Request::from_bytes(&bytes) else {
            return Answer::Unknown;
        };
        let Request {
            id,
            to,
            known,
            integers,
            op,
        } = request;
        let token = Token::default();
        let accepted = self.tell(|state, _| match state.protocol.accept(&id, &to, known) {
            Acceptance::Run => {
                let tag = state.next_number();
                let token = token.clone();
                state.served.insert(tag, Serving { id, known, token });
                Ok(tag)
            }
            Acceptance::NotRun => Err(Answer::NotRun),
            Acceptance::Unknown | Acceptance::Doubled => Err(Answer::Unknown),
        });
        let tag = match accepted {
            Ok(tag) => tag,
            Err(answer) => return answer,
        };
        let done = self.write_here(write(op, integers, token, Some(tag))).await;
        self.tell(|state, _| state.served.remove(&tag));
        match answer(done) {
            // A node that has stopped should not be the node that reports a failure.
            Answer::Failed(_) if self.check_running().is_err() => Answer::NotRun,
            answer => answer,
        }
    }

    /// Writes something, so that this node becomes the writer.
    pub(super) async fn write_turn(&self) -> Result<()> {
        let statements = [
            (
                "CREATE TABLE IF NOT EXISTS _resqlite_turns(node TEXT PRIMARY KEY, turns INTEGER NOT NULL) WITHOUT ROWID",
                Params::from(()),
            ),
            (
                "INSERT INTO _resqlite_turns VALUES (?, 1) ON CONFLICT DO UPDATE SET turns = turns + 1",
                Params::from([self.run.node.as_str().into()]),
            ),
        ];
        let op = WriteOp::Statements(statements.into_iter().collect::<Statements>());
        self.write_here(write(op, Integers::Auto, Token::default(), None))
            .await
            .map(drop)
    }
}

fn write(op: WriteOp, integers: Integers, token: Token, tag: Option<NonZeroU64>) -> Write {
    Write {
        op,
        durability: Durability::Normal,
        integers,
        token,
        tag,
    }
}

/// Returns the error of a write that was sent from node to node until its time was up.
fn never_first() -> Error {
    Error::Database(resqlite::Error::Entry {
        fault: EntryFault::Overtaken,
        message: "other nodes were first again and again, until the write's time was up; it has not happened"
            .into(),
    })
}

/// Returns the error of a node that never writes and has found no node that does.
fn nobody_writes() -> Error {
    Error::NoQuorum(
        "no node that writes has answered in time, and this one never writes (`writes` is false); the write has not happened"
            .into(),
    )
}

/// Returns the answer to another node about its write.
fn answer(done: Result<(Position, Vec<Packed>)>) -> Answer {
    match done {
        Ok((position, results)) => Answer::Done(position, results),
        Err(Error::Database(resqlite::Error::Aborted)) => Answer::NotRun,
        Err(Error::Database(resqlite::Error::Closed | resqlite::Error::WorkerDied)) => Answer::Unknown,
        Err(Error::OutcomeUnknown(_) | Error::Closed) => Answer::Unknown,
        Err(Error::Stopped { .. }) => Answer::NotRun,
        Err(Error::Database(resqlite::Error::Entry {
            fault: EntryFault::Overtaken | EntryFault::RefusedAs(CLOSED),
            ..
        })) => Answer::NotRun,
        Err(error) => Answer::Failed(error),
    }
}

/// Serves the requests of other nodes.
pub(super) struct Server(pub(super) Arc<Node>);

impl Handler for Server {
    fn handle(&self, request: Bytes, answer_max: usize) -> BoxFuture<'static, Bytes> {
        let node = Arc::clone(&self.0);
        async move { node.serve(request).await.to_bytes_within(answer_max) }.boxed()
    }
}

/// Returns the position of the entry of a commit. The gate of a node has commits numbered by positions.
fn position_of(CommitId(position): CommitId) -> Position {
    Position(position)
}

/// The position of a write, and its results.
type Collected = resqlite::Result<(Position, Vec<Packed>)>;

/// Collects the reply to a write.
struct Collect(oneshot::Sender<Collected>);

impl Collect {
    fn new() -> (Box<Self>, oneshot::Receiver<Collected>) {
        let (sender, done) = oneshot::channel();
        (Box::new(Self(sender)), done)
    }
}

impl Reply for Collect {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        unreachable!("writes hand their rows over at the end")
    }

    fn finish(self: Box<Self>, outcome: resqlite::Result<Done<'_>>) {
        let results = outcome.map(|outcome| match outcome {
            Done::Written(rows, written) => {
                let packed = Packed {
                    changes: written.changes,
                    last_insert_rowid: written.last_insert_rowid,
                    rows: rows.to_vec(),
                    columns: None,
                };
                (position_of(written.commit), vec![packed])
            }
            Done::Results(results, commit) => {
                let packed = results.iter().map(|result| Packed {
                    changes: result.changes,
                    last_insert_rowid: result.last_insert_rowid,
                    rows: result.rows.clone(),
                    columns: Some(Arc::clone(&result.columns)),
                });
                (position_of(commit), packed.collect())
            }
            _ => unreachable!("it is the reply to a write"),
        });
        // The receiver is gone if the caller gave up waiting.
        let _ = self.0.send(results);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_of_another_node_that_was_overtaken_too_often_has_not_run_and_goes_another_way() {
        assert!(matches!(answer(Err(never_first())), Answer::NotRun));
    }
}
