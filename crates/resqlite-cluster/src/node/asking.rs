//! Questions to the log that are asked until it answers.

use std::time::{Duration, Instant};

use futures_util::{FutureExt, future::BoxFuture};

use super::parts;
use crate::{
    core::{
        codes,
        error::{Error, Result},
        log::{Log, LogError},
        options::RETRY,
    },
    protocol::Beginning,
    wire::open_envelope,
};

/// Where the log begins.
pub(super) async fn beginning(log: &dyn Log, patience: Duration) -> Result<Beginning> {
    let asked = patiently(patience, || {
        async move {
            match parts::read(log, 1, patience).await {
                Ok(Some(bytes)) => Ok(Some(bytes)),
                Err(LogError::Purged { first }) if first > 1 => Err(LogError::Purged { first }),
                // A read may be late.
                Ok(None) | Err(LogError::Purged { .. }) if log.last().await? > 0 => {
                    Err(LogError::Unknown("its first entry could not be read".into()))
                }
                Ok(None) | Err(LogError::Purged { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        }
        .boxed()
    });
    match asked.await {
        Ok(None) => Ok(Beginning::Nothing),
        Err(LogError::Purged { .. }) => Ok(Beginning::Purged),
        Err(error) => Err(error.unanswered()),
        Ok(Some(bytes)) => match open_envelope(bytes) {
            Ok(first) => Ok(Beginning::Base(first.link.previous)),
            Err(what) => Err(Error::Stopped {
                code: codes::LOG_DIVERGED,
                message: format!("the log has no cluster: at position 1, {what}"),
            }),
        },
    }
}

/// Asks the log again and again, until it answers or the time is up.
pub(super) async fn patiently<'a, T>(
    patience: Duration,
    ask: impl Fn() -> BoxFuture<'a, Result<T, LogError>>,
) -> Result<T, LogError> {
    let end = Instant::now() + patience;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let late = || Err(LogError::Unknown("the log did not answer in time".into()));
        match tokio::time::timeout(left, ask()).await.unwrap_or_else(|_| late()) {
            Err(LogError::Unreachable(_) | LogError::Unknown(_)) if Instant::now() < end => {
                tokio::time::sleep(RETRY).await;
            }
            answer => return answer,
        }
    }
}
