//! A log whose store does everything: entries, pieces of snapshots, requests.

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture, stream::BoxStream};
use resqlite::log::Position;

use super::{
    snapshots::{self, Shelf},
    tail::{self, Tailed},
};
use crate::core::{
    deadline::Deadline,
    log::{Append, Handler, Log, LogError, NodeName, Part, Serving},
};

/// The calls of a [`Log`] that concern entries.
pub(super) trait Entries: Send + Sync + 'static {
    fn append(
        &self,
        position: Position,
        bytes: Bytes,
    ) -> impl Future<Output = Result<Append, LogError>> + Send;
    fn read(&self, position: Position) -> impl Future<Output = Result<Option<Bytes>, LogError>> + Send;
    fn last(&self) -> impl Future<Output = Result<Position, LogError>> + Send;
    fn purge(&self, up_to: Position) -> impl Future<Output = Result<(), LogError>> + Send;
    /// Returns the most bytes that the log takes at once.
    fn bytes_max(&self) -> usize;
    /// The timeout of one call.
    fn timeout(&self) -> Duration;

    fn deadline(&self) -> Deadline {
        Deadline::after(self.timeout())
    }

    fn check_size(&self, bytes: &Bytes) -> Result<(), LogError> {
        let limit = self.bytes_max();
        if bytes.len() > limit {
            return Err(LogError::TooLarge { limit });
        }
        Ok(())
    }
}

/// The calls of a [`Log`] by which nodes reach each other.
pub(super) trait Mailbox {
    fn ask(&self, node: NodeName, bytes: Bytes) -> impl Future<Output = Result<Bytes, LogError>> + Send;
    fn answer(
        &self,
        node: NodeName,
        handler: Arc<dyn Handler>,
    ) -> impl Future<Output = Result<Serving, LogError>> + Send;
}

impl<L: Entries + Tailed + Shelf + Mailbox> Log for L {
    fn append(&self, position: Position, bytes: Bytes) -> BoxFuture<'_, Result<Append, LogError>> {
        Entries::append(self, position, bytes).boxed()
    }

    fn read(&self, position: Position) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        Entries::read(self, position).boxed()
    }

    fn tail(&self, from: Position) -> BoxStream<'_, Result<(Position, Bytes), LogError>> {
        tail::stream(Tailed::tail(self, from.max(Position(1))))
    }

    fn last(&self) -> BoxFuture<'_, Result<Position, LogError>> {
        Entries::last(self).boxed()
    }

    fn put_snapshot(&self, position: Position, file: &Path) -> BoxFuture<'_, Result<(), LogError>> {
        snapshots::put(self, position, file.to_owned()).boxed()
    }

    fn last_snapshot(&self) -> BoxFuture<'_, Result<Option<Position>, LogError>> {
        snapshots::last(self).boxed()
    }

    fn get_snapshot(&self, into: &Path) -> BoxFuture<'_, Result<Option<Position>, LogError>> {
        snapshots::get(self, into.to_owned()).boxed()
    }

    fn put_part(&self, part: Part, bytes: Bytes) -> BoxFuture<'_, Result<(), LogError>> {
        snapshots::put_part(self, part, bytes).boxed()
    }

    fn get_part(&self, part: Part) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        snapshots::get_part(self, part).boxed()
    }

    fn purge(&self, up_to: Position) -> BoxFuture<'_, Result<(), LogError>> {
        Entries::purge(self, up_to).boxed()
    }

    fn request(&self, node: &NodeName, bytes: Bytes) -> BoxFuture<'_, Result<Bytes, LogError>> {
        self.ask(node.clone(), bytes).boxed()
    }

    fn serve(&self, node: &NodeName, handler: Arc<dyn Handler>) -> BoxFuture<'_, Result<Serving, LogError>> {
        self.answer(node.clone(), handler).boxed()
    }

    fn damaged(&self) -> Vec<String> {
        self.copies().damaged()
    }
}
