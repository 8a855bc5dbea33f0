//! The two streams of a cluster.

use async_nats::jetstream::{
    Context, ErrorCode,
    context::{CreateStreamError, CreateStreamErrorKind},
    stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
};

use super::{error::unknown, options::NatsOptions};
use crate::core::{deadline::Deadline, log::LogError};
use futures_util::FutureExt;

pub(super) fn entries_subject(options: &NatsOptions) -> String {
    format!("{}.entries", options.name)
}

pub(super) fn snapshot_subject(options: &NatsOptions, name: &str) -> String {
    format!("{}.snapshots.{}", options.name, name.replace('/', "."))
}

pub(super) fn snapshots_stream(options: &NatsOptions) -> String {
    format!("{}-snapshots", options.name)
}

pub(super) async fn entries(
    context: &Context,
    options: &NatsOptions,
    deadline: &Deadline,
) -> Result<Stream<()>, LogError> {
    let config = Config {
        name: options.name.to_string(),
        subjects: vec![entries_subject(options)],
        deny_delete: true,
        ..durable(options)
    };
    open(context, config, deadline).await
}

pub(super) async fn snapshots(
    context: &Context,
    options: &NatsOptions,
    deadline: &Deadline,
) -> Result<Stream<()>, LogError> {
    let config = Config {
        name: snapshots_stream(options),
        subjects: vec![snapshot_subject(options, ">")],
        max_messages_per_subject: 1,
        ..durable(options)
    };
    open(context, config, deadline).await
}

/// Returns settings under which the stream discards nothing by itself, and nothing is read from a server that may lag behind.
fn durable(options: &NatsOptions) -> Config {
    Config {
        num_replicas: options.replicas,
        storage: StorageType::File,
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::New,
        allow_direct: false,
        ..Config::default()
    }
}

async fn open(context: &Context, wanted: Config, deadline: &Deadline) -> Result<Stream<()>, LogError> {
    deadline
        .retry(|| {
            async {
                let stream = context
                    .get_or_create_stream(wanted.clone())
                    .await
                    .map_err(|error| not_made(&error, &wanted))?;
                check(&stream.cached_info().config, &wanted)
            }
            .boxed()
        })
        .await?;
    context
        .get_stream_no_info(&wanted.name)
        .await
        .map_err(|error| unknown(&error))
}

fn not_made(error: &CreateStreamError, wanted: &Config) -> LogError {
    match error.kind() {
        CreateStreamErrorKind::JetStream(refused)
            if refused.error_code() == ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED =>
        {
            LogError::Unfit(format!(
                "replicas is {}, and the server of NATS is not one of several: give the servers the setting `cluster`, or the \
                 option replicas the value 1",
                wanted.num_replicas
            ))
        }
        _ => unknown(error),
    }
}

/// Checks that a stream that somebody else has made or changed is as safe as ours.
fn check(found: &Config, wanted: &Config) -> Result<(), LogError> {
    let faults = [
        (found.subjects != wanted.subjects, "has other subjects"),
        (found.num_replicas < wanted.num_replicas, "has fewer replicas"),
        (found.storage != wanted.storage, "is not kept in files"),
        (
            found.retention != wanted.retention,
            "lets go of messages that were read",
        ),
        (
            found.allow_direct,
            "lets servers answer that may be late (allow_direct)",
        ),
        (
            found.persist_mode.is_some()
                && found.persist_mode != Some(async_nats::jetstream::stream::PersistenceMode::Default),
            "is written late (persist_mode)",
        ),
        (!found.max_age.is_zero(), "lets go of old messages (max_age)"),
        (found.max_messages > 0, "has a limit of messages (max_msgs)"),
        (
            found.discard != wanted.discard,
            "lets go of old messages when it is full (discard)",
        ),
    ];
    match faults.iter().find(|(is_so, _)| *is_so) {
        Some((_, fault)) => Err(LogError::Unfit(format!("the stream {} {fault}", found.name))),
        None => Ok(()),
    }
}
