//! The keys of a cluster, and what can be done with the entries.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, future::join_all};
use resqlite::log::Position;

use super::{
    client::Client,
    keys::{Keys, delete, get, position_as_value, position_in, put, sealed},
    options::EtcdOptions,
    proto::{Compaction, CompactionResponse, Compare, Operation, Relation, Txn, TxnResponse},
};
use crate::{
    core::{
        copies::{Copies, Fault},
        deadline::Deadline,
        log::{Append, LogError},
        seal::seal,
    },
    logs::{snapshots::Shelf, stored::Entries},
};

/// A log on etcd.
///
/// The servers should be there for the cluster alone: a purge compacts the history of all keys. Snapshots are also kept in etcd,
/// whose default space is 2 GB (`--quota-backend-bytes`). Three snapshots (two that are kept, and a new one while it is put) and
/// the entries since the oldest snapshot must fit.
#[derive(Debug, Clone)]
pub struct EtcdLog {
    pub(super) options: EtcdOptions,
    pub(super) client: Arc<Client>,
    pub(super) copies: Arc<Copies>,
    pub(super) keys: Keys,
    /// The last position that is known to be taken.
    ended: Arc<AtomicU64>,
}

/// The name of the key of the last position in messages.
const LAST: &str = "the last position";

/// Returns the name of an entry in messages.
pub(super) fn entry_at(position: Position) -> String {
    format!("the entry at position {position}")
}

impl EtcdLog {
    /// Connects to the servers. Call it within a runtime of tokio.
    ///
    /// Waits while the servers elect a leader: for ten times the `timeout`.
    ///
    /// # Errors
    /// No server can be reached, or a file that the options name cannot be read.
    pub async fn open(options: EtcdOptions) -> Result<Self, LogError> {
        options.check()?;
        let log = Self {
            client: Arc::new(Client::new(&options)?),
            copies: Arc::new(Copies::on(options.servers.clone())),
            keys: Keys::new(options.name.clone()),
            ended: Arc::default(),
            options,
        };
        let deadline = Deadline::after(log.options.timeout * 10);
        deadline.retry(|| log.ask_last().boxed()).await?;
        log.compare_servers().await;
        Ok(log)
    }

    /// The most bytes that one request can carry; a larger entry is sent in parts.
    pub fn limit(&self) -> usize {
        self.options.limit
    }

    fn ended(&self) -> Position {
        Position(self.ended.load(Ordering::Relaxed))
    }

    /// Notes that something stands at this position.
    pub(super) fn note_taken(&self, position: Position) {
        self.ended.fetch_max(position.0, Ordering::Relaxed);
    }

    /// Asks for the last position. A server that reports less than was known before has lost something, or all servers have.
    async fn ask_last(&self) -> Result<Position, LogError> {
        let known = self.ended();
        let most = AtomicU64::new(0);
        let read = |mut found: TxnResponse| {
            let last = position_in(found.range(0))?;
            most.fetch_max(last.0, Ordering::Relaxed);
            if last < known {
                Err(Fault::Missing)
            } else {
                Ok(last)
            }
        };
        let txn = self.last_txn();
        let found = self.find(LAST, &txn, read).await?;
        let last = found.unwrap_or_else(|| Position(most.into_inner()));
        self.note_taken(last);
        Ok(last)
    }

    fn last_txn(&self) -> Txn {
        Txn {
            success: vec![get(self.keys.last())],
            ..Txn::default()
        }
    }

    /// Asks each server for the last position, so that a server whose disk has lost it is recognised by the answers of the
    /// others.
    async fn compare_servers(&self) {
        let ask = |server| self.client.txn_on(server, self.last_txn());
        for mut answer in join_all((0..self.copies.count()).map(ask))
            .await
            .into_iter()
            .flatten()
        {
            self.note_taken(position_in(answer.range(0)).unwrap_or_default());
        }
    }

    /// Asks the servers one by one, until `read` takes an answer: see [`Copies::find`]. Later calls go to the server that gave
    /// that answer.
    pub(super) async fn find<T>(
        &self,
        what: &str,
        txn: &Txn,
        read: impl Fn(TxnResponse) -> Result<T, Fault>,
    ) -> Result<Option<T>, LogError> {
        let first = self.client.preferred();
        let ask = |server| self.client.txn_on(server, txn.clone());
        let found = self.copies.find(what, first, ask, read).await?;
        Ok(found.map(|(server, found)| {
            self.client.turn_to(first, server);
            found
        }))
    }

    /// Repeats `find` until there is an answer or the time is over.
    pub(super) async fn find_surely<T>(
        &self,
        what: &str,
        txn: &Txn,
        read: impl Fn(TxnResponse) -> Result<T, Fault> + Sync,
    ) -> Result<Option<T>, LogError>
    where
        T: Send,
    {
        let find = || self.find(what, txn, &read).boxed();
        self.deadline().retry(find).await
    }

    /// Returns the transaction of a purge. It also records the position that the purge has reached, and never lowers that
    /// position.
    fn purge_txn(&self, up_to: Position) -> Txn {
        let purged = self.keys.purged();
        let value = position_as_value(&purged, up_to);
        let say = put(purged.clone(), value.clone(), 0);
        let say_more = Txn {
            compare: vec![Compare::value(purged.clone(), Relation::Less, value)],
            success: vec![say.clone()],
            failure: Vec::new(),
        };
        let delete = delete(self.keys.entry(Position(0)), self.keys.entry(up_to.next()));
        Txn {
            compare: vec![Compare::absent(purged)],
            success: vec![say, delete.clone()],
            failure: vec![Operation::Txn(say_more).into(), delete],
        }
    }

    /// Compacts up to a revision. Deleted keys take room until they are compacted.
    async fn compact(&self, revision: i64) -> Result<(), LogError> {
        let compacted = self
            .client
            .call("/etcdserverpb.KV/Compact", Compaction { revision })
            .await;
        match compacted {
            // Somebody has compacted more.
            Err(LogError::Unknown(why)) if why.contains("compacted") => Ok(()),
            outcome => outcome.map(|CompactionResponse {}| ()),
        }
    }
}

impl Entries for EtcdLog {
    /// Appends an entry. Refuses it also if it stands there already, or if the log is not empty, although the key of the last
    /// position says otherwise. This happens on a server whose disk is damaged; the other servers would refuse the entry.
    async fn append(&self, position: Position, bytes: Bytes) -> Result<Append, LogError> {
        self.check_size(&bytes)?;
        if position == Position(0) {
            return Ok(Append::Refused);
        }
        let (last, entry) = (self.keys.last(), self.keys.entry(position));
        let is_next = match position.0 {
            1 => vec![
                Compare::absent(last.clone()),
                Compare::absent(self.keys.purged()),
                Compare::absent(entry.clone()),
            ],
            _ => vec![
                Compare::value(
                    last.clone(),
                    Relation::Equal,
                    position_as_value(&last, position.before()),
                ),
                Compare::absent(entry.clone()),
            ],
        };
        let value = position_as_value(&last, position);
        let txn = Txn {
            compare: is_next,
            success: vec![
                put(entry.clone(), seal(&entry, &bytes), 0),
                put(last.clone(), value, 0),
            ],
            failure: vec![get(last)],
        };
        let server = self.client.preferred();
        let mut done = self.client.txn_on(server, txn).await?;
        if done.succeeded {
            self.note_taken(position);
            return Ok(Append::Taken);
        }
        let last = position_in(done.range(0));
        if last.is_ok_and(|last| last.next() >= position) {
            return Ok(Append::Refused);
        }
        self.compare_servers().await;
        if last.is_ok() && self.ended().next() < position {
            return Ok(Append::Refused);
        }
        // The other servers may have taken the entry.
        self.copies.note(LAST, &[(server, Fault::Damaged)]);
        self.client.turn();
        Err(LogError::Unknown(format!("{LAST} is damaged on a server")))
    }

    /// Reads the entry together with the purged position and the last position, as they were at the same moment.
    async fn read(&self, position: Position) -> Result<Option<Bytes>, LogError> {
        let (entry, purged, last) = (self.keys.entry(position), self.keys.purged(), self.keys.last());
        let txn = Txn {
            success: vec![get(entry), get(purged), get(last)],
            ..Txn::default()
        };
        let what = entry_at(position);
        let read = |mut found: TxnResponse| {
            if let Some(entry) = found.range(0).kvs.pop() {
                return sealed(entry).map(|bytes| Ok(Some(bytes)));
            }
            let (purged, last) = (position_in(found.range(1))?, position_in(found.range(2))?);
            match position {
                _ if position <= purged => Ok(Err(LogError::Purged { first: purged.next() })),
                _ if position <= last => Err(Fault::Missing),
                _ => Ok(Ok(None)),
            }
        };
        let found = self.find_surely(&what, &txn, read).await?;
        found.unwrap_or_else(|| Err(self.copies.lost(&what)))
    }

    async fn last(&self) -> Result<Position, LogError> {
        self.deadline().retry(|| self.ask_last().boxed()).await
    }

    async fn purge(&self, up_to: Position) -> Result<(), LogError> {
        let txn = self.purge_txn(up_to);
        let done = self
            .deadline()
            .retry(|| self.client.txn(txn.clone()).boxed())
            .await?;
        self.delete_below(up_to).await?;
        self.compact(done.revision()).await
    }

    fn bytes_max(&self) -> usize {
        self.options.limit
    }

    fn timeout(&self) -> Duration {
        self.options.timeout
    }
}
