//! Answering callers from the writer's thread.

use super::unit::Done;
use crate::{
    core::{error::Result, profile},
    requests::request::{Outcome, ReplyGuard, Written},
};

/// Answers a caller.
pub(super) fn send_reply(reply: ReplyGuard, outcome: Result<Outcome<'_>>) {
    let timer = profile::start();
    reply.finish(outcome);
    profile::writer_reply(timer);
}

/// Answers the caller of a write.
pub(super) fn answer(reply: ReplyGuard, done: Result<(Done, u64)>) {
    match done {
        Ok(((rows, written), commit)) => {
            send_reply(reply, Ok(Outcome::Written(&rows, Written { commit, ..written })));
        }
        Err(error) => send_reply(reply, Err(error)),
    }
}
