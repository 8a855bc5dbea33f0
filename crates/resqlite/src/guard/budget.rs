//! Limits on the cost of a query, for SQL that users write.

use std::time::{Duration, Instant};

use crate::{
    core::{
        clock,
        error::{Error, Result},
        limits::PROGRESS_OPERATIONS,
    },
    requests::request::QueryLimits,
};

/// The limits of a query, and what the query has used of them.
pub(crate) struct Budget {
    limits: QueryLimits,
    /// The time at which the query last began or resumed; `ran` is how long it had run before.
    since: Instant,
    ran: Duration,
    steps: u64,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(limits: QueryLimits) -> Self {
        Self {
            limits,
            since: clock::now(),
            ran: Duration::ZERO,
            steps: 0,
            bytes: 0,
        }
    }

    /// Stops counting the time while the query waits for its caller.
    pub(crate) fn pause(&mut self) {
        self.ran += clock::since(self.since);
    }

    /// Counts the time again when the query goes on.
    pub(crate) fn resume(&mut self) {
        self.since = clock::now();
    }

    /// Returns an error if the query has run too long.
    pub(crate) fn check_time(&self) -> Result<()> {
        match self.limits.time {
            Some(most) if self.ran + clock::since(self.since) > most => Err(exceeded(
                "time",
                format!("took longer than {} ms", most.as_secs_f64() * 1000.0),
            )),
            _ => Ok(()),
        }
    }

    /// Counts one call of the progress handler.
    pub(crate) fn spend_steps(&mut self) -> Result<()> {
        self.steps += u64::from(PROGRESS_OPERATIONS);
        match self.limits.steps {
            Some(most) if self.steps > most => Err(exceeded("steps", format!("took more than {most} steps"))),
            _ => Ok(()),
        }
    }

    /// Counts bytes that are about to be handed over.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes as u64;
        match self.limits.bytes {
            Some(most) if self.bytes > most => Err(exceeded("bytes", format!("gave more than {most} bytes"))),
            _ => Ok(()),
        }
    }
}

fn exceeded(limit: &'static str, how: String) -> Error {
    let message = format!("the query {how}, which is its limit (limits.{limit})");
    Error::Limit { limit, message }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Budget, QueryLimits};

    /// Kept short: some clocks begin when the machine starts, and cannot be set back further than that.
    const MINUTE: Duration = Duration::from_secs(60);

    fn a_minute() -> Budget {
        Budget::new(QueryLimits {
            time: Some(MINUTE),
            ..QueryLimits::default()
        })
    }

    #[test]
    fn the_time_of_a_query_adds_up() {
        let mut budget = a_minute();
        for _ in 0..2 {
            budget.check_time().unwrap();
            budget.since -= MINUTE * 2 / 3;
            budget.pause();
            budget.resume();
        }
        budget.check_time().unwrap_err();
    }

    // G203
    #[test]
    fn time_that_passes_between_pause_and_resume_does_not_count() {
        let mut budget = a_minute();
        budget.pause();
        budget.since -= MINUTE * 2;
        budget.resume();
        budget.check_time().unwrap();
    }
}
