//! What the property tests share.

use proptest::test_runner::Config;

/// How often a property is tried. Miri is some hundred times slower and sees no file system, where failing
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
