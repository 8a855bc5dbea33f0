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
    /// The rows that the write returned, packed, and the numbers of the write.
    Write(Vec<Packed>, Written),
    /// The result of each statement of the write.
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
