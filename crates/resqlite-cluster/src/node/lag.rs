//! The time for which the database has not had what the log has.

use std::{collections::VecDeque, time::Duration};

use resqlite::log::Position;

use crate::protocol::Time;

/// Positions that become known within this time after others count as known at the same time.
const GRAIN: Duration = Duration::from_millis(10);
/// The same time, as a fraction of the lag. So a lag of any length has few marks. The error of a lag is at most this fraction of
/// the longest lag since the node last had everything.
const GRAIN_PART: u32 = 128;

/// The times at which the node learned of the positions that its database does not have yet.
#[derive(Debug, Default)]
pub(crate) struct Lag(VecDeque<Mark>);

#[derive(Debug)]
struct Mark {
    /// The last of the positions that became known at this time.
    last: Position,
    since: Time,
}

impl Lag {
    /// Notes that the database has reached `applied` while the log has reached `newest`.
    pub(super) fn note(&mut self, now: Time, applied: Position, newest: Position) {
        while self.0.front().is_some_and(|mark| mark.last <= applied) {
            self.0.pop_front();
        }
        if newest > self.0.back().map_or(applied, |mark| mark.last) {
            self.add(now, newest);
        }
    }

    fn add(&mut self, now: Time, newest: Position) {
        let grain = GRAIN.max(self.age(now) / GRAIN_PART);
        match self.0.back_mut() {
            Some(mark) if now.saturating_sub(mark.since) < grain => mark.last = newest,
            _ => self.0.push_back(Mark {
                last: newest,
                since: now,
            }),
        }
    }

    /// Returns the time for which the oldest missing entry has been known.
    pub(crate) fn age(&self, now: Time) -> Duration {
        let oldest = self.0.front();
        oldest.map_or(Duration::ZERO, |mark| now.saturating_sub(mark.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(lag: &mut Lag, now: Time, applied: u64, newest: u64) {
        lag.note(now, Position(applied), Position(newest));
    }

    const fn ms(count: u64) -> Time {
        Duration::from_millis(count)
    }

    // G348
    #[test]
    fn a_node_that_has_everything_does_not_lag() {
        let mut lag = Lag::default();
        note(&mut lag, ms(100), 7, 7);
        assert_eq!(lag.age(ms(900)), ms(0));
        note(&mut lag, ms(1000), 7, 9);
        assert_eq!(lag.age(ms(1500)), ms(500));
        note(&mut lag, ms(2000), 9, 9);
        assert_eq!(lag.age(ms(9000)), ms(0));
    }

    // G348
    #[test]
    fn under_constant_load_the_lag_is_the_age_of_the_oldest_entry_that_is_missing() {
        let mut lag = Lag::default();
        for second in 1..=60 {
            note(&mut lag, ms(second * 1000), second.saturating_sub(3), second);
        }
        assert_eq!(lag.age(ms(60_000)), ms(2000), "58 is the oldest that is missing");
        note(&mut lag, ms(60_100), 58, 60);
        assert_eq!(lag.age(ms(60_100)), ms(1100), "59 is");
    }

    // G348
    #[test]
    fn a_lag_of_hours_is_kept_in_little_room_and_is_hardly_too_high() {
        const HOUR: u64 = 3_600_000;
        let mut lag = Lag::default();
        (1..=HOUR).for_each(|at| note(&mut lag, ms(at), 0, at));
        assert!(lag.0.len() < 2000, "{} marks", lag.0.len());
        for applied in [0, HOUR / 4, HOUR / 2, HOUR - HOUR / 10] {
            note(&mut lag, ms(HOUR), applied, HOUR);
            let (age, exact) = (lag.age(ms(HOUR)), ms(HOUR - applied - 1));
            assert!(
                (exact..exact + ms(HOUR / 100)).contains(&age),
                "{age:?}, not {exact:?}"
            );
        }
    }
}
