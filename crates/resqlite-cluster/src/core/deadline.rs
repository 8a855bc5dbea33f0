//! Calls that are made again until they succeed or the time is over.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout_at};

use super::log::LogError;

/// The pause before the next try: short compared with an election.
pub(crate) const RETRY: Duration = Duration::from_millis(50);

/// The time by which a call must have its answer.
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(duration: Duration) -> Self {
        Self(Instant::now() + duration)
    }

    /// Makes the attempt until it succeeds, fails for good, or the time is over. The attempt may take effect twice.
    pub(crate) async fn retry<'a, T>(
        &self,
        attempt: impl Fn() -> BoxFuture<'a, Result<T, LogError>>,
    ) -> Result<T, LogError> {
        let mut last = LogError::Unknown("the log did not answer in time".to_owned());
        loop {
            match timeout_at(self.0, attempt()).await {
                Ok(Err(error @ (LogError::Unknown(_) | LogError::Unreachable(_)))) => last = error,
                Ok(done) => return done,
                Err(_) => return Err(last),
            }
            if Instant::now() + RETRY >= self.0 {
                return Err(last);
            }
            sleep(RETRY).await;
        }
    }
}
