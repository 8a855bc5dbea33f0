//! Makes a group wait for more writes. With an entry gate, a commit takes as long as the log does. Most callers who were just
//! answered write again at once. If a group begins without these callers, they wait for two commits, and callers fall apart into
//! two groups that take turns. So a group that finds fewer writes than the last groups had waits for more, while more arrive.

use std::time::Duration;

use crate::core::clock;

/// The pause between two looks. Callers do not wake the waiting group, which would cost them more than the look costs.
const PAUSE: Duration = Duration::from_micros(50);
/// The number of successive looks without a new write after which the group begins.
const QUIET_LOOKS: u32 = 2;
/// The divisor of the longest wait: a group waits no longer than the time of the last group, divided by this number.
const SHARE: u32 = 4;
/// The number of groups that do not wait, after a group for which too few writes arrived.
const SKIPPED: u32 = 16;

/// The number of writes that the next group waits for, and the limits on the wait.
#[derive(Default)]
pub(super) struct Gathering {
    expected: usize,
    took: Duration,
    skips: u32,
}

impl Gathering {
    /// Sets the wait after a group that took the time `took`. `expected` writes may come together: those of the group and those
    /// that wait behind it.
    pub(super) fn after(self, expected: usize, took: Duration) -> Self {
        Self {
            expected,
            took,
            ..self
        }
    }

    /// Waits for further writes, starting with `count`. `look` takes the writes that have arrived, and returns the number there is
    /// now.
    pub(super) fn wait(&mut self, count: usize, mut look: impl FnMut() -> usize) {
        if count >= self.expected {
            return;
        }
        if self.skips > 0 {
            self.skips -= 1;
            return;
        }
        let (mut found, mut quiet, start) = (count, 0, clock::now());
        while found < self.expected && quiet < QUIET_LOOKS && clock::since(start) < self.took / SHARE {
            clock::sleep(PAUSE);
            let now = look();
            quiet = if now == found { quiet + 1 } else { 0 };
            found = now;
        }
        // Callers who do not wait for answers write at any time, so waiting for them is in vain.
        if found < self.expected - self.expected / 4 {
            self.skips = SKIPPED;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// Waits, starting with one write. `comes` is the number of writes at each look; after the last number, no more arrive. Returns
    /// the number of looks.
    fn looks(gathering: &mut Gathering, comes: &[usize]) -> usize {
        let mut looks = 0;
        gathering.wait(1, || {
            looks += 1;
            comes[(looks - 1).min(comes.len() - 1)]
        });
        looks
    }

    #[test]
    fn a_group_waits_for_as_many_writes_as_came_together_before() {
        let mut gathering = Gathering::default().after(10, LONG);
        assert_eq!(looks(&mut gathering, &[4, 4, 9, 10, 11]), 4);
    }

    #[test]
    fn a_group_begins_when_no_more_come() {
        let mut gathering = Gathering::default().after(10, LONG);
        assert_eq!(looks(&mut gathering, &[4, 5, 5]), 4);
    }

    #[test]
    fn a_write_alone_and_a_group_without_a_gate_do_not_wait() {
        assert_eq!(looks(&mut Gathering::default().after(1, LONG), &[2]), 0);
        assert_eq!(looks(&mut Gathering::default(), &[2]), 0);
    }

    #[test]
    fn a_group_waits_no_longer_than_a_quarter_of_what_the_last_one_took() {
        let mut gathering = Gathering::default().after(10, SHARE * PAUSE);
        assert_eq!(looks(&mut gathering, &[4, 5, 6]), 1);
    }

    #[test]
    fn where_too_few_came_the_next_groups_do_not_wait() {
        let mut gathering = Gathering::default().after(10, LONG);
        assert_eq!(looks(&mut gathering, &[6, 7]), 4);
        for _ in 0..SKIPPED {
            gathering = gathering.after(10, LONG);
            assert_eq!(looks(&mut gathering, &[10]), 0);
        }
        assert_eq!(looks(&mut gathering, &[10]), 1);
    }
}
