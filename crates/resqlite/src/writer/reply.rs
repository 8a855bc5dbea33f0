//! Replies of the writer.

use crate::{
    core::{commit_id::CommitId, error::Result, profile},
    requests::{
        request::{Outcome, ReplyGuard, Written},
        statements::StatementResult,
    },
    rows::Packed,
};

/// The outcome of a write. The commit number is set at commit.
pub(crate) enum Done {
    /// The rows that it returned, packed, and its numbers.
    Write(Vec<Packed>, Written),
    /// The outcome of each of its statements.
    Results(Vec<StatementResult>),
}

/// Sends a reply.
pub(super) fn send_reply(reply: ReplyGuard, outcome: Result<Outcome<'_>>) {
    let timer = profile::start();
    reply.finish(outcome);
    profile::writer_reply(timer);
}

/// Sends the reply to a write.
pub(super) fn answer(reply: ReplyGuard, done: Result<(Done, CommitId)>) {
    match done {
        Ok((Done::Write(rows, written), commit)) => {
            send_reply(reply, Ok(Outcome::Written(&rows, Written { commit, ..written })));
        }
        Ok((Done::Results(results), commit)) => send_reply(reply, Ok(Outcome::Results(&results, commit))),
        Err(error) => send_reply(reply, Err(error)),
    }
}
