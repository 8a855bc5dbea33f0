//! Dice for random tests. The seeds change every day, so that no two days try the same, and a suite makes as many throws as there
//! is time for.
//!
//! | variable | |
//! |---|---|
//! | `RESQLITE_DAY` | repeats the seeds of this day, in days since 1970; `npm test` prints the number |
//! | `RESQLITE_DICE=all` | throws all dice instead of a fortieth |
//! | `RESQLITE_SEED` | the first seed; a failure names the seed that repeats it |
//! | `RESQLITE_THROWS` | the number of throws; with 1, the suites of live queries print what they do |

mod rng;

use std::{env, time::UNIX_EPOCH};

use proptest::test_runner::{Config, RngSeed};

pub use crate::rng::{Number, Rng};

/// A number of throws that no suite reaches in a day.
const A_DAY: u64 = 1_000_000_000;

/// Returns the number in this environment variable, if it is set.
///
/// # Panics
///
/// If the variable is set to something other than a number.
pub fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    match value.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{variable} is a number, not {value:?}"),
    }
}

/// The first seed of a suite.
pub fn first_seed() -> u64 {
    number("RESQLITE_SEED").unwrap_or_else(|| day() * A_DAY)
}

/// Returns the number of throws of a suite, which makes `all` throws on request.
pub fn throws(all: u64) -> u64 {
    number("RESQLITE_THROWS").unwrap_or(match is_all() {
        true => all,
        false => all.div_ceil(40),
    })
}

/// A suite is to make only one throw, and to print what it does, if it can.
pub fn is_single() -> bool {
    number("RESQLITE_THROWS") == Some(1)
}

/// All dice were asked for, as in the full tests.
pub fn is_all() -> bool {
    env::var("RESQLITE_DICE").is_ok_and(|dice| dice == "all")
}

/// Enough dice are thrown for a suite to ask how often something happened.
pub fn throws_all() -> bool {
    is_all() && number("RESQLITE_THROWS").is_none()
}

/// Returns the settings of a property test, which tries `all` cases on request. Under Miri it tries few, since Miri is some
/// hundred times slower. Miri also sees no file system, where failed cases would be kept.
pub fn cases(all: u32) -> Config {
    let seed = RngSeed::Fixed(first_seed());
    match cfg!(miri) {
        true => Config {
            cases: 4,
            failure_persistence: None,
            rng_seed: seed,
            ..Config::default()
        },
        false => Config {
            cases: throws(all.into()) as u32,
            rng_seed: seed,
            ..Config::default()
        },
    }
}

/// Returns the number of days since 1970. Miri has no clock.
fn day() -> u64 {
    let today = || match cfg!(miri) {
        true => 0,
        false => UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs() / 86_400),
    };
    number("RESQLITE_DAY").unwrap_or_else(today)
}
