//! Requests to nodes, as requests of NATS.

use std::sync::Arc;

use async_nats::{Message, Request, RequestErrorKind, Subject};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::task::JoinSet;

use super::{error::unknown, store::NatsLog};
use crate::{
    core::log::{Handler, LogError, NodeName, Serving},
    logs::stored::{Entries, Mailbox},
};

impl Mailbox for NatsLog {
    async fn ask(&self, node: NodeName, bytes: Bytes) -> Result<Bytes, LogError> {
        self.check_size(&bytes)?;
        self.check_connection()?;
        let request = Request::new().payload(bytes).timeout(Some(self.options.timeout));
        match self.client.send_request(self.subject_of(&node), request).await {
            Ok(answer) => Ok(answer.payload),
            Err(error) if error.kind() == RequestErrorKind::NoResponders => {
                Err(LogError::Unreachable(format!("nobody serves the node {node}")))
            }
            Err(error) => Err(unknown(&error)),
        }
    }

    async fn answer(&self, node: NodeName, handler: Arc<dyn Handler>) -> Result<Serving, LogError> {
        let subject = self.subject_of(&node);
        let mut requests = self
            .client
            .subscribe(subject)
            .await
            .map_err(|error| unknown(&error))?;
        // The server knows of the subscription only after this.
        self.client.flush().await.map_err(|error| unknown(&error))?;
        let log = self.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut answers = JoinSet::new();
            while let Some(request) = requests.next().await {
                answers.spawn(answer_one(log.clone(), request, Arc::clone(&handler)));
                while answers.try_join_next().is_some() {}
            }
        });
        Ok(Serving::new(serving))
    }
}

impl NatsLog {
    fn subject_of(&self, node: &NodeName) -> Subject {
        format!("{}.nodes.{node}", self.options.name).into()
    }
}

/// Answers one request. If the answer cannot be sent, the asking node hears nothing and takes the answer for lost.
async fn answer_one(log: NatsLog, request: Message, handler: Arc<dyn Handler>) {
    let answer = handler.handle(request.payload, log.limit()).await;
    if let Some(reply) = request.reply {
        let _ = log.client.publish(reply, answer).await;
    }
}
