//! The entries as they arrive.
//!
//! A consumer lives on one server, and is silent when that server dies. So it must send a heartbeat. If nothing arrives, or a
//! number is missing, another consumer begins at the next position.

use std::time::Duration;

use async_nats::{
    Message, StatusCode, Subscriber,
    header::NATS_LAST_STREAM,
    jetstream::{
        self,
        consumer::{AckPolicy, DeliverPolicy, push},
    },
};
use bytes::Bytes;
use futures_util::StreamExt;
use resqlite::log::Position;
use tokio::time::{sleep, timeout};

use super::{error::unknown, store::NatsLog, streams};
use crate::{
    core::{deadline::RETRY, log::LogError},
    logs::tail::{Tail, Tailed},
};

const HEARTBEAT: Duration = Duration::from_millis(250);
const SILENCE: Duration = Duration::from_millis(600);

struct NatsTail<'a> {
    log: &'a NatsLog,
    next: Position,
    consumer: Option<Subscriber>,
}

/// The content of a message of the consumer.
enum News {
    Entry(Bytes),
    Nothing,
    /// The consumer is not to be trusted any more.
    Broken,
}

impl Tailed for NatsLog {
    fn tail(&self, from: Position) -> impl Tail {
        NatsTail {
            log: self,
            next: from,
            consumer: None,
        }
    }
}

impl Tail for NatsTail<'_> {
    async fn entry(&mut self) -> Result<(Position, Bytes), LogError> {
        loop {
            if let Some(bytes) = self.wait().await? {
                let position = self.next;
                self.next = self.next.next();
                return Ok((position, bytes));
            }
        }
    }
}

impl NatsTail<'_> {
    /// Returns the next entry, or `None` if the caller must ask again.
    async fn wait(&mut self) -> Result<Option<Bytes>, LogError> {
        let Some(consumer) = &mut self.consumer else {
            self.begin().await?;
            return Ok(None);
        };
        let message = timeout(SILENCE, consumer.next()).await.ok().flatten();
        let news = match message {
            Some(message) => self.news(message).await,
            None => News::Broken,
        };
        match news {
            News::Entry(bytes) => return Ok(Some(bytes)),
            News::Nothing => {}
            News::Broken => self.consumer = None,
        }
        Ok(None)
    }

    /// Makes a consumer. Leaves the tail without a consumer if none can be made now.
    async fn begin(&mut self) -> Result<(), LogError> {
        let is_purged = match self.log.absent(self.next).await {
            Err(error @ LogError::Purged { .. }) => return Err(error),
            outcome => outcome,
        };
        let consumer = match is_purged {
            Ok(()) => timeout(SILENCE * 2, self.subscribe())
                .await
                .unwrap_or_else(|_| Err(late())),
            Err(error) => Err(error),
        };
        match consumer {
            Ok(consumer) => self.consumer = Some(consumer),
            Err(_) => sleep(RETRY).await,
        }
        Ok(())
    }

    async fn subscribe(&self) -> Result<Subscriber, LogError> {
        let inbox = self.log.client.new_inbox();
        let subscriber = self
            .log
            .client
            .subscribe(inbox.clone())
            .await
            .map_err(|error| unknown(&error))?;
        let config = push::Config {
            deliver_subject: inbox,
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: self.next.0,
            },
            ack_policy: AckPolicy::None,
            filter_subject: streams::entries_subject(&self.log.options),
            flow_control: true,
            idle_heartbeat: HEARTBEAT,
            memory_storage: true,
            num_replicas: 1,
            ..push::Config::default()
        };
        self.log
            .entries
            .create_consumer(config)
            .await
            .map_err(|error| unknown(&error))?;
        Ok(subscriber)
    }

    async fn news(&self, message: Message) -> News {
        match message.status {
            None => self.entry_of(message),
            Some(StatusCode::IDLE_HEARTBEAT) => self.pulse(message).await,
            Some(_) => News::Broken,
        }
    }

    fn entry_of(&self, message: Message) -> News {
        let message = jetstream::Message {
            message,
            context: self.log.context.clone(),
        };
        match message.info().map(|info| Position(info.stream_sequence)) {
            Ok(position) if position == self.next => News::Entry(message.message.payload),
            Ok(position) if position < self.next => News::Nothing,
            _ => News::Broken,
        }
    }

    /// Handles a heartbeat, or a question whether we keep up. Both want an answer if they name a subject to reply to.
    async fn pulse(&self, message: Message) -> News {
        if let Some(asked) = message.reply.clone()
            && self.log.client.publish(asked, Bytes::new()).await.is_err()
        {
            return News::Broken;
        }
        let sent = message
            .headers
            .as_ref()
            .and_then(|headers| headers.get(NATS_LAST_STREAM));
        match sent.and_then(|sent| sent.as_str().parse().ok()).map(Position) {
            Some(sent) if self.next <= sent => News::Broken,
            _ => News::Nothing,
        }
    }
}

fn late() -> LogError {
    LogError::Unknown("no consumer in time".to_owned())
}
