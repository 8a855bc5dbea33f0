//! Pieces of snapshots, each under a key of its own.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::{FutureExt, future::join_all};
use resqlite::log::Position;

use super::{
    keys::{delete, end_of, get, last_part, position, put, sealed},
    proto::{KeyValue, Operation, Range, RequestOp, Txn, TxnResponse},
    store::EtcdLog,
};
use crate::{
    core::{
        copies::{Copies, Fault},
        log::LogError,
        seal::seal,
    },
    logs::{positions::digits, snapshots::Shelf, stored::Entries},
};

impl Shelf for EtcdLog {
    fn copies(&self) -> &Copies {
        &self.copies
    }

    async fn put(&self, name: String, value: Bytes) -> Result<(), LogError> {
        let key = self.keys.snapshots(&name);
        let sealed = seal(&key, &value);
        self.do_each(vec![put(key, sealed, 0)]).await
    }

    async fn get(&self, name: String, what: String) -> Result<Option<Bytes>, LogError> {
        let txn = Txn {
            success: vec![get(self.keys.snapshots(&name))],
            ..Txn::default()
        };
        let read = |mut found: TxnResponse| found.range(0).kvs.pop().map_or(Err(Fault::Missing), sealed);
        self.find_surely(&what, &txn, read).await
    }

    /// Returns a position that two servers report, if two answer: a server whose disk is damaged may lack the name, or have
    /// another name.
    async fn newest(&self, name: &'static str) -> Result<Option<Position>, LogError> {
        self.deadline().retry(|| self.ask_newest(name).boxed()).await
    }

    async fn delete_below(&self, position: Position) -> Result<(), LogError> {
        let end = self.keys.snapshots(&digits(position));
        self.do_each(vec![delete(self.keys.snapshots(""), end)]).await
    }
}

impl EtcdLog {
    async fn ask_newest(&self, name: &'static str) -> Result<Option<Position>, LogError> {
        let prefix = self.keys.snapshots("");
        let all = Range {
            range_end: end_of(&prefix),
            key: prefix.clone(),
            keys_only: true,
            limit: 0,
        };
        let txn = Txn {
            success: vec![Operation::Range(all).into()],
            ..Txn::default()
        };
        let position_of = |kv: &KeyValue| position(kv.key.get(prefix.len()..prefix.len() + 20)?);
        let ask = |server| self.client.txn_on(server, txn.clone());
        let (mut answers, mut failed, mut known) = (0, None, BTreeMap::<Position, usize>::new());
        for answer in join_all((0..self.copies.count()).map(ask)).await {
            match answer {
                Ok(mut answer) => {
                    answers += 1;
                    let kvs = answer.range(0).kvs;
                    let named = kvs.iter().filter(|kv| last_part(kv) == Some(name));
                    named
                        .filter_map(position_of)
                        .for_each(|position| *known.entry(position).or_default() += 1);
                }
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if answers == 0 => Err(error),
            _ => Ok(known
                .into_iter()
                .rev()
                .find(|(_, servers)| *servers >= answers.min(2))
                .map(|(at, _)| at)),
        }
    }

    /// Runs operations that can be done twice.
    async fn do_each(&self, operations: Vec<RequestOp>) -> Result<(), LogError> {
        let txn = Txn {
            success: operations,
            ..Txn::default()
        };
        let deadline = self.deadline();
        let done = deadline.retry(|| self.client.txn(txn.clone()).boxed());
        done.await.map(|_| ())
    }
}
