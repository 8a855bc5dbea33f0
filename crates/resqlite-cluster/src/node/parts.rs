//! Entries that are larger than the log takes. Their parts are put beside the log, and then one entry is appended that names
//! them. So an entry is in the log as a whole or not at all. Parts that no entry names are deleted by the next purge.

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

/// Appends bytes of any size. Each call to the log may take as long as `patience`.
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
    // Parts take long. They are in vain if something stands at the position already, and not needed if these bytes stand there.
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

/// Returns the whole entry that the bytes at a position stand for. If parts are missing or damaged, returns the bytes themselves,
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
        // The parts may have been purged meanwhile, together with their entry.
        None => timed(patience, log.read(position)).await.map(|_| bytes),
    }
}

/// Reads the whole entry at a position. Returns `None` if there is no entry yet.
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

/// Returns the error for a failure before the append: nothing has been appended, whatever happened to a part.
fn not_appended(error: LogError) -> LogError {
    match error {
        LogError::Unknown(why) => LogError::Unreachable(why),
        error => error,
    }
}
