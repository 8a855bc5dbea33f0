//! Pieces of snapshots, each under a subject of its own.

use async_nats::jetstream::stream::LastRawMessageErrorKind;
use bytes::Bytes;
use futures_util::{FutureExt, TryStreamExt};
use resqlite::log::Position;
use serde_json::json;

use super::{
    error::unknown,
    store::NatsLog,
    streams::{snapshot_subject, snapshots_stream},
};
use crate::{
    core::{
        copies::{Copies, Fault},
        log::LogError,
        seal::{open_seal, seal},
    },
    logs::{positions::digits, snapshots::Shelf, stored::Entries},
};

impl Shelf for NatsLog {
    fn copies(&self) -> &Copies {
        &self.copies
    }

    async fn put(&self, name: String, value: Bytes) -> Result<(), LogError> {
        self.check_size(&value)?;
        let subject = snapshot_subject(&self.options, &name);
        let sealed = seal(subject.as_bytes(), &value);
        self.deadline()
            .retry(|| {
                async {
                    let sent = self.context.publish(subject.clone(), sealed.clone()).await;
                    let stored = sent.map_err(|error| unknown(&error))?.await;
                    stored.map(|_| ()).map_err(|error| unknown(&error))
                }
                .boxed()
            })
            .await
    }

    /// Asks only the leader of the stream. If the leader lacks the message, as a server with a damaged disk does, another server
    /// is to lead.
    async fn get(&self, name: String, what: String) -> Result<Option<Bytes>, LogError> {
        let subject = snapshot_subject(&self.options, &name);
        let mut lacking = Vec::new();
        for _ in 0..self.options.replicas {
            let fault = match self.get_message(&subject).await? {
                None => Fault::Missing,
                Some(sealed) => match open_seal(subject.as_bytes(), sealed) {
                    Some(bytes) => {
                        self.note(&what, &lacking);
                        return Ok(Some(bytes));
                    }
                    None => Fault::Damaged,
                },
            };
            lacking.push((self.turn().await, fault));
        }
        if lacking.iter().all(|(_, fault)| *fault == Fault::Missing) {
            return Ok(None);
        }
        self.note(&what, &lacking);
        let servers: Vec<_> = lacking.into_iter().map(|(server, _)| server).collect();
        Err(LogError::Damaged(format!(
            "{what} is damaged on the servers of NATS that were asked ({})",
            servers.join(", ")
        )))
    }

    async fn newest(&self, name: &'static str) -> Result<Option<Position>, LogError> {
        let positions = self.positions(&format!("*.{name}")).await?;
        Ok(positions.into_iter().max())
    }

    async fn delete_below(&self, position: Position) -> Result<(), LogError> {
        let mut old = self.positions(">").await?;
        old.sort_unstable();
        old.dedup();
        for old in old.into_iter().filter(|old| *old < position) {
            let subject = snapshot_subject(&self.options, &format!("{}/>", digits(old)));
            self.deadline()
                .retry(|| {
                    async {
                        let purge = self.snapshots.purge().filter(&subject);
                        purge.await.map_err(|error| unknown(&error))
                    }
                    .boxed()
                })
                .await?;
        }
        Ok(())
    }
}

impl NatsLog {
    async fn get_message(&self, subject: &str) -> Result<Option<Bytes>, LogError> {
        self.deadline()
            .retry(|| {
                async {
                    match self.snapshots.get_last_raw_message_by_subject(subject).await {
                        Ok(message) => Ok(Some(message.payload)),
                        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
                        Err(error) => Err(unknown(&error)),
                    }
                }
                .boxed()
            })
            .await
    }

    /// Makes another server lead the stream of the snapshots, if there is another. Returns the name of the server that led
    /// before.
    async fn turn(&self) -> String {
        let led = self.snapshots.get_info().await.ok();
        let led = led.and_then(|info| info.cluster?.leader);
        if self.options.replicas > 1 {
            let request = format!("STREAM.LEADER.STEPDOWN.{}", snapshots_stream(&self.options));
            // If that fails, the same server is asked again.
            let _: Result<serde_json::Value, _> = self.context.request(request, &json!({})).await;
        }
        led.unwrap_or_else(|| "the server that leads".to_owned())
    }

    fn note(&self, what: &str, lacking: &[(String, Fault)]) {
        for (server, fault) in lacking {
            self.copies.note_on(server, what, *fault);
        }
    }

    /// Returns the positions of the pieces whose subjects match, in no order and with repetitions.
    async fn positions(&self, pattern: &str) -> Result<Vec<Position>, LogError> {
        let filter = snapshot_subject(&self.options, pattern);
        let before = snapshot_subject(&self.options, "");
        self.deadline()
            .retry(|| {
                async {
                    let listed = self.snapshots.info_with_subjects(&filter).await;
                    let listed = listed.map_err(|error| unknown(&error))?;
                    let subjects: Vec<(String, usize)> =
                        listed.try_collect().await.map_err(|error| unknown(&error))?;
                    let position = |subject: &str| {
                        let digits = subject.strip_prefix(&before)?.split('.').next()?;
                        digits.parse().ok().map(Position)
                    };
                    Ok(subjects
                        .iter()
                        .filter_map(|(subject, _)| position(subject))
                        .collect())
                }
                .boxed()
            })
            .await
    }
}
