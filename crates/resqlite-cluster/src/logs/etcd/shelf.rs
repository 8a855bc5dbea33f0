//! Pieces of snapshots, each under a key of its own.

use bytes::Bytes;
use futures_util::FutureExt;

use super::{
    keys::{delete, end_of, get, last_part, number, put},
    proto::{KeyValue, Operation, Range, Txn},
    store::Store,
};
use crate::{
    core::log::LogError,
    logs::{positions::digits, snapshots::Shelf},
};

impl Shelf for Store {
    async fn put(&self, name: String, value: Bytes) -> Result<(), LogError> {
        let put = put(self.keys.snapshots(&name), value, 0);
        self.do_each(vec![put]).await.map(|_| ())
    }

    async fn get(&self, name: String) -> Result<Option<Bytes>, LogError> {
        let found = self.do_each(vec![get(self.keys.snapshots(&name))]).await?.pop();
        Ok(found.map(|kv| kv.value))
    }

    async fn newest(&self, name: &'static str) -> Result<Option<u64>, LogError> {
        let prefix = self.keys.snapshots("");
        let all = Range {
            range_end: end_of(&prefix),
            key: prefix.clone(),
            keys_only: true,
            limit: 0,
        };
        let kvs = self.do_each(vec![Operation::Range(all).into()]).await?;
        let position = |kv: &KeyValue| number(kv.key.get(prefix.len()..prefix.len() + 20)?);
        Ok(kvs
            .iter()
            .filter(|kv| last_part(kv) == Some(name))
            .filter_map(position)
            .max())
    }

    async fn delete_below(&self, position: u64) -> Result<(), LogError> {
        let end = self.keys.snapshots(&digits(position));
        self.do_each(vec![delete(self.keys.snapshots(""), end)])
            .await
            .map(|_| ())
    }
}

impl Store {
    /// Operations that can be done twice; what the first one has read.
    async fn do_each(&self, operations: Vec<super::proto::RequestOp>) -> Result<Vec<KeyValue>, LogError> {
        let txn = Txn {
            success: operations,
            ..Txn::default()
        };
        let mut done = self
            .deadline()
            .retry(|| self.client.txn(txn.clone()).boxed())
            .await?;
        Ok(done.range(0).kvs)
    }
}
