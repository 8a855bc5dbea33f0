//! The log on NATS JetStream: one stream, whose sequence numbers are the positions.
//!
//! An append names the sequence number that the stream must have reached. Nothing else adds to the stream, and a purge leaves
//! its sequence where it is, so that the numbers stay dense. Message ids are not used: the server would take a second try for
//! a duplicate, and answer without saying at which position it stands.

mod barrier;
mod connection;
mod error;
mod mailbox;
mod options;
mod shelf;
mod store;
mod streams;
mod sync;
mod tail;

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture, stream::BoxStream};
use resqlite::log::Position;

pub use self::options::NatsOptions;
use self::{store::Store, tail::NatsTail};
use crate::{
    core::log::{Append, Handler, Log, LogError, NodeName, Part, Serving},
    logs::{snapshots, tail as tails},
};

/// A log on NATS JetStream.
#[derive(Debug, Clone)]
pub struct NatsLog(Store);

impl NatsLog {
    /// Connects to the servers, and makes the streams if they are not there yet. Call it within a runtime of tokio.
    ///
    /// Waits while the servers elect a leader: for ten times the `timeout`.
    ///
    /// # Errors
    /// No server can be reached, its `max_payload` is too small, a stream of this name is there that is not fit, or a server does not sync each entry (found
    /// only with [`NatsOptions::system`]).
    pub async fn open(options: NatsOptions) -> Result<Self, LogError> {
        Store::open(options).await.map(Self)
    }

    /// How many bytes one message can carry; a larger entry goes in parts.
    pub fn limit(&self) -> usize {
        self.0.limit()
    }
}

impl Log for NatsLog {
    fn append(&self, position: Position, bytes: Bytes) -> BoxFuture<'_, Result<Append, LogError>> {
        self.0.append(position, bytes).boxed()
    }

    fn read(&self, position: Position) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        self.0.read(position).boxed()
    }

    fn tail(&self, from: Position) -> BoxStream<'_, Result<(Position, Bytes), LogError>> {
        tails::stream(NatsTail::from(&self.0, from))
    }

    fn last(&self) -> BoxFuture<'_, Result<Position, LogError>> {
        self.0.last().boxed()
    }

    fn put_snapshot(&self, position: Position, file: &Path) -> BoxFuture<'_, Result<(), LogError>> {
        let file = file.to_owned();
        async move { snapshots::put(&self.0, position, &file).await }.boxed()
    }

    fn last_snapshot(&self) -> BoxFuture<'_, Result<Option<Position>, LogError>> {
        snapshots::last(&self.0).boxed()
    }

    fn get_snapshot(&self, into: &Path) -> BoxFuture<'_, Result<Option<Position>, LogError>> {
        let into = into.to_owned();
        async move { snapshots::get(&self.0, &into).await }.boxed()
    }

    fn put_part(&self, part: Part, bytes: Bytes) -> BoxFuture<'_, Result<(), LogError>> {
        snapshots::put_part(&self.0, part, bytes).boxed()
    }

    fn get_part(&self, part: Part) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        snapshots::get_part(&self.0, part).boxed()
    }

    fn purge(&self, up_to: Position) -> BoxFuture<'_, Result<(), LogError>> {
        self.0.purge(up_to).boxed()
    }

    fn request(&self, node: &NodeName, bytes: Bytes) -> BoxFuture<'_, Result<Bytes, LogError>> {
        self.0.ask(node.clone(), bytes).boxed()
    }

    fn serve(&self, node: &NodeName, handler: Arc<dyn Handler>) -> BoxFuture<'_, Result<Serving, LogError>> {
        self.0.answer(node.clone(), handler).boxed()
    }

    fn damaged(&self) -> Vec<String> {
        self.0.copies.damaged()
    }
}
