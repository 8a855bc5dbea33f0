//! The keys of a cluster, and what can be done with the entries.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;

use super::{
    client::Client,
    keys::{Keys, delete, get, number_in, put},
    options::EtcdOptions,
    proto::{Compaction, CompactionResponse, Compare, Operation, Relation, Txn},
};
use crate::{
    core::{
        deadline::Deadline,
        log::{Append, LogError},
    },
    logs::{positions::digits, snapshots::Shelf},
};

#[derive(Debug, Clone)]
pub(super) struct Store {
    pub(super) options: EtcdOptions,
    pub(super) client: Arc<Client>,
    pub(super) keys: Keys,
}

impl Store {
    pub(super) async fn open(options: EtcdOptions) -> Result<Self, LogError> {
        options.check()?;
        let log = Self {
            client: Arc::new(Client::new(&options)?),
            keys: Keys::new(options.name.clone()),
            options,
        };
        let deadline = Deadline::after(log.options.timeout * 10);
        deadline.retry(|| log.ask_last().boxed()).await?;
        Ok(log)
    }

    pub(super) fn deadline(&self) -> Deadline {
        Deadline::after(self.options.timeout)
    }

    pub(super) fn check_size(&self, bytes: &Bytes) -> Result<(), LogError> {
        let limit = self.options.limit;
        if bytes.len() > limit {
            return Err(LogError::TooLarge { limit });
        }
        Ok(())
    }

    pub(super) async fn append(&self, position: u64, bytes: Bytes) -> Result<Append, LogError> {
        self.check_size(&bytes)?;
        let last = self.keys.last();
        let is_next = match position {
            0 => return Ok(Append::Refused),
            1 => Compare::absent(last.clone()),
            _ => Compare::value(last.clone(), Relation::Equal, digits(position - 1)),
        };
        let txn = Txn {
            compare: vec![is_next],
            success: vec![
                put(self.keys.entry(position), bytes, 0),
                put(last, digits(position), 0),
            ],
            failure: Vec::new(),
        };
        let is_taken = self.client.txn(txn).await?.succeeded;
        Ok(if is_taken { Append::Taken } else { Append::Refused })
    }

    /// With what was purged, as it was at the same moment.
    pub(super) async fn read(&self, position: u64) -> Result<Option<Bytes>, LogError> {
        let txn = Txn {
            success: vec![get(self.keys.entry(position)), get(self.keys.purged())],
            ..Txn::default()
        };
        let mut found = self
            .deadline()
            .retry(|| self.client.txn(txn.clone()).boxed())
            .await?;
        if let Some(entry) = found.range(0).kvs.pop() {
            return Ok(Some(entry.value));
        }
        let purged = number_in(found.range(1));
        if position <= purged {
            return Err(LogError::Purged { first: purged + 1 });
        }
        Ok(None)
    }

    pub(super) async fn last(&self) -> Result<u64, LogError> {
        self.deadline().retry(|| self.ask_last().boxed()).await
    }

    async fn ask_last(&self) -> Result<u64, LogError> {
        let txn = Txn {
            success: vec![get(self.keys.last())],
            ..Txn::default()
        };
        let mut found = self.client.txn(txn).await?;
        Ok(number_in(found.range(0)))
    }

    pub(super) async fn purge(&self, up_to: u64) -> Result<(), LogError> {
        let txn = self.purge_txn(up_to);
        let done = self
            .deadline()
            .retry(|| self.client.txn(txn.clone()).boxed())
            .await?;
        self.delete_below(up_to).await?;
        self.compact(done.revision()).await
    }

    /// Also says how far it has gone, and never less than it said before.
    fn purge_txn(&self, up_to: u64) -> Txn {
        let purged = self.keys.purged();
        let say = put(purged.clone(), digits(up_to), 0);
        let say_more = Txn {
            compare: vec![Compare::value(purged.clone(), Relation::Less, digits(up_to))],
            success: vec![say.clone()],
            failure: Vec::new(),
        };
        let delete = delete(self.keys.entry(0), self.keys.entry(up_to + 1));
        Txn {
            compare: vec![Compare::absent(purged)],
            success: vec![say, delete.clone()],
            failure: vec![Operation::Txn(say_more).into(), delete],
        }
    }

    /// What is deleted takes room until then.
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
