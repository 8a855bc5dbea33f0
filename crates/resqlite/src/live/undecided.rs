//! Decides when groups that did not determine the result are kept again.

use super::why_whole::WhyWhole;

/// Backs off from keeping groups. To keep groups takes longer than a whole run, and some never determine the result: for
/// example, the least value of a queue is removed by each commit.
#[derive(Default)]
pub(super) struct Undecided {
    /// The length of the last back-off, in whole runs.
    length: u8,
    /// The whole runs that are still to come before groups are kept again.
    skips: u8,
}

impl Undecided {
    /// The longest back-off, in whole runs.
    const MAX: u8 = 127;

    /// Returns whether a whole run that is made for this reason may keep groups.
    pub(super) fn may_keep(&self, why: WhyWhole) -> bool {
        self.skips == 0 && (self.length == 0 || why != WhyWhole::Undecided)
    }

    /// Notes that the kept groups have determined the result.
    pub(super) fn has_told(&mut self) {
        (self.length, self.skips) = (self.length / 2, 0);
    }

    /// Notes that the whole statement has run, for this reason.
    pub(super) fn has_run_whole(&mut self, why: Option<WhyWhole>) {
        if why == Some(WhyWhole::Undecided) {
            self.length = (2 * self.length + 1).min(Self::MAX);
            self.skips = self.length;
        } else {
            self.skips = self.skips.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Undecided, WhyWhole};

    /// Makes runs in which groups determine the result or do not, and counts how often groups were kept.
    fn kept(told: impl Fn(usize) -> bool) -> usize {
        let (mut undecided, mut is_kept, mut count) = (Undecided::default(), false, 0);
        for run in 0..1000 {
            if is_kept && told(run) {
                undecided.has_told();
                continue;
            }
            let why = if is_kept {
                WhyWhole::Undecided
            } else {
                WhyWhole::NotKept
            };
            is_kept = undecided.may_keep(why);
            count += usize::from(is_kept);
            undecided.has_run_whole(Some(why));
        }
        count
    }

    #[test]
    fn groups_that_never_tell_the_result_are_kept_ever_more_rarely() {
        assert!(kept(|_| false) < 20);
    }

    #[test]
    fn groups_that_sometimes_do_not_are_kept_again_at_once() {
        assert_eq!(kept(|run| run % 10 != 0), 100);
    }
}
