//! A write: here, or on the node that writes. And the writes of other nodes here.

use std::{num::NonZeroU64, sync::Arc};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use resqlite::{
    ColumnLayout, Durability, EntryFault, Integers, Outcome as Done, Params, Reply, RowBatch, Statements,
    Token, Write, WriteOp,
};
use tokio::sync::oneshot;

use super::{
    Node,
    driver::{CLOSED, Outcome, Serving},
};
use crate::{
    core::{
        codes,
        error::{Error, Result},
        log::{Handler, LogError},
        written::{Packed, Written},
    },
    protocol::{Acceptance, RequestId, Run, Settled},
    wire::{Answer, Request},
};

impl Node {
    /// Runs a write, on the node that writes.
    pub(crate) async fn write(self: &Arc<Self>, op: WriteOp) -> Result<Vec<Written>> {
        loop {
            let Some((position, results)) = self.write_once(&op).await? else {
                continue;
            };
            // It has happened, though this node has stopped before it had it.
            let reached = self.reach(position).await;
            reached.map_err(|_| Error::AnswerLost { position })?;
            return Ok(results
                .into_iter()
                .map(|result| result.unpack(position))
                .collect());
        }
    }

    /// `None`: it was not run, and goes another way now.
    async fn write_once(self: &Arc<Self>, op: &WriteOp) -> Result<Option<(u64, Vec<Packed>)>> {
        let Some(to) = self.tell(|state, _| state.protocol.route()) else {
            let results = self.write_here(op.clone(), Token::default(), None).await?;
            return Ok(Some((*self.applied.borrow(), results)));
        };
        match self.write_there(op, to).await? {
            Outcome::Answer(Answer::Done(position, results)) => Ok(Some((position, results))),
            Outcome::Answer(Answer::Failed(code, message)) => Err(match code.as_str() {
                codes::NO_QUORUM => Error::NoQuorum(message),
                _ => Error::Elsewhere { code, message },
            }),
            Outcome::Settled(Settled::Done(position, Some((changes, last_insert_rowid)))) => {
                let rows = Vec::new();
                Ok(Some((position, vec![Packed { changes, last_insert_rowid, rows }])))
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

    /// Runs a write here; with a number, if it is another node's.
    async fn write_here(&self, op: WriteOp, token: Token, tag: Option<NonZeroU64>) -> Result<Vec<Packed>> {
        let (collect, done) = Collect::new();
        let write = Write {
            op,
            durability: Durability::Normal,
            integers: Integers::BigInt,
            token,
            tag,
        };
        self.engine.upgrade().ok_or(Error::Closed)?.write(write, collect);
        Ok(done.await.unwrap_or(Err(resqlite::Error::Closed))?)
    }

    /// Asks another node to run a write, and waits until it is known what became of it.
    async fn write_there(self: &Arc<Self>, op: &WriteOp, to: Run) -> Result<Outcome> {
        let (waits, outcome) = oneshot::channel();
        let request = self.tell(|state, now| {
            let number = state.next_number();
            state.requests.insert(number, waits);
            Request {
                base: state.protocol.requested(now, number, to.clone()),
                id: RequestId {
                    from: self.run.clone(),
                    number,
                },
                to,
                op: op.clone(),
            }
        });
        let node = Arc::clone(self);
        self.keep_asking(async move { node.send(request).await });
        outcome.await.map_err(|_| Error::Closed)
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
                Some(Answer::NotRun) => protocol.not_run(number, true),
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
        let Some(Request { id, to, base, op }) = Request::from_bytes(&bytes) else {
            return Answer::Unknown;
        };
        let token = Token::default();
        let accepted = self.tell(|state, _| match state.protocol.accept(&id, &to, base) {
            Acceptance::Run => {
                let tag = state.next_number();
                let token = token.clone();
                state.served.insert(tag, Serving { id, base, token });
                Ok(tag)
            }
            Acceptance::NotRun => Err(Answer::NotRun),
            Acceptance::Unknown | Acceptance::Doubled => Err(Answer::Unknown),
        });
        let tag = match accepted {
            Ok(tag) => tag,
            Err(answer) => return answer,
        };
        let done = self.write_here(op, token, Some(tag)).await;
        let position = self.tell(|state, _| {
            state.served.remove(&tag);
            state.protocol.applied().position
        });
        answer(position, done)
    }

    /// Writes something, so that this node is the writer.
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
        self.write_here(op, Token::default(), None).await.map(drop)
    }
}

/// What another node is told of its write.
fn answer(position: u64, done: Result<Vec<Packed>>) -> Answer {
    match done {
        Ok(results) => Answer::Done(position, results),
        Err(Error::Database(resqlite::Error::Aborted)) => Answer::NotRun,
        Err(Error::Database(resqlite::Error::Closed | resqlite::Error::WorkerDied)) => Answer::Unknown,
        Err(Error::OutcomeUnknown(_) | Error::Closed) => Answer::Unknown,
        Err(Error::Stopped { .. }) => Answer::NotRun,
        Err(Error::Database(resqlite::Error::Entry {
            fault: EntryFault::Overtaken | EntryFault::RefusedAs(CLOSED),
            ..
        })) => Answer::NotRun,
        Err(error) => Answer::Failed(error.code().to_owned(), error.to_string()),
    }
}

/// Serves the requests of other nodes.
pub(super) struct Server(pub(super) Arc<Node>);

impl Handler for Server {
    fn handle(&self, request: Bytes) -> BoxFuture<'static, Bytes> {
        let node = Arc::clone(&self.0);
        async move { node.serve(request).await.to_bytes() }.boxed()
    }
}

/// Collects the reply to a write.
struct Collect(oneshot::Sender<resqlite::Result<Vec<Packed>>>);

impl Collect {
    fn new() -> (Box<Self>, oneshot::Receiver<resqlite::Result<Vec<Packed>>>) {
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
            Done::Written(rows, written) => vec![Packed {
                changes: written.changes,
                last_insert_rowid: written.last_insert_rowid,
                rows: rows.to_vec(),
            }],
            Done::Results(results, _) => results
                .iter()
                .map(|result| Packed {
                    changes: result.changes,
                    last_insert_rowid: result.last_insert_rowid,
                    rows: result.rows.clone(),
                })
                .collect(),
            _ => Vec::new(),
        });
        // Whoever gave up waiting is gone.
        let _ = self.0.send(results);
    }
}
