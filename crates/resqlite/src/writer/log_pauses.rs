//! Decides when the write-ahead log starts anew. It can only do so while nobody reads from it (checkpoint starvation).
//!
//! ```text
//! log too long ──► new leases wait ──► no lease is left: new re-runs wait ──► no re-run runs: reads wait ──► the log starts anew
//!                        └──────────────────────────┴── time is over ────────────────┴──► all go on; again when the log has grown
//! ```
//!
//! The writer goes on with its work meanwhile, except while reads wait, and the pools wake it. The kinds of reads wait one after
//! the other, because a caller who has a lease may wait for a re-run or a read before the lease ends.

use std::time::{Duration, Instant};

use crate::core::limits;

/// The pauses, past and present, in which the log starts anew.
#[derive(Default)]
pub(super) struct LogPauses {
    /// The end of the pause that has begun.
    until: Option<Instant>,
    /// The length that the log must reach for another pause, after a pause that failed.
    next_at: u32,
    /// Leases were open at the end of the pause that failed.
    failed_for_leases: bool,
}

/// Returns a time that grows with the log, up to `most`.
fn growing(time: Duration, pages: u32, most: Duration) -> Duration {
    let factor = f64::from(pages.max(limits::WAL_RESTART_PAGES)) / f64::from(limits::WAL_RESTART_PAGES);
    time.mul_f64(factor).min(most)
}

/// Returns the longest time for which reads are held back while the log has this number of pages.
pub(super) fn read_pause(pages: u32) -> Duration {
    growing(limits::READ_PAUSE, pages, limits::READ_PAUSE_MAX)
}

impl LogPauses {
    /// Returns the end of the current pause, with this number of pages in the log. A pause begins if one is due and may succeed. A
    /// pause is in vain while a lease is open for longer than a pause takes. `oldest` is the age of the oldest lease.
    pub(super) fn until(&mut self, pages: u32, oldest: Option<Duration>, now: Instant) -> Option<Instant> {
        if self.until.is_none() {
            let is_due = pages >= self.next_at || self.failed_for_leases && oldest.is_none();
            let time = growing(limits::LOG_PAUSE, pages, limits::LOG_PAUSE_MAX);
            let begins = is_due && oldest.is_none_or(|age| age < time);
            self.until = begins.then(|| now + time);
        }
        self.until
    }

    /// Notes that the pause is over and that the log has not started anew.
    pub(super) fn failed(&mut self, pages: u32, for_leases: bool) {
        *self = Self {
            until: None,
            next_at: pages.saturating_add(pages / 2),
            failed_for_leases: for_leases,
        };
    }

    /// Notes that the log has started anew. Returns whether a pause was under way.
    pub(super) fn ended(&mut self) -> bool {
        std::mem::take(self).until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: u32 = limits::WAL_RESTART_PAGES;
    const YOUNG: Option<Duration> = Some(Duration::from_millis(1));
    const OLD: Option<Duration> = Some(limits::LOG_PAUSE);

    // G101
    #[test]
    fn a_pause_takes_longer_where_the_log_is_longer_and_never_longer_than_it_may() {
        let time = |pages| {
            let now = Instant::now();
            LogPauses::default().until(pages, None, now).unwrap() - now
        };
        let times = [1, 2, 20, 1000].map(|times| time(LONG * times));
        let (one, most) = (limits::LOG_PAUSE, limits::LOG_PAUSE_MAX);
        assert_eq!(times, [one, one * 2, one * 20, most]);
    }

    // G101
    #[test]
    fn a_pause_that_is_under_way_keeps_its_end() {
        let (mut pauses, now) = (LogPauses::default(), Instant::now());
        let until = pauses.until(LONG, YOUNG, now);
        assert_eq!(pauses.until(LONG * 4, OLD, now + limits::LOG_PAUSE), until);
        assert!(pauses.ended());
        assert!(!pauses.ended());
    }

    // G101
    #[test]
    fn no_pause_begins_beside_a_lease_that_is_open_for_longer_than_it_may_take() {
        let (mut pauses, now) = (LogPauses::default(), Instant::now());
        assert_eq!(pauses.until(LONG, OLD, now), None);
        assert!(pauses.until(LONG * 2, OLD, now).is_some());
        assert!(LogPauses::default().until(LONG, None, now).is_some());
    }

    // G101
    #[test]
    fn after_one_that_failed_the_next_comes_when_the_log_has_grown_or_the_leases_are_gone() {
        let (mut pauses, now) = (LogPauses::default(), Instant::now());
        pauses.failed(LONG, true);
        assert_eq!(pauses.until(LONG + 1, YOUNG, now), None);
        assert!(pauses.until(LONG + 1, None, now).is_some());
        pauses.failed(LONG, false);
        assert_eq!(pauses.until(LONG + 1, None, now), None);
        assert!(pauses.until(LONG * 3 / 2, YOUNG, now).is_some());
    }
}
