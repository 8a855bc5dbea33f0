//! Requests to nodes, as keys, since etcd carries no messages. A request and its answer are each a write to a majority.
//!
//! A node that serves has a key with a lease. The asking node puts a request beside that key, on condition that the key is there,
//! and watches for the answer. Answers have the lease of the node that serves, so that no answer is left for ever.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::{
    runtime::Handle,
    sync::watch,
    task::JoinSet,
    time::{Instant, interval, sleep, timeout_at},
};

use super::{
    client::Client,
    keys::{delete, end_of, last_part, put},
    proto::{
        Compare, KeyValue, Lease, LeaseGrant, LeaseRevoke, LeaseRevokeResponse, Operation, Range, RequestOp,
        Txn,
    },
    store::EtcdLog,
};
use crate::{
    core::{
        deadline::RETRY,
        log::{Handler, LogError, NodeName, Serving},
    },
    logs::stored::{Entries, Mailbox},
};

/// The seconds without a sign of life after which a node counts as gone.
const LEASE: i64 = 5;
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

impl Mailbox for EtcdLog {
    async fn ask(&self, node: NodeName, bytes: Bytes) -> Result<Bytes, LogError> {
        self.check_size(&bytes)?;
        let deadline = Instant::now() + self.options.timeout;
        let id = format!("{:016x}", RandomState::new().build_hasher().finish());
        let txn = Txn {
            compare: vec![Compare::present(self.keys.node(&node))],
            success: vec![put(self.keys.requests(&node, &id), bytes, 0)],
            failure: Vec::new(),
        };
        let asked = self.client.txn(txn).await?;
        if !asked.succeeded {
            return Err(LogError::Unreachable(format!("nobody serves the node {node}")));
        }
        let answer = timeout_at(deadline, self.await_answer(&id, asked.revision())).await;
        self.clear(self.keys.requests(&node, &id), self.keys.answer(&id));
        answer.unwrap_or_else(|_| Err(LogError::Unknown(format!("{node} did not answer in time"))))
    }

    async fn answer(&self, node: NodeName, handler: Arc<dyn Handler>) -> Result<Serving, LogError> {
        let lease = self.deadline().retry(|| self.appear(&node).boxed()).await?;
        let (lease, seen) = watch::channel(lease);
        let mut tasks = JoinSet::new();
        tasks.spawn(live(self.clone(), node.clone(), lease));
        let requests = Requests {
            log: self.clone(),
            node,
            handler,
            lease: seen.clone(),
            answering: JoinSet::new(),
        };
        tasks.spawn(requests.answer_all());
        Ok(Serving::new(Presence {
            client: Arc::clone(&self.client),
            lease: seen,
            tasks,
        }))
    }
}

impl EtcdLog {
    async fn await_answer(&self, id: &str, mut after: i64) -> Result<Bytes, LogError> {
        loop {
            let mut watch = self
                .client
                .watch(self.keys.answer(id), Bytes::new(), after)
                .await?;
            while let Ok(Some(news)) = watch.message().await {
                if let Some(kv) = news.events.into_iter().find_map(|event| event.kv) {
                    return Ok(kv.value);
                }
                if news.canceled {
                    break;
                }
            }
            // An answer that arrived meanwhile is found by reading.
            let (revision, kvs) = read(&self.client, self.keys.answer(id), Bytes::new()).await?;
            if let Some(kv) = kvs.into_iter().next() {
                return Ok(kv.value);
            }
            after = revision;
        }
    }

    /// Deletes a request and its answer. Nobody waits for the deletion.
    fn clear(&self, request: Bytes, answer: Bytes) {
        let client = Arc::clone(&self.client);
        let operations = vec![delete(request, Bytes::new()), delete(answer, Bytes::new())];
        tokio::spawn(async move { apply(&client, operations).await });
    }

    /// Announces that this node serves. Requests to a process that served under this name before are deleted, since they are not
    /// ours to answer.
    async fn appear(&self, node: &NodeName) -> Result<i64, LogError> {
        let granted = LeaseGrant { ttl: LEASE };
        let lease: Lease = self
            .client
            .call("/etcdserverpb.Lease/LeaseGrant", granted)
            .await?;
        let requests = self.keys.requests(node, "");
        let forget = delete(requests.clone(), end_of(&requests));
        apply(
            &self.client,
            vec![forget, put(self.keys.node(node), Bytes::new(), lease.id)],
        )
        .await?;
        Ok(lease.id)
    }
}

/// Sends signs of life, and announces the node again if they arrived too late.
async fn live(log: EtcdLog, node: NodeName, lease: watch::Sender<i64>) {
    let mut interval = interval(SIGN_OF_LIFE);
    loop {
        interval.tick().await;
        let id = *lease.borrow();
        match log.client.keep_alive(id).await {
            Ok(Lease { ttl: 0, .. }) => {
                if let Ok(id) = log.appear(&node).await {
                    lease.send_replace(id);
                }
            }
            Ok(_) => {}
            Err(_) => log.client.turn(),
        }
    }
}

struct Requests {
    log: EtcdLog,
    node: NodeName,
    handler: Arc<dyn Handler>,
    lease: watch::Receiver<i64>,
    answering: JoinSet<()>,
}

impl Requests {
    async fn answer_all(mut self) {
        loop {
            let _ = self.watch().await;
            sleep(RETRY).await;
        }
    }

    /// Answers the requests that are there, then those that arrive, until the watch ends.
    async fn watch(&mut self) -> Result<(), LogError> {
        let requests = self.log.keys.requests(&self.node, "");
        let end = end_of(&requests);
        let (revision, waiting) = read(&self.log.client, requests.clone(), end.clone()).await?;
        waiting.into_iter().for_each(|kv| self.answer(kv));
        let mut watch = self.log.client.watch(requests, end, revision).await?;
        while let Ok(Some(news)) = watch.message().await {
            news.events
                .into_iter()
                .filter_map(|event| event.kv)
                .for_each(|kv| self.answer(kv));
            while self.answering.try_join_next().is_some() {}
            if news.canceled {
                break;
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: KeyValue) {
        let Some(id) = last_part(&request) else {
            return;
        };
        let key = self.log.keys.answer(id);
        let (client, lease) = (Arc::clone(&self.log.client), *self.lease.borrow());
        let answer = self.handler.handle(request.value, self.log.options.limit);
        self.answering.spawn(async move {
            let operations = vec![delete(request.key, Bytes::new()), put(key, answer.await, lease)];
            // After an error, the asking node hears nothing and takes the answer for lost.
            let _ = apply(&client, operations).await;
        });
    }
}

/// Ends the serving when it is dropped.
struct Presence {
    client: Arc<Client>,
    lease: watch::Receiver<i64>,
    tasks: JoinSet<()>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.tasks.abort_all();
        let (client, id) = (Arc::clone(&self.client), *self.lease.borrow());
        // Without a runtime, the lease runs out by itself.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let revoked = client
                    .call("/etcdserverpb.Lease/LeaseRevoke", LeaseRevoke { id })
                    .await;
                revoked.map(|LeaseRevokeResponse {}| ())
            });
        }
    }
}

async fn read(client: &Client, key: Bytes, range_end: Bytes) -> Result<(i64, Vec<KeyValue>), LogError> {
    let range = Range {
        key,
        range_end,
        ..Range::default()
    };
    let txn = Txn {
        success: vec![Operation::Range(range).into()],
        ..Txn::default()
    };
    let mut found = client.txn(txn).await?;
    Ok((found.revision(), found.range(0).kvs))
}

async fn apply(client: &Client, operations: Vec<RequestOp>) -> Result<(), LogError> {
    let txn = Txn {
        success: operations,
        ..Txn::default()
    };
    client.txn(txn).await.map(|_| ())
}
