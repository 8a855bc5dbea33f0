//! The streams of a cluster, and what can be done with the entries.

use std::{sync::Arc, time::Duration};

use async_nats::{
    Client,
    connection::State,
    jetstream::{
        self, Context,
        context::{PublishError, PublishErrorKind},
        message::PublishMessage,
        stream::{LastRawMessageErrorKind, Stream},
    },
};
use bytes::Bytes;
use futures_util::FutureExt;
use resqlite::log::Position;

use super::{barrier, connection, error::unknown, options::NatsOptions, streams, sync};
use crate::{
    core::{
        copies::Copies,
        deadline::Deadline,
        limits::PIECE_BYTES,
        log::{Append, LogError},
    },
    logs::{snapshots::Shelf, stored::Entries},
};

/// The bytes of the largest message that the headers of an entry take up.
const HEADERS: usize = 512;

/// A log on NATS JetStream.
#[derive(Debug, Clone)]
pub struct NatsLog {
    pub(super) options: NatsOptions,
    pub(super) client: Client,
    pub(super) context: Context,
    pub(super) entries: Stream<()>,
    pub(super) snapshots: Stream<()>,
    pub(super) copies: Arc<Copies>,
}

impl NatsLog {
    /// Connects to the servers, and makes the streams if they are not there yet. Call it within a runtime of tokio.
    ///
    /// Waits while the servers elect a leader: for ten times the `timeout`.
    ///
    /// # Errors
    /// No server can be reached, its `max_payload` is too small, an existing stream of this name is not fit, or a server does not
    /// sync each entry (found only with [`NatsOptions::system`]).
    pub async fn open(options: NatsOptions) -> Result<Self, LogError> {
        options.check()?;
        let deadline = Deadline::after(options.timeout * 10);
        let client = connection::open(&options, &deadline).await?;
        if !options.system.is_empty() {
            sync::check(&options).await?;
        }
        check_payload(client.server_info().max_payload)?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(options.patience());
        let entries = streams::entries(&context, &options, &deadline).await?;
        let snapshots = streams::snapshots(&context, &options, &deadline).await?;
        Ok(Self {
            options,
            client,
            context,
            entries,
            snapshots,
            copies: Arc::new(Copies::on(vec!["NATS".to_owned()])),
        })
    }

    /// The most bytes that one message can carry; a larger entry is sent in parts.
    pub fn limit(&self) -> usize {
        self.client.server_info().max_payload.saturating_sub(HEADERS)
    }

    /// Fails without a connection: a message would be kept until there is one.
    pub(super) fn check_connection(&self) -> Result<(), LogError> {
        match self.client.connection_state() {
            State::Connected => Ok(()),
            _ => Err(LogError::Unreachable("no server of NATS is connected".to_owned())),
        }
    }

    /// Confirms a refusal. A leader also refuses because of an entry that it has sent to the other servers but that may never be
    /// taken.
    async fn confirm_refusal(&self, position: Position) -> Result<Append, LogError> {
        match self.read(position).await {
            Ok(Some(_)) | Err(LogError::Purged { .. }) => return Ok(Append::Refused),
            Ok(None) | Err(_) => {}
        }
        if self.last().await?.next() == position {
            return Err(LogError::Unknown("an earlier try came to nothing".to_owned()));
        }
        Ok(Append::Refused)
    }

    /// Fails if the position was purged.
    pub(super) async fn absent(&self, position: Position) -> Result<(), LogError> {
        let info = self.entries.get_info().await.map_err(|error| unknown(&error))?;
        let first = Position(info.state.first_sequence);
        if position < first {
            return Err(LogError::Purged { first });
        }
        Ok(())
    }
}

impl Entries for NatsLog {
    async fn append(&self, position: Position, bytes: Bytes) -> Result<Append, LogError> {
        self.check_size(&bytes)?;
        self.check_connection()?;
        let message = PublishMessage::build()
            .payload(bytes)
            .expected_last_sequence(position.before().0);
        let sent = self
            .context
            .send_publish(streams::entries_subject(&self.options), message)
            .await;
        let answer = match sent {
            Ok(answer) => answer.await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(ack) if Position(ack.sequence) == position => Ok(Append::Taken),
            Ok(ack) => Err(LogError::Unfit(format!(
                "an entry for position {position} was put at {}: somebody else writes to the stream",
                ack.sequence
            ))),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                self.confirm_refusal(position).await
            }
            Err(error) => Err(not_appended(&error)),
        }
    }

    async fn read(&self, position: Position) -> Result<Option<Bytes>, LogError> {
        self.deadline()
            .retry(|| {
                async {
                    match self.entries.get_raw_message(position.0).await {
                        Ok(message) => Ok(Some(message.payload)),
                        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                            self.absent(position).await?;
                            Ok(None)
                        }
                        Err(error) => Err(unknown(&error)),
                    }
                }
                .boxed()
            })
            .await
    }

    async fn last(&self) -> Result<Position, LogError> {
        self.deadline()
            .retry(|| barrier::last(&self.entries, &self.options.name).boxed())
            .await
    }

    async fn purge(&self, up_to: Position) -> Result<(), LogError> {
        if up_to == Position(0) {
            return Ok(());
        }
        self.deadline()
            .retry(|| {
                async {
                    let purge = self.entries.purge().sequence(up_to.next().0);
                    purge.await.map_err(|error| unknown(&error))
                }
                .boxed()
            })
            .await?;
        self.delete_below(up_to).await
    }

    fn bytes_max(&self) -> usize {
        self.limit()
    }

    fn timeout(&self) -> Duration {
        self.options.timeout
    }
}

/// Fails if the largest message cannot carry a piece of a snapshot.
fn check_payload(max_payload: usize) -> Result<(), LogError> {
    let least = PIECE_BYTES + HEADERS;
    if max_payload < least {
        return Err(LogError::Unfit(format!(
            "max_payload of NATS is {max_payload} bytes: set it to at least {least}"
        )));
    }
    Ok(())
}

fn not_appended(error: &PublishError) -> LogError {
    match error.kind() {
        // No server listens: the stream has no leader.
        PublishErrorKind::StreamNotFound => LogError::Unreachable("the stream has no leader".to_owned()),
        PublishErrorKind::MaxAckPending => LogError::Unreachable(error.to_string()),
        _ => unknown(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G330
    #[test]
    fn a_server_whose_messages_are_too_small_for_snapshots_is_refused() {
        assert_eq!(check_payload(1 << 20), Ok(()));
        assert_eq!(check_payload(PIECE_BYTES + HEADERS), Ok(()));
        let refused = check_payload(PIECE_BYTES);
        assert!(
            matches!(&refused, Err(LogError::Unfit(why)) if why.contains("max_payload")),
            "{refused:?}"
        );
    }
}
