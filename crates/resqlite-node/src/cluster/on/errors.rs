//! Errors of clusters as JSON.

use resqlite_cluster::{Error, WriteReply};
use serde_json::json;

use crate::reply::FrameReply;

impl WriteReply for FrameReply {
    fn fail(self: Box<Self>, error: Error) {
        refuse(*self, &error);
    }
}

/// Answers with an error, in the form of `errors::to_json`. If the answer to a commit was lost or is too large, the
/// error has `commit`.
pub(super) fn refuse(reply: FrameReply, error: &Error) {
    if let Error::Database(error) = error {
        return reply.fail(error);
    }
    let mut object = json!({ "kind": "resqlite", "code": error.code(), "message": error.to_string() });
    if let Error::AnswerLost { position } | Error::AnswerTooLarge { position } = error {
        object["commit"] = position.0.into();
    }
    reply.fail_with(object.to_string().into_bytes());
}
