//! Entries that are larger than the log takes. Their parts are put beside the log, and then one entry is appended that names
//! them. So an entry is in the log as a whole or not at all. Parts that no entry names go with the next purge.

use std::{future::Future, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use resqlite::log::Position;

use crate::{
    core::{
        limits::PIECES_AT_ONCE,
        log::{Append, Log, LogError},
    },
    wire::Parts,
};

/// Appends bytes of any size. Each call of the log may take so long.
pub(super) async fn append(
    log: &dyn Log,
    position: Position,
    bytes: Bytes,
    patience: Duration,
) -> Result<Append, LogError> {
    let limit = match timed(patience, log.append(position, bytes.clone())).await {
        Err(LogError::TooLarge { limit }) => limit,
        outcome => return outcome,
    };
    // Parts take long. They are in vain if something stands there, and not needed if it is these bytes.
    match timed(patience, log.read(position)).await {
        Ok(None) => {}
        Ok(Some(_)) | Err(LogError::Purged { .. }) => return Ok(Append::Refused),
        Err(error) => return Err(not_appended(error)),
    }
    let parts = Parts::of(position, &bytes, limit);
    let put = parts
        .each()
        .map(|(part, range)| timed(patience, log.put_part(part, bytes.slice(range))));
    stream::iter(put)
        .buffer_unordered(PIECES_AT_ONCE)
        .try_collect::<Vec<()>>()
        .await
        .map_err(not_appended)?;
    timed(patience, log.append(position, parts.to_bytes())).await
}

/// The whole entry that the bytes at a position stand for. Where parts are missing or damaged, returns the bytes themselves,
/// which are no entry.
pub(super) async fn whole(
    log: &dyn Log,
    position: Position,
    bytes: Bytes,
    patience: Duration,
) -> Result<Bytes, LogError> {
    let Some(parts) = Parts::from_bytes(position, &bytes) else {
        return Ok(bytes);
    };
    let get = parts.each().map(|(part, _)| timed(patience, log.get_part(part)));
    let got: Option<Vec<_>> = stream::iter(get)
        .buffered(PIECES_AT_ONCE)
        .try_collect::<Vec<_>>()
        .await?
        .into_iter()
        .collect();
    match got.and_then(|got| parts.join(&got)) {
        Some(whole) => Ok(whole),
        // They may have been purged meanwhile, with their entry.
        None => timed(patience, log.read(position)).await.map(|_| bytes),
    }
}

/// Reads the whole entry at a position; `None` if there is none yet.
pub(crate) async fn read(
    log: &dyn Log,
    position: Position,
    patience: Duration,
) -> Result<Option<Bytes>, LogError> {
    match timed(patience, log.read(position)).await? {
        Some(bytes) => whole(log, position, bytes, patience).await.map(Some),
        None => Ok(None),
    }
}

pub(super) async fn timed<T>(
    patience: Duration,
    call: impl Future<Output = Result<T, LogError>>,
) -> Result<T, LogError> {
    let late = |_| Err(LogError::Unknown("it took too long".into()));
    tokio::time::timeout(patience, call).await.unwrap_or_else(late)
}

/// Nothing has been appended yet, whatever became of a part.
fn not_appended(error: LogError) -> LogError {
    match error {
        LogError::Unknown(why) => LogError::Unreachable(why),
        error => error,
    }
}
