//! Shared by the property tests.

use proptest::test_runner::Config;

/// The number of cases of a property test. Miri is some hundred times slower and sees no file system, where failing
/// cases would be kept.
pub(crate) fn cases(count: u32) -> Config {
    if cfg!(miri) {
        Config {
            cases: 4,
            failure_persistence: None,
            ..Config::default()
        }
    } else {
        Config {
            cases: count,
            ..Config::default()
        }
    }
}
