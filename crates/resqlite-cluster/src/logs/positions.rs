//! Positions in the names of keys and subjects.

use resqlite::log::Position;

/// Returns the position with 20 digits, so that names sort as positions do.
pub(super) fn digits(position: Position) -> String {
    format!("{position:020}")
}
