//! The question where the log begins.

use std::time::Duration;

use futures_util::FutureExt;
use resqlite::log::Position;

use super::parts;
use crate::{
    core::{
        codes,
        deadline::Deadline,
        error::{Error, Result},
        log::{Log, LogError},
    },
    protocol::Beginning,
    wire::open_envelope,
};

/// Asks the log where it begins, again and again, until it answers or the time is over.
pub(super) async fn beginning(log: &dyn Log, patience: Duration) -> Result<Beginning> {
    let asked = Deadline::after(patience);
    let asked = asked.retry(|| {
        async move {
            match parts::read(log, Position(1), patience).await {
                Ok(Some(bytes)) => Ok(Some(bytes)),
                Err(LogError::Purged { first }) if first > Position(1) => Err(LogError::Purged { first }),
                // A read may lag behind.
                Ok(None) | Err(LogError::Purged { .. }) if log.last().await? > Position(0) => {
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
