//! Failed checks in a row: after each, more looks pass until the next check.

/// The number of failures after which the pause between two checks no longer grows. It is then 1,024 looks.
const PAUSES: u32 = 10;

#[derive(Default)]
pub(super) struct Failures {
    count: u32,
    /// Looks that pass before the next check.
    looks: u32,
}

impl Failures {
    /// Adds a failure. Returns whether it is the first one.
    pub(super) fn add(&mut self) -> bool {
        self.count += 1;
        self.looks = 1 << self.count.min(PAUSES);
        self.count == 1
    }

    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    /// Returns whether a look passes without a check, and counts that look.
    pub(super) fn passes(&mut self) -> bool {
        let passes = self.looks > 0;
        self.looks -= u32::from(passes);
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::Failures;

    /// Counts the looks that pass until the next check.
    fn pause(failures: &mut Failures) -> usize {
        std::iter::from_fn(|| failures.passes().then_some(())).count()
    }

    #[test]
    fn each_failure_lets_twice_as_many_looks_pass_up_to_a_bound() {
        let failures = &mut Failures::default();
        assert_eq!(pause(failures), 0);
        let pauses = [(); 12].map(|()| {
            failures.add();
            pause(failures)
        });
        assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024]);
    }

    #[test]
    fn only_the_first_failure_after_a_success_is_news() {
        let failures = &mut Failures::default();
        assert_eq!([(); 3].map(|()| failures.add()), [true, false, false]);
        failures.end();
        assert_eq!(pause(failures), 0);
        assert!(failures.add());
    }
}
