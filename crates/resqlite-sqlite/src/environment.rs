//! Switches in the environment of the process.

use std::env;

/// Returns whether a variable of the environment says yes: it is there, and neither empty nor 0.
///
/// ```
/// assert!(!resqlite_sqlite::is_switched_on("RESQLITE_NO_SUCH_SWITCH"));
/// ```
pub fn is_switched_on(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}
