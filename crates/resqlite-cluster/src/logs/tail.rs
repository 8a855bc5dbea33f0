//! The tail of a log as a stream.

use std::future::Future;

use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};

use resqlite::log::Position;

use crate::core::log::LogError;

/// A reader of a log from a position on.
pub(super) trait Tail: Send {
    /// Returns the next entry with its position. After an error the tail must be begun anew.
    fn entry(&mut self) -> impl Future<Output = Result<(Position, Bytes), LogError>> + Send;
}

/// A log that can be read from a position on. The position is at least 1.
pub(super) trait Tailed {
    fn tail(&self, from: Position) -> impl Tail;
}

pub(super) fn stream<'a>(tail: impl Tail + 'a) -> BoxStream<'a, Result<(Position, Bytes), LogError>> {
    stream::unfold(Some(tail), |tail| async {
        let mut tail = tail?;
        match tail.entry().await {
            Ok(entry) => Some((Ok(entry), Some(tail))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}
