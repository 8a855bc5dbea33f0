//! The log on etcd: a key for each position, and one that says which is the last.
//!
//! An append is a transaction on condition that the last position is the one before. Reads are linearizable.
//!
//! The disks of etcd have no checksums of what is read from them. So all values are sealed, and what is damaged or missing on
//! one server is read from the others.

mod client;
mod keys;
mod mailbox;
mod options;
mod proto;
mod shelf;
mod store;
mod tail;

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture, stream::BoxStream};
use resqlite::log::Position;

pub use self::options::EtcdOptions;
use self::{store::Store, tail::EtcdTail};
use crate::{
    core::log::{Append, Handler, Log, LogError, NodeName, Part, Serving},
    logs::{snapshots, tail as tails},
};

/// A log on etcd.
///
/// The servers should be there for the cluster alone: a purge compacts the history of all keys. Snapshots are kept in etcd
/// too, whose space is 2 GB as it is installed (`--quota-backend-bytes`): three snapshots (two that are kept, and
/// a new one while it is put) and the entries since the oldest must fit.
#[derive(Debug, Clone)]
pub struct EtcdLog(Store);

impl EtcdLog {
    /// Connects to the servers. Call it within a runtime of tokio.
    ///
    /// Waits while the servers elect a leader: for ten times the `timeout`.
    ///
    /// # Errors
    /// No server can be reached, or a file that the options name cannot be read.
    pub async fn open(options: EtcdOptions) -> Result<Self, LogError> {
        Store::open(options).await.map(Self)
    }

    /// How many bytes one request can carry; a larger entry goes in parts.
    pub fn limit(&self) -> usize {
        self.0.options.limit
    }
}

impl Log for EtcdLog {
    fn append(&self, position: Position, bytes: Bytes) -> BoxFuture<'_, Result<Append, LogError>> {
        self.0.append(position, bytes).boxed()
    }

    fn read(&self, position: Position) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        self.0.read(position).boxed()
    }

    fn tail(&self, from: Position) -> BoxStream<'_, Result<(Position, Bytes), LogError>> {
        tails::stream(EtcdTail::from(&self.0, from))
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
