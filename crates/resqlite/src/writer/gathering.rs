//! Beside an entry gate, a commit takes as long as the log does. Callers who were just answered mostly write again at once. A
//! group that begins without them makes them wait for two commits: callers fall apart into two groups that take turns. So a
//! group that finds fewer writes than the last ones had waits for more, while they come.

use std::time::Duration;

use crate::core::clock;

/// Between two looks. Nobody is woken by whom it waits for, which would cost callers more than the look.
const PAUSE: Duration = Duration::from_micros(50);
/// After so many looks in a row that find nothing new, the group begins.
const QUIET_LOOKS: u32 = 2;
/// A group waits no longer than this part of what the last one took.
const SHARE: u32 = 4;
/// Groups that do not wait, after one for which too few came.
const SKIPPED: u32 = 16;

/// Whom the next group waits for.
#[derive(Default)]
pub(super) struct Gathering {
    expected: usize,
    took: Duration,
    skips: u32,
}

impl Gathering {
    /// After a group that took so long: that many writes may come together, its own and those that wait behind it.
    pub(super) fn after(self, expected: usize, took: Duration) -> Self {
        Self {
            expected,
            took,
            ..self
        }
    }

    /// Waits for further writes, from `count` on. `look` takes those that have come, and returns how many there are now.
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
        // Callers who do not wait for answers come when they come.
        if found < self.expected - self.expected / 4 {
            self.skips = SKIPPED;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// Waits from one write on. `comes`: how many writes there are at each look; then no more come. Returns how often it
    /// looked.
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
